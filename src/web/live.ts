import { computed, signal } from "@preact/signals";
import { createParser } from "eventsource-parser";
import type { Notification, Summary } from "../contract/resources.ts";
import type { MinerRow, MinerRowList } from "../contract/rows.ts";
import { call, Problem, request } from "./api.ts";
import { loadSession, may, session } from "./session.ts";

/** What a list shows of a rig (`GET /api/miners?view=list`). */
export type Row = MinerRow;

/** The rigs as they were at a moment; the map changes, the object around it is new each time. */
export interface Rigs {
  readonly byId: ReadonlyMap<number, Row>;
  readonly loaded: boolean;
}

/** Columns beside those that every row has; pages add what they show. */
const extraColumns = new Set<keyof Row>(["algorithm", "model", "address", "worker"]);

/** Adds columns to the rows. They come as soon as the list has been read again. */
export function wantColumns(columns: readonly (keyof Row)[]): void {
  const missing = columns.filter((column) => !extraColumns.has(column) && !baseColumns.includes(column));
  if (missing.length === 0) return;
  for (const column of missing) extraColumns.add(column);
  version = null;
  stream?.abort(new ColumnsWanted());
}

export const rigs = signal<Rigs>({ byId: new Map(), loaded: false });
export const summary = signal<Summary | null>(null);
/** undefined until they are read. */
export const notifications = signal<readonly Notification[] | undefined>(undefined);
/** Every count of open alarms is of these, which the list of alarms shows. */
export const openAlarms = computed(() => notifications.value?.filter(({ closedUtc }) => closedUtc === null));
/** Those of them that need attention: above info, and nobody has acknowledged them. */
export const urgentAlarms = computed(() =>
  openAlarms.value?.filter(({ isAcknowledged, isWarning }) => isWarning && !isAcknowledged),
);

/**
 * Whether what the page shows is what the service knows now; true until a read has failed. `since`: epoch ms of the last
 * sign of life.
 */
export const connection = signal<{ readonly live: boolean; readonly since: number; readonly problem: string | null }>({
  live: true,
  since: Date.now(),
  problem: null,
});

type Listener = (event: { readonly type: string; readonly data: unknown }) => void;
const listeners = new Set<Listener>();

/** Calls the listener with every event of the stream; returns the function that ends this. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** ms between two renderings of what events have changed: more often than anybody can read costs a phone its battery. */
const flushMs = 400;
/** ms of silence after which the stream counts as broken: the service sends a comment every 15 s. */
const silenceMs = 40_000;
/** ms until the stream must have begun: its first line comes at once. */
const beginMs = 10_000;
const longestRetryMs = 15_000;
/** ms after which a page in the background lets its stream go. */
const hiddenMs = 60_000;

const byId = new Map<number, Row>();
let version: string | null = null;
/** By id; a network that fails brings thousands at once. */
const notes = new Map<number, Notification>();
let changed = false;
let notesChanged = false;
let flushTimer: ReturnType<typeof setTimeout> | undefined;
let stream: AbortController | undefined;
let running = false;
let lastHeard = Date.now();

function flush(): void {
  flushTimer = undefined;
  if (changed) rigs.value = { byId, loaded: true };
  if (notesChanged) notifications.value = [...notes.values()].sort((one, other) => other.id - one.id);
  changed = false;
  notesChanged = false;
}

function markChanged(): void {
  changed = true;
  flushSoon();
}

function markNotes(): void {
  notesChanged = true;
  flushSoon();
}

function flushSoon(): void {
  if (flushTimer === undefined) flushTimer = setTimeout(flush, flushMs);
}

async function readRows(signal: AbortSignal): Promise<void> {
  const query = new URLSearchParams({ view: "list", fields: fieldsAsked() });
  if (version !== null) query.set("since", version);
  const answer = await request("GET", `api/miners?${query}`, undefined, { signal, timeoutMs: 60_000 });
  const list = (await answer.json()) as MinerRowList;
  if (list.whole) byId.clear();
  for (const row of list.miners) byId.set(row.id, row);
  for (const id of list.removed) byId.delete(id);
  version = list.version;
  rigs.value = { byId, loaded: true };
}

const baseColumns: readonly (keyof Row)[] = [
  ...(["id", "uid", "name", "group", "location", "tags", "status", "reason", "hashrate", "expected"] as const),
  ...(["power", "temperature", "pool", "coin", "profit", "alarms", "readAt"] as const),
];
const fieldsAsked = (): string => [...baseColumns, ...extraColumns].join(",");

async function readOthers(signal: AbortSignal): Promise<void> {
  const [sums, list] = await Promise.all([
    may("getSummary") ? call("getSummary", {}, { signal }) : null,
    may("listNotifications") ? call("listNotifications", {}, { signal }) : null,
  ]);
  summary.value = sums;
  keepNotifications(list?.notificationList ?? []);
}

function keepNotifications(list: readonly Notification[]): void {
  notes.clear();
  for (const notification of list) notes.set(notification.id, notification);
  notesChanged = false;
  notifications.value = list;
}

function receive(type: string, data: unknown): void {
  // The shapes are those of the service's own contract.
  if (type === "miner") {
    const row = data as Row;
    byId.set(row.id, row);
    markChanged();
  } else if (type === "miner-removed") {
    byId.delete((data as { id: number }).id);
    markChanged();
  } else if (type === "summary") summary.value = data as Summary;
  else if (type === "notification") {
    const notification = data as Notification;
    notes.set(notification.id, notification);
    markNotes();
  } else if (type === "notification-acknowledged") {
    for (const id of (data as { ids: readonly number[] }).ids) {
      const note = notes.get(id);
      if (note !== undefined) notes.set(id, { ...note, isAcknowledged: true });
    }
    markNotes();
  } else if (type === "notification-removed") {
    for (const id of (data as { ids: readonly number[] }).ids) notes.delete(id);
    markNotes();
  }
  for (const listener of listeners) listener({ type, data });
}

/** Reads the lists and follows the events, again and again, until `stopLive`. */
export async function startLive(): Promise<void> {
  if (running) return;
  running = true;
  let failures = 0;
  let isBack = false;
  while (running) {
    stream = new AbortController();
    const { signal } = stream;
    try {
      // A service that comes back may be another version, with other rights of this user.
      if (isBack) await loadSession();
      await Promise.all([readRows(signal), readOthers(signal)]);
      failures = 0;
      lastHeard = Date.now();
      if (isBack) connection.value = { live: true, since: lastHeard, problem: null };
      isBack = false;
      await follow(signal);
    } catch (error) {
      if (!running) return;
      if (error instanceof Problem && error.status === 401) await loadSession().catch(() => undefined);
      if (session.value === null) return stopLive();
      if (error instanceof ColumnsWanted) continue;
      isBack = true;
      // The lists were read, so the service is there.
      if (!(error instanceof NoEvents) && (failures > 0 || !(error instanceof Reconnect))) lose(error);
      failures += 1;
    }
    await waitForTurn(Math.min(longestRetryMs, 1000 * 2 ** Math.min(failures, 4)));
  }
}

export function stopLive(): void {
  running = false;
  stream?.abort();
  byId.clear();
  version = null;
  rigs.value = { byId, loaded: false };
  summary.value = null;
  notes.clear();
  notifications.value = undefined;
}

function lose(error: unknown): void {
  connection.value = { live: false, since: lastHeard, problem: error instanceof Error ? error.message : null };
}

/** The stream has ended or resets: read the lists again. */
class Reconnect extends Error {}

/** Something between the page and the service blocks or holds back events: the lists are read again and again instead. */
class NoEvents extends Error {}

/** A page shows columns that the rows do not have yet: read the list again. */
class ColumnsWanted extends Error {}

async function follow(signal: AbortSignal): Promise<void> {
  const after = version === null ? "" : `&after=${encodeURIComponent(version)}`;
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), beginMs);
  let begun = false;
  const parser = createParser({
    onEvent: ({ event, data }) => {
      if (event === "reset") throw new Reconnect();
      receive(event ?? "", JSON.parse(data));
    },
  });
  try {
    const response = await fetch(new URL(`api/events?view=list&fields=${fieldsAsked()}${after}`, document.baseURI), {
      headers: { accept: "text/event-stream" },
      cache: "no-store",
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status === 401) throw new Problem(response.status, "events", response.statusText);
    if (!response.ok || response.body === null) throw new NoEvents();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Reconnect();
        begun = true;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
        parser.feed(value);
        lastHeard = Date.now();
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    throw silence.signal.aborted && !begun ? new NoEvents() : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Until the time has passed, or the page becomes visible, or the network is back. */
function waitForTurn(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", ifVisible);
      resolve();
    };
    const isHidden = () => document.visibilityState === "hidden";
    const ifVisible = () => (isHidden() ? undefined : done());
    const timer = isHidden() ? undefined : setTimeout(done, ms);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", ifVisible);
  });
}

let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.visibilityState === "hidden") hiddenTimer = setTimeout(() => stream?.abort(), hiddenMs);
});
