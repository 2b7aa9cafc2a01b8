import { efficiencyOf } from "../../contract/efficiency.ts";
import { unknownReadings } from "../../contract/readings.ts";
import type { RowSource } from "../../contract/rows.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import { briefOf } from "../../fleet/state.ts";
import { hostOf } from "../../link/pool-url.ts";
import { type LoopStatus, type MinerFacts, type MinerFigures, presentReason } from "./present-miner.ts";

/** Inputs of a row besides the state of the rig. */
export interface RowExtras extends Pick<LoopStatus, "stoppedBy"> {
  readonly figures: MinerFigures;
  /** Displayed Wh. */
  readonly energy: number | null;
  readonly alarms: number;
}

const unknown = unknownReadings();
const iso = (time: number | null): string | null => (time === null ? null : new Date(time).toISOString());

/** The source of a miner's columns, without presenting it; few columns need the whole reading decoded. */
export function rowSourceOf(
  facts: MinerFacts,
  { state, declared }: Pick<PolledRig, "state" | "declared">,
  { figures, energy, stoppedBy, alarms }: RowExtras,
): RowSource {
  const { identity, at, missed, startedAt, hashingSince } = state;
  const brief = briefOf(state);
  const readings = brief?.readings ?? unknown;
  const active = brief?.pools.find((pool) => pool.active);
  const hashingSeconds = at === null || hashingSince === null ? null : (at - hashingSince) / 1000;
  const works = figures.dual ?? [figures];
  return {
    id: facts.id,
    uid: state.uid,
    name: facts.name,
    groupId: facts.groupId,
    location: facts.location,
    tags: facts.tags,
    hostname: facts.host.name,
    hostDescription: facts.host.description,
    hardware: identity?.model ?? identity?.make ?? "",
    softwareType: state.software ?? state.driver ?? "",
    status: figures.status,
    reason: presentReason(state, declared.disabled, stoppedBy)?.code ?? null,
    readings: {
      hashrate: readings.hashrate,
      hashrateAverage: readings.hashrateAverage,
      hashrateExpected: readings.hashrateExpected,
      power: readings.power,
      temperature: readings.temperature,
      at: iso(at),
      stale: brief === null || missed > 0,
      efficiency: brief === null ? null : efficiencyOf(readings, hashingSeconds),
      startedAt: brief === null ? null : iso(startedAt),
      energy,
    },
    get details() {
      return state.reading?.readings ?? unknown;
    },
    pool: active === undefined ? "" : hostOf(active.url),
    worker: active?.worker ?? "",
    coin: figures.coinKey,
    algorithm: works
      .map(({ algorithm }) => algorithm)
      .filter((name) => name !== "")
      .join(" + "),
    money: figures.earnings,
    alarms,
    repair: facts.repair,
    placeId: facts.placeId,
    position: facts.position,
  };
}
