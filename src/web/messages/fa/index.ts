import type { Messages } from "../en/index.ts";
import { activity } from "./activity.ts";
import { commands } from "./commands.ts";
import { overview } from "./overview.ts";
import { pools } from "./pools.ts";
import { rig } from "./rig.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, activity, commands, overview, pools, rig };
