import { computed, signal } from "@preact/signals";
import type { SiteChange } from "../contract/events.ts";
import type { Notification, Summary } from "../contract/resources.ts";
import type { MinerRow, MinerRowList } from "../contract/rows.ts";
import { siteOf } from "../contract/site-numbers.ts";
import type { Site } from "../contract/sites.ts";
import { call, Problem, request } from "./api.ts";
import { inOwnWords } from "./service-words.ts";
import { loadSession, may, session } from "./session.ts";
import { idsToFollow, mostFollowed, onUnfollowed } from "./shown-rows.ts";
import { followEvents, NoEvents, Reconnect, waitForTurn } from "./stream.ts";

/** A rig in a list (`GET /api/miners?view=list`). */
export type Row = MinerRow;

/** The rigs at a moment; the map is mutable, the object around it is new each time. */
export interface Rigs {
  readonly byId: ReadonlyMap<number, Row>;
  readonly loaded: boolean;
}

/** Columns besides those that every row has; pages add the ones they show. */
const extraColumns = new Set<keyof Row>(["algorithm", "model", "address", "worker", "place"]);

/** Adds columns to the rows. They arrive with the next read of the list. */
export function wantColumns(columns: readonly (keyof Row)[]): void {
  const missing = columns.filter((column) => !extraColumns.has(column) && !baseColumns.includes(column));
  if (missing.length === 0) return;
  for (const column of missing) extraColumns.add(column);
  version = null;
  readAgain();
}

export const rigs = signal<Rigs>({ byId: new Map(), loaded: false });
export const summary = signal<Summary | null>(null);
/** Other sites, where there are any. */
export const sites = signal<readonly Site[]>([]);
/** Open notifications, and past ones while a page shows them; undefined until loaded. */
export const received = signal<readonly Notification[] | undefined>(undefined);
/** The number of pages that show past notifications, or did just now, and whether `received` has these: see `useNotifications`. */
export const past = { shown: 0, loaded: false };
const isOpen = ({ closedUtc }: Notification): boolean => closedUtc === null;
/** Every count of open alarms uses these, which the list of alarms shows. Undefined until loaded. */
export const openAlarms = computed(() => received.value?.filter(isOpen).map(inOwnWords));
/** Those that need attention: above info and unacknowledged. */
export const urgentAlarms = computed(() =>
  openAlarms.value?.filter(({ isAcknowledged, isWarning }) => isWarning && !isAcknowledged),
);

/** Whether the page shows the present state; true until a read has failed. `since`: epoch ms of the last contact. */
export const connection = signal<{ readonly live: boolean; readonly since: number; readonly problem: string | null }>({
  live: true,
  since: Date.now(),
  problem: null,
});

type Listener = (event: { readonly type: string; readonly data: unknown }) => void;
const listeners = new Set<Listener>();

/** Calls the listener with every event of the stream; returns a function that ends it. */
export function onEvent(listener: Listener): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** ms between two renderings of events: more often than a person can read costs a phone its battery. */
const flushMs = 400;
const longestRetryMs = 15_000;
/** ms after which a page in the background closes its stream. */
const hiddenMs = 60_000;
/** ms for a page that becomes visible to catch up before it reports outdated data. */
const catchUpMs = 10_000;

const byId = new Map<number, Row>();
let version: string | null = null;
/** By id; a network failure brings thousands at once. */
const notes = new Map<number, Notification>();
let changed = false;
let notesChanged = false;
let flushTimer: ReturnType<typeof setTimeout> | undefined;
let stream: AbortController | undefined;
/** The present run of `startLive`, undefined after `stopLive`. */
let run: object | undefined;
/** The number of the last event. */
let lastEvent: string | undefined;
/** Consecutive complete lists although only changes were requested: such a service does not support visible rows. */
let wholeLists = 0;
let lastHeard = Date.now();

function flush(): void {
  flushTimer = undefined;
  if (changed) rigs.value = { byId, loaded: true };
  if (notesChanged) keepNotifications([...notes.values()].sort((one, other) => other.id - one.id));
  changed = false;
}

function markChanged(): void {
  changed = true;
  flushSoon();
}

/** Notifications have changed, or no page shows past ones any more. */
export function markNotes(): void {
  notesChanged = true;
  flushSoon();
}

function flushSoon(): void {
  if (flushTimer === undefined) flushTimer = setTimeout(flush, flushMs);
}

/** Whether only the visible rows are followed closely. */
const followsScreen = (): boolean => byId.size > mostFollowed && wholeLists < 2;

/** The query of the rows and of their events. */
function rowsQuery(): URLSearchParams {
  const query = new URLSearchParams({ view: "list", fields: fieldsAsked() });
  if (followsScreen()) query.set("shown", idsToFollow().join());
  return query;
}

/** Returns whether it has read all rows, not only changed ones. */
async function readRows(signal: AbortSignal): Promise<boolean> {
  const query = rowsQuery();
  if (version !== null) query.set("since", version);
  const answer = await request("GET", `api/miners?${query}`, undefined, { signal, timeoutMs: 60_000 });
  const list = (await answer.json()) as MinerRowList;
  // The user may have signed out by then.
  signal.throwIfAborted();
  if (list.whole) byId.clear();
  for (const row of list.miners) byId.set(row.id, row);
  for (const id of list.removed) byId.delete(id);
  wholeLists = list.whole && version !== null ? wholeLists + 1 : 0;
  version = list.version;
  rigs.value = { byId, loaded: true };
  return list.whole;
}

const baseColumns: readonly (keyof Row)[] = [
  ...(["id", "uid", "name", "group", "location", "tags", "status", "reason", "hashrate", "expected"] as const),
  ...(["power", "temperature", "pool", "coin", "profit", "alarms", "readAt", "repair"] as const),
];
const hasSites = (): boolean => (session.value?.sites ?? 0) > 0;
const fieldsAsked = (): string =>
  [...baseColumns, ...(hasSites() ? ["siteUnreachable"] : []), ...extraColumns].join(",");

async function readOthers(signal: AbortSignal): Promise<void> {
  const [sums, list, others] = await Promise.all([
    may("getSummary") ? call("getSummary", {}, { signal }) : null,
    may("listNotifications") ? call("listNotifications", {}, { signal }) : null,
    hasSites() ? call("listSites", {}, { signal }) : [],
  ]);
  sites.value = others;
  summary.value = sums;
  past.loaded = past.shown > 0;
  keepNotifications(list?.notificationList ?? []);
}

/** Newest first. Past ones are kept only while a page shows them. */
function keepNotifications(list: readonly Notification[]): void {
  received.value = past.shown > 0 ? list : list.filter(isOpen);
  notes.clear();
  for (const notification of received.value) notes.set(notification.id, notification);
  notesChanged = false;
}

/** Reads the lists again. */
export const readAgain = (): void => stream?.abort(new MoreWanted());

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
  } else if (type === "site") changeSite(data as SiteChange);
  for (const listener of listeners) listener({ type, data });
}

/** A site was reached or lost: one event for all its rows, which stay as they were. */
function changeSite({ id, state, since }: SiteChange): void {
  sites.value = sites.value.map((site) => (site.id === id ? { ...site, state, since } : site));
  for (const row of byId.values()) {
    if (siteOf(row.id) !== id) continue;
    const { siteUnreachable, ...known } = row;
    // What was only out of reach is up to date again.
    const readAt = row.readAt === siteUnreachable ? null : row.readAt;
    byId.set(
      row.id,
      state === "connected" ? { ...known, readAt } : { ...known, readAt: readAt ?? since, siteUnreachable: since },
    );
  }
  markChanged();
}

/** Reads the lists and follows the events, repeatedly, until `stopLive`. */
export async function startLive(): Promise<void> {
  if (run !== undefined) return;
  const own = {};
  run = own;
  let failures = 0;
  let isBack = false;
  /** The lists and all events since are loaded. */
  let isCurrent = false;
  /** Only the visible rows have changed. */
  let isMoved = false;
  while (run === own) {
    stream = new AbortController();
    const { signal } = stream;
    try {
      // A service that comes back may be another version, or have changed this user's rights.
      if (isBack) await loadSession();
      isCurrent &&= isMoved;
      const [isWhole] = await Promise.all([readRows(signal), isCurrent ? undefined : readOthers(signal)]);
      if (isWhole || !isCurrent) lastEvent = undefined;
      // The events continue after this list, so everything before it must be read, too.
      if (isWhole && isCurrent) await readOthers(signal);
      isCurrent = true;
      isMoved = false;
      failures = 0;
      lastHeard = Date.now();
      if (isBack) connection.value = { live: true, since: lastHeard, problem: null };
      isBack = false;
      clearTimeout(catchUpTimer);
      await follow(signal);
    } catch (error) {
      if (run !== own) return;
      if (error instanceof Problem && error.status === 401) await loadSession().catch(() => undefined);
      if (session.value === null) return stopLive();
      isMoved = error instanceof RowsWanted;
      if (isMoved || error instanceof MoreWanted) continue;
      isBack = true;
      // The lists were read, so the service is up; silence on a hidden page is no evidence to the contrary.
      const isSilence = !(error instanceof NoEvents || error instanceof Hidden);
      if (isSilence && (failures > 0 || !(error instanceof Reconnect))) lose(error);
      if (error instanceof Hidden) await untilSeen();
      else failures += 1;
    }
    if (failures > 0) await waitForTurn(Math.min(longestRetryMs, 1000 * 2 ** Math.min(failures, 4)));
  }
}

let catchUpTimer: ReturnType<typeof setTimeout> | undefined;

/** Resolves when the page becomes visible. Its data is reported as outdated only if it cannot catch up soon. */
async function untilSeen(): Promise<void> {
  while (document.visibilityState === "hidden") await waitForTurn(0);
  catchUpTimer = setTimeout(() => lose(null), catchUpMs);
}

/** Ends the stream and drops all loaded data. */
export function stopLive(): void {
  run = undefined;
  stream?.abort();
  clearTimeout(catchUpTimer);
  clearTimeout(flushTimer);
  flush();
  connection.value = { live: true, since: Date.now(), problem: null };
  byId.clear();
  version = null;
  lastEvent = undefined;
  wholeLists = 0;
  rigs.value = { byId, loaded: false };
  summary.value = null;
  sites.value = [];
  notes.clear();
  received.value = undefined;
}

/** Follows the events after the lists, or after the last event if only the visible rows changed. */
function follow(signal: AbortSignal): Promise<never> {
  const query = rowsQuery();
  const after = lastEvent ?? version;
  if (after !== null) query.set("after", after);
  return followEvents(`api/events?${query}`, signal, {
    receive: ({ id, type, data }) => {
      lastEvent = id ?? lastEvent;
      receive(type, data);
    },
    heard: () => {
      lastHeard = Date.now();
    },
  });
}

function lose(error: unknown): void {
  connection.value = { live: false, since: lastHeard, problem: error instanceof Error ? error.message : null };
}

/** A page needs columns that the rows lack, or past notifications: read the lists again. */
class MoreWanted extends Error {}

/** The visible rows have changed. */
class RowsWanted extends Error {}

/** The page has been in the background for a while, and receives nothing until it becomes visible. */
class Hidden extends Error {}

let hiddenTimer: ReturnType<typeof setTimeout> | undefined;
document.addEventListener("visibilitychange", () => {
  clearTimeout(hiddenTimer);
  if (document.visibilityState === "hidden") hiddenTimer = setTimeout(() => stream?.abort(new Hidden()), hiddenMs);
});

onUnfollowed(() => {
  if (followsScreen()) stream?.abort(new RowsWanted());
});
