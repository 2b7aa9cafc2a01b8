import type { Messages } from "../en/index.ts";
import { add } from "./add.ts";
import { alarms } from "./alarms.ts";
import { family } from "./family.ts";
import { form } from "./form.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { rigs } from "./rigs.ts";
import { rules } from "./rules.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, add, alarms, family, form, money, overview, rigs, rules };
