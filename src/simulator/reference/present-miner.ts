import { noise } from "../random.ts";
import type { ActivePool } from "./active-pools.ts";
import { algorithmOf, titleOf } from "./coins.ts";
import type { Site } from "./site.ts";
import type { TwinMiner } from "./twin-miner.ts";

/** s between two readings, as in the API. */
const logInterval = 5;

/** A miner as in the document, 2.2 and on, and in the recorded replies. */
export function presentMiner(miner: TwinMiner, site: Site) {
  const { format } = site;
  const { model, status, online } = miner;
  const at = miner.seenAt;
  const running = online && status !== "Stopped";
  const figures = figuresOf(miner, site);
  const temperatures = online ? boardTemperatures(miner) : [];
  const sum = temperatures.reduce((total, each) => total + each, 0);
  const devices = online ? presentDevices(miner, site) : [];
  const devicesOf = (type: string) => (miner.kind.deviceType === type ? devices : []);
  const shares = online ? model.shares : { accepted: 0, rejected: 0 };
  const errors = online ? model.hardwareErrors : 0;
  return {
    id: miner.id,
    name: miner.name,
    hostname: miner.hostname,
    hostDescription: `${miner.host}:${miner.kind.port}`,
    groupId: miner.groupId,
    groupID: miner.groupId,
    hardware: miner.kind.hardware.model,
    softwareType: miner.software,
    macAddress: miner.macAddress,
    pool: figures.pool === undefined ? "" : new URL(figures.pool.pool.url).hostname,
    temperature: format.temperatures(temperatures),
    maxTemperatureValue: Math.max(0, ...temperatures),
    avgTemperatureValue: Math.round(sum / Math.max(1, temperatures.length)),
    statusInfo: {
      statusDisplay: status,
      statusLine3: running ? format.duration(model.elapsed) : null,
      secondsSinceStart: running ? Math.round(model.elapsed) : 0,
    },
    progressInfo: {
      line1: `Accepted: ${format.count(shares.accepted)}`,
      line2: `Rejected: ${format.count(shares.rejected)}`,
      line3: `HW Errors: ${format.count(errors)}`,
      acceptedValue: shares.accepted,
      rejectedValue: shares.rejected,
      hwErrorsValue: errors,
    },
    speedInfo: {
      ...presentSpeed(figures.hashrate, figures.average, figures.work, figures.unit, site),
      line2: online ? `Avg: ${format.hashrate(figures.average, figures.unit)}` : null,
      // Never grouped, as in the recorded replies.
      line3: online ? `Power: ${Math.round(figures.power)} W` : null,
    },
    coinInfo: presentCoin(figures, miner, site),
    updatedUtc: new Date(at).toISOString(),
    updated: format.localTime(at),
    poolList: online ? miner.pools.map((pool) => presentPool(pool, miner, site)) : [],
    gpuList: devicesOf("GPU"),
    pgaList: devicesOf("PGA"),
    asicList: devicesOf("ASIC"),
    cpuList: devicesOf("CPU"),
    hasPool: online && miner.pools.length > 0,
    hasGpu: devicesOf("GPU").length > 0,
    hasPga: devicesOf("PGA").length > 0,
    hasAsic: devicesOf("ASIC").length > 0,
    hasCpu: devicesOf("CPU").length > 0,
    canReboot: miner.canReboot,
    canStop: miner.canStop,
    canRestart: miner.canRestart,
    canStart: miner.canStart,
    canPool: online,
    canPoolSwitch: online,
    canPoolSave: online,
    hasValidStatus: online,
    isRunning: status === "Mining",
    isOffline: !online,
  };
}

/** The figures for totals, in H/s and W; all 0 for an unreachable miner. */
export function figuresOf(miner: TwinMiner, { coins }: Site) {
  const { model, online } = miner;
  const mining = miner.status === "Mining";
  const pool = online ? miner.activePool : undefined;
  const coin = pool === undefined ? undefined : coins.find(pool.coinShortName);
  const hashrate = mining ? Math.max(0, Math.round(model.hashrate(logInterval))) : 0;
  const power = online ? model.power : 0;
  return {
    hashrate,
    average: mining ? Math.round(model.averageHashrate) : 0,
    power,
    /** Difficulty-1 shares a minute. */
    work: mining && model.elapsed > 0 ? model.work / (model.elapsed / 60) : 0,
    unit: algorithmOf(miner.algorithm)?.unit ?? "H/s",
    pool,
    coin,
    earnings: coins.earnings(coin, hashrate, power),
  };
}

export function presentPool(active: ActivePool, miner: TwinMiner, site: Site) {
  const { id, name, coinShortName, pool } = active;
  const { accepted, rejected } = miner.model.sharesOf(pool);
  const { hostname, port } = new URL(pool.url);
  const coin = site.coins.find(coinShortName);
  return {
    id,
    name,
    statusInfo: {
      statusDisplay: pool.enabled ? (pool.alive ? "Enabled" : "Dead") : "Disabled",
      statusLine3: null,
    },
    additionalInfo: { displayUrl: port === "" ? hostname : `${hostname}:${port}`, worker: pool.user },
    priorityInfo: { priority: pool.priority, quota: pool.quota },
    progressInfo: { line1: site.format.count(accepted), line2: site.format.count(rejected), line3: "0" },
    coinName: coin === undefined ? "" : titleOf(coin),
    minerID: miner.id,
    minerName: miner.name,
    canRemove: miner.canRemove(),
    canDisable: miner.canDisable(active),
    canEnable: miner.canEnable(active),
    canPrioritize: miner.canPrioritize(),
  };
}

type Figures = ReturnType<typeof figuresOf>;

function presentCoin({ coin, earnings, power }: Figures, miner: TwinMiner, { format }: Site) {
  return {
    displayName: coin === undefined ? "" : titleOf(coin),
    shortName: coin?.shortName ?? "",
    coinClass: coin?.coinClass ?? "",
    algorithm: algorithmOf(miner.algorithm)?.name ?? miner.algorithm,
    revenuePerDay: format.money(earnings.revenue),
    revenuePerDayValue: earnings.revenue,
    revenuePerDayValueDisplayCurrency: earnings.revenue,
    revenuePerDayValueBtc: earnings.revenueBtc,
    revenuePerMonth: format.money(earnings.revenuePerMonth),
    profitPerDay: format.money(earnings.profit),
    profitPerDayValue: earnings.profit,
    profitPerDayValueBtc: earnings.profitBtc,
    profitPerMonth: format.money(earnings.profitPerMonth),
    powerUsageValue: Math.round(power),
    isActualPowerUsage: miner.kind.measuresPower && miner.online,
  };
}

function presentSpeed(hashrate: number, average: number, work: number, unit: Figures["unit"], { format }: Site) {
  return {
    logInterval,
    hashrate: format.hashrate(hashrate, unit),
    avgHashrate: format.hashrate(average, unit),
    workUtility: format.decimal(work),
    hashrateValue: hashrate,
    avgHashrateValue: average,
  };
}

/** °C, whole; the first board is the hottest. */
const boardTemperatures = ({ model, seed }: TwinMiner): number[] =>
  Array.from({ length: model.hardware.boards }, (_, board) =>
    Math.round(model.temperature - (board === 0 ? 0 : 2 + 2 * noise(seed, board))),
  );

function presentDevices(miner: TwinMiner, site: Site) {
  const { model, kind, seed, status } = miner;
  const { boards } = model.hardware;
  const figures = figuresOf(miner, site);
  const { accepted, rejected } = model.shares;
  const count = (total: number): string => site.format.count(Math.floor(total / boards));
  const isGpu = kind.deviceType === "GPU";
  return boardTemperatures(miner).map((temperature, board) => {
    const share = (1 + 0.02 * noise(seed, 100 + board)) / boards;
    const name = boards === 1 ? kind.device : `${kind.device} ${board + 1}`;
    return {
      name,
      statusInfo: { statusDisplay: "Enabled", statusLine3: name },
      deviceInfo: {
        deviceType: kind.deviceType,
        gpuActivity: isGpu && status === "Mining" ? 99 : 0,
        intensity: isGpu ? "22" : null,
        name: isGpu ? kind.device : null,
        gpuClock: Math.round(model.frequency / 1e6),
        gpuMemoryClock: isGpu ? 7001 : 0,
        gpuVoltage: isGpu ? model.voltage.toFixed(3) : "0",
        gpuPowertune: 0,
        fanSpeed: model.fanRpm,
        fanPercent: Math.round(model.fan * 100),
        temperature,
      },
      progressInfo: { line1: count(accepted), line2: count(rejected), line3: count(model.hardwareErrors) },
      speedInfo: presentSpeed(
        Math.round(figures.hashrate * share),
        Math.round(figures.average * share),
        figures.work * share,
        figures.unit,
        site,
      ),
    };
  });
}
