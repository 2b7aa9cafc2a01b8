import { isDeepStrictEqual } from "node:util";
import type { Signals as Settings } from "../../../contract/signal-settings.ts";
import type { SignalView } from "../../../contract/signals.ts";
import { coded } from "../../../messages/coded.ts";
import type { CodedText } from "../../../messages/coded-text.ts";
import type { KeptValues } from "../../../store/index.ts";
import type { Notices } from "../../notifications/notices.ts";
import type { Repeat } from "../../repeat.ts";
import { type LiveContext, LiveSignal } from "./live-signal.ts";
import { SignalMemories } from "./signal-memories.ts";

export interface SignalsContext extends Omit<LiveContext, "decided" | "memories"> {
  readonly kept: KeptValues;
  readonly notices: Notices;
  readonly repeat: Repeat;
  /** For texts. */
  readonly localTime: (time: number) => string;
}

/** ms between two turns. */
const turnMs = 1_000;

/** What the notifications about a signal report. */
interface Noticed {
  readonly isStale: boolean;
  readonly refused: string | null;
}

/** The signals of the settings, which begin, change and end curtailments. */
export class Signals {
  readonly #context: SignalsContext;
  readonly #memories: SignalMemories;
  readonly #noticed = new Map<string, Noticed>();
  #signals: readonly LiveSignal[] = [];
  #stop: (() => void) | null = null;

  constructor(context: SignalsContext) {
    this.#context = context;
    this.#memories = new SignalMemories(context.kept, context.now);
  }

  all(): readonly LiveSignal[] {
    return this.#signals;
  }

  /** Opens what is new or different, closes what is gone, and begins or ends the turns. */
  follow(settings: Settings): void {
    const before = this.#signals;
    this.#signals = settings.map((each) => {
      const kept = before.find((one) => isDeepStrictEqual(one.settings, each));
      return kept ?? new LiveSignal(each, this.#live());
    });
    for (const one of before) if (!this.#signals.includes(one)) one.close();
    const keys = new Set(settings.map(({ key }) => key));
    this.#memories.keep(keys);
    for (const key of this.#noticed.keys()) if (!keys.has(key)) this.#forget(key);
    if (settings.length > 0) this.#stop ??= this.#context.repeat(() => this.turn(), turnMs);
    else this.#end();
  }

  /** One turn of each; never rejects. */
  async turn(): Promise<void> {
    await Promise.all(this.#signals.map((one) => one.turn()));
  }

  /** A request to a web hook. Throws `input.invalid` if it is that of a signal and its body is wrong. */
  receive(name: string, payload: unknown): void {
    for (const one of this.#signals) one.receive(name, payload);
  }

  /** As GET /api/signals shows them. */
  views(): SignalView[] {
    const { now } = this.#context;
    return this.#signals.map((one) => {
      const { key, name = key, plan, kind } = one.settings;
      const { heard, value } = one.reading;
      const at = heard === null ? null : now() - one.silentMs;
      return {
        key,
        name,
        plan,
        kind,
        state: one.state,
        value,
        at: at === null ? null : new Date(at).toISOString(),
        age: at === null ? null : Math.round(one.silentMs / 1000),
        curtailment: one.running()[0]?.id ?? null,
        problem: one.problem,
      };
    });
  }

  async settled(): Promise<void> {
    for (const one of this.#signals) await one.settled();
  }

  async close(): Promise<void> {
    this.#end();
    for (const one of this.#signals) one.close();
    await this.settled();
  }

  #end(): void {
    this.#stop?.();
    this.#stop = null;
  }

  #live(): LiveContext {
    return { ...this.#context, memories: this.#memories, decided: (one) => this.#notice(one) };
  }

  /** Raises and closes the notifications of a signal when something changes. */
  #notice(one: LiveSignal): void {
    const { key, name = key } = one.settings;
    const { state, refused } = one;
    // Until it is heard, the notifications of an earlier run stay as they are.
    if (state === "unknown" && refused === null) return;
    const noticed = this.#noticed.get(key);
    const isStale = state === "stale";
    this.#noticed.set(key, { isStale, refused });
    if (isStale && noticed?.isStale !== true) this.#raiseStale(one);
    if (!isStale && noticed?.isStale !== false)
      this.#close(staleKey(key), coded("notices.signal.back", { signal: name }));
    if (refused === noticed?.refused) return;
    if (refused === null) this.#close(refusedKey(key), coded("notices.signal.solved", { signal: name }));
    else this.#raise(refusedKey(key), name, coded("notices.signal.refused", { signal: name, why: refused }));
  }

  #raiseStale(one: LiveSignal): void {
    const { now, localTime } = this.#context;
    const { settings } = one;
    const { key, name = key } = settings;
    const values = { signal: name, since: localTime(now() - one.silentMs) };
    const message = {
      curtail: coded("notices.signal.staleCurtail", values),
      run: coded("notices.signal.staleRun", values),
      hold: coded("notices.signal.staleHold", values),
    }["onStale" in settings ? settings.onStale : "hold"];
    this.#raise(staleKey(key), name, message);
  }

  #close(key: string, message?: CodedText): void {
    this.#context.notices.close(key, message);
  }

  #raise(key: string, title: string, message: CodedText): void {
    this.#context.notices.raise({ key, minerId: null, title, source: "System", message, severity: "warning" });
  }

  /** Closes what is open of a signal that the settings do not have any more. */
  #forget(key: string): void {
    this.#noticed.delete(key);
    this.#close(staleKey(key));
    this.#close(refusedKey(key));
  }
}

const staleKey = (key: string): string => `signal:${key}:stale`;
const refusedKey = (key: string): string => `signal:${key}:refused`;
