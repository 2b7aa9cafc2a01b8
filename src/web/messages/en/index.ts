import { add } from "./add.ts";
import { commands } from "./commands.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { rig } from "./rig.ts";
import { shared } from "./shared.ts";

/** English, the source of all other languages: their types are made of it. */
export const messages = { ...shared, add, commands, money, overview, rig };
export type Messages = typeof messages;
