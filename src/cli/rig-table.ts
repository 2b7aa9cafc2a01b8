import { hashUnit } from "../contract/hash-unit.ts";
import type { MinerRow } from "../contract/rows.ts";
import { formatFor } from "../units/format.ts";
import { inColour, type ListedState, stateColours } from "./colours.ts";
import { fittedTable } from "./table.ts";

const format = formatFor({ locale: "en-US", currency: "USD" });

export const rigFields = ["name", "status", "hashrate", "power", "temperature", "pool", "algorithm"] as const;

export type ListedRig = Pick<MinerRow, (typeof rigFields)[number] | "siteUnreachable">;

/** The state as it is printed: that of a rig whose site cannot be reached is not known now. */
export const stateOf = ({ status, siteUnreachable }: Pick<MinerRow, "status" | "siteUnreachable">): ListedState =>
  siteUnreachable === undefined ? status : "Unreachable";

const heads = ["Name", "State", "Hash rate", "Power", "Temp.", "Pool"];
const [nameColumn, stateColumn, poolColumn] = [0, 1, 5];

export interface RigTableOptions {
  readonly coloured: boolean;
  /** Columns of the terminal; default: 80. */
  readonly columns?: number;
}

/** Rigs as lines of a table, the heads first; unknown values are empty. */
export const rigTable = (rigs: readonly ListedRig[], { coloured, columns }: RigTableOptions): string[] =>
  fittedTable(heads, rigs.map(cells), {
    flexible: [nameColumn, poolColumn],
    ...(columns === undefined ? {} : { columns }),
    ...(coloured ? { paint: (cell, row, column) => painted(cell, rigs[row], column) } : {}),
  });

const painted = (cell: string, rig: ListedRig | undefined, column: number): string =>
  rig === undefined || column !== stateColumn ? cell : inColour(stateColours[stateOf(rig)], cell);

const cells = (rig: ListedRig): string[] => [rig.name, stateOf(rig), ...figuresOf(rig)];

function figuresOf({ hashrate, power, temperature, pool, algorithm, siteUnreachable }: ListedRig): string[] {
  if (siteUnreachable !== undefined) return ["", "", "", ""];
  return [
    hashrate === null ? "" : format.hashrate(hashrate, hashUnit(algorithm)),
    power === null ? "" : format.power(power),
    format.temperatures([temperature]),
    pool ?? "",
  ];
}
