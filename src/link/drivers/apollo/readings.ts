import {
  type Board,
  type Identity,
  type RigReadings,
  unknownBoard,
  unknownReadings,
} from "../../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, total } from "../shared/figures.ts";
import { isSameUrl } from "../shared/listed-pool.ts";

/** The answers of one read; without its login the second is empty. */
export interface Snapshot {
  readonly miner: TolerantReader;
  readonly owner: TolerantReader;
}

/** "online", "offline", "pending" while it starts or stops, or "error". */
const statusOf = ({ miner }: Pick<Snapshot, "miner">): string | null =>
  miner.object("online").object("result").object("online").text("status");

/** Whether its mining program runs; null in between. */
export function isOn(snapshot: Pick<Snapshot, "miner">): boolean | null {
  const status = statusOf(snapshot);
  return status === "online" ? true : status === "offline" ? false : null;
}

/** Its own board and those at its USB ports. Without the program they are those of its last run. */
const unitsOf = (snapshot: Snapshot): TolerantReader[] =>
  isOn(snapshot) === true ? snapshot.miner.object("stats").object("result").list("stats", 16) : [];

const models: Readonly<Record<string, string>> = { v1: "Apollo BTC", v2: "Apollo II", v3: "Apollo III" };

export function identityOf(snapshot: Snapshot): Identity {
  const [unit] = snapshot.miner.object("stats").object("result").list("stats", 16);
  const system = snapshot.owner.object("Mcu").object("stats").object("result").object("stats");
  const networks = system.list("network", 16);
  const wired = networks.find((network) => /^e/.test(network.text("name") ?? ""));
  const macs = [wired, ...networks].map((network) => normalMac(network?.text("mac") ?? null));
  return {
    make: "FutureBit",
    model: models[unit?.text("version") ?? ""] ?? null,
    firmware: unit?.object("versions").text("miner") ?? null,
    mac: macs.find((mac) => mac !== null) ?? null,
    hostname: system.text("hostname"),
    serial: null,
  };
}

/** Rates are in GH/s, as the W per GH/s beside them are. */
const giga = { times: 1e9 };

const intervalOf = (unit: TolerantReader, name: string): TolerantReader =>
  unit.object("master").object("intervals").object(name);

export const modeOf = ({ owner }: Snapshot): string | null =>
  owner.object("Settings").object("read").object("result").object("settings").text("minerMode");

export function readingsOf(snapshot: Snapshot): RigReadings {
  const units = unitsOf(snapshot);
  const on = isOn(snapshot);
  const ofAll = (read: (unit: TolerantReader) => number | null): number | null => total(units.map(read));
  const ofPool = (key: string): number | null =>
    ofAll((unit) => unit.object("pool").object("intervals").object("int_0").integer(key));
  const power = ofAll((unit) => unit.object("master").number("boardsW", { absent: 0 }));
  const boards = units.map(boardOf);
  return {
    ...unknownReadings(),
    hashrate: on === false ? 0 : ofAll((unit) => intervalOf(unit, "int_30").number("bySol", giga)),
    hashrateAverage: ofAll((unit) => intervalOf(unit, "int_0").number("bySol", giga)),
    // All its chips are for SHA-256.
    algorithm: "sha256",
    power,
    powerSource: power === null ? null : "reported",
    temperature: highest(boards.map((board) => board.temperature)),
    boards,
    fans: units.flatMap((unit) =>
      unit
        .object("fans")
        .object("int_0")
        .numbers("rpm", {}, 8)
        .map((rpm) => ({ rpm, percent: null })),
    ),
    uptime: highest(units.map((unit) => intervalOf(unit, "int_0").number("interval"))),
    mining: on,
    mode: modeOf(snapshot),
    shares: {
      accepted: ofPool("sharesAccepted"),
      rejected: ofPool("sharesRejected"),
      hardwareErrors: ofAll((unit) => intervalOf(unit, "int_0").integer("errors")),
    },
  };
}

function boardOf(unit: TolerantReader, slot: number): Board {
  const board = unit.object("slots").object("int_0");
  return {
    ...unknownBoard(slot),
    hashrate: intervalOf(unit, "int_30").number("bySol", giga),
    temperature: board.number("temperature", celsius),
    chips: board.integer("chips"),
  };
}

export const devicesOf = (boards: readonly Board[]): DeviceReading[] => boards.map((board) => boardDevice(board));

/** The listed pools; without the login, the one in use. */
export function poolsOf(snapshot: Snapshot): PoolReading[] {
  const [unit] = unitsOf(snapshot);
  const used = unit?.object("pool");
  const host = used?.text("host", 255) ?? null;
  const shares = used?.object("intervals").object("int_0");
  const current = {
    url: host === null ? "" : `stratum+tcp://${host}:${used?.integer("port") ?? ""}`,
    worker: used?.text("userName", 255) ?? "",
  };
  const counted = {
    accepted: shares?.integer("sharesAccepted") ?? null,
    rejected: shares?.integer("sharesRejected") ?? null,
  };
  const base = { quota: null, stale: null, devFee: false } as const;
  const listed = snapshot.owner.object("Pool").object("list").object("result").list("pools", 32);
  if (listed.length === 0)
    return host === null
      ? []
      : [{ ...base, ...current, ...counted, index: 0, status: "enabled", active: true, priority: 0 }];
  const pools = listed.map((pool, position): PoolReading => {
    const url = pool.text("url", 255) ?? "";
    return {
      ...base,
      index: pool.integer("id") ?? position,
      url: url.includes("://") ? url : `stratum+tcp://${url}`,
      worker: pool.text("username", 255) ?? "",
      status: pool.boolean("enabled") === false ? "disabled" : "enabled",
      active: false,
      priority: pool.integer("index") ?? position,
      accepted: null,
      rejected: null,
    };
  });
  const active = pools.find(
    (pool) => pool.status === "enabled" && pool.worker === current.worker && isSameUrl(pool.url, current.url),
  );
  return pools.map((pool) => (pool === active ? { ...pool, ...counted, active: true } : pool));
}
