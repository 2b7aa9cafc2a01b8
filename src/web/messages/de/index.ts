import type { Messages } from "../en/index.ts";
import { alarms } from "./alarms.ts";
import { form } from "./form.ts";
import { overview } from "./overview.ts";
import { rules } from "./rules.ts";
import { shared } from "./shared.ts";

export const messages: Messages = { ...shared, alarms, form, overview, rules };
