import type { Messages } from "../en/index.ts";
import { add } from "./add.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, add, money, overview };
