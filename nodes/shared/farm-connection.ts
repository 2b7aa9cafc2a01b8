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
import { type FarmListener, watchFarm } from "rigbridge/farm";
import { Turns } from "./turns.ts";

/** A service that may be asked, and in whose name. */
export interface OpenedService {
  readonly service: MiningService;
  readonly caller: Caller;
  close(): Promise<void>;
}

/** All that the service has told, as it is now. */
export interface Farm {
  readonly miners: ReadonlyMap<number, Miner>;
  readonly groups: readonly Group[];
  readonly summary: Summary;
  readonly features: ReadonlySet<OperationName>;
}

/** A service that answers, with all that it has told. */
export interface Asked {
  readonly service: MiningService;
  readonly caller: Caller;
  readonly farm: Farm;
}

/** How things stand with the service. `idle`: nobody uses it. `lost`: nobody knows how the rigs are. */
export type Phase =
  | { readonly kind: "idle" }
  | { readonly kind: "connecting" }
  | { readonly kind: "connected" }
  | { readonly kind: "lost"; readonly error: RigbridgeError };

/** Who is told what changes; `read` comes after each time that the lists were read, also after `lost`. */
export interface Member extends Partial<Omit<FarmListener, "read" | "lost">> {
  read?(farm: Farm): void;
  phase?(phase: Phase): void;
}

export type Reach = (error: RigbridgeError | null) => void;

export interface ConnectionOptions {
  /** Throws a RigbridgeError; is tried again. `reach` is to be told when the service is away, and with null when it is back. */
  readonly open: (reach: Reach) => Promise<OpenedService>;
  readonly log: { readonly info: (text: string) => void; readonly warn: (text: string) => void };
  /** Told each phase, though it makes nobody connect. */
  readonly turned?: (phase: Phase) => void;
  /** ms for which a service stays open that nobody uses, so that a deploy in between does not close it; 5,000 unless said. */
  readonly linger?: number;
}

/** ms between two tries to open a service. */
const waits = { first: 1_000, longest: 60_000 };
/** ms that closing may take; what is not over by then ends by itself. */
const closingTime = 800;

interface Watch {
  readonly stop: AbortController;
  readonly ended: Promise<void>;
}

/** One connection for all nodes that use a service: opened for the first, closed after the last, kept up between. */
export class FarmConnection {
  /** What nodes tell a miner, by its id, comes one after the other. */
  readonly turns = new Turns<number>();
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

  /** As last told, also while the service is lost; null before the first time. */
  get farm(): Farm | null {
    return this.#farm;
  }

  /** The member is told the present state at once. Returns what ends it. */
  join(member: Member): () => void {
    this.#members.add(member);
    clearTimeout(this.#lingering);
    member.phase?.(this.#phase);
    if (this.#farm !== null && this.#phase.kind === "connected") member.read?.(this.#farm);
    if (this.#watch === null && !this.#isClosed) this.#start();
    return () => this.#leave(member);
  }

  /** Throws `service.not-ready` before the service has answered, and why it cannot be asked while it is lost. */
  asked(): Asked {
    const phase = this.#phase;
    if (phase.kind === "lost") throw phase.error;
    if (this.#opened === null || this.#farm === null || phase.kind !== "connected")
      throw new RigbridgeError("service.not-ready", "The service has not answered yet");
    const { service, caller } = this.#opened;
    return { service, caller, farm: this.#farm };
  }

  /** Within a second. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#members.clear();
    await this.#stop();
  }

  #leave(member: Member): void {
    if (!this.#members.delete(member) || this.#members.size > 0) return;
    this.#lingering = setTimeout(() => void this.#stop(), this.#options.linger ?? 5_000).unref();
  }

  #start(): void {
    const stop = new AbortController();
    this.#turnTo({ kind: "connecting" });
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
    this.#turnTo({ kind: "idle" });
    await Promise.race([watch.ended, pause(closingTime, undefined, { ref: false })]);
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
        .catch((error: unknown) => this.#options.log.warn(`The service was not closed: ${String(error)}`));
    }
  }

  /** Tries until it is open; null when it is not wanted any more. */
  async #open(signal: AbortSignal): Promise<OpenedService | null> {
    let said: string | null = null;
    for (let wait = waits.first; !signal.aborted; wait = Math.min(waits.longest, wait * 2)) {
      try {
        return await this.#options.open((error) => this.#reached(error, signal));
      } catch (error) {
        const failure =
          error instanceof RigbridgeError ? error : new RigbridgeError("internal", String(error), { cause: error });
        if (signal.aborted) return null;
        if (failure.message !== said) this.#options.log.warn(failure.message);
        said = failure.message;
        this.#turnTo({ kind: "lost", error: failure });
      }
      await pause(wait * (0.5 + Math.random() / 2), undefined, { signal }).catch(() => undefined);
    }
    return null;
  }

  #reached(error: RigbridgeError | null, signal: AbortSignal): void {
    if (signal.aborted || this.#farm === null) return;
    this.#turnTo(error === null ? { kind: "connected" } : { kind: "lost", error });
  }

  /** Keeps the farm and tells the members; what comes after the end is not heard. */
  #listener(signal: AbortSignal): FarmListener {
    const tell = (what: (member: Member) => void): void => {
      if (!signal.aborted) for (const member of [...this.#members]) what(member);
    };
    return {
      read: ({ miners, groups, summary, features }) => {
        if (signal.aborted) return;
        const farm = { miners: new Map(miners.map((miner) => [miner.id, miner])), groups, summary, features };
        this.#farm = farm;
        this.#turnTo({ kind: "connected" });
        tell((member) => member.read?.(farm));
      },
      lost: (error) => {
        if (!signal.aborted) this.#turnTo({ kind: "lost", error });
      },
      miner: (miner) => {
        this.#farm?.miners.set(miner.id, miner);
        tell((member) => member.miner?.(miner));
      },
      removed: (id) => {
        this.#farm?.miners.delete(id);
        tell((member) => member.removed?.(id));
      },
      happened: (event) => tell((member) => member.happened?.(event)),
      summary: (summary) => {
        if (this.#farm !== null) this.#farm.summary = summary;
        tell((member) => member.summary?.(summary));
      },
      notification: (notification) => tell((member) => member.notification?.(notification)),
    };
  }

  #turnTo(phase: Phase): void {
    this.#phase = phase;
    this.#options.turned?.(phase);
    for (const member of [...this.#members]) member.phase?.(phase);
  }
}

type MutableFarm = { -readonly [K in keyof Farm]: Farm[K] } & { readonly miners: Map<number, Miner> };
