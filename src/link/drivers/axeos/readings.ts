import type { Identity, RigReadings } from "../../../contract/readings.ts";
import { unknownReadings } from "../../../contract/readings.ts";
import { detail } from "../../../messages/detail.ts";
import type { DeviceReading } from "../../driver.ts";
import { normalMac } from "../../identity.ts";
import { halt } from "../../reason.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { boardDevice } from "../shared/board-device.ts";
import { highest } from "../shared/figures.ts";

/** From GET /api/system/info, and from the page at / where that names the make. */
export function identityOf(info: TolerantReader, page: string): Identity {
  const model = info.text("deviceModel") ?? info.text("minerModel");
  const lucky = info.has("minerModel") || /Lucky ?miner/i.test(page);
  const nerd = /nerd/i.test(model ?? "") || /Nerd/.test(page);
  const make = lucky ? "LuckyMiner" : nerd ? "NerdAxe" : "Bitaxe";
  return {
    make,
    model: model ?? (make === "Bitaxe" ? bitaxeModel(info) : null) ?? chipAndBoard(info),
    firmware: info.text("version"),
    mac: normalMac(info.text("macAddr")),
    hostname: info.text("hostname"),
    serial: null,
  };
}

/** By `boardVersion`. Source: ESP-Miner's table of its boards. */
const bitaxes: readonly (readonly [RegExp, string])[] = [
  [/^10\d$/, "Max"],
  [/^20\d$/, "Ultra"],
  [/^30\d$/, "Hex"],
  [/^40\d$/, "Supra"],
  [/^60\d$/, "Gamma"],
  [/^65\d$/, "Gamma Duo"],
  [/^70\d$/, "Supra Hex"],
  [/^80\d$/, "Gamma Turbo"],
];

/** "Gamma 601"; null for an unknown board. */
function bitaxeModel(info: TolerantReader): string | null {
  const version = info.text("boardVersion");
  const name = bitaxes.find(([boards]) => boards.test(version ?? ""))?.[1];
  return name === undefined ? null : `${name} ${version}`;
}

const chipAndBoard = (info: TolerantReader): string | null =>
  [info.text("ASICModel"), info.text("boardVersion")].filter((part) => part !== null).join(" ") || null;

/** A sensor that is not there reads -1. */
const celsius = { absent: -1, min: -60, max: 250 };
const giga = { times: 1e9 };
const milli = { times: 1e-3 };

/** `hasTwoFans`: whether its second fan has turned before; without one, firmware reads 0 rpm too. */
export function readingsOf(info: TolerantReader, asicCount: number | null, hasTwoFans: boolean): RigReadings {
  const hashrate = info.number("hashRate", giga);
  const temperature = highest([info.number("temp", celsius), info.number("temp2", celsius)]);
  const isTooHot = info.boolean("overheat_mode") ?? false;
  const paused = info.boolean("miningPaused");
  const power = info.number("power");
  const asics = info.object("hashrateMonitor").list("asics");
  const chips = info.integer("asicCount") ?? asicCount ?? (asics.length > 0 ? asics.length : null);
  return {
    ...unknownReadings(),
    hashrate,
    // Its longest average.
    hashrateAverage: info.number("hashRate_1h", giga),
    hashrateExpected: info.number("expectedHashrate", { ...giga, absent: 0 }),
    // All its chips, BM1366 to BM1397, are for SHA-256.
    algorithm: "sha256",
    power,
    powerSource: power === null ? null : "reported",
    temperature,
    boards: [
      {
        slot: 0,
        hashrate,
        temperature,
        chipTemperature: temperature,
        chips,
        chipsExpected: null,
        frequency: info.number("frequency", { times: 1e6 }),
        voltage: info.number("coreVoltageActual", milli),
        serial: null,
      },
    ],
    fans: fansOf(info, hasTwoFans),
    psu: {
      power: null,
      voltage: info.number("voltage", milli),
      temperature: info.number("vrTemp", { ...celsius, absent: 0 }),
      model: null,
      serial: null,
    },
    uptime: info.number("uptimeSeconds"),
    mining: isMining(isTooHot, paused, hashrate),
    bestShare: info.number("bestDiff"),
    foundBlocks: info.integer("blockFound"),
    shares: {
      accepted: info.integer("sharesAccepted"),
      rejected: info.integer("sharesRejected"),
      hardwareErrors:
        asics.length === 0 ? null : asics.reduce((sum, asic) => sum + (asic.integer("errorCount") ?? 0), 0),
    },
    errors: errorsOf(info, isTooHot),
  };
}

const percents = { absent: -1, max: 100 };

function fansOf(info: TolerantReader, hasTwoFans: boolean): RigReadings["fans"] {
  const percent = info.number("fanspeed", percents);
  const rpm = info.number("fanrpm");
  const fans = rpm === null && percent === null ? [] : [{ rpm, percent }];
  const second = secondFan(info);
  if (second === null || (second === 0 && !hasTwoFans)) return fans;
  return [...fans, { rpm: second, percent: info.number("fanspeed2", percents) ?? percent }];
}

/** rpm of the second fan, under the names of all forks. */
const secondFan = (info: TolerantReader): number | null => highest([info.number("fan2rpm"), info.number("fanrpm2")]);

export const turnsSecondFan = (info: TolerantReader): boolean => (secondFan(info) ?? 0) > 0;

/** By its pause switch where it has one: without a pool it hashes nothing, but is not stopped. */
function isMining(isTooHot: boolean, paused: boolean | null, hashrate: number | null): boolean | null {
  if (isTooHot) return false;
  if (paused !== null) return !paused;
  return hashrate === null ? null : hashrate > 0;
}

/** Its mining switch then reads off. */
export const overheated = halt("hot", detail("reason.overheated"));

function errorsOf(info: TolerantReader, isTooHot: boolean): RigReadings["errors"] {
  const errors = isTooHot ? [{ code: "overheat", text: overheated.text }] : [];
  const fault = info.text("power_fault");
  return fault === null ? errors : [...errors, { code: "power_fault", text: fault }];
}

export const devicesOf = (
  info: TolerantReader,
  { boards, hashrateAverage, fans, shares }: RigReadings,
): DeviceReading[] =>
  boards.map((board) =>
    boardDevice(board, {
      name: info.text("ASICModel") ?? "ASIC",
      hashrateAverage,
      fanRpm: fans[0]?.rpm ?? null,
      fanPercent: fans[0]?.percent ?? null,
      ...shares,
    }),
  );
