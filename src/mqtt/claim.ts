import type { Logger } from "pino";
import { objectIn, textOf } from "./command-inbox.ts";
import type { MqttConnection } from "./mqtt-connection.ts";
import type { Message } from "./mqtt-link.ts";
import { byTimer, inHalves, type Schedule } from "./read-retained.ts";
import type { Topics } from "./topics.ts";

/** One run of a bridge, as its topic `info` describes it. */
export interface BridgeRun {
  /** The same in every run of an installation. */
  readonly instance: string;
  readonly host: string;
  /** ISO 8601. */
  readonly started: string;
  /** Of the lease with which it runs, where several services share a store; absent: it runs without one. */
  readonly epoch?: number | undefined;
}

export interface ClaimDelays {
  /** After this long without another retained message, all are taken to have arrived. */
  readonly quietMs: number;
  /** The bridge that has the topics may be offline this long, as for an update, before another takes them. */
  readonly takeOverMs: number;
  /** A bridge that publishes nothing for this long has ended, whatever its state says: three heartbeats. */
  readonly silenceMs: number;
  /** Interval at which a waiting bridge announces itself. */
  readonly noticeMs: number;
}

export const claimDelays: ClaimDelays = {
  quietMs: 250,
  takeOverMs: 15_000,
  silenceMs: 180_000,
  noticeMs: 30_000,
};

export interface ClaimOptions {
  readonly connection: MqttConnection;
  readonly topics: Topics;
  readonly run: BridgeRun;
  /** Host and port of the broker. */
  readonly place: string;
  readonly log: Logger;
  readonly delays?: ClaimDelays;
  /** Whether it is "online" while it has the topics. */
  readonly isOnline: () => boolean;
  /** Publishes its state and info again after another bridge has overwritten them. */
  readonly publishAgain: () => void;
  /** The bridge leaves the topics to another one. */
  readonly waits: () => void;
  /** `conflict`: the conflict with another bridge at the same topics; null: there is none. */
  readonly changed: (conflict: string | null) => void;
}

/**
 * Decides which of several bridges with one `base` has the topics: the one that has them keeps them; the others publish
 * nothing and wait until it is gone. Each connection starts by reading the present owner.
 */
export class Claim {
  readonly #options: ClaimOptions;
  readonly #delays: ClaimDelays;
  /** Functions that cancel each timer. */
  readonly #timers = new Map<TimerName, () => void>();
  #phase: "asking" | "waiting" | "leading" | "closed" = "asking";
  /** The other bridge that has, or had, the topics. */
  #holder: BridgeRun | null = null;
  #state: string | null = null;
  #conflict: string | null = null;
  #hasLed = false;
  /** The bridge has waited since it last had the topics: after a broker outage, the other bridge goes first. */
  #hasWaited = false;

  constructor(options: ClaimOptions) {
    this.#options = options;
    this.#delays = options.delays ?? claimDelays;
    const { connection, topics } = options;
    const asking = { always: true, answered: () => this.#ask() } as const;
    connection.subscribe([topics.info], (message) => this.#infoReceived(message), asking);
    connection.subscribe([topics.state], (message) => this.#stateReceived(message), asking);
    connection.subscribe([topics.waiting], (message) => this.#rivalReceived(message));
    connection.opened(() => this.#begin());
  }

  get isWaiting(): boolean {
    return this.#phase === "waiting";
  }

  get conflict(): string | null {
    return this.#conflict;
  }

  close(): void {
    if (this.#phase === "waiting") this.#publishWaiting(false);
    // Its own last "offline" would come back as a message of another bridge.
    this.#phase = "closed";
    for (const name of [...this.#timers.keys()]) this.#stop(name);
  }

  #begin(): void {
    const { isConnected } = this.#options.connection;
    if (this.#phase === "closed") return;
    if (this.#phase === "waiting") this.#endWaiting();
    this.#phase = isConnected ? "leading" : "asking";
    this.#holder = null;
    this.#state = null;
    if (!isConnected) return;
    this.#hasLed = true;
    this.#hasWaited = false;
    this.#setConflict(null);
  }

  #ask(): void {
    if (this.#phase !== "asking") return;
    const { takeOverMs, quietMs } = this.#delays;
    this.#after("quiet", this.#hasWaited ? takeOverMs : quietMs, () => this.#decide(), inHalves(byTimer));
  }

  #decide(): void {
    if (this.#phase !== "asking") return;
    if (this.#holder !== null && this.#state === "online") this.#wait(this.#holder);
    else this.#options.connection.lead();
  }

  #wait(holder: BridgeRun): void {
    const { connection, topics, place } = this.#options;
    this.#phase = "waiting";
    this.#hasWaited = true;
    this.#options.waits();
    this.#setConflict(
      `Another Rigbridge${on(holder)} publishes the same MQTT topics at the broker at ${place}, so this one waits until it ` +
        `is gone; ${advice}`,
    );
    connection.subscribe([topics.summary], this.#summaryReceived, { always: true });
    this.#publishWaiting(true);
    this.#alive();
  }

  #endWaiting(): void {
    const { connection, topics } = this.#options;
    connection.unsubscribe([topics.summary], this.#summaryReceived);
    for (const name of ["takeOver", "silence", "notice"] as const) this.#stop(name);
  }

  readonly #summaryReceived = ({ retained }: Message): void => {
    if (!retained) this.#alive();
  };

  /** The bridge that has the topics published something. */
  #alive(): void {
    if (this.#phase === "waiting")
      this.#after("silence", this.#delays.silenceMs, () => this.#options.connection.lead());
  }

  #infoReceived({ payload, retained }: Message): void {
    const { connection, run } = this.#options;
    const other = runIn(payload);
    if (other === null || this.#phase === "closed") return;
    const isOwn = other.instance === run.instance && other.host === run.host;
    const isThisRun = isOwn && other.started === run.started;
    const ofPair = ofSamePair(other, run);
    if (this.#phase === "leading") {
      if (retained || isThisRun) return;
      // Both started at the same time, or this bridge has lost its service.
      const yields = ofPair === null ? !this.#options.isOnline() || isEarlier(other, run) : ofPair === "later";
      if (yields) connection.wait();
      else this.#options.publishAgain();
      return;
    }
    // An earlier run of this installation has ended; a run that began after this one has not.
    const hasEnded = ofPair === null ? (this.#hasLed ? isThisRun : isOwn) : ofPair !== "later";
    this.#holder = hasEnded ? null : other;
    if (this.#phase === "asking" && this.#holder === null) connection.lead();
    if (!retained) this.#alive();
  }

  #stateReceived({ payload, retained }: Message): void {
    const { connection } = this.#options;
    const state = payload.toString();
    this.#state = state;
    if (this.#phase === "leading") {
      // The will of another bridge.
      if (state === "offline" && !retained && this.#options.isOnline()) this.#options.publishAgain();
      return;
    }
    if (this.#phase === "asking" && state === "offline" && !this.#hasWaited) connection.lead();
    if (this.#phase !== "waiting") return;
    if (state === "online") this.#stop("takeOver");
    else if (!this.#timers.has("takeOver")) this.#after("takeOver", this.#delays.takeOverMs, () => connection.lead());
    if (!retained) this.#alive();
  }

  /** Another bridge starts or stops waiting for this one. */
  #rivalReceived({ payload }: Message): void {
    const { run, place } = this.#options;
    const rival = runIn(payload);
    if (this.#phase !== "leading" || rival === null || rival.started === run.started) return;
    this.#stop("rival");
    if (!rival.waits) {
      this.#setConflict(null);
      return;
    }
    this.#setConflict(
      `Another Rigbridge${on(rival)} has the same mqtt.base at the broker at ${place} and waits for this one to end; ${advice}`,
    );
    this.#after("rival", 3 * this.#delays.noticeMs, () => this.#setConflict(null));
  }

  #publishWaiting(waits: boolean): void {
    const { connection, topics, run } = this.#options;
    const payload = JSON.stringify({ ...run, waits });
    connection.publish({ topic: topics.waiting, payload, qos: 1, retain: false, always: true });
    if (waits) this.#after("notice", this.#delays.noticeMs, () => this.#publishWaiting(true));
  }

  #setConflict(conflict: string | null): void {
    if (conflict === this.#conflict) return;
    if (conflict !== null) this.#options.log.warn(conflict);
    else this.#options.log.info("No other Rigbridge uses the same MQTT topics now");
    this.#conflict = conflict;
    this.#options.changed(conflict);
  }

  /** Replaces the timer with this name. */
  #after(name: TimerName, ms: number, work: () => void, schedule: Schedule = byTimer): void {
    this.#stop(name);
    const run = (): void => {
      this.#timers.delete(name);
      work();
    };
    this.#timers.set(name, schedule(run, ms));
  }

  #stop(name: TimerName): void {
    this.#timers.get(name)?.();
    this.#timers.delete(name);
  }
}

type TimerName = "quiet" | "takeOver" | "silence" | "notice" | "rival";

const advice = "give each its own mqtt.base and mqtt.clientId";

const on = ({ host }: BridgeRun): string => (host === "" ? "" : ` on ${host}`);

/** Of services that share a store only the one with the lease has the topics. Null: they do not. */
const ofSamePair = (other: BridgeRun, run: BridgeRun): "later" | "same" | "earlier" | null => {
  if (other.instance !== run.instance || other.epoch === undefined || run.epoch === undefined) return null;
  return other.epoch > run.epoch ? "later" : other.epoch === run.epoch ? "same" : "earlier";
};

/** Of two bridges that started at the same time, the earlier one has the topics. */
const isEarlier = (a: BridgeRun, b: BridgeRun): boolean => `${a.started} ${a.instance}` < `${b.started} ${b.instance}`;

function runIn(payload: Buffer): (BridgeRun & { readonly waits: boolean }) | null {
  try {
    const { instance, started, host, epoch, waits } = objectIn(textOf(payload));
    if (typeof instance !== "string" || typeof started !== "string") return null;
    return {
      instance,
      started,
      host: typeof host === "string" ? host.slice(0, 100) : "",
      ...(typeof epoch === "number" ? { epoch } : {}),
      waits: waits === true,
    };
  } catch {
    return null;
  }
}
