import { createHash } from "node:crypto";
import type { CurtailmentTarget } from "../../../contract/curtailment.ts";
import { mostWatts } from "../../../contract/curtailment-target.ts";
import { isRecord } from "../../../contract/record.ts";
import type { OpenAdrSignal } from "../../../contract/signal-settings.ts";
import { after, type IsoDuration, isNow, parseDuration, parseTime } from "./openadr-time.ts";
import { sharing, type Wish } from "./signal.ts";

/**
 * Events of OpenADR 3.1.0: which of them asks for what, and when. Sources: OpenADR 3.1.0 Definitions (enumerations of event
 * payloads and units) and the schemas of its OpenAPI document.
 */

/** What an interval of an event asks for. */
interface Asked {
  /** Null: the target of the plan; "run": none. */
  readonly target: CurtailmentTarget | null | "run";
  readonly isEmergency: boolean;
  readonly text: string;
}

interface AdrInterval {
  /** Epoch ms. */
  readonly start: number;
  /** Null: until the event is changed or deleted. */
  readonly end: number | null;
  readonly asked: Asked;
}

export interface AdrEvent {
  readonly id: string;
  readonly name: string;
  /** Epoch ms. */
  readonly modified: number;
  /** A lower number goes first; Infinity: none was given. */
  readonly priority: number;
  readonly intervals: readonly AdrInterval[];
  /** End of the last interval; null: it has none. */
  readonly end: number | null;
}

/** What is read of an event: null if nothing of it concerns a curtailment. */
export type ReadEvent = { readonly event: AdrEvent } | { readonly problem: string } | null;

/** Units by type of payload. */
export type Units = ReadonlyMap<string, string>;

/** The units that the descriptors of a program or an event state. A program also describes the payloads of its reports. */
export const unitsIn = (descriptors: unknown): Units =>
  new Map(
    (Array.isArray(descriptors) ? descriptors : []).flatMap((each: unknown): [string, string][] =>
      isRecord(each) &&
      each.objectType !== "REPORT_PAYLOAD_DESCRIPTOR" &&
      typeof each.payloadType === "string" &&
      typeof each.units === "string"
        ? [[each.payloadType, each.units]]
        : [],
    ),
  );

/** The types that mean a curtailment, in the order in which one event is read. */
const types = ["ALERT_GRID_EMERGENCY", "DISPATCH_SETPOINT", "IMPORT_CAPACITY_LIMIT", "SIMPLE"] as const;
type AdrType = (typeof types)[number];

/** The most intervals of an event that are read. */
const mostIntervals = 5_000;

class Refusal extends Error {}

/**
 * An event by the settings of its signal. What is not certain is refused with a sentence: a missing or unknown unit, a level
 * without a meaning, a time without a zone.
 */
export function readEvent(json: unknown, ofProgram: Units, settings: Pick<OpenAdrSignal, "key" | "levels">): ReadEvent {
  if (!isRecord(json) || typeof json.id !== "string") return { problem: "an event has no id" };
  const { id } = json;
  const name = typeof json.eventName === "string" && json.eventName !== "" ? json.eventName.slice(0, 100) : id;
  try {
    const modified = parseTime(json.modificationDateTime);
    if (modified === null) throw new Refusal("has no modificationDateTime");
    const units = new Map([...ofProgram, ...unitsIn(json.payloadDescriptors)]);
    const intervals = intervalsOf(json, id, modified, units, settings);
    if (intervals.length === 0) return null;
    const ends = intervals.map(({ end }) => end);
    return {
      event: {
        id,
        name,
        modified,
        priority: typeof json.priority === "number" ? json.priority : Number.POSITIVE_INFINITY,
        intervals,
        end: ends.includes(null) ? null : Math.max(...ends.map(Number)),
      },
    };
  } catch (error) {
    if (error instanceof Refusal) return { problem: `the event ${name} ${error.message}` };
    throw error;
  }
}

function intervalsOf(
  json: Readonly<Record<string, unknown>>,
  id: string,
  modified: number,
  units: Units,
  settings: Pick<OpenAdrSignal, "key" | "levels">,
): AdrInterval[] {
  const listed: unknown[] = Array.isArray(json.intervals) ? json.intervals.slice(0, mostIntervals) : [];
  const asked = listed.map((each) => askedBy(isRecord(each) ? each.payloads : null, units, settings));
  // Events about prices and emissions are not about power, whatever else is wrong with them.
  if (asked.every((each) => each === null)) return [];
  const shared = periodOf(json.intervalPeriod);
  const offset = (range: IsoDuration | null) => (range === null ? 0 : fractionOf(`${settings.key} ${id}`) * range.ms);
  let next = shared.start === "now" ? modified : shared.start === null ? null : shared.start + offset(shared.random);
  return listed.flatMap((each, index): AdrInterval[] => {
    const own = periodOf(isRecord(each) ? each.intervalPeriod : null);
    const start = own.start === "now" ? modified : own.start === null ? next : own.start + offset(own.random);
    if (start === null) throw new Refusal("has an interval without a start");
    const duration = own.duration ?? shared.duration;
    const end = duration === null ? null : after(start, duration);
    if (end === start) throw new Refusal("has an interval of no duration");
    next = end ?? Number.MAX_SAFE_INTEGER;
    const what = asked[index] ?? null;
    return what === null || start >= Number.MAX_SAFE_INTEGER ? [] : [{ start, end, asked: what }];
  });
}

interface Period {
  /** Epoch ms; null: not given. */
  readonly start: number | "now" | null;
  /** Null: not given, so that it lasts until the event is changed. */
  readonly duration: IsoDuration | null;
  readonly random: IsoDuration | null;
}

function periodOf(json: unknown): Period {
  if (!isRecord(json)) return { start: null, duration: null, random: null };
  const duration = (key: string): IsoDuration | null => {
    const value = json[key] ?? null;
    if (value === null) return null;
    const parsed = parseDuration(value);
    if (parsed === null) throw new Refusal(`has a ${key} that is no duration`);
    return parsed;
  };
  const written = json.start ?? null;
  const start = written === null ? null : isNow(written) ? "now" : parseTime(written);
  if (start === null && written !== null) throw new Refusal("has a start that is no time with a zone");
  return { start, duration: duration("duration"), random: duration("randomizeStart") };
}

/** 0 to below 1, always the same for a text: a restart must not move the start of an event. */
const fractionOf = (text: string): number => createHash("sha256").update(text).digest().readUInt32BE() / 2 ** 32;

/** What the payloads of an interval ask for; null: nothing about power. */
function askedBy(payloads: unknown, units: Units, settings: Pick<OpenAdrSignal, "levels">): Asked | null {
  const list: unknown[] = Array.isArray(payloads) ? payloads : [];
  for (const type of types) {
    const payload = list.find((each) => isRecord(each) && each.type === type);
    if (!isRecord(payload)) continue;
    const values: unknown[] = Array.isArray(payload.values) ? payload.values : [];
    if (type === "ALERT_GRID_EMERGENCY") {
      const text = typeof values[0] === "string" ? values[0].slice(0, 100) : "";
      return { target: null, isEmergency: true, text };
    }
    const [value] = values;
    if (typeof value !== "number" || !Number.isFinite(value)) throw new Refusal(`has no number for ${type}`);
    return { target: targetOf(type, value, units.get(type), settings), isEmergency: false, text: "" };
  }
  return null;
}

function targetOf(
  type: Exclude<AdrType, "ALERT_GRID_EMERGENCY">,
  value: number,
  unit: string | undefined,
  { levels }: Pick<OpenAdrSignal, "levels">,
): Asked["target"] {
  if (type === "SIMPLE") {
    if (levels === undefined) throw new Refusal("is a SIMPLE event, and the signal has no levels");
    const kept = [100, levels.moderate, levels.high, levels.emergency][value];
    if (kept === undefined) throw new Refusal(`has the level ${value}, which is not 0, 1, 2 or 3`);
    return kept >= 100 ? "run" : sharing(kept / 100);
  }
  if (unit === undefined) throw new Refusal(`does not state the unit of ${type}`);
  if (value < 0) throw new Refusal(`has a negative ${type}`);
  // More than any limit is none.
  if (unit === "KW" && value * 1000 >= mostWatts) return "run";
  if (unit === "KW") return value === 0 ? { all: true } : { limit: value * 1000 };
  // 1.0 is 100 %: OpenADR 3.1.0 Definitions, unit enumerations.
  if (unit === "PERCENT" && type === "DISPATCH_SETPOINT") return value >= 1 ? "run" : sharing(value);
  throw new Refusal(`has the unit ${unit.slice(0, 40)} for ${type}, which is not understood`);
}

/**
 * What the events ask for at a time, in epoch ms: an emergency first, then by priority, then the one that was modified last.
 */
export function wishAt(
  events: readonly AdrEvent[],
  now: number,
): { readonly wish: Wish; readonly value: string | null } {
  const active = events
    .flatMap((event) => {
      const index = event.intervals.findLastIndex(({ start, end }) => start <= now && (end === null || now < end));
      const interval = event.intervals[index];
      return interval === undefined ? [] : [{ event, index, asked: interval.asked }];
    })
    .toSorted(
      (a, b) =>
        Number(b.asked.isEmergency) - Number(a.asked.isEmergency) ||
        compare(a.event.priority, b.event.priority) ||
        b.event.modified - a.event.modified,
    );
  const [first] = active;
  if (first === undefined) return { wish: { kind: "run" }, value: null };
  const { event, index, asked } = first;
  if (asked.target === "run") return { wish: { kind: "run" }, value: event.name };
  return {
    wish: {
      kind: "curtail",
      id: `event ${event.id} ${event.modified} ${index}`,
      target: asked.target,
      until: event.end === null ? null : Math.round(event.end),
      urgent: asked.isEmergency,
      text: asked.text === "" ? event.name : `${event.name}: ${asked.text}`,
    },
    value: event.name,
  };
}

/** Infinity minus Infinity is not a number. */
const compare = (a: number, b: number): number => (a === b ? 0 : a - b);
