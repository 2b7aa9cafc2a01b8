import { setTimeout as pause } from "node:timers/promises";
import {
  type Caller,
  type Group,
  type Miner,
  type MiningService,
  type OperationName,
  RigbridgeError,
  type Summary,
} from "rigbridge";
import { type BackOff, type FarmListener, retry, watchFarm } from "rigbridge/farm";
import { wordsOf } from "./faults.ts";
import { MinerMutex } from "./miner-mutex.ts";

/** An open service, and the caller to use it as. */
export interface OpenedService {
  readonly service: MiningService;
  readonly caller: Caller;
  close(): Promise<void>;
}

/** The current state, as the service reports it. */
export interface Farm {
  readonly miners: ReadonlyMap<number, Miner>;
  readonly groups: readonly Group[];
  readonly summary: Summary;
  readonly features: ReadonlySet<OperationName>;
}

/** A service that answers, with its current state. */
export interface ConnectedService {
  readonly service: MiningService;
  readonly caller: Caller;
  readonly farm: Farm;
}

/** State of the connection. `idle`: no node uses it. `lost`: the state of the rigs is unknown. */
export type Phase =
  | { readonly kind: "idle" }
  | { readonly kind: "connecting" }
  | { readonly kind: "connected" }
  | { readonly kind: "lost"; readonly error: RigbridgeError };

/** Receives changes. `read` follows every read of the lists, including the one after `lost`. */
export interface Member extends Partial<Omit<FarmListener, "read" | "lost" | "back">> {
  read?(farm: Farm): void;
  phase?(phase: Phase): void;
}

export interface ConnectionOptions {
  /** A RigbridgeError is retried. */
  readonly open: () => Promise<OpenedService>;
  readonly log: { readonly info: (text: string) => void; readonly warn: (text: string) => void };
  /** Unlike a member's `phase`, it does not open the connection. */
  readonly onPhase?: (phase: Phase) => void;
  /** ms that an unused service stays open, so that a deploy does not close it; 5,000 by default. */
  readonly lingerMs?: number;
}

/** ms between attempts to open a service. */
const retryDelays: BackOff = { firstMs: 1_000, longestMs: 60_000 };
/** ms to wait for the service to close; then closing continues in the background. */
const closeTimeoutMs = 800;

interface Watch {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** The connection shared by all nodes that use a service: opened for the first, closed after the last. */
export class FarmConnection {
  /** Each miner gets one command at a time, by its id. */
  readonly minerMutex = new MinerMutex();
  readonly #options: ConnectionOptions;
  readonly #members = new Set<Member>();
  #watch: Watch | null = null;
  #opened: OpenedService | null = null;
  #farm: MutableFarm | null = null;
  #phase: Phase = { kind: "idle" };
  #lingering: NodeJS.Timeout | undefined;
  #isClosed = false;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get phase(): Phase {
    return this.#phase;
  }

  /** As last reported, also while the service is lost; null before the first read. */
  get farm(): Farm | null {
    return this.#farm;
  }

  /** The member gets the current state immediately. Returns a function that leaves. */
  join(member: Member): () => void {
    this.#members.add(member);
    clearTimeout(this.#lingering);
    member.phase?.(this.#phase);
    if (this.#farm !== null && this.#phase.kind === "connected") member.read?.(this.#farm);
    if (this.#watch === null && !this.#isClosed) this.#start();
    return () => this.#leave(member);
  }

  /** Throws `service.not-ready` before the first answer, and the connection's error while it is lost. */
  connected(): ConnectedService {
    const phase = this.#phase;
    if (phase.kind === "lost") throw phase.error;
    if (this.#opened === null || this.#farm === null || phase.kind !== "connected")
      throw new RigbridgeError("service.not-ready", "The service has not answered yet");
    const { service, caller } = this.#opened;
    return { service, caller, farm: this.#farm };
  }

  /** Takes less than a second. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#members.clear();
    await this.#stop();
  }

  #leave(member: Member): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
    this.#lingering = setTimeout(() => void this.#stop(), this.#options.lingerMs ?? 5_000).unref();
  }

  #start(): void {
    const stop = new AbortController();
    this.#setPhase({ kind: "connecting" });
    this.#watch = { stop, ended: this.#run(stop.signal) };
  }

  async #stop(): Promise<void> {
    clearTimeout(this.#lingering);
    const watch = this.#watch;
    if (watch === null) return;
    this.#watch = null;
    this.#opened = null;
    this.#farm = null;
    watch.stop.abort();
    this.#setPhase({ kind: "idle" });
    await Promise.race([watch.ended, pause(closeTimeoutMs, undefined, { ref: false })]);
  }

  /** Never rejects. */
  async #run(signal: AbortSignal): Promise<void> {
    const opened = await this.#open(signal);
    if (opened === null) return;
    try {
      if (!signal.aborted) {
        this.#opened = opened;
        await watchFarm({ ...opened, log: this.#options.log, signal }, this.#listener(signal));
      }
    } finally {
      await opened
        .close()
        .catch((error: unknown) => this.#options.log.warn(`The service cannot be closed: ${wordsOf(error)}`));
    }
  }

  /** Retries until it is open; null once aborted. */
  async #open(signal: AbortSignal): Promise<OpenedService | null> {
    let logged: string | null = null;
    const failed = (error: unknown): void => {
      const failure =
        error instanceof RigbridgeError ? error : new RigbridgeError("internal", wordsOf(error), { cause: error });
      if (failure.message !== logged) this.#options.log.warn(failure.message);
      logged = failure.message;
      this.#setPhase({ kind: "lost", error: failure });
    };
    return retry(this.#options.open, failed, retryDelays, signal);
  }

  /** Keeps the farm current and notifies the members, until aborted. */
  #listener(signal: AbortSignal): FarmListener {
    const notify = (call: (member: Member) => void): void => {
      if (!signal.aborted) for (const member of [...this.#members]) call(member);
    };
    return {
      read: ({ miners, groups, summary, features }) => {
        if (signal.aborted) return;
        const farm = { miners: new Map(miners.map((miner) => [miner.id, miner])), groups, summary, features };
        this.#farm = farm;
        this.#setPhase({ kind: "connected" });
        notify((member) => member.read?.(farm));
      },
      lost: (error) => {
        if (!signal.aborted) this.#setPhase({ kind: "lost", error });
      },
      back: () => {
        if (!signal.aborted && this.#phase.kind !== "connected") this.#setPhase({ kind: "connected" });
      },
      miner: (miner) => {
        this.#farm?.miners.set(miner.id, miner);
        notify((member) => member.miner?.(miner));
      },
      removed: (id) => {
        this.#farm?.miners.delete(id);
        notify((member) => member.removed?.(id));
      },
      happened: (event) => notify((member) => member.happened?.(event)),
      summary: (summary) => {
        if (this.#farm !== null) this.#farm.summary = summary;
        notify((member) => member.summary?.(summary));
      },
      notification: (notification) => notify((member) => member.notification?.(notification)),
      notificationsHandled: (what, ids) => notify((member) => member.notificationsHandled?.(what, ids)),
    };
  }

  #setPhase(phase: Phase): void {
    this.#phase = phase;
    this.#options.onPhase?.(phase);
    for (const member of [...this.#members]) member.phase?.(phase);
  }
}

type MutableFarm = { -readonly [K in keyof Farm]: Farm[K] } & { readonly miners: Map<number, Miner> };
