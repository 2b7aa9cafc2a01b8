import { activity } from "./activity.ts";
import { add } from "./add.ts";
import { alarms } from "./alarms.ts";
import { commands } from "./commands.ts";
import { compare } from "./compare.ts";
import { family } from "./family.ts";
import { form } from "./form.ts";
import { hosts } from "./hosts.ts";
import { money } from "./money.ts";
import { overview } from "./overview.ts";
import { pools } from "./pools.ts";
import { rig } from "./rig.ts";
import { rigs } from "./rigs.ts";
import { rules } from "./rules.ts";
import { service } from "./service.ts";
import { settings } from "./settings.ts";
import { shared } from "./shared.ts";
import { start } from "./start.ts";

/** English, the source of all other languages: their types are made of it. */
export const messages = {
  ...shared,
  activity,
  add,
  alarms,
  commands,
  compare,
  family,
  form,
  hosts,
  money,
  overview,
  pools,
  rig,
  rigs,
  rules,
  service,
  settings,
  start,
};
export type Messages = typeof messages;
