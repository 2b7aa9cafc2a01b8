import { pino } from "pino";
import { type RigReadings, unknownReadings } from "../../../src/contract/readings.ts";
import { MaintenanceSettings, RuleSettings, ScheduleSettings } from "../../../src/contract/rules.ts";
import { changedKeys } from "../../../src/fleet/changed-keys.ts";
import { beforeFirstRead, type RigState, unknownRig } from "../../../src/fleet/state.ts";
import type { DeviceReading, PoolReading } from "../../../src/link/driver.ts";
import { textOf } from "../../../src/messages/service-texts.ts";
import { JobNotices } from "../../../src/service/automation/job-notices.ts";
import { ruleRow } from "../../../src/service/automation/rule-rows.ts";
import { Automation } from "../../../src/service/automation/rules/index.ts";
import type { RunRecord, RunRequest, Runs } from "../../../src/service/automation/run-types.ts";
import { StepTargets } from "../../../src/service/automation/step-targets.ts";
import { UsableLists } from "../../../src/service/automation/usable-lists.ts";
import type { Entry } from "../../../src/service/miners/miner-entries.ts";
import type { ReadingChange } from "../../../src/service/miners/reading-watch.ts";
import type { Notices } from "../../../src/service/notifications/notices.ts";
import { AccessBook } from "../../../src/service/users/access.ts";
import type { Store } from "../../../src/store/index.ts";
import { formatFor } from "../../../src/units/format.ts";
import { openStore } from "../../any-store.ts";

/** A clock for people, which may jump, and one that does not. */
export function twoClocks(wall = Date.UTC(2026, 2, 2, 12)) {
  let [now, monotonic] = [wall, 0];
  return {
    now: () => now,
    monotonicNow: () => monotonic,
    pass: (ms: number) => {
      now += ms;
      monotonic += ms;
    },
    jump: (ms: number) => {
      now += ms;
    },
  };
}
type Clocks = ReturnType<typeof twoClocks>;

/** Takes what rules ask to be run, and says that it is done. */
export class RecordedRuns implements Runs {
  readonly requests: RunRequest[] = [];
  readonly #seen = new Set<string>();
  /** Runs that do not end until a test says so. */
  held: (() => void)[] | null = null;

  async begin(request: RunRequest): Promise<RunRecord | "seen"> {
    if (this.#seen.has(request.occurrence)) return "seen";
    this.#seen.add(request.occurrence);
    this.requests.push(request);
    return this.#record(this.requests.length, request, "running");
  }

  async ended(id: number): Promise<RunRecord> {
    const request = this.requests[id - 1];
    if (request === undefined) throw new Error(`there is no run ${id}`);
    if (this.held !== null) await new Promise<void>((resolve) => this.held?.push(resolve));
    return this.#record(id, request, "done");
  }

  async lower(): Promise<null> {
    throw new Error("the store is not away");
  }

  async resume(): Promise<void> {}
  async close(): Promise<void> {}

  #record(id: number, { cause, occurrence, minerIds, steps }: RunRequest, state: RunRecord["state"]): RunRecord {
    const ofMiners = minerIds.length === 0 ? [null] : minerIds;
    return {
      id,
      cause,
      occurrence,
      startedAt: 0,
      endedAt: null,
      state,
      miners: ofMiners.map((minerId) => ({
        minerId,
        steps: steps.map((step) => ({ step, state: "done" as const, message: "", commandId: null })),
      })),
    };
  }

  /** "rule key: miner 3: restart", in the order in which they were asked for. */
  get told(): string[] {
    return this.requests.map(
      ({ cause, minerIds, steps }) =>
        `${cause.key}: ${minerIds.join(",")}: ${steps.map((step) => Object.entries(step)[0]?.join(" ") ?? "").join(", ")}`,
    );
  }
}

export interface RuleBenchOptions {
  readonly rules?: readonly object[];
  readonly schedules?: readonly object[];
  readonly maintenance?: readonly object[];
  readonly miners?: number;
  readonly clocks?: Clocks;
  readonly store?: Store;
  readonly runs?: RecordedRuns;
  readonly zone?: string;
  readonly price?: (at: number) => number | null;
  readonly profit?: number | null;
  readonly poolHashrate?: number | null;
  readonly off?: string;
}

/** Rules over virtual states of rigs: thousands of them, for days, in some milliseconds. */
export async function openRuleBench(options: RuleBenchOptions) {
  const clocks = options.clocks ?? twoClocks();
  let zone = options.zone ?? "UTC";
  const { now, monotonicNow } = clocks;
  const store = options.store ?? (await openStore({ file: ":memory:", now }));
  await store.rules.declare(
    new Map(
      (options.rules ?? [])
        .map((given) => RuleSettings.parse(given))
        .map((rule) => [rule.key ?? rule.use ?? "", ruleRow(rule, null)]),
    ),
  );
  await store.schedules.declare(
    new Map(
      (options.schedules ?? [])
        .map((given) => ScheduleSettings.parse(given))
        .map((schedule) => [schedule.key, { name: schedule.key, makerId: null, definition: { ...schedule } }]),
    ),
  );
  await store.maintenance.declare(
    new Map(
      (options.maintenance ?? [])
        .map((given) => MaintenanceSettings.parse(given))
        .map((window) => [window.name, { name: window.name, makerId: null, definition: { ...window } }]),
    ),
  );
  const runs = options.runs ?? new RecordedRuns();
  const notices: string[] = [];
  const entries = new Map<number, Entry>();
  let take: (changes: readonly ReadingChange[]) => void = () => undefined;
  const topics = new Map<string, (payload: string) => void>();
  const history: { minerId: number; time: number; hashrate: number }[] = [];
  const taken: Notices = {
    raise: ({ message }) => notices.push(textOf(message, "en")),
    close: (key) => notices.push(`closed ${key}`),
  };
  const accessBook = new AccessBook(store);
  const book = { addList: () => [] };
  const usable = new UsableLists({
    store,
    accessBook,
    book,
    registry: { entriesFor: () => entries.values(), isDemoOnly: false },
  });
  const automation = new Automation({
    targets: new StepTargets({ store, accessBook, book, usable }),
    registry: {
      isDemoOnly: false,
      all: () => entries.values(),
      watchReadings: (listener) => {
        take = listener;
        return () => undefined;
      },
    },
    store,
    runs,
    now,
    monotonicNow,
    accessBook,
    notices: taken,
    channelsOf: () => undefined,
    jobNotices: new JobNotices(taken, () => undefined),
    values: {
      price: (_, at) => options.price?.(at) ?? null,
      lastOutput: () => null,
      outside: (_, name) => (name === "profit" ? (options.profit ?? null) : (options.poolHashrate ?? null)),
    },
    messages: {
      isConfigured: true,
      listen: (topic, handle) => {
        topics.set(topic, (payload) => handle({ payload, at: now(), retained: false }));
        return () => topics.delete(topic);
      },
      publish: () => false,
    },
    each: async (minerId, from, to, takeSample) => {
      for (const each of history)
        if (each.minerId === minerId && each.time >= from && each.time < to)
          takeSample(each.time, each.hashrate, Number.NaN, Number.NaN, Number.NaN);
    },
    zone: () => zone,
    changed: () => undefined,
    settings: { history: { raw: 2, hourly: 730 } },
    off: options.off ?? null,
    format: formatFor({ locale: "en-US", currency: "USD", timeZone: "UTC" }),
    log: pino({ level: "silent" }),
  });
  const ruleOf = (key: string) => automation.engine.rules.find(({ settings }) => settings.key === key);
  const stateOf = (id: number): RigState => entries.get(id)?.rig.state ?? beforeFirstRead(unknownRig);
  for (let id = 1; id <= (options.miners ?? 1); id += 1) entries.set(id, entryOf(id));
  await automation.start();

  /** One read of a rig with these readings; null: it is away. */
  const read = (id: number, readings: Partial<RigReadings> | null, rest: Partial<ReadingRest> = {}): ReadingChange => {
    const before = stateOf(id);
    const state = readings === null ? away(before) : reading(before, readings, rest, now());
    const entry = entries.get(id);
    if (entry !== undefined) Object.assign(entry.rig, { state });
    return { id, before, state, keys: changedKeys(before, state, false) };
  };
  return {
    automation,
    runs,
    notices,
    store,
    clocks,
    history,
    entries,
    topics,
    /** Reads of many rigs at once. */
    batch: (changes: readonly ReadingChange[]) => take(changes),
    change: read,
    read: (id: number, readings: Partial<RigReadings> | null, rest: Partial<ReadingRest> = {}) =>
      take([read(id, readings, rest)]),
    /** Time passes in turns of so many seconds; `each` is called before each turn. */
    pass: async (seconds: number, every = 10, each: () => void = () => undefined) => {
      for (let passed = 0; passed < seconds; passed += every) {
        clocks.pass(every * 1000);
        each();
        await automation.turn();
        // What was begun ends.
        await settled();
      }
    },
    phase: (key: string, minerId = 1) => ruleOf(key)?.cells.get(minerId)?.phase ?? "idle",
    traces: (key: string) => listed(automation.traces.list("rule", ruleOf(key)?.id ?? 0, () => true)),
    scheduleTraces: (id: number) => listed(automation.traces.list("schedule", id, () => true)),
    /** The values that the steps set, in their order. */
    told: () => runs.requests.map(({ steps }) => Reflect.get(steps[0] ?? {}, "value")),
    /** The service's time zone changes. */
    move: (to: string): void => {
      zone = to;
      automation.zoneChanged();
    },
    close: () => automation.close(),
  };
}

const listed = async (runs: Promise<readonly { readonly outcome: string; readonly message: string }[]>) =>
  (await runs).map(({ outcome, message }) => `${outcome}: ${message}`);

export const settled = async (): Promise<void> => {
  for (let turn = 0; turn < 12; turn += 1) await Promise.resolve();
};

interface ReadingRest {
  readonly pools: readonly PoolReading[];
  readonly devices: readonly DeviceReading[];
  readonly restarting: boolean;
  readonly records: RigState["records"];
  readonly reason: RigState["reason"];
}

const nobody = { make: null, model: null, firmware: null, mac: null, hostname: null, serial: null };

export function reading(
  before: RigState,
  readings: Partial<RigReadings>,
  rest: Partial<ReadingRest>,
  at: number,
): RigState {
  const { pools = [], devices = [], restarting = false, records = before.records, reason = null } = rest;
  return {
    ...before,
    at,
    missed: 0,
    trouble: null,
    restarting,
    records,
    reason,
    reading: {
      identity: nobody,
      readings: { ...unknownReadings(), hashrate: 1e12, ...readings },
      pools,
      devices,
      controls: [],
      poolActions: [],
      software: null,
      logInterval: null,
      workUtility: null,
    },
  };
}

const away = (before: RigState): RigState => ({
  ...before,
  missed: 3,
  reading: null,
  at: before.at ?? 1,
  trouble: { code: "rig.unreachable", message: "away", quoted: "away" },
});

/** Only what rules look at. */
export function entryOf(id: number): Entry {
  const entry: unknown = {
    facts: {
      id,
      name: `rig ${id}`,
      named: true,
      demo: false,
      groupId: 0,
      repair: null,
      tags: id % 2 === 0 ? ["even"] : [],
      location: { site: null, container: null, rack: id <= 2 ? "r1" : null, slot: null },
      host: { name: "", description: "" },
    },
    rig: { id, state: { ...beforeFirstRead(unknownRig), uid: `uid${id}` }, declared: { disabled: false } },
  };
  return entry as Entry;
}
