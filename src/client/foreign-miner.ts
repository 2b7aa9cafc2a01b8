import type { Reason } from "../contract/readings.ts";
import { type Miner, type MinerPool, type MinerStatus, minerStatuses } from "../contract/resources.ts";
import type { Parser } from "../units/parse.ts";
import { outOfReach } from "./changes.ts";
import { Display, type Tally } from "./display.ts";
import type { Fields } from "./fields.ts";
import { type ForeignDevice, readDevice, readLines, readMinerPool, readSpeed, whole } from "./foreign-devices.ts";
import { controlsOf, type MinerReading, readingsOf } from "./foreign-readings.ts";
import type { Shape } from "./miner-memory.ts";

/**
 * A miner of a foreign server, completed to the full contract. Missing fields are empty, null or derived from documented
 * ones; a miner that cannot be reached has no readings. Throws `service.garbled`.
 */
export function readMiner(fields: Fields, groupId: number, reading: MinerReading, tally: Tally): Miner {
  const { parser } = reading;
  const id = fields.id();
  const name = fields.textOrNull("name") ?? `Miner ${id}`;
  const display = new Display(reading.locale, tally);
  const statusInfo = fields.object("statusInfo");
  const speedInfo = fields.object("speedInfo");
  const status = statusOf(fields, statusInfo, display);
  const isValid = fields.flagOrNull("hasValidStatus") ?? true;
  const isLive = status !== "Disconnected" && status !== "Disabled" && (isValid || status !== "Starting");
  // The display strings of an unreachable miner are old or 0, and do not show the locale.
  const seen = isLive ? display : new Display(reading.locale, { checked: 0, mismatched: 0 });
  const speed = readSpeed(speedInfo, parser, seen);
  const devices = {
    gpu: readDevices(fields, "gpuList", parser, seen),
    pga: readDevices(fields, "pgaList", parser, seen),
    asic: readDevices(fields, "asicList", parser, seen),
    cpu: readDevices(fields, "cpuList", parser, seen),
  };
  const at = instantOf(fields.text("updatedUtc")) ?? reading.now();
  const { readings, temperatures } = readingsOf({ fields, status, isLive, at, speed, devices, display: seen }, reading);
  const poolList = fields.readable("poolList", (pool) => readMinerPool(pool, id, name), seen);
  const group = fields.integerOrNull("groupId") ?? fields.integerOrNull("groupID") ?? groupId;
  const miner: Miner = {
    id,
    uid: reading.uids.of(id),
    name,
    hostname: fields.text("hostname"),
    hostDescription: fields.text("hostDescription"),
    groupId: group,
    groupID: group,
    hardware: fields.text("hardware"),
    softwareType: fields.text("softwareType"),
    macAddress: fields.text("macAddress"),
    pool: fields.text("pool"),
    temperature: fields.text("temperature"),
    maxTemperatureValue: whole(temperatures.max),
    avgTemperatureValue: whole(temperatures.average),
    statusInfo: {
      statusDisplay: status,
      statusLine3: statusInfo.textOrNull("statusLine3"),
      secondsSinceStart: whole(readings.uptime),
    },
    isRunning: fields.flagOrNull("isRunning") ?? status === "Mining",
    isOffline: status === "Disconnected",
    hasValidStatus: fields.flagOrNull("hasValidStatus") ?? isLive,
    progressInfo: {
      ...readLines(fields.object("progressInfo")),
      acceptedValue: readings.shares.accepted ?? 0,
      rejectedValue: readings.shares.rejected ?? 0,
      hwErrorsValue: readings.shares.hardwareErrors ?? 0,
    },
    speedInfo: {
      ...speed.shown,
      line2: speedInfo.textOrNull("line2"),
      line3: speedInfo.textOrNull("line3"),
    },
    coinInfo: readCoin(fields.object("coinInfo"), readings.power, parser, seen),
    updatedUtc: new Date(at).toISOString(),
    updated: fields.text("updated"),
    poolList,
    gpuList: devices.gpu.map(({ shown }) => shown),
    pgaList: devices.pga.map(({ shown }) => shown),
    asicList: devices.asic.map(({ shown }) => shown),
    cpuList: devices.cpu.map(({ shown }) => shown),
    hasPool: fields.flagOrNull("hasPool") ?? poolList.length > 0,
    hasGpu: fields.flagOrNull("hasGpu") ?? devices.gpu.length > 0,
    hasPga: fields.flagOrNull("hasPga") ?? devices.pga.length > 0,
    hasAsic: fields.flagOrNull("hasAsic") ?? devices.asic.length > 0,
    hasCpu: fields.flagOrNull("hasCpu") ?? devices.cpu.length > 0,
    canReboot: fields.flag("canReboot"),
    canStop: fields.flag("canStop"),
    canRestart: fields.flag("canRestart"),
    canStart: fields.flag("canStart"),
    canPool: fields.flag("canPool"),
    canPoolSwitch: fields.flagOrNull("canPoolSwitch") ?? fields.flag("canPool"),
    canPoolSave: fields.flagOrNull("canPoolSave") ?? fields.flag("canPool"),
    hasFirmwareLicense: fields.flag("hasFirmwareLicense"),
    location: { site: null, container: null, rack: null, slot: null },
    tags: [],
    readings,
    controls: controlsOf(fields, status),
    money: moneyOf(fields.object("coinInfo"), parser),
    heating: null,
    power: { heldBy: null, max: null },
    identity: null,
  };
  const reason = reading.memory.reason(id, reading.now(), haltOf(miner, status));
  if (!isLive) return unreachedMiner(miner, reading.memory.shape(id), reason);
  reading.memory.keep(id, { ...readings, controls: miner.controls });
  return { ...miner, readings: { ...readings, reason } };
}

/**
 * Why a miner is not hashing, as far as the foreign server reports it; null if it is hashing, or has not been read yet.
 */
function haltOf({ hasValidStatus, poolList }: Miner, status: MinerStatus): Omit<Reason, "since"> | null {
  const isDead = (pool: MinerPool): boolean => pool.statusInfo.statusDisplay === "Dead";
  switch (status) {
    case "Mining":
      return null;
    case "Disabled":
      return { code: "user", text: "It is disabled" };
    case "Stopped":
      return { code: "user", text: "It is stopped" };
    case "Disconnected":
      return { code: "network", text: unreachedWords };
    case "Starting":
      return hasValidStatus ? { code: "warming", text: "It is starting" } : null;
    case "Idle":
    case "Error":
      return poolList.length > 0 && poolList.every(isDead)
        ? { code: "pools", text: "None of its pools answers" }
        : { code: "unknown", text: "It reports no reason" };
  }
}

const unreachedWords = "The service cannot reach this miner";

/** A miner with only its boards, fans and controls; a disabled one keeps its status. */
function unreachedMiner(miner: Miner, { boards, fans, controls }: Shape, reason: Reason | null): Miner {
  const shaped = { ...miner, readings: { ...miner.readings, boards, fans }, controls: [...controls] };
  const { statusInfo, ...rest } = outOfReach(shaped, unreachedWords);
  const { isOffline } = miner;
  return {
    ...rest,
    isOffline,
    statusInfo: { ...statusInfo, statusDisplay: miner.statusInfo.statusDisplay },
    readings: { ...rest.readings, reason },
  };
}

const readDevices = (fields: Fields, key: string, parser: Parser, display: Display): ForeignDevice[] =>
  fields.readable(key, (device) => readDevice(device, parser, display), display);

/** The values are not documented; the status of an unknown word is derived from the other fields. */
function statusOf(fields: Fields, statusInfo: Fields, display: Display): MinerStatus {
  const word = statusInfo.text("statusDisplay");
  const known = minerStatuses.find((each) => each.toLowerCase() === word.toLowerCase());
  const isValid = fields.flagOrNull("hasValidStatus") ?? true;
  if (fields.flagOrNull("isOffline") === true) return "Disconnected";
  if (known !== undefined) return isValid || !up.has(known) ? known : "Disconnected";
  if (word !== "") display.notes.push(`${statusInfo.path("statusDisplay")} is a status that is not known`);
  if (!isValid) return "Disconnected";
  if (fields.flag("canStart") && !fields.flag("canStop")) return "Stopped";
  const isHashing = (fields.object("speedInfo").numberOrNull("hashrateValue") ?? 0) > 0;
  return (fields.flagOrNull("isRunning") ?? isHashing) ? "Mining" : "Idle";
}

/** Statuses that require a reachable miner; a starting one may not have been read yet. */
const up: ReadonlySet<MinerStatus> = new Set(["Mining", "Idle", "Stopped"]);

/** Epoch ms; a time without a zone is UTC, as the field's name says. */
export function instantOf(text: string): number | undefined {
  const time = Date.parse(/(Z|[+-]\d\d:?\d\d)$/i.test(text) ? text : `${text}Z`);
  return Number.isNaN(time) ? undefined : time;
}

/** The server reports 0 if it does not know, and without revenue the profit is unknown as well. */
function moneyOf(coin: Fields, parser: Parser): Miner["money"] {
  const amount = (key: string): number | null => coin.numberOrNull(`${key}Value`) ?? parser.money(coin.text(key));
  const revenuePerDay = amount("revenuePerDay") || null;
  const profitPerDay = revenuePerDay === null ? null : amount("profitPerDay");
  const costPerDay = revenuePerDay === null || profitPerDay === null ? null : revenuePerDay - profitPerDay;
  const unknown = { electricityPrice: null, breakEvenPrice: null, energyCost: null };
  return { revenuePerDay, costPerDay, profitPerDay, currency: null, ...unknown };
}

function readCoin(fields: Fields, power: number | null, parser: Parser, display: Display): Miner["coinInfo"] {
  const revenue = display.number(fields, "revenuePerDay", fields.numberOrNull("revenuePerDayValue"), parser.money) ?? 0;
  const profit = display.number(fields, "profitPerDay", fields.numberOrNull("profitPerDayValue"), parser.money) ?? 0;
  return {
    displayName: fields.text("displayName"),
    shortName: fields.text("shortName"),
    algorithm: fields.text("algorithm"),
    coinClass: fields.text("coinClass"),
    revenuePerDay: fields.text("revenuePerDay"),
    revenuePerDayValue: revenue,
    revenuePerMonth: fields.text("revenuePerMonth"),
    revenuePerDayValueDisplayCurrency: fields.numberOrNull("revenuePerDayValueDisplayCurrency") ?? revenue,
    revenuePerDayValueBtc: fields.numberOrNull("revenuePerDayValueBtc") ?? 0,
    profitPerDay: fields.text("profitPerDay"),
    profitPerDayValue: profit,
    profitPerMonth: fields.text("profitPerMonth"),
    profitPerDayValueBtc: fields.numberOrNull("profitPerDayValueBtc") ?? 0,
    powerUsageValue: whole(power),
    isActualPowerUsage: fields.flag("isActualPowerUsage"),
  };
}
