import type { Miner } from "rigbridge";
import type { AccessoryPlan, ServicePlan } from "./plan.ts";
import { hasProblem } from "./problem.ts";
import type { VisibleRig } from "./rig-parts.ts";
import { partName } from "./texts.ts";

/** HAP's values of a contact: closed is as it should be. */
const contact = { closed: 0, open: 1 } as const;

/** A miner, and whether nobody wonders when it is off. */
export type Watched = Pick<VisibleRig, "miner" | "offlineExpected">;

/** The rig's own alarm, where it is wanted. */
export const alarmPart = (rig: VisibleRig): readonly ServicePlan[] =>
  rig.choices.alarm ? [contactOf("alarm", partName(rig.name, "alarm"), [rig])] : [];

/** One alarm for all rigs. */
export const farmAlarm = (rigs: readonly Watched[]): AccessoryPlan => ({
  key: "alarm",
  name: "Rig alarm",
  information: { manufacturer: "Rigbridge", model: "Alarm of all rigs", serial: "alarm", firmware: "0" },
  host: null,
  services: [contactOf("main", "Rig alarm", rigs)],
});

/** Open while something is wrong with one of them. */
function contactOf(subtype: string, name: string, rigs: readonly Watched[]): ServicePlan {
  const states = rigs.map(isAlarming);
  const state = states.includes(true) ? contact.open : contact.closed;
  const value = state === contact.closed && states.includes(null) ? null : state;
  return { type: "ContactSensor", subtype, name, characteristics: [{ type: "ContactSensorState", value }] };
}

/**
 * Whether something is wrong with a rig now: it says so, it is not what it should be, it cannot be reached though it
 * should be on, or it heats a room of which nobody knows the temperature any more. One that was stopped, whose power was
 * cut, that is disabled or that may be off is as it should be. Warnings that nobody has acknowledged do not count: they
 * tell what has been, and HomeKit has nothing to acknowledge them with. null before it was asked for the first time.
 */
export function isAlarming({ miner, offlineExpected }: Watched): boolean | null {
  const { isOffline, statusInfo, heating } = miner;
  if (statusInfo.statusDisplay === "Disabled") return false;
  if ((isOffline || isUnread(miner)) && offlineExpected) return false;
  if (isUnread(miner)) return null;
  if (isOffline) return true;
  return hasProblem(miner) || (heating !== null && heating.room === null && heating.demand !== null);
}

/** Nobody has asked it since the service started. */
const isUnread = ({ hasValidStatus, readings, statusInfo }: Miner): boolean =>
  !hasValidStatus && readings.at === null && statusInfo.statusDisplay === "Starting";
