import type { Messages } from "../en/index.ts";
import { overview } from "./overview.ts";
import { rigs } from "./rigs.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, overview, rigs };
