import type { Board } from "../../../contract/readings.ts";
import type { Device, MinerDetail } from "../../../contract/resources.ts";

/** A fault of a part of a rig. */
export type Fault = "hot" | "dead" | "sick" | "chips" | "off";

/** °C from which a part is marked as hot: where the manufacturers' own firmware begins to slow down or stop. */
const hotChip = 95;
const hotBoard = 85;
const hotMemory = 100;

/** Whether a board is switched off by its control. */
export const isSwitchedOff = ({ controls }: Pick<MinerDetail, "controls">, { slot }: Board): boolean =>
  controls.some(({ key, value }) => key === `board_${slot}` && value === false);

/** `mining`: whether the rig hashes, so that a board without a hash rate is a dead one. */
export function boardFaults(board: Board, mining: boolean, isOff = false): Fault[] {
  const { hashrate, temperature, chipTemperature, chips, chipsExpected } = board;
  const isDead = !isOff && (chips === 0 || (mining && hashrate === 0));
  return [
    ...(isOff ? (["off"] as const) : []),
    ...(isDead ? (["dead"] as const) : []),
    ...((chipTemperature ?? 0) >= hotChip || (temperature ?? 0) >= hotBoard ? (["hot"] as const) : []),
    ...(!isOff && !isDead && chips !== null && chipsExpected !== null && chips < chipsExpected
      ? (["chips"] as const)
      : []),
  ];
}

interface WithShares {
  readonly progressInfo: { readonly line1: string; readonly line2: string };
}

/** Whether pools or devices report their shares: if none has any and the rig has some, their zeros mean unknown. */
export const reportShares = (
  list: readonly WithShares[],
  { shares }: Pick<MinerDetail["readings"], "shares">,
): boolean =>
  (shares.accepted ?? 0) === 0 || list.some(({ progressInfo: { line1, line2 } }) => line1 !== "0" || line2 !== "0");

interface WithFaults {
  readonly statusInfo: Pick<Device["statusInfo"], "statusDisplay">;
  readonly deviceInfo: Pick<Device["deviceInfo"], "temperature" | "memoryTemperature">;
}

export function deviceFaults({ statusInfo, deviceInfo }: WithFaults): Fault[] {
  const { temperature, memoryTemperature } = deviceInfo;
  const byStatus = { Dead: "dead", Sick: "sick", Disabled: "off" } as const;
  const fault = Object.entries(byStatus).find(([status]) => status === statusInfo.statusDisplay)?.[1];
  return [
    ...(fault === undefined ? [] : [fault]),
    ...(temperature >= hotBoard || (memoryTemperature ?? 0) >= hotMemory ? (["hot"] as const) : []),
  ];
}
