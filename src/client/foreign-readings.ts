import { efficiencyOf } from "../contract/efficiency.ts";
import { type Control, type Readings, unknownBoard, unknownReadings } from "../contract/readings.ts";
import type { MinerStatus } from "../contract/resources.ts";
import type { Parser } from "../units/parse.ts";
import { boardTemperatures, type Display, labelled } from "./display.ts";
import type { Fields } from "./fields.ts";
import type { ForeignDevice } from "./foreign-devices.ts";
import type { MinerMemory } from "./miner-memory.ts";
import type { Uids } from "./uids.ts";

/** The context for reading a foreign server's miners. */
export interface MinerReading {
  readonly parser: Parser;
  readonly locale: string;
  readonly uids: Uids;
  readonly memory: MinerMemory;
  readonly now: () => number;
  /** Notes entries left out of a reply that has no field for notes. */
  readonly note: (words: string) => void;
}

/** The parts of a miner that have been read so far. */
export interface SeenMiner {
  readonly fields: Fields;
  readonly status: MinerStatus;
  /** Whether the server can reach it. */
  readonly isLive: boolean;
  /** Epoch ms. */
  readonly at: number;
  /** H/s */
  readonly speed: { readonly hashrate: number | null; readonly average: number | null };
  readonly devices: Readonly<Record<"gpu" | "pga" | "asic" | "cpu", readonly ForeignDevice[]>>;
  readonly display: Display;
}

/** °C */
export interface Temperatures {
  readonly max: number | null;
  readonly average: number | null;
}

/**
 * The readings of a foreign server's miner in SI units. Energy is null: it would have to be integrated continuously, and
 * a client does not always run.
 */
export function readingsOf(
  miner: SeenMiner,
  reading: MinerReading,
): { readonly readings: Readings; readonly temperatures: Temperatures } {
  const { fields, status, isLive, at, speed, devices, display } = miner;
  if (!isLive) return { readings: noReadings(at), temperatures: { max: null, average: null } };
  const celsius = boardTemperatures(fields.text("temperature"), reading.parser);
  const temperatures = temperaturesOf(fields, celsius);
  const { power, source } = powerOf(fields, display, reading);
  const uptime = uptimeOf(fields.object("statusInfo"), reading);
  const start = reading.memory.start(fields.id(), at, uptime);
  const { hashrate, average } = speed;
  const readings: Readings = {
    ...unknownReadings(),
    at: new Date(at).toISOString(),
    stale: false,
    energy: null,
    hashrate,
    hashrateAverage: average,
    algorithm: fields.object("coinInfo").text("algorithm") || null,
    power,
    powerSource: source,
    efficiency: efficiencyOf({ hashrate, hashrateExpected: null, power }, isMining(status) ? uptime : null),
    temperature: temperatures.max,
    boards: boardsOf(devices.asic, celsius),
    fans: fansOf([...devices.asic, ...devices.gpu]),
    uptime,
    startedAt: start === null ? null : new Date(start).toISOString(),
    reason: null,
    mining: isMining(status),
    shares: sharesOf(fields.object("progressInfo"), display, reading),
    notes: display.notes,
  };
  return { readings, temperatures };
}

const noReadings = (at: number): Readings => ({
  ...unknownReadings(),
  at: new Date(at).toISOString(),
  stale: true,
  energy: null,
  efficiency: null,
  startedAt: null,
  reason: null,
});

/** The server sends 0 for unknown. */
function temperaturesOf(fields: Fields, celsius: readonly number[]): Temperatures {
  const sum = celsius.reduce((total, each) => total + each, 0);
  return {
    max: fields.numberOrNull("maxTemperatureValue") || (celsius.length === 0 ? null : Math.max(...celsius)),
    average: fields.numberOrNull("avgTemperatureValue") || (celsius.length === 0 ? null : sum / celsius.length),
  };
}

function powerOf(
  fields: Fields,
  display: Display,
  { parser }: MinerReading,
): { power: number | null; source: Readings["powerSource"] } {
  const coin = fields.object("coinInfo");
  const isActual = coin.flagOrNull("isActualPowerUsage");
  const value = coin.numberOrNull("powerUsageValue");
  // It is 0 for a miner whose power is neither measured nor configured.
  const known = value === 0 && isActual !== true ? null : value;
  const power = display.number(fields.object("speedInfo"), "line3", known, labelled(parser.power));
  const source = isActual === null ? null : isActual ? "reported" : "nameplate";
  return { power, source: power === null ? null : source };
}

/** s; if the server does not know the start time, the number is 0 and there is no text. */
function uptimeOf(statusInfo: Fields, { parser }: MinerReading): number | null {
  const seconds = statusInfo.numberOrNull("secondsSinceStart");
  const text = statusInfo.textOrNull("statusLine3");
  if (seconds !== null && (seconds > 0 || text !== null)) return seconds;
  return text === null ? null : parser.duration(text.trim());
}

function sharesOf(fields: Fields, display: Display, { parser }: MinerReading): Readings["shares"] {
  const count = labelled(parser.count);
  return {
    accepted: display.number(fields, "line1", fields.integerOrNull("acceptedValue"), count),
    rejected: display.number(fields, "line2", fields.integerOrNull("rejectedValue"), count),
    hardwareErrors: display.number(fields, "line3", fields.integerOrNull("hwErrorsValue"), count),
  };
}

/** A board for each ASIC, in order; if none are listed, one for each of several temperatures. */
function boardsOf(asics: readonly ForeignDevice[], celsius: readonly number[]): Readings["boards"] {
  const perBoard = celsius.length === asics.length ? celsius : [];
  if (asics.length > 0)
    return asics.map(({ shown, hashrate }, slot) => ({
      ...unknownBoard(slot),
      hashrate,
      temperature: shown.deviceInfo.temperature || (perBoard[slot] ?? null),
    }));
  return celsius.length < 2 ? [] : celsius.map((temperature, slot) => ({ ...unknownBoard(slot), temperature }));
}

const fansOf = (devices: readonly ForeignDevice[]): Readings["fans"] =>
  devices.flatMap(({ shown: { deviceInfo } }) =>
    deviceInfo.fanSpeed > 0 ? [{ rpm: deviceInfo.fanSpeed, percent: deviceInfo.fanPercent || null }] : [],
  );

/** Whether the mining process runs; null if the status does not show it. */
function isMining(status: MinerStatus): boolean | null {
  if (status === "Stopped") return false;
  return status === "Mining" || status === "Idle" || status === "Starting" ? true : null;
}

const plain = { unit: null, min: null, max: null, step: null, options: null, value: null, lasting: false } as const;

/** The document's actions as controls. */
export function controlsOf(fields: Fields, status: MinerStatus): Control[] {
  const controls: Control[] = [];
  if (fields.flag("canStop") || fields.flag("canStart"))
    controls.push({
      ...plain,
      key: "mining",
      kind: "switch",
      value: isMining(status),
      restartsMining: true,
      seconds: 30,
    });
  if (fields.flag("canReboot"))
    controls.push({ ...plain, key: "reboot", kind: "trigger", restartsMining: true, seconds: 120 });
  if (fields.flag("canRestart"))
    controls.push({ ...plain, key: "restart", kind: "trigger", restartsMining: true, seconds: 30 });
  return controls;
}
