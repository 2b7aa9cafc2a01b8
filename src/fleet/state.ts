import type { Control, Identity, RigReadings } from "../contract/readings.ts";
import type { MinerStatus } from "../contract/resources.ts";
import type { DeviceReading, Halt, PoolReading, Reading } from "../link/driver.ts";
import { type Kept, kept } from "../link/kept.ts";
import { halt, haltOf, isStarting, isStopped } from "../link/reason.ts";
import { same } from "../link/same.ts";
import type { CodedText, Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import { addEnergy, type EarlierUptime, type EnergyRead, startOf } from "./energy.ts";
import { missesUntilDisconnected } from "./schedule.ts";

/** What is remembered of a rig while it is off; kept across restarts of the service. */
export interface Remembered {
  readonly uid: string | null;
  readonly driver: string | null;
  readonly identity: Kept<Identity> | null;
  readonly software: string | null;
  readonly controls: Kept<readonly Control[]>;
  readonly layout: Kept<Layout>;
  /** Epoch ms. */
  readonly startedAt: number | null;
  /** Wh. */
  readonly energy: number | null;
  readonly reason: KeptReason | null;
  readonly records: Kept<Records>;
}

/** Slots of its boards, and the number of its fans. */
export interface Layout {
  readonly boards: number[];
  readonly fans: number;
}

/** Why it does not hash, and since when; epoch ms. */
export interface KeptReason extends Halt {
  readonly since: number;
}

/** Records of a rig; breaking one is an event. */
export interface Records {
  /** The highest seen: many rigs restart at 0. */
  readonly bestShare: number | null;
  /** As the rig reports it, which may start again at 0. */
  readonly foundBlocks: number | null;
}

/** Why a rig cannot be read: an error code and a sentence. */
export interface Trouble {
  readonly code: string;
  /** Without text from the device. */
  readonly message: string;
  /** With text from the device, for the log. */
  readonly quoted: string;
  /** The message by code; absent if it has none. */
  readonly coded?: CodedText | undefined;
}

/** The present state of one rig. */
export interface RigState extends Remembered {
  /** The last good read; null before the first, and from the third missed read on. */
  readonly reading: Reading | null;
  /** The figures of the reading, available at once if the reading of a rig in a worker thread is decoded on request. */
  readonly brief?: Brief | null;
  /** When it was read, epoch ms. */
  readonly at: number | null;
  /** Missed reads since then. */
  readonly missed: number;
  readonly trouble: Trouble | null;
  /** It accepted a restart, and the time for it has not passed. */
  readonly restarting: boolean;
  /** Since when it hashes without an interruption seen by a read, epoch ms; null while it does not hash. */
  readonly hashingSince: number | null;
}

/** The parts of a reading that every read needs: status, sample, power and totals. */
export interface Brief extends Pick<Reading, "controls" | "locked" | "starting"> {
  readonly readings: Pick<
    RigReadings,
    | ("hashrate" | "hashrateAverage" | "hashrateExpected" | "power" | "temperature")
    | ("uptime" | "mining" | "algorithm" | "dual" | "powerSource")
  >;
  readonly pools: readonly Pick<PoolReading, "url" | "worker" | "active" | "dual">[];
  readonly devices: readonly Pick<DeviceReading, "kind">[];
}

/** Null if the reading is. */
export const briefOf = (state: RigState): Brief | null => (state.brief === undefined ? state.reading : state.brief);

export const unknownRig: Remembered = {
  uid: null,
  driver: null,
  identity: null,
  software: null,
  controls: [],
  layout: { boards: [], fans: 0 },
  startedAt: null,
  energy: null,
  reason: null,
  records: { bestShare: null, foundBlocks: null },
};

export const beforeFirstRead = (remembered: Remembered): RigState => ({
  ...remembered,
  reading: null,
  at: null,
  missed: 0,
  trouble: null,
  restarting: false,
  hashingSince: null,
});

export interface ReadContext {
  /** Epoch ms of this read. */
  readonly at: number;
  /** W, assumed for a mining rig that reports no power. */
  readonly nameplate: number | null;
  /** ms between two reads above which energy is not integrated. */
  readonly longestGap: number;
  /** Of the last good read, however old; null before the first. */
  readonly before: EarlierUptime | null;
}

/** Without the readings. */
export const rememberedOf = (state: Remembered): Remembered => {
  const { uid, driver, identity, software, controls, layout, startedAt, energy, reason, records } = state;
  return { uid, driver, identity, software, controls, layout, startedAt, energy, reason, records };
};

/** After a good read. */
export function afterRead(state: RigState, read: Reading, context: ReadContext): RigState {
  const { at, nameplate, longestGap } = context;
  const reading = withNameplate(read, nameplate);
  const { uptime } = reading.readings;
  const before = state.reading === null || state.at === null ? null : energyRead(state.at, state.reading);
  const startedAt = startOf(state.startedAt, at, uptime, context.before);
  return {
    uid: state.uid,
    driver: state.driver,
    identity: mergeIdentity(state.identity, reading.identity),
    software: reading.software ?? state.software,
    controls: reading.controls,
    layout: layoutAfter(state.layout, reading),
    startedAt,
    energy: addEnergy(state.energy, before, energyRead(at, reading), longestGap),
    reason: state.reason,
    records: recordsAfter(state.records, reading),
    reading,
    at,
    missed: 0,
    trouble: null,
    restarting: state.restarting,
    hashingSince: isHashing(reading) ? hashingSince(state, at, startedAt) : null,
  };
}

const isHashing = ({ readings: { mining, hashrate } }: Reading): boolean =>
  mining !== false && hashrate !== null && hashrate > 0;

/** A rig that hashes at its first read, or at its first read after a silence, has done so since it started to mine. */
function hashingSince(state: RigState, at: number, startedAt: number | null): number {
  const seen = state.reading === null ? (startedAt ?? at) : (state.hashingSince ?? at);
  return Math.max(seen, startedAt ?? seen);
}

// Compares without creating another, because it runs with every read.
function layoutAfter(layout: Kept<Layout>, { readings: { boards, fans } }: Reading): Kept<Layout> {
  const isSame =
    layout.fans === fans.length &&
    layout.boards.length === boards.length &&
    boards.every(({ slot }, index) => slot === layout.boards[index]);
  return isSame ? layout : { boards: boards.map(({ slot }) => slot), fans: fans.length };
}

function recordsAfter(records: Kept<Records>, { readings }: Reading): Kept<Records> {
  const bestShare = higher(records.bestShare, readings.bestShare);
  const foundBlocks = readings.foundBlocks ?? records.foundBlocks;
  return bestShare === records.bestShare && foundBlocks === records.foundBlocks ? records : { bestShare, foundBlocks };
}

const higher = (known: number | null, read: number | null): number | null =>
  known === null || (read !== null && read > known) ? read : known;

const energyRead = (at: number, { readings, meter }: Reading): EnergyRead => ({
  at,
  power: readings.power,
  meter,
});

/**
 * After a missed read: the last readings stay, marked stale, until the third miss. If silence is `expected`, such as
 * while a command reads a rig often, misses only make it stale: polls and time count the others. `away`: it is known to
 * be unreachable, so that further misses need not confirm it.
 */
export function afterMiss(state: RigState, trouble: Trouble, expected: boolean, away = false): RigState {
  const atMost = expected ? 1 : missesUntilDisconnected;
  // A restarting rig is read less often only once its time for the restart has passed.
  const isCounted = !expected && !state.restarting;
  const counted = isCounted ? state.missed + 1 : Math.max(state.missed, Math.min(state.missed + 1, atMost));
  const missed = away && !expected ? Math.max(counted, missesUntilDisconnected) : counted;
  return { ...state, missed, trouble, reading: missed >= missesUntilDisconnected ? null : state.reading };
}

const trouble = (code: string, { text, coded }: Detail): Trouble => ({ code, message: text, quoted: text, coded });

const silence = detail("reason.silent");
/** For a rig that was not read in time. */
const unanswered = trouble("rig.timeout", silence);

/**
 * After this many intervals without a read, such as while a command waits for the rig: the last readings age as with
 * missed reads.
 */
export function afterSilence(state: RigState, intervals: number): RigState {
  const missed = Math.min(intervals, missesUntilDisconnected);
  if (state.reading === null || missed <= state.missed) return state;
  const reading = missed >= missesUntilDisconnected ? null : state.reading;
  return { ...state, missed, trouble: state.trouble ?? unanswered, reading };
}

/** Another rig answers at the address, or one that already is another miner: its data is not shown. */
export const afterRefusal = (state: RigState, trouble: Trouble): RigState => ({
  ...state,
  reading: null,
  missed: state.missed + 1,
  trouble,
});

function withNameplate(reading: Reading, nameplate: number | null): Reading {
  if (nameplate === null || reading.readings.power !== null) return reading;
  const power = reading.readings.mining === false ? 0 : nameplate;
  return { ...reading, readings: { ...reading.readings, power, powerSource: "nameplate" } };
}

/** A read may lack what an earlier one had. */
function mergeIdentity(known: Kept<Identity> | null, read: Kept<Identity>): Kept<Identity> {
  if (known === null || known === read) return read;
  return kept(known, {
    make: read.make ?? known.make,
    model: read.model ?? known.model,
    firmware: read.firmware ?? known.firmware,
    mac: read.mac ?? known.mac,
    hostname: read.hostname ?? known.hostname,
    serial: read.serial ?? known.serial,
  });
}

/** For users, about a rig whose reading makes this program fail; the log has the error. */
export const unusable = trouble("internal", detail("reason.unusable"));

/** Codes of rigs that answer but cannot be used in their present state. */
const refusals: readonly string[] = [
  "internal",
  "rig.other",
  "in.use",
  "rig.unknown-protocol",
  "rig.refused",
  "rig.login",
  "rig.read-only",
  "rig.busy",
  "input.invalid",
];

/**
 * Whether its state is not known yet: it has neither answered since the start of the service, nor missed enough reads
 * to count as offline.
 */
export const isUnread = ({ at, missed, trouble }: RigState): boolean =>
  at === null && missed < missesUntilDisconnected && !isRefused(trouble);

/** `statusInfo.statusDisplay` of a miner. */
export function statusOf(state: RigState, disabled: boolean): MinerStatus {
  if (disabled) return "Disabled";
  const { trouble, restarting } = state;
  const reading = briefOf(state);
  if (reading === null) {
    if (isRefused(trouble)) return "Error";
    return restarting || isUnread(state) ? "Starting" : "Disconnected";
  }
  const { hashrate } = reading.readings;
  // By its switch, like `canStart` and `canStop`.
  if (isStopped(reading)) return "Stopped";
  if (reading.starting === true) return "Starting";
  if (hashrate !== null && hashrate > 0) return "Mining";
  return isStarting(reading) ? "Starting" : "Idle";
}

const isRefused = (trouble: Trouble | null): boolean => trouble !== null && refusals.includes(trouble.code);

/** The state with the reason why the rig does not hash; until that is known, the remembered reason stays. */
export function withReason(state: RigState, disabled: boolean, now: number): RigState {
  if (isUnread(state) && !disabled) return state;
  const known = state.reason;
  const found = disabled ? switchedOff : haltIn(state);
  if (known?.code === found?.code && known?.text === found?.text) return state;
  if (found === null) return { ...state, reason: null };
  const since = known?.code === found.code ? known.since : now;
  return { ...state, reason: { ...found, since } };
}

const switchedOff = halt("user", detail("reason.disabled"));

function haltIn({ reading, trouble, restarting }: RigState): Halt | null {
  if (reading !== null) return haltOf(reading);
  const { message: text, coded } = trouble ?? unanswered;
  if (trouble?.code === "rig.login") return { code: "login", text, coded };
  if (isRefused(trouble)) return { code: "unknown", text, coded };
  return restarting ? halt("warming", detail("reason.restarting")) : { code: "network", text, coded };
}

/** Whether two reads are equal except for the passing of time. */
export const sameButTime = (a: Reading, b: Reading): boolean => same(a, b, "uptime");

/** A rig's permanent name: its MAC, else its serial, else the configured uid, else its host and port. */
export function uidOf(identity: Identity, configured: string | null, host: string, port: number): string {
  const { mac, serial } = identity;
  const named = mac?.toLowerCase().replaceAll(":", "") ?? (serial === null ? null : plain(serial));
  return named || configured || plain(`${host}-${port}`);
}

const plain = (text: string): string =>
  text
    .toLowerCase()
    .replace(/[^a-z0-9]+/g, "-")
    .slice(0, 64)
    .replace(/^-|-$/g, "");
