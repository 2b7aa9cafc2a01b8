import type { Miner } from "rigbridge";
import type { RigChoices, RigSettings, Settings } from "./schema.ts";

/** What the settings say of a miner by name or address; undefined where they do not list it. */
export type Listed = (miner: Miner) => RigSettings | undefined;

/** How a rig is shown: as it is listed, and for what that leaves out as all are. */
export function choicesFor({ defaults }: Settings, listed: RigSettings | undefined): RigChoices {
  return {
    as: listed?.as ?? defaults.as,
    sensors: listed?.sensors ?? defaults.sensors,
    fan: listed?.fan ?? defaults.fan,
    alarm: listed?.alarm ?? defaults.alarm,
    switches: listed?.switches ?? defaults.switches,
  };
}
