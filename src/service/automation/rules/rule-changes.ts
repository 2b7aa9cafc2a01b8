import type { RuleChange } from "../../../contract/events.ts";
import type { RuleEngine } from "./engine.ts";
import type { LiveRule } from "./live-rule.ts";
import type { MaintenanceWindows } from "./maintenance.ts";
import type { Schedules } from "./schedules.ts";

/** `makerId`: the user who created it; null: the file, or a user with access to everything. */
export type ReportRuleChange = (change: RuleChange, makerId: number | null) => void;

interface Sources {
  readonly engine: Pick<RuleEngine, "rules">;
  readonly schedules: Pick<Schedules, "all">;
  readonly maintenance: Pick<MaintenanceWindows, "all" | "isActive">;
}

/** A rule, schedule or window at the last report. */
interface Thing extends Pick<RuleChange, "kind" | "id" | "key"> {
  readonly makerId: number | null;
  /** A different object or mark means a changed definition or state. */
  readonly of: object;
  readonly mark: string;
  readonly state: () => RuleChange["state"];
}

/** Detects changed rules, schedules and maintenance windows, and reports each once. */
export class RuleChanges {
  readonly #sources: Sources;
  readonly #report: ReportRuleChange;
  /** Keys of what changed without a change of its mark: a run, or the state for a miner. */
  readonly #touched = new Set<string>();
  #known: ReadonlyMap<string, Thing> | null = null;

  constructor(sources: Sources, report: ReportRuleChange) {
    this.#sources = sources;
    this.#report = report;
  }

  touch(kind: "rule" | "schedule", id: number): void {
    this.#touched.add(`${kind} ${id}`);
  }

  /** Reports what has changed since the last call; the first call reports nothing. */
  report(): void {
    const before = this.#known;
    const now = new Map(this.#things().map((thing) => [`${thing.kind} ${thing.id}`, thing]));
    this.#known = now;
    if (before !== null) {
      for (const [name, thing] of now) {
        const old = before.get(name);
        const isSame = old?.of === thing.of && old.mark === thing.mark;
        if (!isSame || this.#touched.has(name)) this.#send(thing, thing.state());
      }
      for (const [name, thing] of before) if (!now.has(name)) this.#send(thing, "removed");
    }
    this.#touched.clear();
  }

  #send({ kind, id, key, makerId }: Thing, state: RuleChange["state"]): void {
    this.#report({ kind, id, key, state }, makerId);
  }

  #things(): Thing[] {
    const { engine, schedules, maintenance } = this.#sources;
    return [
      ...engine.rules.map(
        (rule): Thing => ({
          kind: "rule",
          id: rule.id,
          key: rule.settings.key,
          makerId: rule.makerId,
          of: rule,
          mark: rule.problem ?? "",
          state: () => stateOf(rule),
        }),
      ),
      ...schedules.all.map(({ id, settings, makerId, problem, active }): Thing => {
        const state = settings.enabled === false || problem !== null ? "disabled" : active === null ? "idle" : "active";
        return { kind: "schedule", id, key: settings.key, makerId, of: settings, mark: state, state: () => state };
      }),
      ...maintenance.all.map((window): Thing => {
        const { row, settings } = window;
        const state = maintenance.isActive(window) ? "active" : "idle";
        return {
          kind: "maintenance",
          id: row.id,
          key: settings.name,
          makerId: row.makerId,
          of: row,
          mark: state,
          state: () => state,
        };
      }),
    ];
  }
}

function stateOf({ settings, problem, cells }: LiveRule): RuleChange["state"] {
  if (settings.enabled === false || problem !== null) return "disabled";
  let [isPending, isHeld] = [false, false];
  for (const { phase, held } of cells.values()) {
    if (phase === "pending") isPending = true;
    else if (phase !== "idle" && held === null) return "active";
    else if (phase !== "idle") isHeld = true;
  }
  return isHeld ? "held" : isPending ? "pending" : "idle";
}
