import { setImmediate as yieldToOthers } from "node:timers/promises";
import type { CurtailmentTarget } from "../../contract/curtailment.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Scope } from "../../contract/rules.ts";
import type { CurtailmentLog, StoredCommand, StoredCurtailment } from "../../store/index.ts";
import { runPaced } from "../commands/run-paced.ts";
import type { CurtailedBy } from "../power/precedence.ts";
import { countsOf, raisedTarget } from "./curtailment-figures.ts";
import { drilledRows } from "./dry-drill.ts";
import { PacedTurns, restFactor } from "./paced-turns.ts";
import { type RunningContext, RunningCurtailment } from "./running-curtailment.ts";
import { rigsIn } from "./scope-rigs.ts";

export type CurtailmentsContext = Omit<RunningContext, "others">;

/** What begins a curtailment. */
export type NewCurtailment = Omit<
  StoredCurtailment,
  | "state"
  | "started"
  | "reached"
  | "ended"
  | "restored"
  | "baseline"
  | "targets"
  | "released"
  | "counts"
  | "moved"
  | "measured"
>;

/** Curtailments at once, besides those of places that take too much. */
const mostRunning = 100;
/** ms between two looks for curtailments that are too old. */
const pruneMs = 86_400_000;
/** Rigs that a drill reads at once. */
const readAtOnce = 64;
const keptMs = 730 * 86_400_000;

/** All curtailments that are not over, and the turns in which they send their rigs commands. */
export class Curtailments {
  readonly #context: CurtailmentsContext;
  readonly #running = new Map<number, RunningCurtailment>();
  /** By key of the request, while it is being stored. */
  readonly #beginning = new Map<string, Promise<RunningCurtailment | StoredEnd>>();
  /** Urgent ones go on while others wait for the store. */
  readonly #urgentTurns: PacedTurns;
  readonly #otherTurns: PacedTurns;
  #prunedAt = Number.NEGATIVE_INFINITY;

  constructor(context: CurtailmentsContext) {
    this.#context = context;
    const { monotonicNow } = context;
    this.#urgentTurns = new PacedTurns(() => this.#turn(true), monotonicNow);
    this.#otherTurns = new PacedTurns(() => this.#turn(false).finally(() => this.#prune()), monotonicNow);
    context.holds.useCurtailments((minerId) => this.#holding(minerId));
    context.power.useCurtailments((minerId) => this.#holding(minerId));
  }

  /** Those that are not over. */
  get running(): readonly RunningCurtailment[] {
    return [...this.#running.values()];
  }

  find(id: number): RunningCurtailment | undefined {
    return this.#running.get(id);
  }

  /** Goes on with those that were not over when the service ended. */
  async start(): Promise<void> {
    const { curtailments } = this.#context;
    for (const { id, ...row } of await curtailments.list({ open: true, limit: Number.MAX_SAFE_INTEGER }))
      this.#running.set(id, this.#opened(id, row, await curtailments.rigs(id)));
  }

  /** Begins one, and sends its first commands; a key that was used before is answered with that curtailment. Throws store.full. */
  async begin(wanted: NewCurtailment): Promise<RunningCurtailment | StoredEnd> {
    const { key } = wanted;
    if (key === null) return this.#begin(wanted);
    const begun = this.#beginning.get(key) ?? this.#withKey(key, wanted).finally(() => this.#beginning.delete(key));
    this.#beginning.set(key, begun);
    return begun;
  }

  /** The one that a request with this key has begun. */
  async begun(key: string): Promise<RunningCurtailment | StoredEnd | undefined> {
    return (await this.#beginning.get(key)) ?? this.#storedWith(key);
  }

  async #storedWith(key: string): Promise<RunningCurtailment | StoredEnd | undefined> {
    const stored = await this.#context.curtailments.withKey(key);
    if (stored === undefined) return undefined;
    const { id, ...row } = stored;
    return this.#running.get(id) ?? { id, row };
  }

  /** Reads the rigs of a scope, and stores the command that each would be sent; nothing is sent. Throws store.full. */
  async dryDrill(wanted: NewCurtailment): Promise<StoredEnd> {
    const { curtailments, registry, now } = this.#context;
    const started = Math.round(now());
    const rigs = (await rigsIn(wanted.scope, wanted.order, this.#context)).map(({ entry }) => entry.rig);
    const signal = new AbortController().signal;
    const wait = () => Promise.resolve();
    await runPaced(rigs, { parallel: readAtOnce, delayMs: 0, signal, wait }, (rig) => registry.fleet.poll(rig));
    const baseline = await this.powerOf(wanted.scope);
    const rows = await drilledRows({ ...wanted, baseline }, this.#context);
    const row: StoredCurtailment = {
      ...wanted,
      state: "ended",
      started,
      reached: null,
      ended: Math.round(now()),
      restored: Math.round(now()),
      baseline,
      released: true,
      counts: countsOf(rows),
      moved: started,
    };
    return { id: await curtailments.add(row, rows), row };
  }

  /** One turn of each; never rejects. */
  async turn(): Promise<void> {
    await Promise.all([this.#urgentTurns.run(), this.#otherTurns.run()]);
  }

  /** Has one act at once, instead of with the next turn. */
  async turnOf(curtailment: RunningCurtailment): Promise<void> {
    await curtailment.turn();
    if (curtailment.isOver) this.#running.delete(curtailment.id);
  }

  onCommand(command: StoredCommand): void {
    for (const each of this.#running.values()) each.onCommand(command);
  }

  async settled(): Promise<void> {
    await this.#turnsSettled();
    for (const each of this.#running.values()) await each.settled();
  }

  async close(): Promise<void> {
    await this.#turnsSettled();
    for (const each of this.#running.values()) await each.close();
  }

  async #turnsSettled(): Promise<void> {
    await Promise.all([this.#urgentTurns.settled(), this.#otherTurns.settled()]);
  }

  async #withKey(key: string, wanted: NewCurtailment): Promise<RunningCurtailment | StoredEnd> {
    return (await this.#storedWith(key)) ?? this.#begin(wanted);
  }

  async #begin(wanted: NewCurtailment): Promise<RunningCurtailment> {
    if (this.#running.size >= mostRunning && wanted.cause !== "limit")
      throw new RigbridgeError("too.many", `${mostRunning} curtailments are under way; end one of them first`);
    const { now } = this.#context;
    const row: StoredCurtailment = {
      ...wanted,
      state: "curtailing",
      started: Math.round(now()),
      reached: null,
      ended: null,
      restored: null,
      baseline: await this.powerOf(wanted.scope),
      released: false,
      counts: null,
      moved: now(),
    };
    const id = await this.#stored(row);
    const curtailment = this.#opened(id, row, new Map());
    this.#running.set(id, curtailment);
    await this.turnOf(curtailment);
    return curtailment;
  }

  /** Stores a new one. That of a place which takes too much begins while the store is away, too: a later turn stores it. */
  async #stored(row: StoredCurtailment): Promise<number> {
    const { curtailments, log } = this.#context;
    const id = curtailments.newId();
    try {
      await curtailments.save(id, { curtailment: row });
    } catch (error) {
      if (row.cause !== "limit") throw error;
      log.warn({ err: error, curtailment: id }, "the limit of a place is held although it cannot be stored");
    }
    return id;
  }

  /** W that the rigs of a scope take, as far as it is known. */
  async powerOf(scope: Scope | undefined): Promise<number> {
    const rigs = await rigsIn(scope, "listed", this.#context);
    return rigs.reduce((sum, { view }) => sum + (view.reachable ? (view.draw ?? 0) : 0), 0);
  }

  /** Changes its target or its end, and acts on it. Throws store.full, and not.possible if it has ended. */
  async change(
    curtailment: RunningCurtailment,
    changes: {
      readonly target?: CurtailmentTarget | undefined;
      readonly until?: number | null | undefined;
      readonly urgent?: boolean | undefined;
    },
  ): Promise<void> {
    const { target, until, urgent } = changes;
    await curtailment.change({
      ...(target === undefined ? {} : { target, state: "curtailing", moved: raisedTarget }),
      ...(until === undefined ? {} : { until }),
      ...(urgent === true ? { urgent } : {}),
    });
    await this.turnOf(curtailment);
  }

  /** Ends it: its rigs get back their power, or stay as they are if it is `released`. Throws store.full. */
  async end(curtailment: RunningCurtailment, released = false): Promise<void> {
    await curtailment.end(released);
    await this.turnOf(curtailment);
  }

  #opened(id: number, row: StoredCurtailment, rigs: RunningCurtailment["rigs"]): RunningCurtailment {
    return new RunningCurtailment(id, row, rigs, {
      ...this.#context,
      others: (one) => this.running.filter((each) => each !== one),
    });
  }

  /** One turn of each that is urgent, or of each other. Resolves with ms to rest. */
  async #turn(isUrgent: boolean): Promise<number> {
    let workMs = 0;
    for (const each of this.running) {
      if (each.row.urgent !== isUrgent) continue;
      await this.turnOf(each);
      workMs += each.workMs;
    }
    // While rigs are sent commands, the next ones do not wait for long.
    const isMoving = this.running.some(({ row }) => row.urgent === isUrgent && row.state !== "holding");
    return (isMoving ? 1 : restFactor) * workMs;
  }

  async #prune(): Promise<void> {
    const { curtailments, now, log } = this.#context;
    if (Math.abs(now() - this.#prunedAt) < pruneMs) return;
    this.#prunedAt = now();
    await pruned(curtailments, now() - keptMs).catch((error: unknown) =>
      log.warn({ err: error }, "old curtailments could not be removed"),
    );
  }

  #holding(minerId: number): CurtailedBy | null {
    let strongest: RunningCurtailment | null = null;
    for (const each of this.#running.values())
      if (each.holds(minerId) && (strongest === null || (each.row.safety && each.row.ended === null))) strongest = each;
    if (strongest === null) return null;
    const { id, row } = strongest;
    // A person need not wait until a rig has its power back.
    const isOver = row.ended !== null;
    return {
      id,
      reason: row.reason,
      rank: row.safety && !isOver ? "emergency" : "curtailment",
      urgent: row.urgent && !isOver,
    };
  }
}

async function pruned(log: CurtailmentLog, before: number): Promise<void> {
  while (await log.prune(before)) await yieldToOthers();
}

/** One that is over. */
export interface StoredEnd {
  readonly id: number;
  readonly row: StoredCurtailment;
}
