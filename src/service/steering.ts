import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { RigbridgeError } from "../contract/problems.ts";
import type { ControlKey, ControlValue } from "../contract/readings.ts";
import type { ActionReply, CommandState } from "../contract/resources.ts";
import type { Caller } from "../contract/service.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetRig } from "../fleet/fleet-rig.ts";
import type { ListedPoolAction, PoolAction, PoolLogin, PoolReading, Reading, Rig } from "../link/driver.ts";
import type { Store, StoredCommand } from "../store/index.ts";
import { controlValue, reports } from "./control-value.ts";

/** How long is waited, in ms. */
export interface Waits {
  /** By a request for the rig; what takes longer is answered with the command's id. */
  readonly request: number;
  /** For a rig's answer to one write. */
  readonly answer: number;
  /** At most, for the rig to report a change. */
  readonly change: number;
}

const usualWaits: Waits = { request: 20_000, answer: 60_000, change: 90_000 };
/** ms between the reads that look for the change; the last one repeats. */
const looks = [100, 300, 700, 1_500, 3_000];

/** What is being done to a rig, for the audit. */
export interface Order {
  readonly minerId: number;
  readonly minerName: string;
  readonly action: string;
  /** Without secrets. */
  readonly parameters: Record<string, string | number | boolean>;
}

/** A command that is written down, on its way. */
export interface BegunCommand {
  readonly id: number;
  /** As of now. */
  readonly state: CommandState;
  /** With the rig's words. */
  readonly ended: Promise<string>;
}

/** Sends commands to rigs: a row before any byte leaves, in order per rig, confirmed by reading back, never twice. */
export class Steering {
  readonly #fleet: Fleet;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #moved: (command: StoredCommand) => void;
  readonly #waits: Waits;
  readonly #closing = new AbortController();
  readonly #running = new Set<Promise<unknown>>();

  /** `moved` hears of each command when it is written down, and whenever its state is another. */
  constructor(
    fleet: Fleet,
    store: Store,
    log: Logger,
    moved: (command: StoredCommand) => void,
    waits: Waits = usualWaits,
  ) {
    this.#fleet = fleet;
    this.#store = store;
    this.#log = log;
    this.#moved = moved;
    this.#waits = waits;
  }

  /** Writes the command down and sends it in its turn. `ended` rejects with what the rig or the way to it said. */
  async begin(
    rig: FleetRig,
    order: Order,
    caller: Caller,
    work: (session: Session) => Promise<string>,
  ): Promise<BegunCommand> {
    const row = await this.#store.commands.add({ ...order, actor: caller.actor });
    this.#moved(row);
    const begun = { id: row.id, state: row.state };
    const move = async (state: CommandState, message: string): Promise<void> => {
      begun.state = state;
      this.#moved(await this.#store.commands.move(row.id, state, message));
    };
    const ended = rig.exclusively(() => this.#execute(rig, work, move));
    const settled = ended
      .catch((error: unknown) => {
        if (!(error instanceof RigbridgeError))
          this.#log.error({ error, command: row.id }, "a command failed unexpectedly");
      })
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return Object.assign(begun, { ended });
  }

  /** Rejects with what the rig or the way to it said; resolves with `sent` or `queued` when the rig takes its time. */
  async run(
    rig: FleetRig,
    order: Order,
    caller: Caller,
    work: (session: Session) => Promise<string>,
  ): Promise<ActionReply> {
    const command = await this.begin(rig, order, caller, work);
    const waited = new AbortController();
    const late = sleep(this.#waits.request, null, { signal: waited.signal, ref: false }).catch(() => null);
    try {
      const message = await Promise.race([command.ended, late]);
      if (message !== null) return { success: true, message, commandId: command.id, state: "done" };
      const taken = "The rig takes its time; GET /api/commands says what came of it";
      return { success: true, message: taken, commandId: command.id, state: command.state };
    } finally {
      waited.abort();
    }
  }

  /** Cuts what is under way, and resolves when it is written down what came of it. */
  async close(): Promise<void> {
    this.#closing.abort();
    await Promise.all(this.#running);
  }

  async #execute(
    rig: FleetRig,
    work: (session: Session) => Promise<string>,
    move: (state: CommandState, message: string) => Promise<void>,
  ): Promise<string> {
    const markSent = () => move("sent", "");
    const session = new Session(this.#fleet, rig, markSent, { waits: this.#waits, closing: this.#closing.signal });
    let state: CommandState = "done";
    let message = "";
    try {
      await session.open();
      message = await work(session);
      return message;
    } catch (error) {
      state = session.sent && !isRefusal(error) ? "unknown" : "failed";
      message = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      await move(state, message);
    }
  }
}

/** The rig said no, or the command was found wrong: nothing is open about what it did. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RigbridgeError &&
  !["rig.timeout", "rig.garbled", "rig.unreachable", "rig.unconfirmed"].includes(error.code);

/** One command's time with a rig, read afresh before anything is sent. */
export class Session {
  readonly #fleet: Fleet;
  readonly #fleetRig: FleetRig;
  readonly #markSent: () => Promise<void>;
  readonly #waits: Waits;
  readonly #closing: AbortSignal;
  #sent = false;

  constructor(
    fleet: Fleet,
    rig: FleetRig,
    markSent: () => Promise<void>,
    { waits, closing }: { readonly waits: Waits; readonly closing: AbortSignal },
  ) {
    this.#fleet = fleet;
    this.#fleetRig = rig;
    this.#markSent = markSent;
    this.#waits = waits;
    this.#closing = closing;
  }

  /** Whether a byte of a write may have left. */
  get sent(): boolean {
    return this.#sent;
  }

  /** Throws why the rig cannot be reached, or is not the one it should be. */
  async open(): Promise<void> {
    await this.#fleet.read(this.#fleetRig);
    const { trouble } = this.#fleetRig.state;
    if (trouble !== null) throw asError(trouble);
  }

  get reading(): Reading {
    const { reading } = this.#fleetRig.state;
    if (reading === null) throw new RigbridgeError("rig.unreachable", "The rig is not read");
    return reading;
  }

  /** Sets one control and waits until the rig reports it. Throws `control.absent` or `input.invalid` before it sends. */
  async set(key: string, text: string, path?: string): Promise<string> {
    const control = this.reading.controls.find((each) => each.key === key);
    if (control === undefined) {
      const offered = this.reading.controls.map((each) => each.key).join(", ") || "none";
      throw new RigbridgeError("control.absent", `This rig has no control "${key.slice(0, 40)}"; it has: ${offered}`);
    }
    const value = controlValue(control, text, path);
    const before = this.reading.readings.uptime;
    const write = (rig: Rig, signal: AbortSignal) => rig.set(control.key, value, signal);
    // What is done once is taken when the rig says so: it may be away for minutes now.
    if (control.kind === "trigger") {
      return this.#send(write, control.seconds, null, () => restarted(before, this.reading.readings.uptime));
    }
    return this.#send(write, control.seconds, () => this.#reports(control.key, value));
  }

  /** Does something to a pool that the rig lists. */
  async onPool(action: ListedPoolAction, pool: PoolReading): Promise<string> {
    if (action === "remove" && this.reading.pools.filter(({ devFee }) => !devFee).length < 2)
      throw new RigbridgeError("pool.last", "The last pool cannot be removed");
    this.#allow(action);
    return this.#send(
      (rig, signal) => rig.pools[action]?.(pool, signal) ?? Promise.reject(absent(action)),
      30,
      () => poolDone[action](this.reading.pools, pool),
    );
  }

  /** Adds a pool; the rig's own words. A pool that the rig has already is left as it is. */
  async addPool(login: PoolLogin): Promise<string> {
    if (this.poolFor(login) !== undefined) return `The rig already has ${login.url}`;
    this.#allow("add");
    return this.#send(
      (rig, signal) => rig.pools.add?.(login, signal) ?? Promise.reject(absent("add")),
      30,
      () => this.poolFor(login) !== undefined,
    );
  }

  /** Makes the rig mine there: by choosing the pool where it can choose, else in place of the one it mines at. */
  async changePool(login: PoolLogin): Promise<string> {
    const { poolActions } = this.reading;
    const listed = this.poolFor(login);
    if (listed?.active && listed.priority === 0) return `The rig mines at ${login.url} already`;
    if (poolActions.includes("switch") && (listed !== undefined || poolActions.includes("add"))) {
      const added = listed === undefined ? `${await this.addPool(login)}; ` : "";
      const pool = this.poolFor(login);
      if (pool === undefined) throw new RigbridgeError("rig.unconfirmed", `The rig does not list ${login.url}`);
      return `${added}${await this.onPool("switch", pool)}`;
    }
    this.#allow("use");
    return this.#send(
      (rig, signal) => rig.pools.use?.(login, signal) ?? Promise.reject(absent("use")),
      30,
      () => this.poolFor(login)?.active === true,
    );
  }

  /** The pool of the rig that such a login has made. */
  poolFor({ url, worker }: PoolLogin): PoolReading | undefined {
    const wanted = bareUrl(url);
    return this.reading.pools.find((pool) => bareUrl(pool.url) === wanted && pool.worker === worker);
  }

  #allow(action: PoolAction): void {
    if (!this.reading.poolActions.includes(action)) throw absent(action);
  }

  #reports(key: ControlKey, value: ControlValue): boolean {
    return reports(
      this.reading.controls.find((each) => each.key === key),
      value,
    );
  }

  /**
   * Sends once. With an answer the rig's next reads confirm it (`isDone`; null where its word has to do); without
   * one they decide what it did.
   */
  async #send(
    write: (rig: Rig, signal: AbortSignal) => Promise<string>,
    seconds: number,
    isDone: (() => boolean) | null,
    isDoneUnanswered: () => boolean = isDone ?? (() => false),
  ): Promise<string> {
    await this.#markSent();
    this.#sent = true;
    let words: string;
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(this.#waits.answer), this.#closing]);
      words = await write(this.#fleetRig.rig(), signal);
    } catch (error) {
      if (isRefusal(error)) throw error;
      if (await this.#comesTrue(isDoneUnanswered, seconds)) return "The rig gave no answer, but reports the change";
      throw error;
    }
    if (isDone === null || (await this.#comesTrue(isDone, seconds))) return words;
    throw new RigbridgeError("rig.unconfirmed", `The rig answered "${words}", but does not report the change`);
  }

  async #comesTrue(isDone: () => boolean, seconds: number): Promise<boolean> {
    const until = performance.now() + Math.min(this.#waits.change, (seconds + 10) * 1000);
    for (let look = 0; performance.now() < until; look += 1) {
      await sleep(looks[Math.min(look, looks.length - 1)], null, { signal: this.#closing }).catch(() => null);
      if (this.#closing.aborted) return false;
      await this.#fleet.read(this.#fleetRig);
      const { trouble, reading } = this.#fleetRig.state;
      if (trouble === null && reading !== null && isDone()) return true;
    }
    return false;
  }
}

const asError = ({ code, message }: { code: string; message: string }): RigbridgeError => {
  switch (code) {
    case "rig.other":
    case "rig.refused":
    case "rig.garbled":
    case "rig.timeout":
    case "rig.unknown-protocol":
    case "in.use":
      return new RigbridgeError(code, message);
    default:
      return new RigbridgeError("rig.unreachable", message);
  }
};

const absent = (action: PoolAction): RigbridgeError =>
  new RigbridgeError("control.absent", `This rig does not let its pools be changed that way now (${action})`);

const bareUrl = (url: string): string =>
  url
    .replace(/^[a-z0-9+]+:\/\//i, "")
    .replace(/\/$/, "")
    .toLowerCase();

const restarted = (before: number | null, now: number | null): boolean =>
  before !== null && now !== null && now < before;

const samePool = (a: PoolReading, b: PoolReading): boolean => a.url === b.url && a.worker === b.worker;

/** What the rig's list shows when a pool action has worked. */
const poolDone: Record<ListedPoolAction, (pools: readonly PoolReading[], pool: PoolReading) => boolean> = {
  switch: (pools, pool) => pools.some((each) => samePool(each, pool) && (each.active || each.priority === 0)),
  enable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status !== "disabled"),
  disable: (pools, pool) => pools.some((each) => samePool(each, pool) && each.status === "disabled"),
  remove: (pools, pool) => countOf(pools, pool) === 0,
  prioritize: (pools, pool) => pools.some((each) => samePool(each, pool) && each.priority === 0),
};

const countOf = (pools: readonly PoolReading[], pool: PoolReading): number =>
  pools.filter((each) => samePool(each, pool)).length;
