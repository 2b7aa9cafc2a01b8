import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { OpenAdrSignal } from "../../../contract/signal-settings.ts";
import { WebBusyError } from "../../web-text.ts";
import { mostListed, OpenAdrClient } from "./openadr-client.ts";
import { type AdrEvent, readEvent, type Units, unitsIn, wishAt } from "./openadr-events.ts";
import { type SignalReading, type SignalSource, type SourceContext, unheard } from "./signal.ts";

/** Events that are kept: those that were modified last. */
const mostEvents = 1_000;
/** ms for all requests of one poll, and the longest pause that a busy server is given. */
const pollTimeoutMs = 60_000;
const longestPauseMs = 300_000;

interface Program {
  readonly name: string;
  readonly units: Units;
}

interface EventList {
  readonly found: readonly AdrEvent[];
  /** Of all events that it had, also those that are not followed. */
  readonly ids: ReadonlySet<unknown>;
  /** What of it is not followed, and why; null = nothing. */
  readonly refusal: string | null;
}

/** A VEN: the events of a VTN, polled. Between two polls they are followed by the clock. */
export function openAdrSignal(settings: OpenAdrSignal, context: SourceContext): SignalSource {
  const { now, monotonicNow, changed } = context;
  const client = new OpenAdrClient(settings, monotonicNow);
  const closing = new AbortController();
  let events: readonly AdrEvent[] = [];
  let heard: number | null = null;
  let problem: string | null = null;
  let refused: string | null = null;
  let dueAt = Number.NEGATIVE_INFINITY;
  let isPolling = false;

  const programsOf = async (signal: AbortSignal): Promise<ReadonlyMap<string, Program>> => {
    const programs = new Map<string, Program>();
    for await (const page of client.programs(signal))
      for (const each of page)
        if (isRecord(each) && typeof each.id === "string")
          programs.set(each.id, { name: String(each.programName), units: unitsIn(each.payloadDescriptors) });
    return programs;
  };
  /** The id of the program of the settings; null: all. Throws `not.found`. */
  const wantedProgram = (programs: ReadonlyMap<string, Program>): string | null => {
    const { program } = settings;
    if (program === undefined) return null;
    const [id] = [...programs].find(([known, { name }]) => known === program || name === program) ?? [];
    if (id === undefined) throw new RigbridgeError("not.found", `${client.at} shows no program ${program}`);
    return id;
  };
  const listEvents = async (programs: ReadonlyMap<string, Program>, signal: AbortSignal): Promise<EventList> => {
    const programId = wantedProgram(programs);
    const before = new Map(events.map((event) => [event.id, event]));
    const ids = new Set<unknown>();
    let found: AdrEvent[] = [];
    let refusal: string | null = null;
    let count = 0;
    for await (const page of client.events(programId, signal)) {
      for (const json of page) {
        if (isRecord(json)) ids.add(json.id);
        if (programId !== null && isRecord(json) && String(json.programID) !== programId) continue;
        const ofProgram = isRecord(json) ? programs.get(String(json.programID))?.units : undefined;
        const result = readEvent(json, ofProgram ?? new Map(), settings);
        if (result === null) continue;
        if ("problem" in result) refusal ??= result.problem;
        // A list that comes from a copy of the server may be older than the one before.
        else found.push(newer(result.event, before.get(result.event.id)));
      }
      found = kept(found, now());
      count += page.length;
    }
    if (count >= mostListed) refusal ??= `lists ${mostListed} events or more; the rest is not read`;
    return { found, ids, refusal };
  };
  /** Until all pages have to be there. */
  const pollDeadline = (): AbortSignal => AbortSignal.any([closing.signal, AbortSignal.timeout(pollTimeoutMs)]);
  const read = async (signal: AbortSignal): Promise<void> => {
    const programs = await programsOf(signal);
    const first = await listEvents(programs, signal);
    // An event that is deleted between two pages moves the others up: one is passed over that still exists.
    const isShorter = events.some(({ id }) => !first.ids.has(id));
    const list = isShorter ? await listEvents(programs, pollDeadline()).catch(() => first) : first;
    events = list.found;
    heard = monotonicNow();
    problem = null;
    refused = list.refusal === null ? null : `${client.at}: ${list.refusal}`;
  };
  const poll = async (): Promise<void> => {
    dueAt = monotonicNow() + settings.interval * 1000;
    try {
      await read(pollDeadline());
    } catch (error) {
      problem = error instanceof RigbridgeError ? error.message : `${client.at} could not be read`;
      const pause = error instanceof WebBusyError ? Math.min(error.retryAfterMs ?? 0, longestPauseMs) : 0;
      dueAt = Math.max(dueAt, monotonicNow() + pause);
    }
  };
  return {
    get reading(): SignalReading {
      return heard === null ? { ...unheard, problem } : { ...wishAt(events, now()), heard, problem, refused };
    },
    turn: async () => {
      if (isPolling || monotonicNow() < dueAt) return;
      isPolling = true;
      await poll();
      isPolling = false;
      changed();
    },
    close: () => closing.abort(),
  };
}

const newer = (event: AdrEvent, before: AdrEvent | undefined): AdrEvent =>
  before !== undefined && before.modified > event.modified ? before : event;

/** Those that are not over, of which the ones that were modified last. */
function kept(events: readonly AdrEvent[], now: number): AdrEvent[] {
  const open = events.filter(({ end }) => end === null || end > now);
  if (open.length <= mostEvents) return open;
  return open.toSorted((a, b) => b.modified - a.modified).slice(0, mostEvents);
}
