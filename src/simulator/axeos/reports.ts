import { type AxeosRig, endpointOf, type Settings } from "./state.ts";

const round = (value: number, digits: number): number => Number(value.toFixed(digits));

/** 1070000 is "1.07M", the firmware's format of difficulties. */
export function shortened(difficulty: number): string {
  const [letter = "", size = 1] =
    (
      [
        ["T", 1e12],
        ["G", 1e9],
        ["M", 1e6],
        ["k", 1e3],
      ] as const
    ).find(([, least]) => difficulty >= least) ?? [];
  return letter === "" ? String(Math.floor(difficulty)) : `${(difficulty / size).toPrecision(3)}${letter}`;
}

/** GET /api/system/info. */
export function system(rig: AxeosRig): Record<string, unknown> {
  const { model, settings } = rig;
  const { accepted, rejected } = model.shares;
  const power = model.power;
  const gigahashes = (seconds: number) => round(model.hashrate(seconds) / 1e9, 6);
  const pool = model.activePool;
  return {
    power: round(power, 6),
    voltage: 5150,
    current: round((power / 5.15) * 1000, 3),
    temp: round(model.temperature, 3),
    temp2: -1,
    vrTemp: Math.round(model.temperature + 6),
    maxPower: 40,
    nominalVoltage: 5,
    hashRate: gigahashes(5),
    hashRate_1m: gigahashes(60),
    hashRate_10m: gigahashes(600),
    hashRate_1h: gigahashes(3600),
    expectedHashrate: round(model.ratedHashrate / 1e9, 3),
    errorPercentage: 0.12,
    bestDiff: shortened(model.bestShare),
    bestSessionDiff: shortened(model.bestShare),
    poolDifficulty: pool?.difficulty ?? 0,
    isUsingFallbackStratum: pool !== null && pool === model.pools[1] ? 1 : 0,
    isPSRAMAvailable: 1,
    freeHeap: 8_401_236,
    coreVoltage: settings.coreVoltage,
    coreVoltageActual: settings.coreVoltage - 4,
    frequency: settings.frequency,
    ssid: "example",
    macAddr: rig.body.mac,
    hostname: settings.hostname,
    ipv4: "127.0.0.1",
    wifiStatus: "Connected!",
    wifiRSSI: -52,
    apEnabled: 0,
    sharesAccepted: accepted,
    sharesRejected: rejected,
    sharesRejectedReasons: rejected === 0 ? [] : [{ message: "Stale", count: rejected }],
    uptimeSeconds: Math.floor(model.elapsed),
    smallCoreCount: 2040,
    ASICModel: model.hardware.model,
    ...stratum(settings),
    version: "v2.9.0",
    axeOSVersion: "v2.9.0",
    idfVersion: "v5.4",
    boardVersion: "601",
    runningPartition: "ota_0",
    overheat_mode: model.overheated ? 1 : 0,
    overclockEnabled: 0,
    autofanspeed: settings.autoFan ? 1 : 0,
    fanspeed: Math.round(model.fan * 100),
    manualFanSpeed: settings.manualFan,
    minFanSpeed: settings.minFan,
    temptarget: settings.temperatureTarget,
    fanrpm: model.fanRpm,
    fan2rpm: 0,
    miningPaused: !model.mining,
    hashrateMonitor: { asics: [{ total: gigahashes(5), domains: [], errorCount: model.hardwareErrors }] },
  };
}

function stratum({ primary, fallback, useFallback }: Settings): Record<string, unknown> {
  const first = endpointOf(primary.url);
  const second = endpointOf(fallback.url);
  return {
    stratumURL: first.host,
    stratumPort: first.port,
    stratumUser: primary.user,
    stratumTLS: 0,
    fallbackStratumURL: second.host,
    fallbackStratumPort: second.port,
    fallbackStratumUser: fallback.user,
    fallbackStratumTLS: 0,
    useFallbackStratum: useFallback ? 1 : 0,
    stratumDiff: 1000,
  };
}

/** GET /api/system/asic: the offered frequencies and voltages. */
export const asic = ({ model }: AxeosRig): Record<string, unknown> => ({
  ASICModel: model.hardware.model,
  deviceModel: "Gamma",
  swarmColor: "green",
  asicCount: model.hardware.chips,
  defaultFrequency: 525,
  frequencyOptions: [400, 490, 525, 550, 600, 625],
  defaultVoltage: 1150,
  voltageOptions: [1000, 1060, 1100, 1150, 1200, 1250],
});
