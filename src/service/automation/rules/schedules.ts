import type { Logger } from "pino";
import { messageIn, RigbridgeError } from "../../../contract/problems.ts";
import { runsHere } from "../../../contract/runs-at.ts";
import type { RunStep } from "../../../contract/steps.ts";
import type { Detail } from "../../../messages/coded-text.ts";
import { detail } from "../../../messages/detail.ts";
import type { Store, StoredRuleState } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { Entry } from "../../miners/miner-entries.ts";
import { placesOf } from "../../places/place-book.ts";
import type { AccessBook } from "../../users/access.ts";
import { runsRowHere } from "../rule-rows.ts";
import type { RunRequest, Runs } from "../run-types.ts";
import { scopeTest } from "../scope.ts";
import { actsOnRigs } from "./compile.ts";
import { type LiveSchedule, liveSchedule, type OwedSteps, rowsOf, stateIn, takeOver } from "./live-schedule.ts";
import type { MaintenanceWindows } from "./maintenance.ts";
import { isWanted, upcomingSpans } from "./schedule-forecast.ts";
import type { RuleValues } from "./surroundings.ts";
import { endOf, saying, type Traces } from "./traces.ts";
import { changeAfter, type Span, type Windows } from "./windows.ts";

export interface SchedulesOptions {
  readonly registry: { all(): Iterable<Entry>; readonly isDemoOnly: boolean };
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly runs: Runs;
  readonly traces: Traces;
  readonly maintenance: MaintenanceWindows;
  readonly values: RuleValues;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly zone: () => string | undefined;
  /** Why no schedule begins or ends; null if schedules run. */
  readonly off: string | null;
  readonly log: Logger;
  readonly texts: (schedule: LiveSchedule) => RunRequest["texts"];
  readonly notBegun: (schedule: LiveSchedule, why: string) => void;
  readonly disowned: (schedule: LiveSchedule, problem: string) => void;
}

/** A beginning without an end counts as missed after this time, ms. */
const lateMs = 120_000;
const jumpMs = 5_000;

/** Runs schedules by the wall clock or the electricity price. */
export class Schedules {
  readonly #options: SchedulesOptions;
  #all: readonly LiveSchedule[] = [];
  /** Schedules that were removed or disabled in the file while active; they end with the first turn. */
  #leftOpen: LiveSchedule[] = [];
  readonly #dirty = new Set<LiveSchedule>();
  /** The miners of the stored rows with deferred steps, by schedule. */
  readonly #owedRows = new Map<number, readonly number[]>();
  #last: { readonly wall: number; readonly monotonic: number } | null = null;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  get all(): readonly LiveSchedule[] {
    return this.#all;
  }

  /** Restores what was active when the service stopped. */
  async load(): Promise<void> {
    this.reload();
    const { store, now, zone } = this.#options;
    const byId = new Map(this.#all.map((schedule) => [schedule.id, schedule]));
    const rows = new Map<number, StoredRuleState[]>();
    await store.ruleLog.eachState((row) => {
      if (row.kind === "schedule") rows.set(row.ownerId, [...(rows.get(row.ownerId) ?? []), row]);
    });
    for (const [id, states] of rows) {
      const before = stateIn(states);
      const row = store.schedules.get(id);
      if (before === null || row === undefined || !runsRowHere(row)) continue;
      const schedule = byId.get(id) ?? liveSchedule(row, zone());
      if (schedule === null) continue;
      takeOver(schedule, before, now());
      this.#owedRows.set(id, [...schedule.owed.keys()]);
      if (schedule.times !== before.times) this.#dirty.add(schedule);
      if (!byId.has(id) && schedule.active !== null) this.#leftOpen.push(schedule);
    }
  }

  /** Loads the schedules from the store. A schedule that was removed while active ends now. */
  reload(): void {
    const { store, zone, log, now } = this.#options;
    const before = new Map(this.#all.map((schedule) => [schedule.id, schedule]));
    this.#all = enabled(store.schedules).flatMap((row) => {
      // One that now acts elsewhere ends here, as one that was removed does.
      const old = runsRowHere(row) ? before.get(row.id) : undefined;
      const fresh = liveSchedule(row, zone());
      if (fresh === null) log.error(`schedule ${row.id} cannot be read by this version and is left out`);
      if (fresh === null) return [];
      if (old === undefined) {
        if (before.has(row.id)) this.#dirty.add(fresh);
        return [fresh];
      }
      before.delete(row.id);
      const isSame = JSON.stringify(old.settings) === JSON.stringify(fresh.settings) && old.times === fresh.times;
      if (isSame && old.makerId === fresh.makerId) return [old];
      takeOver(fresh, old, now());
      this.#dirty.delete(old);
      this.#dirty.add(fresh);
      return [fresh];
    });
    for (const schedule of this.#all) schedule.problem ??= this.#options.off;
    for (const removed of before.values()) {
      if (removed.active !== null) this.#end(removed, removed.active, removed.problem !== null);
      this.#dirty.delete(removed);
    }
  }

  /** One turn, once a second. */
  async turn(): Promise<void> {
    if (this.#options.off !== null) return;
    const now = { wall: this.#options.now(), monotonic: this.#options.monotonicNow() };
    const last = this.#last;
    this.#last = now;
    const jumped = last !== null && Math.abs(now.wall - last.wall - (now.monotonic - last.monotonic)) > jumpMs;
    for (const schedule of this.#leftOpen.splice(0))
      if (schedule.active !== null) this.#end(schedule, schedule.active, false);
    for (const schedule of this.#all) {
      if (!runsHere(schedule.settings.runsAt)) continue;
      const isDisowned = this.#disowned(schedule);
      if (schedule.windows === null) this.#byPrice(schedule, now.wall, isDisowned);
      else this.#byTime(schedule, schedule.windows, now.wall, isDisowned, jumped);
      if (schedule.owed.size > 0 && !isDisowned) this.#payOwed(schedule);
    }
    await this.#save();
  }

  async #save(): Promise<void> {
    if (this.#dirty.size === 0) return;
    const { ruleLog } = this.#options.store;
    const dirty = [...this.#dirty];
    this.#dirty.clear();
    const states = dirty.flatMap(rowsOf);
    const owed = dirty.map((schedule) => [schedule.id, [...schedule.owed.keys()]] as const);
    const gone = dirty.flatMap(({ id }) =>
      (this.#owedRows.get(id) ?? []).map((minerId) => ({ kind: "schedule" as const, ownerId: id, minerId })),
    );
    // Rows are removed before new ones are written.
    if (await ruleLog.save(states, gone, [])) for (const [id, minerIds] of owed) this.#owedRows.set(id, minerIds);
    else for (const schedule of dirty) this.#dirty.add(schedule);
  }

  #byTime(schedule: LiveSchedule, windows: Windows, now: number, isDisowned: boolean, jumped: boolean): void {
    const { active } = schedule;
    if (!jumped && now < schedule.changesAt) return;
    schedule.changesAt = changeAfter(windows, now);
    // A disabled schedule ends too, once it has begun.
    if (active?.end != null && now >= active.end) this.#end(schedule, active, isDisowned);
    const last = windows.last(now);
    if (last === null) return;
    const isFirst = schedule.handled === null;
    if (!isFirst && last.start <= (schedule.handled ?? 0)) return;
    const isOver = last.end === null ? now - last.start > lateMs : now >= last.end;
    if (schedule.settings.enabled === false || isDisowned) {
      // If it is enabled before the window ends, it still begins; earlier windows do not count as missed.
      if (isFirst || schedule.active !== null || !(isOver || last.end === null)) return;
      schedule.handled = last.start;
      this.#dirty.add(schedule);
      return;
    }
    schedule.handled = last.start;
    this.#dirty.add(schedule);
    if (!isOver && !jumped && !(isFirst && last.end === null)) this.#begin(schedule, last);
    // Windows before a schedule was created do not count as missed.
    else if (!isFirst) this.#trace(schedule, "missed", detail(jumped ? "trace.jumped" : "trace.wasOff"));
  }

  #byPrice(schedule: LiveSchedule, now: number, isDisowned: boolean): void {
    const { price: wanted, enabled: isOn = true } = schedule.settings;
    const price = this.#options.values.price(0, now);
    if (wanted === undefined || price === null) return;
    const holds = isWanted(price, wanted);
    if (!holds && schedule.active !== null) this.#end(schedule, schedule.active, isDisowned);
    else if (holds && schedule.active === null && isOn && !isDisowned) this.#begin(schedule, { start: now, end: null });
  }

  #begin(schedule: LiveSchedule, span: Span): void {
    const { settings } = schedule;
    schedule.handled = span.start;
    const hasEnd = span.end !== null || settings.price !== undefined;
    schedule.active = hasEnd ? span : null;
    this.#dirty.add(schedule);
    forgive(schedule, () => true);
    const held = this.#run(schedule, settings.do, `${span.start}:begin`, detail("trace.begins"), new Set());
    if (hasEnd) this.#owe(schedule, "do", held);
  }

  /** `isDisowned`: its creator may no longer act on rigs, so it ends without its steps. */
  #end(schedule: LiveSchedule, span: Span, isDisowned: boolean): void {
    schedule.active = null;
    this.#dirty.add(schedule);
    // If maintenance kept it from beginning, there is nothing to end.
    const untouched = new Set([...schedule.owed].flatMap(([id, steps]) => (steps === "do" ? [id] : [])));
    forgive(schedule, (steps) => steps === "do");
    const { onEnd } = schedule.settings;
    if (onEnd === undefined) return;
    if (isDisowned) this.#trace(schedule, "missed", detail("trace.disowned"));
    else this.#owe(schedule, "onEnd", this.#run(schedule, onEnd, `${span.start}:end`, detail("trace.ends"), untouched));
  }

  #owe(schedule: LiveSchedule, steps: OwedSteps, minerIds: readonly number[]): void {
    for (const minerId of minerIds) schedule.owed.set(minerId, steps);
  }

  /** Runs the deferred steps of miners whose maintenance has ended. */
  #payOwed(schedule: LiveSchedule): void {
    const { settings, owed, handled } = schedule;
    // A disabled schedule ends, but does not begin.
    if (settings.enabled === false) forgive(schedule, (steps) => steps === "do");
    const free = new Set(this.members(schedule).ids);
    for (const [what, steps] of [
      ["do", settings.do],
      ["onEnd", settings.onEnd ?? []],
    ] as const) {
      const ids = [...owed].flatMap(([id, each]) => (each === what && free.has(id) ? [id] : []));
      const [first] = ids;
      if (first === undefined) continue;
      const chosen = new Set(ids);
      forgive(schedule, (_, minerId) => chosen.has(minerId));
      this.#dirty.add(schedule);
      // Each list of steps is deferred once per miner, so the miner's id identifies the occurrence.
      this.#start(schedule, steps, `${handled}:${what}:after-maintenance:${first}`, detail("trace.maintained"), ids);
    }
  }

  /** The miners that it acts on; those in maintenance separately. */
  members(schedule: LiveSchedule): { readonly ids: number[]; readonly held: number[] } {
    const { accessBook, store, registry, maintenance } = this.#options;
    const access = accessBook.of({ actor: "schedule", ...makerOf(schedule) });
    const fits = scopeTest(schedule.settings.scope, enabled(store.groups), placesOf(store));
    const [ids, held]: [number[], number[]] = [[], []];
    for (const entry of registry.all()) {
      const { facts, rig } = entry;
      if ((facts.demo && !registry.isDemoOnly) || !access.seesGroup(facts.groupId) || !fits(facts, rig.state.uid))
        continue;
      (maintenance.over(entry) === null ? ids : held).push(facts.id);
    }
    return { ids, held };
  }

  /** Returns the miners that are skipped because of maintenance. */
  #run(
    schedule: LiveSchedule,
    steps: readonly RunStep[],
    occurrence: string,
    message: Detail,
    except: ReadonlySet<number>,
  ): readonly number[] {
    if (!actsOnRigs(steps)) {
      this.#start(schedule, steps, occurrence, message, []);
      return [];
    }
    const { ids, held } = this.members(schedule);
    const [free, kept] = [ids, held].map((each) => each.filter((id) => !except.has(id)));
    if (free === undefined || kept === undefined) return [];
    const isHeld = kept.length > 0;
    if (free.length > 0)
      this.#start(
        schedule,
        steps,
        occurrence,
        isHeld ? detail("trace.someMaintained", { what: message, count: kept.length }) : message,
        free,
      );
    else this.#trace(schedule, isHeld ? "held" : "done", detail(isHeld ? "trace.allMaintained" : "trace.noMiners"));
    return kept;
  }

  #start(
    schedule: LiveSchedule,
    steps: readonly RunStep[],
    occurrence: string,
    message: Detail,
    minerIds: readonly number[],
  ): void {
    const { runs, traces, texts } = this.#options;
    const { id, settings } = schedule;
    const trace = this.#trace(schedule, "running", message);
    runs
      .begin({
        cause: { kind: "schedule", key: settings.key, id },
        occurrence: `schedule:${id}:${occurrence}`,
        caller: { actor: `schedule:${settings.key}`, ...makerOf(schedule) },
        minerIds,
        steps,
        texts: texts(schedule),
      })
      .then(async (record) => {
        if (record === "seen") traces.end(trace, { outcome: "seen", ...saying(detail("trace.seen")) });
        else {
          traces.begun(trace, record.id);
          traces.end(trace, endOf(await runs.ended(record.id)));
        }
      })
      .catch((error: unknown) => {
        const why = error instanceof RigbridgeError ? error.message : "it could not be begun";
        traces.end(trace, { outcome: "failed", ...saying(error instanceof RigbridgeError ? messageIn(error) : why) });
        this.#options.notBegun(schedule, why);
      });
  }

  #trace({ id }: LiveSchedule, outcome: "missed" | "held" | "running" | "done", message: Detail): number {
    return this.#options.traces.add("schedule", id, 0, { outcome, ...saying(message) });
  }

  #disowned(schedule: LiveSchedule): boolean {
    if (schedule.makerId === null) return false;
    const isOwned = isAdministrator(this.#options.accessBook, schedule.makerId);
    if (!isOwned && schedule.problem === null) {
      schedule.problem = "its creator is no longer an administrator";
      this.#options.disowned(schedule, schedule.problem);
    }
    if (isOwned && schedule.problem !== null) {
      schedule.problem = null;
      schedule.changesAt = 0;
    }
    return !isOwned;
  }

  /** The windows that begin between now and then, soonest first; with a price, as far as the forecast reaches. */
  upcoming(schedule: LiveSchedule, until: number, most: number): Span[] {
    const { now, values } = this.#options;
    if (!runsHere(schedule.settings.runsAt)) return [];
    return upcomingSpans(schedule, now(), until, most, (at) => values.price(0, at));
  }

  /** Writes all states. */
  async close(): Promise<void> {
    await this.#save();
  }
}

/** Whether this user may still have rules. */
export function isAdministrator(accessBook: AccessBook, userId: number): boolean {
  try {
    return accessBook.of({ actor: "rule", userId }).privilege === "administrator";
  } catch {
    return false;
  }
}

const makerOf = ({ makerId }: LiveSchedule) => (makerId === null ? {} : { userId: makerId });

/** Drops some of the deferred steps. */
function forgive({ owed }: LiveSchedule, isDropped: (steps: OwedSteps, minerId: number) => boolean): void {
  for (const [minerId, steps] of owed) if (isDropped(steps, minerId)) owed.delete(minerId);
}
