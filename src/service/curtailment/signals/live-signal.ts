import type { Logger } from "pino";
import { Background, Mutex } from "../../../async/index.ts";
import type { CurtailmentPlanBody } from "../../../contract/curtailment.ts";
import { invalid, RigbridgeError } from "../../../contract/problems.ts";
import type { SignalSettings } from "../../../contract/signal-settings.ts";
import { detail } from "../../../messages/detail.ts";
import type { Curtailments } from "../curtailments.ts";
import { type CurtailmentPlans, planned } from "../plans.ts";
import type { RunningCurtailment } from "../running-curtailment.ts";
import { type HookOrder, hookOrder } from "./hook-signal.ts";
import { openSignal } from "./open-signal.ts";
import { type SignalReading, type SignalSource, type SourceContext, unheard, type Wish } from "./signal.ts";
import { decide, type Freshness, type SignalState, stateOf } from "./signal-law.ts";
import type { SignalMemories } from "./signal-memories.ts";

export interface LiveContext extends Omit<SourceContext, "changed"> {
  readonly log: Logger;
  readonly curtailments: Curtailments;
  readonly plans: CurtailmentPlans;
  readonly memories: SignalMemories;
  /** Time zone of display. */
  readonly zone: () => string | undefined;
  /** It has decided again. */
  readonly decided: (signal: LiveSignal) => void;
}

/** The actor of the curtailments of a signal. */
export const signalActor = (key: string): string => `signal ${key}`;

/** One signal of the settings: its value now, and the curtailment that it has begun. */
export class LiveSignal {
  readonly settings: SignalSettings;
  readonly #context: LiveContext;
  readonly #source: SignalSource | null;
  readonly #openedAt: number;
  readonly #running = new Background();
  readonly #mutex = new Mutex();
  /** The last request of a hook. */
  #called: SignalReading = unheard;
  /** Why it could not be acted on. */
  #trouble: string | null = null;
  #isClosed = false;

  constructor(settings: SignalSettings, context: LiveContext) {
    this.settings = settings;
    this.#context = context;
    this.#openedAt = context.monotonicNow();
    const { memories } = context;
    this.#source = openSignal(settings, {
      ...context,
      changed: () => void this.#running.add(this.#decide()),
      memory: {
        get: () => memories.of(settings.key).peak,
        set: (peak) => void this.#running.add(this.#remember({ peak })),
      },
    });
  }

  get reading(): SignalReading {
    return this.#source?.reading ?? this.#called;
  }

  get state(): SignalState {
    if (this.#source === null) return this.running().length > 0 ? "curtail" : "run";
    return stateOf(this.reading, this.#freshness, { now: this.#context.monotonicNow(), openedAt: this.#openedAt });
  }

  /** Why it cannot be read or acted on; null = nothing is wrong. */
  get problem(): string | null {
    return this.refused ?? this.reading.problem;
  }

  /** What was asked for and not done; null = nothing. */
  get refused(): string | null {
    return this.#trouble ?? this.reading.refused;
  }

  /** ms since it was last heard; since it is listened to, if it never was. */
  get silentMs(): number {
    return this.#context.monotonicNow() - (this.reading.heard ?? this.#openedAt);
  }

  /** Its curtailments that have not ended. */
  running(): readonly RunningCurtailment[] {
    const actor = signalActor(this.settings.key);
    return this.#context.curtailments.running.filter(
      ({ row }) => row.cause === "signal" && row.actor === actor && row.ended === null,
    );
  }

  /** One turn; never rejects. */
  async turn(): Promise<void> {
    if (this.#source === null) {
      this.#context.decided(this);
      return;
    }
    void this.#running.add(this.#source.turn());
    await this.#running.add(this.#decide());
  }

  /** Takes a request to a web hook, if it is that of this signal. Throws `input.invalid` with what is wrong. */
  receive(name: string, payload: unknown): void {
    const { settings } = this;
    if (!("hook" in settings) || settings.hook !== name) return;
    this.#source?.receive?.(payload);
    if (settings.kind !== "hook") return;
    const order = hookOrder(payload, settings);
    const { wish } = order;
    const until = wish.kind === "curtail" ? wish.until : null;
    if (until !== null && until <= this.#context.now()) throw invalid("until", detail("curtailment.past"));
    const value = wish.kind === "run" ? "end" : wish.id.replace(/^number /, "");
    this.#called = { wish, heard: this.#context.monotonicNow(), value, problem: null, refused: null };
    void this.#running.add(this.#mutex.run(() => this.#tried(() => this.#obey(order))));
  }

  /** Resolves when nothing is under way. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  close(): void {
    this.#isClosed = true;
    this.#source?.close();
  }

  get #freshness(): Freshness | null {
    const { settings } = this;
    return "maxAge" in settings ? { maxAgeMs: settings.maxAge * 1000, onStale: settings.onStale } : null;
  }

  async #decide(): Promise<void> {
    await this.#mutex.run(() => this.#tried(() => this.#act()));
    if (!this.#isClosed) this.#context.decided(this);
  }

  async #act(): Promise<void> {
    const { curtailments, memories, plans } = this.#context;
    const { key } = this.settings;
    const [running = null] = this.running();
    const { acted: before } = memories.of(key);
    const onStale = this.#freshness?.onStale ?? "hold";
    const plan = plans.find(this.settings.plan);
    const target = plan?.target ?? { all: true };
    const { act, acted } = decide(this.state, this.reading.wish, onStale, running?.row ?? null, before, target);
    if (act.kind === "begin") await this.#begin(act.wish, null);
    if (running !== null && act.kind === "change") await curtailments.change(running, act);
    if (running !== null && act.kind === "end") await curtailments.end(running);
    if (acted !== before) await this.#remember({ acted });
    // Said before it is needed, while there is time to add it.
    if (plan === undefined) plans.plan(this.settings.plan);
  }

  /** Does what a hook asks for. */
  async #obey({ key, wish }: HookOrder): Promise<void> {
    const { curtailments } = this.#context;
    const stored = key === null ? null : `${signalActor(this.settings.key)} ${key}`;
    if (wish.kind === "run") {
      for (const one of this.running()) if (key === null || one.row.key === stored) await curtailments.end(one);
      return;
    }
    const one = this.running().find(({ row }) => row.key === stored);
    const { until } = wish;
    if (one === undefined) await this.#begin(wish, stored);
    else await curtailments.change(one, { target: wish.target ?? this.#plan().target, until: until ?? one.row.until });
  }

  async #begin(wish: Extract<Wish, { kind: "curtail" }>, key: string | null): Promise<void> {
    const plan = this.#plan();
    const { settings } = this;
    const { target, until, urgent, text } = wish;
    const name = settings.name ?? settings.key;
    await this.#context.curtailments.begin({
      ...planned(plan),
      ...(target === null ? {} : { target }),
      urgent: plan.safety || urgent,
      reason: (text === "" ? name : `${name}: ${text}`).slice(0, 200),
      cause: "signal",
      actor: signalActor(settings.key),
      userId: null,
      drill: false,
      key,
      until,
    });
  }

  /** Throws `not.found`. */
  #plan(): CurtailmentPlanBody {
    return this.#context.plans.plan(this.settings.plan);
  }

  /** Notes why it failed, instead of rejecting; the next turn tries again. */
  async #tried(work: () => Promise<void>): Promise<void> {
    if (this.#isClosed) return;
    try {
      await work();
      this.#trouble = null;
    } catch (error) {
      const trouble = error instanceof RigbridgeError ? error.message : String(error);
      if (trouble !== this.#trouble)
        this.#context.log.warn({ signal: this.settings.key, reason: trouble }, "a signal cannot be acted on");
      this.#trouble = trouble;
    }
  }

  async #remember(changes: Parameters<SignalMemories["change"]>[1]): Promise<void> {
    const { memories, log } = this.#context;
    await memories
      .change(this.settings.key, changes)
      .catch((error: unknown) => log.warn({ err: error }, "what a signal has done cannot be stored"));
  }
}
