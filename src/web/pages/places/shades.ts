import type { MinerStatus } from "../../../contract/resources.ts";
import type { Row } from "../../live.ts";
import { performanceOf } from "../rigs/filter.ts";

/** What the colours of the map stand for. */
export const measures = ["share", "temperature", "efficiency", "state"] as const;
export type Measure = (typeof measures)[number];

/** How a cell is drawn: five colours from better than wanted to bad, and three patterns without one. */
export const shades = ["over", "good", "fair", "poor", "bad", "stopped", "offline", "unknown"] as const;
export type Shade = (typeof shades)[number];

export const isColoured = (shade: Shade): boolean => rising.includes(shade);

/** Where one shade ends and the next begins, and the shades. */
interface Scale {
  readonly bounds: readonly number[];
  readonly shades: readonly Shade[];
}

const rising: readonly Shade[] = ["over", "good", "fair", "poor", "bad"];

/** Shares, °C, and shares of the model's median J/H. */
export const scales: Readonly<Record<Exclude<Measure, "state">, Scale>> = {
  share: { bounds: [0.5, 0.8, 0.95, 1.05], shades: rising.toReversed() },
  temperature: { bounds: [55, 65, 75, 85], shades: rising },
  efficiency: { bounds: [0.95, 1.05, 1.15, 1.3], shades: rising },
};

/** In the order of the legend. */
export const ofStatus: Readonly<Record<MinerStatus, Shade>> = {
  Mining: "good",
  Starting: "over",
  Idle: "fair",
  Error: "bad",
  Stopped: "stopped",
  Disabled: "stopped",
  Disconnected: "offline",
};

/** The middle of what the rigs of a model do; a rig that does not hash, or whose reading is old, does not count. */
export interface Median {
  /** H/s; null if none of them reports it. */
  readonly hashrate: number | null;
  /** J/H; null if none of them reports it. */
  readonly efficiency: number | null;
}
export type Medians = ReadonlyMap<string, Median>;

const middle = (values: number[]): number | null =>
  values.sort((one, other) => one - other)[values.length >> 1] ?? null;

export function mediansOf(rows: Iterable<Row>): Medians {
  const models = new Map<string, { readonly hashrates: number[]; readonly efficiencies: number[] }>();
  for (const { model, status, readAt, hashrate, efficiency } of rows) {
    if (model == null || status !== "Mining" || readAt !== null) continue;
    const found = models.get(model) ?? { hashrates: [], efficiencies: [] };
    models.set(model, found);
    if (hashrate !== null) found.hashrates.push(hashrate);
    if (efficiency != null) found.efficiencies.push(efficiency);
  }
  return new Map(
    [...models].map(([model, { hashrates, efficiencies }]) => [
      model,
      { hashrate: middle(hashrates), efficiency: middle(efficiencies) },
    ]),
  );
}

/** The value of a measure for a rig: a share of what it should hash, °C, or a share of its model's J/H; null: unknown. */
export function figureOf(measure: Exclude<Measure, "state">, row: Row, medians: Medians): number | null {
  const median = row.model == null ? undefined : medians.get(row.model);
  if (measure === "temperature") return row.temperature;
  if (measure === "efficiency") return ratio(row.efficiency, median?.efficiency);
  return performanceOf(row) ?? ratio(row.hashrate, median?.hashrate);
}

const ratio = (one: number | null | undefined, other: number | null | undefined): number | null =>
  one == null || other == null || other === 0 ? null : one / other;

/** How a rig is drawn. A rig that is off has no figure, and one whose reading is old has none that holds. */
export function shadeOf(measure: Measure, row: Row, medians: Medians): Shade {
  const { status, readAt, siteUnreachable } = row;
  const state = siteUnreachable === undefined ? ofStatus[status] : "offline";
  if (measure === "state" || state === "offline" || state === "stopped") return state;
  const value = readAt === null ? figureOf(measure, row, medians) : null;
  if (value === null) return "unknown";
  const { bounds, shades } = scales[measure];
  return shades[bounds.filter((bound) => value >= bound).length] ?? "unknown";
}
