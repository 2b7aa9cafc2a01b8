import type { Logger } from "pino";
import { RigbridgeError } from "../../../contract/problems.ts";
import { ScheduleSettings } from "../../../contract/rules.ts";
import type { RunStep } from "../../../contract/steps.ts";
import type { Store, Stored, StoredSchedule } from "../../../store/index.ts";
import { enabled } from "../../crud.ts";
import type { Entry } from "../../miners/miner-registry.ts";
import type { AccessBook } from "../../users/access.ts";
import type { RunRequest, Runs } from "../run-types.ts";
import { actsOnRigs } from "./compile.ts";
import type { MaintenanceWindows } from "./maintenance.ts";
import { scopeTest } from "./scope.ts";
import type { RuleValues } from "./surroundings.ts";
import { endOf, type Traces } from "./traces.ts";
import { changeAfter, cronWindows, type Span, type Windows, weeklyWindows } from "./windows.ts";

export interface LiveSchedule {
  readonly id: number;
  readonly settings: ScheduleSettings;
  readonly makerId: number | null;
  /** null: it follows the price. */
  readonly windows: Windows | null;
  /** The beginning that was dealt with last, epoch ms; null: none yet. */
  handled: number | null;
  active: Span | null;
  /** When it next begins or ends, epoch ms. */
  changesAt: number;
  problem: string | null;
}

export interface SchedulesOptions {
  readonly registry: { all(): Iterable<Entry> };
  readonly store: Store;
  readonly accessBook: AccessBook;
  readonly runs: Runs;
  readonly traces: Traces;
  readonly maintenance: MaintenanceWindows;
  readonly values: RuleValues;
  readonly now: () => number;
  readonly monotonicNow: () => number;
  readonly zone: string | undefined;
  readonly log: Logger;
  readonly texts: (schedule: LiveSchedule) => RunRequest["texts"];
  readonly notBegun: (schedule: LiveSchedule, why: string) => void;
  readonly disowned: (schedule: LiveSchedule, problem: string) => void;
}

/** A beginning without an end that is this late was missed, ms. */
const lateMs = 120_000;
const jumpMs = 5_000;
/** The price forecast is looked at in these steps, for a week at most. */
const priceStepMs = 900_000;
const priceAheadMs = 2 * 86_400_000;

/** What begins and ends by the wall clock, or by the electricity price. */
export class Schedules {
  readonly #options: SchedulesOptions;
  #all: readonly LiveSchedule[] = [];
  readonly #dirty = new Set<LiveSchedule>();
  #last: { readonly wall: number; readonly monotonic: number } | null = null;

  constructor(options: SchedulesOptions) {
    this.#options = options;
  }

  get all(): readonly LiveSchedule[] {
    return this.#all;
  }

  /** Re-enters what was active when the service stopped. */
  load(): void {
    this.reload();
    const byId = new Map(this.#all.map((schedule) => [schedule.id, schedule]));
    this.#options.store.ruleLog.eachState(({ kind, ownerId, phase, since, elapsed }) => {
      const schedule = kind === "schedule" ? byId.get(ownerId) : undefined;
      if (schedule === undefined) return;
      schedule.handled = since;
      if (phase === "firing") schedule.active = { start: since, end: elapsed < 0 ? null : since + elapsed };
    });
  }

  /** Takes the schedules of the store. */
  reload(): void {
    const before = new Map(this.#all.map((schedule) => [schedule.id, schedule]));
    this.#all = enabled(this.#options.store.schedules).flatMap((row) => {
      const old = before.get(row.id);
      const fresh = this.#liveOf(row);
      if (fresh === null) return [];
      if (old === undefined) return [fresh];
      if (JSON.stringify(old.settings) === JSON.stringify(fresh.settings) && old.makerId === fresh.makerId)
        return [old];
      // What has begun ends when it was to end.
      return [{ ...fresh, handled: old.handled, active: old.active }];
    });
  }

  #liveOf({ id, definition, makerId }: Stored<StoredSchedule>): LiveSchedule | null {
    const parsed = ScheduleSettings.safeParse(definition);
    if (!parsed.success) {
      this.#options.log.error(`schedule ${id} cannot be read by this version and is left out`);
      return null;
    }
    const settings = parsed.data;
    const { zone } = this.#options;
    const lasts = settings.lasts === undefined ? null : settings.lasts * 1000;
    const windows =
      settings.weekly !== undefined
        ? weeklyWindows(settings.weekly, zone)
        : settings.cron === undefined
          ? null
          : cronWindows(settings.cron, settings.timeZone ?? zone, lasts);
    return { id, settings, makerId, windows, handled: null, active: null, changesAt: 0, problem: null };
  }

  /** One turn, once a second. */
  turn(): void {
    const now = { wall: this.#options.now(), monotonic: this.#options.monotonicNow() };
    const last = this.#last;
    this.#last = now;
    const jumped = last !== null && Math.abs(now.wall - last.wall - (now.monotonic - last.monotonic)) > jumpMs;
    for (const schedule of this.#all) {
      if (schedule.settings.enabled === false || this.#disowned(schedule)) continue;
      if (schedule.windows === null) this.#byPrice(schedule, now.wall);
      else this.#byTime(schedule, schedule.windows, now.wall, jumped);
    }
    this.#save();
  }

  #save(): void {
    if (this.#dirty.size === 0) return;
    if (this.#options.store.ruleLog.save([...this.#dirty].map(rowOf), [], [])) this.#dirty.clear();
  }

  #byTime(schedule: LiveSchedule, windows: Windows, now: number, jumped: boolean): void {
    const { active } = schedule;
    if (!jumped && now < schedule.changesAt) return;
    schedule.changesAt = changeAfter(windows, now);
    if (active?.end != null && now >= active.end) this.#end(schedule, active);
    const last = windows.last(now);
    if (last === null) return;
    const isFirst = schedule.handled === null;
    if (!isFirst && last.start <= (schedule.handled ?? 0)) return;
    const isOver = last.end === null ? now - last.start > lateMs : now >= last.end;
    schedule.handled = last.start;
    this.#dirty.add(schedule);
    if (!isOver && !jumped && !(isFirst && last.end === null)) this.#begin(schedule, last);
    // What was before a schedule was made was not missed.
    else if (!isFirst)
      this.#trace(
        schedule,
        "missed",
        jumped ? "the clock jumped over its beginning" : "the service was not running when it began",
      );
  }

  #byPrice(schedule: LiveSchedule, now: number): void {
    const { price: wanted } = schedule.settings;
    const price = this.#options.values.price(0, now);
    if (wanted === undefined || price === null) return;
    const holds = isWanted(price, wanted);
    if (holds && schedule.active === null) this.#begin(schedule, { start: now, end: null });
    else if (!holds && schedule.active !== null) this.#end(schedule, schedule.active);
  }

  #begin(schedule: LiveSchedule, span: Span): void {
    const { settings } = schedule;
    schedule.handled = span.start;
    const hasEnd = span.end !== null || settings.price !== undefined;
    schedule.active = hasEnd ? span : null;
    this.#dirty.add(schedule);
    this.#run(schedule, settings.do, `${span.start}:begin`, "begins");
  }

  #end(schedule: LiveSchedule, span: Span): void {
    schedule.active = null;
    this.#dirty.add(schedule);
    const { onEnd } = schedule.settings;
    if (onEnd !== undefined) this.#run(schedule, onEnd, `${span.start}:end`, "ends");
  }

  /** The miners that it acts on; those in maintenance apart. */
  members(schedule: LiveSchedule): { readonly ids: number[]; readonly held: number } {
    const { accessBook, store, registry, maintenance } = this.#options;
    const access = accessBook.of({ actor: "schedule", ...makerOf(schedule) });
    const fits = scopeTest(schedule.settings.scope, enabled(store.groups));
    const found = [...registry.all()].filter(
      ({ facts, rig }) => !facts.demo && access.seesGroup(facts.groupId) && fits(facts, rig.state.uid),
    );
    const ids = found.filter((entry) => maintenance.over(entry) === null).map(({ facts }) => facts.id);
    return { ids, held: found.length - ids.length };
  }

  #run(schedule: LiveSchedule, steps: readonly RunStep[], occurrence: string, message: string): void {
    const { runs, traces, texts } = this.#options;
    const { id, settings } = schedule;
    const { ids, held } = actsOnRigs(steps) ? this.members(schedule) : { ids: [], held: 0 };
    if (actsOnRigs(steps) && ids.length === 0) {
      this.#trace(
        schedule,
        held > 0 ? "held" : "done",
        held > 0 ? "all its miners are in maintenance" : "it has no miners",
      );
      return;
    }
    const trace = this.#trace(
      schedule,
      "running",
      held > 0 ? `${message}; ${held} miners are in maintenance` : message,
    );
    runs
      .begin({
        cause: { kind: "schedule", key: settings.key, id },
        occurrence: `schedule:${id}:${occurrence}`,
        caller: { actor: `schedule:${settings.key}`, ...makerOf(schedule) },
        ...{ minerIds: ids, steps, texts: texts(schedule) },
      })
      .then(async (record) => {
        if (record === "seen")
          traces.end(trace, { outcome: "seen", message: "it was begun before the service restarted" });
        else {
          traces.begun(trace, record.id);
          traces.end(trace, endOf(await runs.ended(record.id)));
        }
      })
      .catch((error: unknown) => {
        const why = error instanceof RigbridgeError ? error.message : "it could not be begun";
        traces.end(trace, { outcome: "failed", message: why });
        this.#options.notBegun(schedule, why);
      });
  }

  #trace({ id }: LiveSchedule, outcome: "missed" | "held" | "running" | "done", message: string): number {
    return this.#options.traces.add("schedule", id, 0, { outcome, message });
  }

  #disowned(schedule: LiveSchedule): boolean {
    if (schedule.makerId === null) return false;
    const isOwned = isAdministrator(this.#options.accessBook, schedule.makerId);
    if (!isOwned && schedule.problem === null) {
      schedule.problem = "its maker is no administrator any more";
      this.#options.disowned(schedule, schedule.problem);
    }
    if (isOwned) schedule.problem = null;
    return !isOwned;
  }

  /** What begins from now until then, soonest first; of the price, as far as its forecast goes. */
  upcoming(schedule: LiveSchedule, until: number, most: number): Span[] {
    const now = this.#options.now();
    if (schedule.settings.enabled === false) return [];
    if (schedule.windows === null) return this.#pricesAhead(schedule, now, Math.min(until, now + priceAheadMs));
    const found: Span[] = [];
    for (let next = schedule.windows.next(now); next !== null && next.start < until && found.length < most; ) {
      found.push(next);
      next = schedule.windows.next(next.start);
    }
    return found;
  }

  #pricesAhead({ settings: { price: wanted } }: LiveSchedule, now: number, until: number): Span[] {
    const found: { start: number; end: number | null }[] = [];
    let open: { start: number; end: number | null } | null = null;
    for (let at = Math.ceil(now / priceStepMs) * priceStepMs; wanted !== undefined && at < until; at += priceStepMs) {
      const price = this.#options.values.price(0, at);
      if (price === null) break;
      const holds = isWanted(price, wanted);
      if (holds && open === null) {
        open = { start: at, end: null };
        found.push(open);
      }
      if (!holds && open !== null) {
        open.end = at;
        open = null;
      }
    }
    return found;
  }

  /** Writes everything. */
  close(): void {
    this.#save();
  }
}

/** Whether this user may still make rules. */
export function isAdministrator(accessBook: AccessBook, userId: number): boolean {
  try {
    return accessBook.of({ actor: "rule", userId }).privilege === "administrator";
  } catch {
    return false;
  }
}

const makerOf = ({ makerId }: LiveSchedule) => (makerId === null ? {} : { userId: makerId });

const isWanted = (
  price: number,
  { below, above }: { readonly below?: number | undefined; readonly above?: number | undefined },
): boolean => (below === undefined || price < below) && (above === undefined || price > above);

const rowOf = ({ id, handled, active }: LiveSchedule) => ({
  kind: "schedule" as const,
  ownerId: id,
  minerId: 0,
  phase: active === null ? "idle" : "firing",
  since: handled ?? 0,
  elapsed: active?.end == null ? -1 : active.end - active.start,
  count: 0,
  fired: [],
  held: null,
  attempts: 0,
});
