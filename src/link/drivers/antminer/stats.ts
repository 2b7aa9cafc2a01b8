import { asicModel } from "../../../catalogue/asic-models.ts";
import type { Board, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { isLiquidCooled } from "../../identity.ts";
import type { Notes } from "../../tolerant-reader.ts";
import { TolerantReader } from "../../tolerant-reader.ts";
import { readingsOf, type Sections, snapshotOf } from "../cgminer/readings.ts";
import { bitmainDevice } from "../shared/bitmain-stats.ts";
import { highest, lowest, megahertz, total } from "../shared/figures.ts";
import { statedUnit, unitsOf } from "../shared/rate-units.ts";

/** What one interface of the rig reports of its work. */
export interface Report {
  readonly readings: RigReadings;
  readonly devices: DeviceReading[];
  readonly pools: PoolReading[];
  /** The model that it reports. */
  readonly model: string | null;
  /** Seconds over which the hash rate is averaged. */
  readonly logInterval: number | null;
  readonly workUtility: number | null;
}

/**
 * From `summary`, `pools` and `stats`, as the RPC and the web pages of older firmware have them. `known`: the model
 * where they do not name it.
 */
export function reportOfRpc(sections: Omit<Sections, "devs">, notes: Notes, known: string | null): Report {
  const snapshot = snapshotOf({ ...sections, devs: null }, notes, { make: "Antminer", model: known });
  return {
    readings: readingsOf(snapshot),
    devices: snapshot.devices,
    pools: snapshot.pools,
    model: new TolerantReader(sections.stats, notes, "").list("STATS")[0]?.text("Type") ?? null,
    logInterval: snapshot.rates.seconds,
    workUtility: snapshot.summary.number("Work Utility"),
  };
}

/** From stats.cgi of newer firmware. A rig that sleeps lists no statistics there. */
export function reportOfWeb(stats: unknown, pools: PoolReading[], notes: Notes, known: string | null): Report {
  const page = new TolerantReader(stats, notes, "");
  const [first] = page.list("STATS");
  const reply = first ?? new TolerantReader(undefined, notes, "STATS[0]");
  const model = page.object("INFO").text("type") ?? known;
  const facts = asicModel("Antminer", model);
  const stated = statedUnit(reply);
  const unitFor = (written: number | null): number => stated ?? unitsOf(facts, () => written).G ?? 1;
  const unit = unitFor(reply.number("rate_avg") ?? reply.number("rate_5s"));
  const chains = reply.list("chain", 16);
  const ofBoards = unitFor(total(chains.map((chain) => chain.number("rate_real"))));
  const boards = chains.map((chain, position) => boardOf(chain, position, ofBoards));
  const errors = chains.map((chain) => chain.integer("hw"));
  const power = reply.number("watt", { absent: 0 });
  return {
    readings: {
      ...unknownReadings(),
      hashrate: reply.number("rate_5s", { times: unit }),
      hashrateAverage: reply.number("rate_avg", { times: unit }),
      hashrateExpected: reply.number("rate_ideal", { times: unit, absent: 0 }),
      power,
      powerSource: power === null ? null : "reported",
      temperature: highest(boards.map(({ temperature }) => temperature)),
      ...(reply.integer("fan_num") === 0 || isLiquidCooled(model) ? coolant(chains) : {}),
      boards,
      fans: fansOf(reply),
      uptime: reply.number("elapsed"),
      shares: { ...sharesOf(pools), hardwareErrors: total(errors) },
    },
    devices: boards.map((board, index) => bitmainDevice(board, errors[index] ?? null)),
    pools,
    model,
    logInterval: 5,
    workUtility: null,
  };
}

/** Numbered from 1, as in the RPC. */
function boardOf(chain: TolerantReader, position: number, unit: number): Board {
  const found = chain.integer("asic_num") ?? 0;
  const broken = Math.min(chain.text("asic", 1000)?.replace(/[^xX]/g, "").length ?? 0, found);
  return {
    slot: (chain.integer("index", { max: 98 }) ?? position) + 1,
    hashrate: chain.number("rate_real", { times: unit }),
    temperature: highest(sensors(chain, "temp_pcb")),
    chipTemperature: highest(sensors(chain, "temp_chip")),
    chips: found - broken,
    chipsExpected: broken > 0 ? found : null,
    frequency: megahertz(chain, "freq_avg"),
    voltage: null,
    serial: chain.text("sn"),
  };
}

/** 0 and 255 mean that a sensor does not answer. */
const sensors = (chain: TolerantReader, key: string): number[] =>
  chain.numbers(key, { min: -60, max: 255 }).flatMap((each) => (each !== null && each > 0 && each < 255 ? each : []));

/** In a water-cooled rig these sensors are at the inlet and the outlet. */
function coolant(chains: readonly TolerantReader[]): Pick<RigReadings, "temperatureIn" | "temperatureOut"> {
  const water = chains.flatMap((chain) => sensors(chain, "temp_pic"));
  return { temperatureIn: lowest(water), temperatureOut: highest(water) };
}

export function fansOf(reply: TolerantReader): RigReadings["fans"] {
  const count = reply.integer("fan_num") ?? 16;
  return reply
    .numbers("fan", {}, 16)
    .slice(0, count)
    .map((rpm) => ({ rpm, percent: null }));
}

/** The pools of pools.cgi, which does not report the active one. */
export const poolsOfWeb = (pools: unknown, notes: Notes): PoolReading[] =>
  new TolerantReader(pools, notes, "").list("POOLS").map((pool, position) => ({
    index: pool.integer("index") ?? position,
    url: pool.text("url", 255) ?? "",
    worker: pool.text("user", 255) ?? "",
    status: /^(?:dead|unreachable)$/i.test(pool.text("status") ?? "") ? "dead" : "enabled",
    active: false,
    priority: pool.integer("priority") ?? position,
    quota: null,
    accepted: pool.integer("accepted"),
    rejected: pool.integer("rejected"),
    stale: pool.integer("stale"),
    devFee: false,
  }));

export const sharesOf = (pools: readonly PoolReading[]): Pick<RigReadings["shares"], "accepted" | "rejected"> => ({
  accepted: total(pools.map(({ accepted }) => accepted)),
  rejected: total(pools.map(({ rejected }) => rejected)),
});

export interface Remarks {
  readonly errors: RigReadings["errors"];
  readonly bestShare: number | null;
  readonly hardwareErrors: number | null;
}

/** The states that are no fault. */
const healthy: readonly (string | null)[] = [null, "s", "running"];

/** What summary.cgi adds: faults and the best share. */
export function remarksOf(summary: unknown, notes: Notes): Remarks {
  const [reply] = new TolerantReader(summary, notes, "").list("SUMMARY");
  const states = reply?.list("status", 32) ?? [];
  return {
    bestShare: reply?.number("bestshare") ?? null,
    hardwareErrors: reply?.integer("hw_all") ?? null,
    errors: states.flatMap((state) => {
      if (healthy.includes(state.text("status")?.toLowerCase() ?? null)) return [];
      const what = state.text("type") ?? "status";
      const code = state.text("code");
      return {
        code: what,
        text: state.text("msg") ?? `${what} is faulty${code === null ? "" : ` (${code})`}`,
      };
    }),
  };
}
