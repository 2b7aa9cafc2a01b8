import type { DeviceReading, PoolReading } from "../../driver.ts";
import { noPoolAnswers } from "../../reason.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { unknownDevice } from "../shared/board-device.ts";
import { busOf, gpuRules } from "../shared/gpu-device.ts";
import { poolPartsOf } from "../shared/line-replies.ts";
import { type ProgramReport, programPool } from "../shared/program.ts";

/** Forks that count as separate programs, by the beginning of their version; all others are ethminer. */
const forks: readonly (readonly [sign: RegExp, make: string, software: string, algorithm: string | null])[] = [
  [/^kawpowminer/i, "kawpowminer", "KawpowMiner", "kawpow"],
  [/^nsfminer/i, "nsfminer", "", "ethash"],
  [/^etcminer/i, "etcminer", "", "etchash"],
  [/^ethminer/i, "ethminer", "EthMiner", "ethash"],
];

export interface Program {
  readonly make: string;
  /** "" for a fork that GET /api/miningsoftware does not list. */
  readonly software: string;
  readonly algorithm: string | null;
  readonly version: string | null;
}

/** By the version: "ethminer-0.19.0+commit.8f8bc3eb", "kawpowminer 1.2.4". */
export function programOf(written: string | null): Program {
  const [, name = "", version = null] = /^([A-Za-z]+(?:miner)?)(?:[- ]v?(.*))?$/.exec(written ?? "") ?? [];
  const unlisted = [/./, name || "ethminer", "", null] as const;
  const [, make, software, algorithm] = forks.find(([sign]) => sign.test(name)) ?? unlisted;
  return { make, software, algorithm, version };
}

/** What a command to pause a card needs. */
export interface NumberedCard {
  readonly number: number;
  readonly isPaused: boolean;
}

export interface EthminerReport extends ProgramReport {
  readonly cards: readonly NumberedCard[];
}

/** miner_getstatdetail with miner_getconnections. */
export function reportOf(detail: TolerantReader, pools: readonly PoolReading[]): EthminerReport {
  const { make, software, algorithm, version } = programOf(detail.object("host").text("version"));
  const listed = detail.list("devices", mostCards);
  const devices = listed.map(deviceOf);
  const mining = detail.object("mining");
  const [accepted = null, rejected = null, failed = null] = mining.numbers("shares");
  const connected = detail.object("connection").boolean("connected");
  const isPaused = devices.length > 0 && devices.every(({ status }) => status === "disabled");
  return {
    make,
    software,
    version,
    hostname: detail.object("host").text("name"),
    devices,
    cards: listed.map((card, place) => ({
      number: card.integer("_index") ?? place,
      isPaused: card.object("mining").boolean("paused") === true,
    })),
    pools,
    readings: {
      hashrate: hexRate(mining),
      algorithm,
      uptime: detail.object("host").number("runtime"),
      shares: { accepted: whole(accepted), rejected: whole(rejected), hardwareErrors: whole(failed) },
      errors: listed.flatMap((card, place) => pauseOf(card, devices[place]?.name ?? "A card")),
    },
    halt: !isPaused && connected === false ? noPoolAnswers : undefined,
  };
}

const mostCards = 64;

/** A count; null for anything else. */
const whole = (figure: number | null): number | null => (Number.isSafeInteger(figure) ? figure : null);

/** H/s as "0x01e8cb1a". */
function hexRate(mining: TolerantReader): number | null {
  const written = mining.text("hashrate", 32);
  if (written === null) return null;
  if (/^0x0*[0-9a-f]{1,13}$/i.test(written)) return Number.parseInt(written, 16);
  return mining.number("hashrate");
}

function deviceOf(card: TolerantReader, place: number): DeviceReading {
  const hardware = card.object("hardware");
  const mining = card.object("mining");
  const type = hardware.text("type");
  // ethminer writes the memory of a card behind its name: "GeForce GTX 1070 7.93 GB".
  const name = hardware.text("name")?.replace(/ \d+(?:\.\d+)? [KMG]B$/, "") ?? `GPU ${place}`;
  const [temperature = null, fanPercent = null, power = null] = sensorsOf(hardware);
  const [accepted = null, rejected = null, failed = null] = mining.numbers("shares");
  return {
    ...unknownDevice,
    kind: type === "CPU" ? "cpu" : "gpu",
    name,
    status: mining.boolean("paused") === true ? "disabled" : "enabled",
    hashrate: hexRate(mining),
    temperature,
    fanPercent,
    power,
    bus: type === "CPU" || !hardware.has("pci") ? null : busOf(hardware, "pci"),
    accepted: whole(accepted),
    rejected: whole(rejected),
    hardwareErrors: whole(failed),
  };
}

/** Temperature, fan and power; all 0 without --HWMON, which measures power only from 2 on. */
function sensorsOf(hardware: TolerantReader): (number | null)[] {
  const [celsius = null, percent = null, watts = null] = hardware.numbers("sensors");
  const temperature = within(celsius, gpuRules.temperature.max);
  return [
    temperature,
    temperature === null || (percent ?? 101) > 100 ? null : percent,
    within(watts, gpuRules.power.max),
  ];
}

const within = (figure: number | null, most: number): number | null =>
  figure === null || figure === 0 || figure > most ? null : figure;

/** Whether a card paused itself, for example when overheating; false for one that was paused by a command. */
function pauseOf(card: TolerantReader, name: string): { code: string; text: string }[] {
  const reason = card.object("mining").text("pause_reason");
  const isOwn = reason !== null && !/api/i.test(reason) && card.object("mining").boolean("paused") === true;
  return isOwn ? [{ code: "device.paused", text: `${name} is paused: ${reason}` }] : [];
}

/** miner_getconnections; URIs contain the login, password included. */
export function poolsOf(connections: TolerantReader, accepted: number | null, rejected: number | null): PoolReading[] {
  const listed = connections.list("result", 64);
  const first = listed.findIndex((entry) => entry.boolean("active") === true);
  return listed.flatMap((entry, place) => {
    const uri = entry.text("uri", 500);
    if (uri === null) return [];
    const active = place === first;
    return programPool({
      ...poolPartsOf(uri),
      active,
      index: entry.integer("index") ?? place,
      priority: place,
      ...(active ? { accepted, rejected } : {}),
    });
  });
}
