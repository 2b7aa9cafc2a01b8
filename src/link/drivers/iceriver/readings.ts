import { asicModel } from "../../../catalogue/asic-models.ts";
import { type Board, type Identity, type RigReadings, unknownReadings } from "../../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import type { NumberRule, TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { celsius, highest, megahertz, total } from "../shared/figures.ts";
import { usualUnits } from "../shared/rate-units.ts";

export function identityOf(panel: TolerantReader): Identity {
  const software = panel.text("softver1");
  return {
    make: "IceRiver",
    model: modelOf(software),
    firmware: software,
    mac: normalMac(panel.text("mac")),
    hostname: panel.text("host"),
    serial: null,
  };
}

/** "..._ks5L_miner" is a KS5L. */
const modelOf = (software: string | null): string | null => {
  const name = software?.split("_").at(-2);
  return name === undefined || name === "" ? null : name.toUpperCase();
};

/** A rate is written with its prefix ("15011G"); one without is in the panel's `unit`. */
function rateOf(reply: TolerantReader, key: string, unit: string | null): number | null {
  const hasPrefix = /[KMGTP]\s*$/i.test(reply.text(key) ?? "");
  const times = hasPrefix ? 1 : usualUnits[unit?.toUpperCase() ?? ""];
  if (times === undefined) return null;
  const rule: NumberRule = { times };
  return reply.number(key, rule);
}

export function readingsOf(panel: TolerantReader): RigReadings {
  const unit = panel.text("unit", 1);
  const hashrate = rateOf(panel, "rtpow", unit);
  const boards = panel.list("boards", 16);
  const pools = poolsOf(panel);
  return {
    ...unknownReadings(),
    hashrate,
    hashrateAverage: rateOf(panel, "avgpow", unit),
    algorithm: asicModel("IceRiver", modelOf(panel.text("softver1")))?.algorithm ?? null,
    temperature: highest(boards.flatMap((board) => [board.number("intmp", celsius), board.number("outtmp", celsius)])),
    temperatureIn: highest(boards.map((board) => board.number("intmp", celsius))),
    temperatureOut: highest(boards.map((board) => board.number("outtmp", celsius))),
    boards: boards.map((board, position) => boardOf(board, position, unit)),
    fans: panel.numbers("fans", {}, 16).map((rpm) => ({ rpm, percent: null })),
    uptime: secondsIn(panel.text("runtime")),
    mining: hashrate === null ? null : hashrate > 0,
    locate: panel.boolean("locate"),
    shares: {
      accepted: total(pools.map(({ accepted }) => accepted)),
      rejected: total(pools.map(({ rejected }) => rejected)),
      hardwareErrors: null,
    },
    errors: errorsOf(panel),
  };
}

const boardOf = (board: TolerantReader, position: number, unit: string | null): Board => ({
  slot: board.integer("no", { max: 99 }) ?? position + 1,
  hashrate: rateOf(board, "rtpow", unit),
  temperature: highest([board.number("intmp", celsius), board.number("outtmp", celsius)]),
  chipTemperature: null,
  chips: board.integer("chipnum"),
  chipsExpected: null,
  frequency: megahertz(board, "freq"),
  voltage: null,
  serial: null,
});

export const devicesOf = (boards: readonly Board[]): DeviceReading[] => boards.map((board) => boardDevice(board));

/** Days, hours, minutes and seconds: "02:07:15:40". */
function secondsIn(text: string | null): number | null {
  const match = /^(\d{1,5}):(\d{1,2}):(\d{1,2}):(\d{1,2})$/.exec(text ?? "");
  if (match === null) return null;
  const [days = 0, hours = 0, minutes = 0, seconds = 0] = match.slice(1).map(Number);
  return ((days * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** The lights of its page; each is false for a fault. */
const lights = [
  ["powstate", "It reports a fault of its power supply"],
  ["netstate", "It reports a network fault"],
  ["fanstate", "It reports a fault of its fans"],
  ["tempstate", "It reports a thermal fault"],
] as const;

const errorsOf = (panel: TolerantReader): RigReadings["errors"] =>
  lights.flatMap(([code, text]) => (panel.boolean(code) === false ? [{ code, text }] : []));

/** `connect` is 1 for the pool in use and -1 for one that is not connected; `state` is 1 while the pool answers. */
export function poolsOf(panel: TolerantReader): PoolReading[] {
  const listed = panel.list("pools", 16).filter((pool) => pool.text("addr", 255) !== null);
  const active = listed.find((pool) => pool.number("connect", { min: -1 }) === 1);
  return listed.map((pool, position) => {
    const url = pool.text("addr", 255) ?? "";
    return {
      index: pool.integer("no") ?? position,
      url: url.includes("://") ? url : `stratum+tcp://${url}`,
      worker: pool.text("user", 255) ?? "",
      status: pool.number("state", { min: -1 }) === 1 ? ("enabled" as const) : ("dead" as const),
      active: pool === active,
      priority: position,
      quota: null,
      accepted: pool.integer("accepted"),
      rejected: pool.integer("rejected"),
      stale: null,
      devFee: /devfee/i.test(url) || /devfee/i.test(pool.text("user", 255) ?? ""),
    };
  });
}
