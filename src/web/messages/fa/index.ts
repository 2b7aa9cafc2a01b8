import type { Messages } from "../en/index.ts";
import { overview } from "./overview.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, overview };
