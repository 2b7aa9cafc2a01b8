import type { Board } from "../../../contract/readings.ts";
import type { Device } from "../../../contract/resources.ts";

/** What is wrong with a part of a rig. */
export type Fault = "hot" | "dead" | "sick" | "chips" | "off";

/** °C from which a part is marked as hot: where the makers' own firmware begins to slow down or stop. */
const hotChip = 95;
const hotBoard = 85;
const hotMemory = 100;

/** `mining`: whether the rig hashes, so that a board without a hash rate is a dead one. */
export function boardFaults(board: Board, mining: boolean): Fault[] {
  const { hashrate, temperature, chipTemperature, chips, chipsExpected } = board;
  const isDead = chips === 0 || (mining && hashrate === 0);
  return [
    ...(isDead ? (["dead"] as const) : []),
    ...((chipTemperature ?? 0) >= hotChip || (temperature ?? 0) >= hotBoard ? (["hot"] as const) : []),
    ...(!isDead && chips !== null && chipsExpected !== null && chips < chipsExpected ? (["chips"] as const) : []),
  ];
}

export function deviceFaults({ statusInfo, deviceInfo }: Device): Fault[] {
  const { temperature, memoryTemperature } = deviceInfo;
  const byStatus = { Dead: "dead", Sick: "sick", Disabled: "off" } as const;
  const fault = Object.entries(byStatus).find(([status]) => status === statusInfo.statusDisplay)?.[1];
  return [
    ...(fault === undefined ? [] : [fault]),
    ...(temperature >= hotBoard || (memoryTemperature ?? 0) >= hotMemory ? (["hot"] as const) : []),
  ];
}
