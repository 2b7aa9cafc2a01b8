import type { Control, Identity } from "../contract/readings.ts";
import { isRecord } from "../contract/record.ts";
import type { MinerStatus } from "../contract/resources.ts";
import type { Halt, Reading } from "../link/driver.ts";
import { haltOf, isStarting, isStopped } from "../link/reason.ts";
import { addEnergy, type EarlierUptime, type EnergyRead, startOf } from "./energy.ts";
import { missesUntilDisconnected } from "./schedule.ts";

/** What is known of a rig whether or not it is on: kept over restarts, so that a rig that is off keeps its shape. */
export interface Remembered {
  readonly uid: string | null;
  readonly driver: string | null;
  readonly identity: Identity | null;
  readonly software: string | null;
  readonly controls: readonly Control[];
  readonly layout: { readonly boards: number[]; readonly fans: number };
  /** Epoch ms. */
  readonly startedAt: number | null;
  /** Wh. */
  readonly energy: number | null;
  readonly reason: KeptReason | null;
  readonly records: Records;
}

/** Why it does not hash, and when that was first seen; epoch ms. */
export interface KeptReason extends Halt {
  readonly since: number;
}

/** What a rig has done that is worth an event when it does more. */
export interface Records {
  /** The highest seen: many rigs begin at nothing when they restart. */
  readonly bestShare: number | null;
  /** As the rig says it, which may begin anew. */
  readonly foundBlocks: number | null;
}

/** Why a rig is not read: a code of the error family and a sentence. */
export interface Trouble {
  readonly code: string;
  /** Without what answered at the address. */
  readonly message: string;
  /** The same with that, for the log. */
  readonly quoted: string;
}

/** What is true now of one rig. */
export interface RigState extends Remembered {
  /** The last good one; null before the first and from the third miss on. */
  readonly reading: Reading | null;
  /** When it was read, epoch ms. */
  readonly at: number | null;
  /** Reads missed since. */
  readonly missed: number;
  readonly trouble: Trouble | null;
  /** It took a restart, and the time that it may need for that is not over. */
  readonly restarting: boolean;
}

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
});

export interface ReadContext {
  /** Epoch ms of this read. */
  readonly at: number;
  /** W to assume where the rig reports none and mines. */
  readonly nameplate: number | null;
  /** ms between two reads above which energy is not integrated. */
  readonly longestGap: number;
  /** Of the last good read, however long ago; null before the first. */
  readonly before: EarlierUptime | null;
}

/** After a good read. */
export function afterRead(state: RigState, read: Reading, context: ReadContext): RigState {
  const { at, nameplate, longestGap } = context;
  const reading = withNameplate(read, nameplate);
  const { uptime, boards, fans } = reading.readings;
  const before = state.reading === null || state.at === null ? null : energyRead(state.at, state.reading);
  return {
    uid: state.uid,
    driver: state.driver,
    identity: mergeIdentity(state.identity, reading.identity),
    software: reading.software ?? state.software,
    controls: reading.controls,
    layout: { boards: boards.map(({ slot }) => slot), fans: fans.length },
    startedAt: startOf(state.startedAt, at, uptime, context.before),
    energy: addEnergy(state.energy, before, energyRead(at, reading), longestGap),
    reason: state.reason,
    records: recordsAfter(state.records, reading),
    reading,
    at,
    missed: 0,
    trouble: null,
    restarting: state.restarting,
  };
}

/** The same object while they are the same. */
function recordsAfter(records: Records, { readings }: Reading): Records {
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
 * After a missed read: the last readings stay, marked stale, until the third miss. Where silence is `expected`, as of a
 * rig that is read often for a command's sake, such misses make it stale and no more: only polls and time count on.
 */
export function afterMiss(state: RigState, trouble: Trouble, expected: boolean): RigState {
  const atMost = expected ? 1 : missesUntilDisconnected;
  // Reads of what restarts become rarer only when it should have been back.
  const isCounted = !expected && !state.restarting;
  const missed = isCounted ? state.missed + 1 : Math.max(state.missed, Math.min(state.missed + 1, atMost));
  return { ...state, missed, trouble, reading: missed >= missesUntilDisconnected ? null : state.reading };
}

const silence = "It has not answered since its last read";
/** The trouble of a rig that was not read in time. */
const unanswered: Trouble = { code: "rig.timeout", message: silence, quoted: silence };

/**
 * After so many intervals without a read, as while a command waits for the rig's answer: the last readings age as they do
 * with missed reads.
 */
export function afterSilence(state: RigState, intervals: number): RigState {
  const missed = Math.min(intervals, missesUntilDisconnected);
  if (state.reading === null || missed <= state.missed) return state;
  const reading = missed >= missesUntilDisconnected ? null : state.reading;
  return { ...state, missed, trouble: state.trouble ?? unanswered, reading };
}

/** Another rig than the known one answers there, or one that is known elsewhere: nothing of it is shown. */
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

/** A read may leave out what an earlier one said. */
function mergeIdentity(known: Identity | null, read: Identity): Identity {
  if (known === null) return read;
  return {
    make: read.make ?? known.make,
    model: read.model ?? known.model,
    firmware: read.firmware ?? known.firmware,
    mac: read.mac ?? known.mac,
    hostname: read.hostname ?? known.hostname,
    serial: read.serial ?? known.serial,
  };
}

const failure = "What this rig says makes Rigbridge fail; the log says where";
/** What a person is told of a rig whose reading this program failed over; the log has the rest. */
export const unusable: Trouble = { code: "internal", message: failure, quoted: failure };

/** Troubles of a rig that answers, but cannot be taken for what it should be. */
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

/** Whether nobody has asked it since the service started. */
export const isUnread = ({ reading, missed }: RigState): boolean => reading === null && missed === 0;

/** `statusInfo.statusDisplay` of a miner. */
export function statusOf(state: RigState, disabled: boolean): MinerStatus {
  if (disabled) return "Disabled";
  const { reading, trouble, restarting } = state;
  if (reading === null) {
    if (isRefused(trouble)) return "Error";
    return restarting || isUnread(state) ? "Starting" : "Disconnected";
  }
  const { hashrate } = reading.readings;
  // As `canStart` and `canStop` go: by what the switch says, where it does.
  if (isStopped(reading)) return "Stopped";
  if (reading.starting === true) return "Starting";
  if (hashrate !== null && hashrate > 0) return "Mining";
  return isStarting(reading) ? "Starting" : "Idle";
}

const isRefused = (trouble: Trouble | null): boolean => trouble !== null && refusals.includes(trouble.code);

/** The state with why the rig does not hash; one that was not asked yet keeps what was known of it. */
export function withReason(state: RigState, disabled: boolean, now: number): RigState {
  if (isUnread(state) && !disabled) return state;
  const known = state.reason;
  const halt = disabled ? switchedOff : haltIn(state);
  if (known?.code === halt?.code && known?.text === halt?.text) return state;
  if (halt === null) return { ...state, reason: null };
  const since = known?.code === halt.code ? known.since : now;
  return { ...state, reason: { code: halt.code, text: halt.text, since } };
}

const switchedOff: Halt = { code: "user", text: "It is disabled" };

function haltIn({ reading, trouble, restarting }: RigState): Halt | null {
  if (reading !== null) return haltOf(reading);
  const text = trouble?.message ?? silence;
  if (trouble?.code === "rig.login") return { code: "login", text };
  if (isRefused(trouble)) return { code: "unknown", text };
  return restarting ? { code: "warming", text: "It is restarting" } : { code: "network", text };
}

/** Whether two reads say the same: passing time alone is no change. */
export const sameButTime = (a: Reading, b: Reading): boolean => same(a, b, "uptime");

/** Without a copy of anything, since it is done with every read. A field called `except` does not count. */
export function same(a: unknown, b: unknown, except?: string): boolean {
  if (Object.is(a, b)) return true;
  if (Array.isArray(a) && Array.isArray(b))
    return a.length === b.length && a.every((each, index) => same(each, b[index], except));
  if (!isRecord(a) || !isRecord(b)) return false;
  let keys = 0;
  for (const key in a) {
    keys += 1;
    if (key !== except && !same(a[key], b[key], except)) return false;
  }
  for (const _ in b) keys -= 1;
  return keys === 0;
}
