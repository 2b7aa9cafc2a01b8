import type { Device, MinerPool } from "../contract/resources.ts";
import type { Parser } from "../units/parse.ts";
import type { Display } from "./display.ts";
import type { Fields } from "./fields.ts";

/** A device, with its hash rate in SI units. */
export interface ForeignDevice {
  readonly shown: Device;
  /** H/s; null if neither the number nor the string is there. */
  readonly hashrate: number | null;
}

/** A GPU, PGA, ASIC or CPU of a miner (`http-api` 2.7). */
export function readDevice(fields: Fields, parser: Parser, display: Display): ForeignDevice {
  const { hashrate, average, shown } = readSpeed(fields.object("speedInfo"), parser, display);
  const device = fields.object("deviceInfo");
  return {
    hashrate: hashrate ?? average,
    shown: {
      name: fields.text("name"),
      statusInfo: readStatus(fields.object("statusInfo")),
      deviceInfo: {
        deviceType: device.text("deviceType"),
        gpuActivity: device.integer("gpuActivity"),
        intensity: wordOrNumber(device, "intensity"),
        name: device.textOrNull("name"),
        gpuClock: device.integer("gpuClock"),
        gpuMemoryClock: device.integer("gpuMemoryClock"),
        gpuVoltage: wordOrNumber(device, "gpuVoltage") ?? "0",
        gpuPowertune: device.integer("gpuPowertune"),
        fanSpeed: device.integer("fanSpeed"),
        fanPercent: device.integer("fanPercent"),
        temperature: device.integer("temperature"),
      },
      progressInfo: readLines(fields.object("progressInfo")),
      speedInfo: shown,
    },
  };
}

/** The API document describes `intensity` only as "null or value". */
function wordOrNumber(fields: Fields, key: string): string | null {
  const value = fields.raw(key);
  return typeof value === "number" ? String(value) : fields.textOrNull(key);
}

export function readSpeed(fields: Fields, parser: Parser, display: Display) {
  const hashrate = display.number(fields, "hashrate", fields.numberOrNull("hashrateValue"), parser.hashrate);
  const average = display.number(fields, "avgHashrate", fields.numberOrNull("avgHashrateValue"), parser.hashrate);
  display.number(fields, "workUtility", null, parser.decimal);
  return {
    hashrate,
    average,
    shown: {
      logInterval: fields.integer("logInterval"),
      hashrate: fields.text("hashrate"),
      avgHashrate: fields.text("avgHashrate"),
      workUtility: fields.text("workUtility"),
      hashrateValue: whole(hashrate),
      avgHashrateValue: whole(average),
    },
  };
}

/** 0 if the value is unknown or too large for an integer. */
export const whole = (value: number | null): number =>
  value !== null && Number.isSafeInteger(Math.round(value)) ? Math.round(value) : 0;

const readStatus = (fields: Fields) => ({
  statusDisplay: fields.text("statusDisplay"),
  statusLine3: fields.textOrNull("statusLine3"),
});

export const readLines = (fields: Fields) => ({
  line1: fields.text("line1"),
  line2: fields.text("line2"),
  line3: fields.text("line3"),
});

/** A pool on a miner (`http-api` 2.6). */
export function readMinerPool(fields: Fields, minerId: number, minerName: string): MinerPool {
  const additional = fields.object("additionalInfo");
  const priority = fields.object("priorityInfo");
  return {
    id: fields.id(),
    name: fields.text("name"),
    statusInfo: readStatus(fields.object("statusInfo")),
    additionalInfo: { displayUrl: additional.text("displayUrl"), worker: additional.text("worker") },
    priorityInfo: { priority: priority.integer("priority"), quota: priority.integer("quota") },
    progressInfo: readLines(fields.object("progressInfo")),
    coinName: fields.text("coinName"),
    minerID: fields.integerOrNull("minerID") ?? minerId,
    minerName: fields.textOrNull("minerName") ?? minerName,
    canRemove: fields.flag("canRemove"),
    canDisable: fields.flag("canDisable"),
    canEnable: fields.flag("canEnable"),
    canPrioritize: fields.flag("canPrioritize"),
  };
}
