import { Settings } from "../../homebridge/src/config/schema.ts";
import type { Farm } from "../../homebridge/src/farm-view.ts";
import { type Control, type Miner, unknownReadings } from "../../src/index.ts";

const display = {
  logInterval: 0,
  hashrate: "",
  avgHashrate: "",
  workUtility: "",
  hashrateValue: 0,
  avgHashrateValue: 0,
};
const coinInfo = {
  displayName: "",
  shortName: "",
  algorithm: "",
  coinClass: "",
  revenuePerDay: "",
  revenuePerDayValue: 0,
  revenuePerMonth: "",
  revenuePerDayValueDisplayCurrency: 0,
  revenuePerDayValueBtc: 0,
  profitPerDay: "",
  profitPerDayValue: 0,
  profitPerMonth: "",
  profitPerDayValueBtc: 0,
  powerUsageValue: 0,
  isActualPowerUsage: false,
};

/** A miner as a service returns it: mining, with a control to stop it. */
export function miner(changes: Partial<Miner> = {}): Miner {
  const { id = 1 } = changes;
  return {
    id,
    uid: `0251000000${String(id).padStart(2, "0")}`,
    name: `Rig ${id}`,
    hostname: `rig-${id}`,
    hostDescription: `192.168.1.${id}:80`,
    groupId: 0,
    groupID: 0,
    hardware: "Bitaxe",
    softwareType: "axeos",
    macAddress: "",
    pool: "",
    temperature: "",
    maxTemperatureValue: 0,
    avgTemperatureValue: 0,
    statusInfo: { statusDisplay: "Mining", statusLine3: "", secondsSinceStart: 0 },
    isRunning: true,
    isOffline: false,
    hasValidStatus: true,
    progressInfo: { line1: "", line2: "", line3: "", acceptedValue: 0, rejectedValue: 0, hwErrorsValue: 0 },
    speedInfo: { ...display, line2: null, line3: null },
    coinInfo,
    updatedUtc: "2026-01-01T00:00:00.000Z",
    updated: "",
    poolList: [],
    gpuList: [],
    pgaList: [],
    asicList: [],
    cpuList: [],
    hasPool: false,
    hasGpu: false,
    hasPga: false,
    hasAsic: true,
    hasCpu: false,
    canReboot: false,
    canStop: true,
    canRestart: false,
    canStart: false,
    canPool: false,
    canPoolSwitch: false,
    canPoolSave: false,
    hasFirmwareLicense: false,
    location: { site: null, container: null, rack: null, slot: null },
    tags: [],
    readings: readings({ hashrate: 1e12, mining: true }),
    controls: [control("mining", { kind: "switch", value: true })],
    money: {
      revenuePerDay: null,
      costPerDay: null,
      profitPerDay: null,
      currency: null,
      electricityPrice: null,
      breakEvenPrice: null,
      energyCost: null,
    },
    heating: null,
    power: { heldBy: null, max: null },
    identity: { make: "Bitaxe", model: "Gamma", firmware: "v2.4.1", mac: null, hostname: null, serial: null },
    ...changes,
  };
}

export const readings = (changes: Partial<Miner["readings"]> = {}): Miner["readings"] => ({
  ...unknownReadings(),
  at: "2026-01-01T00:00:00.000Z",
  stale: false,
  energy: null,
  efficiency: null,
  startedAt: null,
  reason: null,
  ...changes,
});

export const control = (key: Control["key"], changes: Partial<Control> = {}): Control => ({
  key,
  kind: "range",
  unit: null,
  min: null,
  max: null,
  step: null,
  options: null,
  value: null,
  lasting: false,
  restartsMining: false,
  seconds: 1,
  ...changes,
});

/** A miner that has not answered for three reads. */
export const off = (changes: Partial<Miner> = {}): Miner =>
  miner({
    statusInfo: { statusDisplay: "Disconnected", statusLine3: null, secondsSinceStart: 0 },
    isRunning: false,
    isOffline: true,
    hasValidStatus: false,
    readings: readings(),
    controls: [control("mining", { kind: "switch" })],
    ...changes,
  });

/** A miner that has not been read since the service started. */
export const notAsked = (changes: Partial<Miner> = {}): Miner =>
  off({
    statusInfo: { statusDisplay: "Starting", statusLine3: null, secondsSinceStart: 0 },
    isOffline: false,
    readings: readings({ at: null, stale: true }),
    ...changes,
  });

export const farmOf = (miners: readonly Miner[], groups: Farm["groups"] = []): Farm => ({
  miners,
  groups,
  rules: [],
  energies: {},
  rulesRunOnEach: true,
  hidden: new Set(),
  isPartial: false,
});

/** Settings with the defaults for everything else. */
export const settings = (given: object = {}): Settings => Settings.parse(given);
