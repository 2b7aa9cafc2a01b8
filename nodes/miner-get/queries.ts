import { type History, type Miner, RigbridgeError } from "rigbridge";
import type { z } from "zod";
import type { ConnectedService } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import { type MinerMessage, minerMessage } from "../shared/miner-state.ts";

/** What to get of each miner. */
export type Query =
  | { readonly kind: "state" }
  | { readonly kind: "poll" }
  /** Epoch ms, s; undefined for the service's defaults. */
  | { readonly kind: "history"; readonly from?: number; readonly to?: number; readonly step?: number };

/** A point of a history, in SI units, null for unknown values. */
export interface Point {
  /** Epoch ms of the step's beginning. */
  readonly time: number;
  /** H/s */
  readonly hashrate: number | null;
  /** W */
  readonly power: number | null;
  /** °C */
  readonly temperature: number | null;
  /** Wh, a counter. */
  readonly energy: number | null;
}

/** The message for one miner. */
export interface Result {
  readonly payload: MinerMessage["payload"] | readonly Point[];
  readonly topic: string;
  readonly miner: Miner;
  /** s between two points of a history. */
  readonly step?: number;
}

/** Throws a Fault if the service does not offer the query. */
export function checkOffered({ kind }: Query, { features }: ConnectedService["farm"]): void {
  if (kind === "history" && !features.has("getHistory")) throw new Fault("service.unsupported", "no-history");
  if (kind === "poll" && !features.has("pollMiner")) throw new Fault("service.unsupported", "no-poll");
}

/** The state as last reported, the state read from the rig now, or the history. Rejects with RigbridgeErrors. */
export async function runQuery(
  { service, caller, farm }: ConnectedService,
  miner: Miner,
  query: Query,
): Promise<Result> {
  const { id } = miner;
  if (query.kind === "state") return minerMessage(miner, farm.groups);
  if (query.kind === "poll") {
    const { metaData: _, ...now } = await service.pollMiner({ id }, caller);
    if (now.readings.stale) throw notRead(now);
    return minerMessage(now, farm.groups);
  }
  const { from, to, step } = query;
  const history = await service.getHistory({ id, from, to, step }, caller);
  return { ...minerMessage(miner, farm.groups), payload: pointsOf(history), step: history.step };
}

/** An earlier state does not answer the question for the state now. */
const notRead = ({ name, statusInfo, readings }: Miner): RigbridgeError =>
  new RigbridgeError(
    statusInfo.statusDisplay === "Error" ? "rig.refused" : "rig.unreachable",
    readings.notes.at(-1) ?? `${name} does not answer`,
  );

const pointsOf = ({ points }: z.infer<typeof History>): Point[] =>
  points.map(([time, hashrate, power, temperature, energy]) => ({ time, hashrate, power, temperature, energy }));
