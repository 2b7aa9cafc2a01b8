import { activity } from "./activity.ts";
import { commands } from "./commands.ts";
import { overview } from "./overview.ts";
import { pools } from "./pools.ts";
import { rig } from "./rig.ts";
import { shared } from "./shared.ts";

/** English, the source of all other languages: their types are made of it. */
export const messages = { ...shared, activity, commands, overview, pools, rig };
export type Messages = typeof messages;
