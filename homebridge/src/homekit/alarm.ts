import { isUnread, properties } from "rigbridge";
import { ownInformation, partName } from "../accessory-texts.ts";
import type { VisibleRig } from "../visible-farm.ts";
import type { AccessoryPlan, PropertyPart, ServicePlan } from "./plan.ts";

/** HAP's values of a contact: closed means no alarm. */
const contact = { closed: 0, open: 1 } as const;

/** The rig's own alarm, if the settings ask for one. */
export const alarmPart: PropertyPart = (rig) =>
  rig.choices.alarm ? [alarmService("alarm", partName(rig.name, "alarm"), [rig])] : [];

/** One alarm for all rigs. */
export const farmAlarm = (rigs: readonly VisibleRig[]): AccessoryPlan => ({
  key: "alarm",
  name: "Rig alarm",
  information: ownInformation("Alarm of all rigs", "alarm"),
  host: null,
  services: [alarmService("main", "Rig alarm", rigs)],
});

/** Open while one of the rigs raises an alarm. */
function alarmService(subtype: string, name: string, rigs: readonly VisibleRig[]): ServicePlan {
  const states = rigs.map(isAlarming);
  const state = states.includes(true) ? contact.open : contact.closed;
  const value = state === contact.closed && states.includes(null) ? null : state;
  return { type: "ContactSensor", subtype, name, characteristics: [{ type: "ContactSensorState", value }] };
}

/**
 * Whether a rig raises an alarm: it reports a problem, is not the expected rig, does not answer although it should be on,
 * or heats a room whose temperature is no longer known. A rig that was stopped, is disabled or in repair, may be off or has
 * its power cut raises none. Unacknowledged warnings do not count: they concern the past, and HomeKit cannot acknowledge them.
 * null before the first read.
 */
export function isAlarming({ miner, offlineExpected }: Pick<VisibleRig, "miner" | "offlineExpected">): boolean | null {
  const { isOffline, statusInfo, heating, repair = null } = miner;
  if (statusInfo.statusDisplay === "Disabled" || repair !== null) return false;
  if ((isOffline || isUnread(miner)) && offlineExpected) return false;
  if (isUnread(miner)) return null;
  if (isOffline) return true;
  const hasProblem = properties.problem.read(miner, 0) !== null;
  return hasProblem || (heating !== null && heating.room === null && heating.demand !== null);
}
