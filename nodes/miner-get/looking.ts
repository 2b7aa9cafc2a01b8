import { type History, type Miner, RigbridgeError } from "rigbridge";
import type { z } from "zod";
import type { Asked } from "../shared/farm-connection.ts";
import { Fault } from "../shared/faults.ts";
import { minerMessage } from "../shared/miner-state.ts";

/** What is asked of each miner. */
export type Question =
  | { readonly kind: "state" }
  | { readonly kind: "poll" }
  /** Epoch ms, s; undefined: what the service takes for usual. */
  | { readonly kind: "history"; readonly from?: number; readonly to?: number; readonly step?: number };

/** A moment of a miner's history, in SI units, null for what is not known of it. */
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

/** What is sent of one miner. */
export interface Found {
  readonly payload: ReturnType<typeof minerMessage>["payload"] | readonly Point[];
  readonly topic: string;
  readonly miner: Miner;
  /** s between two points of a history. */
  readonly step?: number;
}

type HistoryReply = z.infer<typeof History>;

/** Throws a Fault where the service does not offer what is asked, before any miner is. */
export function checkOffered({ kind }: Question, { features }: Asked["farm"]): void {
  if (kind === "history" && !features.has("getHistory")) throw new Fault("service.unsupported", "no-history");
  if (kind === "poll" && !features.has("pollMiner")) throw new Fault("service.unsupported", "no-poll");
}

/** The state as the service told it last, read from the rig now, or over time. Rejects with RigbridgeErrors. */
export async function look({ service, caller, farm }: Asked, miner: Miner, question: Question): Promise<Found> {
  const { id } = miner;
  if (question.kind === "state") return minerMessage(miner, farm.groups);
  if (question.kind === "poll") {
    const { metaData: _, ...now } = await service.pollMiner({ id }, caller);
    if (now.readings.stale) throw notRead(now);
    return minerMessage(now, farm.groups);
  }
  const { from, to, step } = question;
  const history = await service.getHistory({ id, from, to, step }, caller);
  return { ...minerMessage(miner, farm.groups), payload: pointsOf(history), step: history.step };
}

/** What was read earlier is no answer to who wants to know now. */
const notRead = ({ name, statusInfo, readings }: Miner): RigbridgeError =>
  new RigbridgeError(
    statusInfo.statusDisplay === "Error" ? "rig.refused" : "rig.unreachable",
    readings.notes.at(-1) ?? `${name} does not answer`,
  );

const pointsOf = ({ points }: HistoryReply): Point[] =>
  points.map(([time, hashrate, power, temperature, energy]) => ({ time, hashrate, power, temperature, energy }));
