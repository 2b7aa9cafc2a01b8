import { type Board, type RigReadings, unknownBoard, unknownReadings } from "../../../contract/readings.ts";
import type { PoolReading } from "../../driver.ts";
import { normalMac, unknownIdentity } from "../../identity.ts";
import { haltBy } from "../../reason.ts";
import { type Notes, TolerantReader } from "../../tolerant-reader.ts";
import { highest, lowest } from "../shared/figures.ts";
import type { PagePath, RestPages } from "./rest-pages.ts";
import { oneActive, type Snapshot, slotOf } from "./snapshot.ts";

/** Whether the miner is switched on and running. */
export interface Running {
  /** Switched on; null where it is not reported. */
  readonly wanted: boolean | null;
  readonly mining: boolean | null;
  /** BOSminer itself runs; only `start` brings a stopped one back. */
  readonly started: boolean;
  /** Why it stopped without a command. */
  readonly trouble: string | null;
}

const giga = { times: 1e9 };
const celsius = { min: -60, max: 250 };

export function restSnapshot(pages: RestPages, notes: Notes): Snapshot {
  const page = (path: PagePath): TolerantReader => new TolerantReader(pages.get(path), notes, path);
  const details = page("miner/details");
  const stats = page("miner/stats");
  const miner = stats.object("miner_stats");
  const shares = stats.object("pool_stats");
  const boards = page("miner/hw/hashboards").list("hashboards", 16);
  const shown = boards.flatMap(boardOf);
  const real = miner.object("real_hashrate");
  const power = stats.object("power_stats").object("approximated_consumption").number("watt", { absent: 0 });
  const running = runningOf(details);
  const tuner = tunerOf(page("performance/tuner-state"), page("configuration/miner"));
  const psu = details.object("psu_info");
  return {
    identity: {
      ...unknownIdentity,
      make: "Braiins",
      model: details.object("miner_identity").text("miner_model") ?? details.object("miner_identity").text("name"),
      firmware: details.object("bos_version").text("current"),
      mac: normalMac(details.text("mac_address")),
      hostname: details.text("hostname"),
      serial: details.text("serial_number"),
    },
    readings: {
      ...unknownReadings(),
      hashrate: rate(real, "last_5s") ?? rate(real, "last_15s"),
      hashrateAverage: rate(real, "since_restart"),
      hashrateExpected: rate(miner, "nominal_hashrate"),
      algorithm: "sha256",
      power,
      powerLimit: tuner.current ?? tuner.target,
      powerSource: power === null ? null : "reported",
      temperature: highest(shown.map(({ temperature }) => temperature)),
      temperatureIn: lowest(boards.map((board) => degrees(board, "lowest_water_inlet_temp", "lowest_inlet_temp"))),
      temperatureOut: highest(
        boards.map((board) => degrees(board, "highest_water_outlet_temp", "highest_outlet_temp")),
      ),
      boards: shown,
      fans: page("cooling/state").list("fans", 16).map(fanOf),
      psu: psu.keys().length === 0 ? null : psuOf(psu),
      uptime: details.number("bosminer_uptime_s", { absent: 0 }),
      mining: running.mining,
      mode: tuner.mode,
      locate: locateOf(pages.get("actions/locate")),
      bestShare: shares.number("best_share_str", { absent: 0 }) ?? miner.number("best_share", { absent: 0 }),
      foundBlocks: miner.integer("found_blocks"),
      shares: {
        accepted: shares.integer("accepted_shares"),
        rejected: shares.integer("rejected_shares"),
        hardwareErrors: null,
      },
      errors: [...troubleOf(running), ...page("miner/errors").list("errors", 16).map(errorOf)],
    },
    pools: oneActive(poolsOf(pages.get("pools/"), notes)),
    wanted: running.wanted,
    // Only a rig that reports its phase can be switched on without mining.
    starting: running.wanted === true && running.mining === false,
    halt: running.trouble === null ? undefined : haltBy(troubleText(running.trouble), "unknown"),
    off: new Set(boards.flatMap((board) => (board.boolean("enabled") === false ? (slotOf(board, "id") ?? []) : []))),
    logInterval: 5,
  };
}

const rate = (reply: TolerantReader, key: string): number | null =>
  reply.object(key).number("gigahash_per_second", giga);

/** The first that exists: liquid-cooled rigs have sensors in the water. */
function degrees(board: TolerantReader, ...keys: readonly string[]): number | null {
  for (const key of keys) {
    const read = board.object(key).number("degree_c", celsius);
    if (read !== null) return read;
  }
  return null;
}

function boardOf(board: TolerantReader): Board[] {
  const slot = slotOf(board, "id");
  if (slot === null) return [];
  const stats = board.object("stats");
  return [
    {
      ...unknownBoard(slot),
      hashrate: rate(stats.object("real_hashrate"), "last_5s"),
      temperature: degrees(board, "board_temp"),
      chipTemperature: board.object("highest_chip_temp").object("temperature").number("degree_c", celsius),
      chips: board.integer("chips_count"),
      frequency: board.object("current_frequency").number("hertz", { absent: 0 }),
      voltage: board.object("current_voltage").number("volt", { absent: 0, max: 100 }),
      serial: board.text("serial_number"),
    },
  ];
}

function fanOf(fan: TolerantReader): RigReadings["fans"][number] {
  const ratio = fan.number("target_speed_ratio", { max: 1 });
  return { rpm: fan.number("rpm"), percent: ratio === null ? null : Math.round(ratio * 100) };
}

const psuOf = (psu: TolerantReader): RigReadings["psu"] => ({
  power: null,
  voltage: null,
  temperature: null,
  model: psu.text("model_name"),
  serial: psu.text("serial_number"),
});

const locateOf = (value: unknown): boolean | null => (typeof value === "boolean" ? value : null);

/**
 * `status`: 1 not started, 2 normal, 3 paused, 4 suspended, 5 restricted (it mines, in part for the makers). Newer
 * versions report more in `detailed_status`: running, starting, stopped or stopping, each with its reason.
 */
export function runningOf(details: TolerantReader): Running {
  const uptime = details.number("bosminer_uptime_s");
  const detailed = details.object("detailed_status").object("status");
  const phase = ["running", "starting", "stopped", "stopping"].find((name) => detailed.has(name));
  if (phase !== undefined) {
    const reason = detailed.object(phase).object("reason").keys()[0] ?? null;
    const idle = reason === null || reason === "user_pause" || reason === "unspecified" || phase === "stopping";
    const on = phase === "running" || phase === "starting";
    return {
      wanted: on,
      mining: phase === "running",
      started: reason !== "application_unavailable" && uptime !== 0,
      trouble: on || idle ? null : reason,
    };
  }
  const status = details.integer("status", { absent: 0 });
  const mining = status === null ? null : status === 2 || status === 5;
  return {
    wanted: mining,
    mining,
    started: status !== 1 && uptime !== 0,
    trouble: status === 4 ? "suspended" : null,
  };
}

const troubleOf = ({ trouble }: Running): RigReadings["errors"] =>
  trouble === null ? [] : [{ code: trouble, text: troubleText(trouble) }];

const troubleText = (trouble: string): string => `the miner has stopped: ${trouble.replaceAll("_", " ")}`;

function errorOf(error: TolerantReader): RigReadings["errors"][number] {
  const first = error.list("error_codes")[0];
  return {
    code: first?.text("code") ?? "error",
    text: error.text("message") ?? first?.text("reason") ?? "an error without a message",
  };
}

export interface Tuner {
  /** W, as set. */
  readonly target: number | null;
  /** W, at present: Dynamic Performance Scaling lowers it while the rig is hot. */
  readonly current: number | null;
  readonly mode: string | null;
}

/** The present target of the tuner, and the configured one. */
export function tunerOf(state: TolerantReader, configuration: TolerantReader): Tuner {
  const at = state.object("mode_state");
  const tuner = configuration.object("tuner");
  const current = at.object("powertargetmodestate").object("current_target").number("watt", { absent: 0 });
  // 1 is a power target, 2 a hash rate target; a target of the other kind may still be stored.
  const byHashrate = at.has("hashratetargetmodestate") || tuner.integer("tuner_mode") === 2;
  const off = state.integer("overall_tuner_state") === 1 || tuner.boolean("enabled") === false;
  const target = off || byHashrate ? null : tuner.object("power_target").number("watt", { absent: 0 });
  const known = state.keys().length > 0 || tuner.keys().length > 0;
  const mode = off ? "manual" : byHashrate ? "hashrate target" : known ? "power target" : null;
  return { target: target ?? (off || byHashrate ? null : current), current: off ? null : current, mode };
}

/** Groups share the work among them; within one the first pool that answers is used. */
function poolsOf(groups: unknown, notes: Notes): PoolReading[] {
  const listed = new TolerantReader({ groups: groups ?? [] }, notes, "pools").list("groups", 32);
  const pools = listed.flatMap((group) =>
    group.list("pools", 32).map((pool, priority) => ({ pool, priority, quota: quotaOf(group) })),
  );
  return pools.map(({ pool, priority, quota }, index) => {
    const stats = pool.object("stats");
    const enabled = pool.boolean("enabled") ?? true;
    return {
      index,
      url: pool.text("url", 255) ?? "",
      worker: pool.text("user", 255) ?? "",
      status: !enabled ? "disabled" : pool.boolean("alive") === false ? "dead" : "enabled",
      active: pool.boolean("active") ?? false,
      priority,
      quota,
      accepted: stats.integer("accepted_shares"),
      rejected: stats.integer("rejected_shares"),
      stale: stats.integer("stale_shares"),
      devFee: false,
    };
  });
}

const quotaOf = (group: TolerantReader): number | null => group.object("strategy").object("quota").integer("value");
