import type { Messages } from "../en/index.ts";
import { add } from "./add.ts";
import { alarms } from "./alarms.ts";
import { form } from "./form.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { rules } from "./rules.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, add, alarms, form, money, overview, rules };
