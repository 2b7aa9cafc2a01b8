import { efficiencyOf } from "../../contract/efficiency.ts";
import { isSummed } from "../../contract/known-of.ts";
import {
  type Control,
  type Dual,
  type Readings,
  type Reason,
  type RigReadings,
  unknownBoard,
  unknownReadings,
} from "../../contract/readings.ts";
import type {
  Heating,
  Location,
  Miner,
  MinerPool,
  MinerStatus,
  PoolView,
  Position,
  Repair,
} from "../../contract/resources.ts";
import type { PolledRig } from "../../fleet/poller.ts";
import {
  afterRefusal,
  beforeFirstRead,
  briefOf,
  isUnread,
  type RigState,
  statusOf,
  unknownRig,
  unusable,
} from "../../fleet/state.ts";
import type { PoolReading, Reading } from "../../link/driver.ts";
import { hostAndPortOf, hostOf } from "../../link/pool-url.ts";
import { coded } from "../../messages/coded.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { Format, HashUnit } from "../../units/format.ts";
import type { Coin, Coins } from "../money/coins.ts";
import {
  daysPerMonth,
  type Earnings,
  earningsOf,
  type Prices,
  type PricesFor,
  unknownEarnings,
} from "../money/earnings.ts";
import type { PoolBook } from "../money/pool-book.ts";
import { presentDevices, whole } from "./present-devices.ts";

/** The declaration of a miner. */
export interface MinerFacts {
  readonly id: number;
  readonly name: string;
  /** Whether the name is declared. */
  readonly named: boolean;
  /** Whether its rig is virtual. */
  readonly demo: boolean;
  readonly groupId: number;
  readonly location: Location;
  readonly placeId: number | null;
  readonly position: Position | null;
  readonly tags: readonly string[];
  readonly repair: Repair | null;
  /** host:port, and the host alone. */
  readonly host: { readonly name: string; readonly description: string };
}

/** Inputs for presenting miners. */
export interface Presentation {
  readonly format: Format;
  readonly coins: Coins;
  readonly pools: PoolBook;
  readonly prices: PricesFor;
  /** What the energy of a miner has cost so far, and what its pool reports about it. */
  readonly costOf: (minerId: number) => number | null;
  readonly poolViewOf: (pool: Pick<PoolReading, "url" | "worker">) => PoolView | null;
  /** Epoch ms, shown as `updated` for a miner that was never read. */
  readonly startedAt: number;
}

/** State of the loop that controls a miner's power. */
export interface LoopStatus {
  /** The room that it heats. */
  readonly heating: Heating | null;
  /** The loop, if its command was the last about the miner's power and stopped the miner. */
  readonly stoppedBy: string | null;
  /** The name of the loop. */
  readonly loop: string | null;
}

/** Inputs besides the state of the rig. */
export interface MinerExtras extends LoopStatus {
  /** Wh, from `shownEnergy`. */
  readonly energy: number | null;
  /** Active IDs of the rig's pools, in order. */
  readonly poolIds: readonly number[];
  /** The control `power_target`; empty if the rig's power cannot be controlled. */
  readonly powerTarget: readonly Control[];
  /** W left under the limit of its room; null without a limit. */
  readonly powerLeft: number | null;
  /** What overrides the loops' control of its power. */
  readonly holder: { readonly what: string; readonly until: number | null } | null;
}

/** The work of a miner. With two algorithms, the rates are those of the first and the money is the sum. */
export interface MinerWork {
  readonly hashrate: number;
  /** False: `hashrate` is 0 because the rig does not report it. */
  readonly hashrateKnown: boolean;
  readonly hashrateAverage: number;
  readonly unit: HashUnit;
  readonly algorithm: string;
  readonly coin: string;
  /** Short name of the coin and id of the algorithm; "" if unknown. */
  readonly coinKey: string;
  readonly algorithmKey: string;
  /** 0 if unknown. */
  readonly revenue: number;
  readonly earnings: Earnings;
}

/** Why a profit is unknown: no coin price, no power reading, or no electricity price. */
export type ProfitLack = "revenue" | "power" | "price";

/** A miner's share of the totals. */
export interface MinerFigures extends MinerWork {
  readonly demo: boolean;
  readonly status: MinerStatus;
  readonly running: boolean;
  readonly groupId: number;
  readonly placeId: number | null;
  /** W; null if unknown. */
  readonly power: number | null;
  /** One entry for each of two simultaneous algorithms; the power counts toward the first. */
  readonly dual: readonly [MinerWork, MinerWork] | null;
  /** Whether its power and cost come from a nameplate. */
  readonly isEstimated: boolean;
  /** Why its profit is unknown; null if it is known, or not expected because the miner is off or starting. */
  readonly lacks: ProfitLack | null;
  /** Problem with its login; null if there is none. */
  readonly login: string | null;
  readonly inRepair: boolean;
  readonly gpus: number;
  readonly pgas: number;
  readonly asics: number;
}

export interface PresentedMiner {
  readonly miner: Miner;
  readonly figures: MinerFigures;
}

/** A miner in the API: display strings for people, `readings` for programs, integers as documented. */
export function presentMiner(
  facts: MinerFacts,
  rig: Pick<PolledRig, "state" | "declared">,
  extras: MinerExtras,
  to: Presentation,
): PresentedMiner {
  const { format } = to;
  const { state } = rig;
  const { reading } = state;
  const reason = presentReason(state, rig.declared.disabled, extras.stoppedBy);
  const readings = presentReadings(state, extras.energy, reason);
  const pools = presentPools(facts, reading, extras.poolIds, to);
  const { figures, active, coin, earnings } = worthOf(facts, rig, to);
  const works = figures.dual ?? [figures];
  const { status, unit, hashrate, hashrateAverage: average, revenue } = figures;
  const lists = presentDevices(reading?.devices ?? [], unit, reading, format);
  const temperatures = temperaturesOf(reading);
  const { revenueBtc, profitBtc, profitPerDay, ...money } = earnings;
  const profit = profitPerDay ?? 0;
  const at = state.at ?? to.startedAt;
  const can = canDo(reading);
  const controls = currentControls(state);
  const miner: Miner = {
    id: facts.id,
    uid: state.uid,
    name: facts.name,
    hostname: facts.host.name,
    hostDescription: facts.host.description,
    groupId: facts.groupId,
    groupID: facts.groupId,
    hardware: state.identity?.model ?? state.identity?.make ?? "",
    softwareType: state.software ?? state.driver ?? "",
    macAddress: state.identity?.mac?.replaceAll(":", "") ?? "",
    pool: active === undefined ? "" : hostOf(active.url),
    temperature: format.temperatures(temperatures),
    maxTemperatureValue: temperatures.length === 0 ? 0 : Math.round(Math.max(...temperatures)),
    avgTemperatureValue:
      temperatures.length === 0
        ? 0
        : Math.round(temperatures.reduce((sum, each) => sum + each, 0) / temperatures.length),
    statusInfo: {
      statusDisplay: status,
      statusLine3: readings.uptime === null ? null : format.duration(readings.uptime),
      secondsSinceStart: whole(readings.uptime),
    },
    isRunning: figures.running,
    isOffline: status === "Disconnected",
    hasValidStatus: reading !== null,
    progressInfo: {
      line1: `Accepted: ${format.count(whole(readings.shares.accepted))}`,
      line2: `Rejected: ${format.count(whole(readings.shares.rejected))}`,
      line3: `HW Errors: ${format.count(whole(readings.shares.hardwareErrors))}`,
      acceptedValue: whole(readings.shares.accepted),
      rejectedValue: whole(readings.shares.rejected),
      hwErrorsValue: whole(readings.shares.hardwareErrors),
    },
    speedInfo: {
      logInterval: whole(reading?.logInterval ?? null),
      hashrate: format.hashrate(hashrate, unit),
      avgHashrate: format.hashrate(average, unit),
      workUtility: format.decimal(reading?.workUtility ?? 0),
      hashrateValue: whole(hashrate),
      avgHashrateValue: whole(average),
      line2: reading === null ? null : `Avg: ${format.hashrate(average, unit)}`,
      line3: readings.power === null ? null : `Power: ${format.power(readings.power)}`,
    },
    coinInfo: {
      displayName: joined(works.map((work) => work.coin)),
      shortName: coin?.shortName ?? "",
      algorithm: joined(works.map((work) => work.algorithm)),
      coinClass: coin?.coinClass ?? "",
      revenuePerDay: format.money(revenue),
      revenuePerDayValue: revenue,
      revenuePerMonth: format.money(revenue * daysPerMonth),
      revenuePerDayValueDisplayCurrency: revenue,
      revenuePerDayValueBtc: revenueBtc ?? 0,
      profitPerDay: format.money(profit),
      profitPerDayValue: profit,
      profitPerMonth: format.money(profit * daysPerMonth),
      profitPerDayValueBtc: profitBtc ?? 0,
      powerUsageValue: whole(readings.power),
      isActualPowerUsage: readings.powerSource === "measured" || readings.powerSource === "reported",
    },
    updatedUtc: new Date(at).toISOString(),
    updated: format.localTime(at),
    poolList: pools,
    gpuList: lists.gpu,
    pgaList: lists.pga,
    asicList: lists.asic,
    cpuList: lists.cpu,
    hasPool: pools.length > 0,
    hasGpu: lists.gpu.length > 0,
    hasPga: lists.pga.length > 0,
    hasAsic: lists.asic.length > 0,
    hasCpu: lists.cpu.length > 0,
    ...can,
    // No known firmware reports one.
    hasFirmwareLicense: false,
    location: facts.location,
    placeId: facts.placeId,
    position: facts.position,
    tags: [...facts.tags],
    readings,
    controls: [...controls, ...extras.powerTarget],
    money: { ...money, profitPerDay, energyCost: to.costOf(facts.id) },
    poolView: active === undefined ? null : to.poolViewOf(active),
    heating: extras.heating,
    power: presentPower(extras),
    identity: state.identity,
    repair: facts.repair,
  };
  return { miner, figures };
}

/** A loop controls the power unless it is overridden. */
function presentPower({ holder, loop, powerLeft, powerTarget: [control] }: MinerExtras): Miner["power"] {
  const owner = holder ?? (loop === null ? null : { what: loop, until: null });
  const watts = control?.options?.flatMap((option) => (typeof option === "string" ? [] : option.watts)) ?? [];
  const most = control?.max ?? (watts.length === 0 ? null : Math.max(...watts));
  return {
    heldBy: owner && { what: owner.what, until: owner.until === null ? null : new Date(owner.until).toISOString() },
    max: most === null || powerLeft === null ? most : Math.max(0, Math.min(most, Math.floor(powerLeft))),
  };
}

/** A miner's share of the totals, without presenting it. */
export const minerFigures = (
  facts: MinerFacts,
  rig: Pick<PolledRig, "state" | "declared">,
  to: Presentation,
): MinerFigures => worthOf(facts, rig, to).figures;

/** The figures and their inputs. */
function worthOf(
  { id, demo, groupId, placeId, repair }: MinerFacts,
  { state, declared }: Pick<PolledRig, "state" | "declared">,
  to: Presentation,
) {
  const brief = briefOf(state);
  const { power, powerSource, dual, ...mined } = brief?.readings ?? unknown;
  const active = brief?.pools.find((pool) => pool.active);
  const prices = to.prices(id);
  const first = workOf(mined, active, brief === null ? null : { power }, prices, to);
  const second =
    brief === null || dual === null
      ? null
      : workOf(
          dual,
          brief.pools.find((pool) => pool.dual === true),
          // The first work pays for both: without its cost, neither profit is known.
          { power: power === null ? null : 0 },
          prices,
          to,
        );
  const { coin } = first;
  const both = second && { hashrate: dual?.hashrate ?? null, coin: second.coin };
  const earnings =
    both === null ? first.work.earnings : earningsOf({ hashrate: mined.hashrate, power, coin, second: both }, prices);
  const status = statusOf(state, declared.disabled);
  const counts = { asic: 0, pga: 0, gpu: 0, cpu: 0 };
  for (const { kind } of brief?.devices ?? []) counts[kind] += 1;
  const figures: MinerFigures = {
    demo,
    groupId,
    placeId,
    power,
    status,
    running: status === "Mining",
    ...first.work,
    revenue: earnings.revenuePerDay ?? 0,
    earnings,
    dual: second === null ? null : [first.work, second.work],
    isEstimated: powerSource === "nameplate",
    lacks: isSummed(status) ? lackOf(earnings, prices) : null,
    login: loginTrouble(state)?.message ?? null,
    inRepair: repair !== null,
    gpus: counts.gpu,
    pgas: counts.pga,
    asics: counts.asic,
  };
  return { figures, active, coin, earnings };
}

function lackOf({ revenuePerDay, profitPerDay, costPerDay }: Earnings, { electricity }: Prices): ProfitLack | null {
  if (profitPerDay !== null) return null;
  if (costPerDay === null) return electricity === null ? "price" : "power";
  return revenuePerDay === null ? "revenue" : null;
}

/** One algorithm at one pool. `drawn`: the power assigned to it, null for a rig without a reading. */
function workOf(
  { hashrate, hashrateAverage, algorithm: key }: Pick<Dual, "hashrate" | "hashrateAverage" | "algorithm">,
  pool: Pick<PoolReading, "url" | "worker"> | undefined,
  drawn: { readonly power: number | null } | null,
  prices: Prices,
  to: Presentation,
): { readonly work: MinerWork; readonly coin: Coin | undefined } {
  const algorithm = key === null ? undefined : to.coins.algorithm(key);
  const coin = pool && to.pools.definitionOf(pool, key).coin;
  const earnings = drawn === null ? unknownEarnings(prices) : earningsOf({ hashrate, coin, ...drawn }, prices);
  const work = {
    hashrate: hashrate ?? 0,
    hashrateKnown: hashrate !== null,
    hashrateAverage: hashrateAverage ?? 0,
    unit: algorithm?.unit ?? "H/s",
    algorithm: algorithm?.name ?? key ?? "",
    coin: coin?.displayName ?? "",
    coinKey: coin?.shortName ?? "",
    algorithmKey: algorithm?.id ?? key ?? "",
    revenue: earnings.revenuePerDay ?? 0,
    earnings,
  };
  return { work, coin };
}

/** "Etchash + kHeavyHash"; unknown parts are left out. */
const joined = (names: readonly string[]): string => names.filter((name) => name !== "").join(" + ");

const unknown = unknownReadings();

/** Displayed Wh: the stored value, so that the displayed energy never falls. */
export function shownEnergy(stored: number | null, { energy }: Pick<RigState, "energy">): number | null {
  const known = stored ?? energy;
  return known === null ? null : Math.floor(known);
}

/** The API's entry for a miner that `presentMiner` fails on: its identity and the error. */
export function presentFailed(
  facts: MinerFacts,
  rig: Pick<PolledRig, "state" | "declared">,
  { energy }: Pick<MinerExtras, "energy">,
  to: Presentation,
): PresentedMiner {
  const { uid, driver } = rig.state;
  const state = afterRefusal({ ...beforeFirstRead(unknownRig), uid, driver, energy }, unusable);
  const extras = {
    energy,
    poolIds: [],
    powerTarget: [],
    heating: null,
    stoppedBy: null,
    loop: null,
    holder: null,
    powerLeft: null,
  };
  return presentMiner(facts, { state, declared: rig.declared }, extras, to);
}

/** Problem with a rig's login, for a notification and the lists; null if there is none. */
export function loginTrouble(state: RigState): { readonly title: CodedText; readonly message: string } | null {
  const { trouble } = state;
  const brief = briefOf(state);
  const locked = brief?.locked;
  if (locked?.why === "login missing") return { title: coded("notices.login.missing"), message: locked.text };
  if (locked?.why === "login wrong") return { title: coded("notices.login.wrong"), message: locked.text };
  const isRefused = brief === null && trouble?.code === "rig.login";
  return isRefused ? { title: coded("notices.login.refused"), message: trouble.message } : null;
}

/** The controls of a rig; while it is off their values are unknown. */
export const currentControls = ({ controls, reading }: RigState): readonly Control[] =>
  reading === null ? controls.map((control) => ({ ...control, value: null })) : controls;

/** The readings; for a rig that is off, boards and fans with unknown values. */
export function presentReadings(state: RigState, energy: number | null, reason: Reason | null): Readings {
  const { reading, at, missed, startedAt, hashingSince } = state;
  const kept = { at: at === null ? null : iso(at), energy, reason };
  if (reading === null) return { ...unknownWithShape(state), ...kept, stale: true, efficiency: null, startedAt: null };
  const hashingSeconds = at === null || hashingSince === null ? null : (at - hashingSince) / 1000;
  return {
    ...reading.readings,
    ...kept,
    notes:
      missed > 0 && state.trouble !== null
        ? [...reading.readings.notes, state.trouble.message]
        : reading.readings.notes,
    stale: missed > 0,
    efficiency: efficiencyOf(reading.readings, hashingSeconds),
    startedAt: startedAt === null ? null : iso(startedAt),
  };
}

/** `stoppedBy`: the loop that stopped the rig, also by its plug, which the rig cannot report. */
export function presentReason(state: RigState, disabled: boolean, stoppedBy: string | null): Reason | null {
  const { reason } = state;
  if (reason === null || (isUnread(state) && !disabled)) return null;
  const since = iso(reason.since);
  if (stoppedBy !== null && !disabled && (reason.code === "user" || reason.code === "no-power"))
    return { code: "power-limit", ...detail("reason.stoppedBy", { who: stoppedBy }), since };
  const { code, text, coded } = reason;
  return { code, text, since, ...(coded === undefined ? {} : { coded }) };
}

const iso = (time: number): string => new Date(time).toISOString();

const unknownWithShape = (state: RigState): RigReadings => ({
  ...unknownReadings(),
  boards: state.layout.boards.map(unknownBoard),
  fans: Array.from({ length: state.layout.fans }, () => ({ rpm: null, percent: null })),
  notes: notesOnUnknown(state),
});

/** Why the readings of a rig are unknown. */
function notesOnUnknown(state: RigState): string[] {
  const { trouble, driver } = state;
  if (trouble !== null) return [trouble.message];
  if (!isUnread(state)) return [];
  return [driver === null ? "The rig is being recognised" : "The rig has not been read yet"];
}

/** °C, one per board, else one per device. */
function temperaturesOf(reading: Reading | null): number[] {
  const boards = reading?.readings.boards ?? [];
  const source = boards.length > 0 ? boards : (reading?.devices ?? []);
  const known = source.map(({ temperature }) => temperature).filter((value) => value !== null);
  const overall = reading?.readings.temperature ?? null;
  return known.length > 0 || overall === null ? known : [overall];
}

/** The rig's actions that make sense now. */
function canDo(reading: Reading | null) {
  const control = (key: string) => reading?.controls.find((each) => each.key === key);
  const mining = control("mining");
  const pools = reading?.poolActions ?? [];
  return {
    canReboot: control("reboot") !== undefined,
    canStop: mining !== undefined && mining.value !== false,
    canRestart: control("restart") !== undefined,
    canStart: mining !== undefined && mining.value !== true,
    canPool: pools.length > 0,
    // Switching to any pool: a pool that the rig does not list has to be added.
    canPoolSwitch: pools.includes("use") || (pools.includes("switch") && pools.includes("add")),
    canPoolSave: pools.includes("add") || pools.includes("use"),
  };
}

const poolStatus = { enabled: "Enabled", disabled: "Disabled", dead: "Dead" } as const;

function presentPools(
  { id, name }: MinerFacts,
  reading: Reading | null,
  poolIds: readonly number[],
  to: Presentation,
): MinerPool[] {
  if (reading === null) return [];
  const { pools, poolActions } = reading;
  const own = pools.filter(({ devFee }) => !devFee).length;
  const { algorithm, dual } = reading.readings;
  const definitions = pools.map((pool) =>
    to.pools.definitionOf(pool, pool.dual === true ? (dual?.algorithm ?? null) : algorithm),
  );
  return pools.map((pool, index) => ({
    id: poolIds[index] ?? 0,
    name: definitions[index]?.name || hostOf(pool.url),
    statusInfo: { statusDisplay: poolStatus[pool.status], statusLine3: null },
    additionalInfo: { displayUrl: hostAndPortOf(pool.url), worker: pool.worker },
    priorityInfo: { priority: whole(pool.priority), quota: pool.quota === null ? 1 : whole(pool.quota) },
    progressInfo: {
      line1: to.format.count(whole(pool.accepted)),
      line2: to.format.count(whole(pool.rejected)),
      line3: to.format.count(whole(pool.stale)),
    },
    coinName: definitions[index]?.coin?.displayName ?? "",
    minerID: id,
    minerName: name,
    canRemove: !pool.devFee && pool.fixed === undefined && own > 1 && poolActions.includes("remove"),
    canDisable: !pool.devFee && own > 1 && pool.status !== "disabled" && poolActions.includes("disable"),
    canEnable: !pool.devFee && pool.status === "disabled" && poolActions.includes("enable"),
    canPrioritize: !pool.devFee && own > 1 && poolActions.includes("prioritize"),
  }));
}
