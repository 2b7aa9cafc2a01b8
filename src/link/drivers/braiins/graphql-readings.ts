import { type Board, unknownBoard, unknownReadings } from "../../../contract/readings.ts";
import type { PoolReading } from "../../driver.ts";
import { unknownIdentity } from "../../identity.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { celsius, highest } from "../shared/figures.ts";
import type { Answer } from "./graphql.ts";
import { oneActive, type Snapshot, slotOf, turning } from "./snapshot.ts";

/** Sent with each read. A stopped BOSminer reports null for measurements. */
export const statusQuery =
  "{bos{hostname faultLight info{version{full}}} bosminer{info{workSolver{realHashrate{mhs5S} nominalMhs " +
  "childSolvers{name realHashrate{mhs5S} nominalMhs hwDetails{chips frequencyMhz voltageV} " +
  "temperatures{name degreesC}}} fans{name speed rpm} summary{power{limitW approxConsumptionW}} " +
  "poolGroups{name pools{url user status active shares{acceptedSolutions rejectedSolutions}}}} " +
  "config{...on BosminerConfig{autotuning{mode powerTarget hashrateTarget} " +
  "groups{id strategy{...on QuotaStrategy{quota}}}}}}}";

/** Sent now and then; older versions do not support all of it. */
export const settingsQuery =
  "{bosminer{info{modelName} config{...on BosminerConfig{tempControl{mode targetTemp hotTemp} fanControl{speed}}}}}";

/** The present settings. */
export interface LegacySettings {
  readonly powerTarget: number | null;
  readonly coolingMode: string | null;
  readonly targetTemperature: number | null;
  readonly hotTemperature: number | null;
  readonly fanPercent: number | null;
}

export const unknownSettings: LegacySettings = {
  powerTarget: null,
  coolingMode: null,
  targetTemperature: null,
  hotTemperature: null,
  fanPercent: null,
};

export function legacySnapshot({ data }: Answer, settings: Answer | null, notes: Notes): Snapshot {
  const all = new TolerantReader(data, notes, "");
  const bos = all.object("bos");
  const bosminer = all.object("bosminer");
  const info = bosminer.object("info");
  const solver = info.object("workSolver");
  const boards = solver.list("childSolvers", 16).flatMap(boardOf);
  const power = info.object("summary").object("power");
  const watts = power.number("approxConsumptionW", { absent: 0 });
  const hashrate = solver.object("realHashrate").number("mhs5S", mega);
  const tuning = bosminer.object("config").object("autotuning");
  const model = new TolerantReader(settings?.data, notes, "").object("bosminer").object("info").text("modelName");
  return {
    identity: {
      ...unknownIdentity,
      make: "Braiins",
      model,
      firmware: bos.object("info").object("version").text("full"),
      hostname: bos.text("hostname"),
    },
    readings: {
      ...unknownReadings(),
      hashrate,
      hashrateExpected: solver.number("nominalMhs", { ...mega, absent: 0 }),
      algorithm: "sha256",
      power: watts,
      powerLimit: power.number("limitW", { absent: 0 }) ?? tuning.number("powerTarget", { absent: 0 }),
      powerSource: watts === null ? null : "reported",
      temperature: highest(boards.map(({ temperature }) => temperature)),
      boards,
      fans: turning(info.list("fans").map((fan) => ({ rpm: fan.number("rpm"), percent: fan.number("speed") }))),
      // A stopped miner measures nothing.
      mining: hashrate === null ? (bosminer.has("info") ? false : null) : hashrate > 0,
      mode: modeOf(tuning.text("mode")),
      locate: bos.boolean("faultLight"),
    },
    pools: oneActive(poolsOf(info.list("poolGroups", 32), bosminer.object("config").list("groups", 32))),
    wanted: bosminer.has("info") ? solver.keys().length > 0 : null,
    starting: false,
    off: new Set(),
    logInterval: 5,
  };
}

export function legacySettings({ data }: Answer, settings: Answer | null, notes: Notes): LegacySettings {
  const config = (value: unknown): TolerantReader =>
    new TolerantReader(value, notes, "").object("bosminer").object("config");
  const given = config(settings?.data);
  const temperature = given.object("tempControl");
  return {
    powerTarget: config(data).object("autotuning").number("powerTarget", { absent: 0 }),
    coolingMode: temperature.text("mode"),
    targetTemperature: temperature.number("targetTemp"),
    hotTemperature: temperature.number("hotTemp"),
    fanPercent: given.object("fanControl").number("speed", { max: 100 }),
  };
}

const mega = { times: 1e6 };

function modeOf(mode: string | null): string | null {
  return mode === null ? null : (modes[mode] ?? mode.toLowerCase().replaceAll("_", " "));
}

const modes: Readonly<Record<string, string>> = { POWER_TARGET: "power target", HASHRATE_TARGET: "hashrate target" };

function boardOf(solver: TolerantReader): Board[] {
  const slot = slotOf(solver, "name");
  if (slot === null) return [];
  const hardware = solver.object("hwDetails");
  const degrees = (name: RegExp): number | null =>
    highest(
      solver
        .list("temperatures", 16)
        .map((each) => (name.test(each.text("name") ?? "") ? each.number("degreesC", celsius) : null)),
    );
  return [
    {
      ...unknownBoard(slot),
      hashrate: solver.object("realHashrate").number("mhs5S", mega),
      temperature: degrees(/board/i),
      chipTemperature: degrees(/chip/i),
      chips: hardware.integer("chips", { absent: 0 }),
      frequency: hardware.number("frequencyMhz", { ...mega, absent: 0 }),
      voltage: hardware.number("voltageV", { absent: 0, max: 100 }),
    },
  ];
}

/** Groups share the work among them by quota; within a group the first pool that answers is used. */
function poolsOf(groups: readonly TolerantReader[], configured: readonly TolerantReader[]): PoolReading[] {
  const pools = groups.flatMap((group, at) =>
    group.list("pools", 32).map((pool, priority) => ({ pool, priority, quota: quotaOf(configured[at]) })),
  );
  return pools.map(({ pool, priority, quota }, index) => {
    const shares = pool.object("shares");
    return {
      index,
      url: pool.text("url", 255) ?? "",
      worker: pool.text("user", 255) ?? "",
      status: statusOf(pool.text("status")),
      active: pool.boolean("active") ?? false,
      priority,
      quota,
      accepted: shares.integer("acceptedSolutions"),
      rejected: shares.integer("rejectedSolutions"),
      stale: null,
      devFee: false,
    };
  });
}

const quotaOf = (group: TolerantReader | undefined): number | null =>
  group?.object("strategy").integer("quota") ?? null;

function statusOf(status: string | null): PoolReading["status"] {
  if (/disabled/i.test(status ?? "")) return "disabled";
  return /dead|fail|unreachable/i.test(status ?? "") ? "dead" : "enabled";
}
