import { alarms } from "./alarms.ts";
import { form } from "./form.ts";
import { overview } from "./overview.ts";
import { rules } from "./rules.ts";
import { shared } from "./shared.ts";

/** English, the source of all other languages: their types are made of it. */
export const messages = { ...shared, alarms, form, overview, rules };
export type Messages = typeof messages;
