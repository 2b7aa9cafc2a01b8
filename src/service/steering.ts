import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { RigbridgeError } from "../contract/problems.ts";
import type { ActionReply, CommandState } from "../contract/resources.ts";
import type { Caller } from "../contract/service.ts";
import type { Fleet } from "../fleet/fleet.ts";
import type { FleetRig } from "../fleet/fleet-rig.ts";
import type { RigState } from "../fleet/state.ts";
import type { Reading } from "../link/driver.ts";
import { SessionEnded } from "../link/session-ended.ts";
import type { Store, StoredCommand } from "../store/index.ts";
import { joined, type Step, type Telling } from "./steps.ts";

/** How long is waited, in ms. */
export interface Waits {
  /** By a request for the rig; what takes longer is answered with the command's id. */
  readonly request: number;
  /** For a rig's answer to one write. */
  readonly answer: number;
  /** At most, for the rig to report a change. */
  readonly change: number;
}

const usualWaits: Waits = { request: 20_000, answer: 60_000, change: 600_000 };
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
  /** Whether a byte of it may have left, as of now. */
  readonly sent: boolean;
  /** With the rig's words; rejects with what the rig or the way to it said. */
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

  /** Writes a command down, for `send` to send. */
  async note(order: Order, { actor }: Caller): Promise<StoredCommand> {
    const row = await this.#store.commands.add({ ...order, actor });
    this.#moved(row);
    return row;
  }

  /** Writes down what is done already, and no rig was told. */
  async record(order: Order, caller: Caller, message: string): Promise<void> {
    const { id } = await this.note(order, caller);
    this.#moved(await this.#store.commands.move(id, "done", message));
  }

  /** Sends a command that was written down, in its turn. */
  send(rig: FleetRig, { id, state }: StoredCommand, steps: readonly Step[]): BegunCommand {
    const begun = { id, state, sent: false };
    const move = async (next: CommandState, message: string): Promise<void> => {
      begun.state = next;
      this.#moved(await this.#store.commands.move(id, next, message));
      if (next === "sent") begun.sent = true;
    };
    rig.makeWay();
    const ended = rig.exclusively(() => this.#execute(rig, steps, begun, move));
    const settled = ended
      .catch((error: unknown) => {
        if (!(error instanceof RigbridgeError))
          this.#log.error({ err: error, command: id }, "a command failed unexpectedly");
      })
      .finally(() => this.#running.delete(settled));
    this.#running.add(settled);
    return Object.assign(begun, { ended });
  }

  /** Rejects with what the rig or the way to it said; resolves with `sent` or `queued` when the rig takes its time. */
  async run(rig: FleetRig, order: Order, caller: Caller, steps: readonly Step[]): Promise<ActionReply> {
    const command = this.send(rig, await this.note(order, caller), steps);
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
    steps: readonly Step[],
    begun: { sent: boolean },
    move: (state: CommandState, message: string) => Promise<void>,
  ): Promise<string> {
    const marks = {
      sent: () => move("sent", ""),
      unsent: () => {
        begun.sent = false;
      },
    };
    const session = new Session(this.#fleet, rig, marks, { waits: this.#waits, closing: this.#closing.signal });
    let state: CommandState = "done";
    let message = "";
    try {
      message = await session.take(steps);
      return message;
    } catch (error) {
      state = begun.sent && !isRefusal(error) ? "unknown" : "failed";
      message = error instanceof Error ? error.message : String(error);
      throw error;
    } finally {
      await move(state, message);
    }
  }
}

/** The reading of a rig that can be steered. Throws why it cannot be reached, or is not the one it should be. */
export function steerable({ reading, trouble }: RigState): Reading {
  if (trouble !== null) throw asError(trouble);
  if (reading === null) throw new RigbridgeError("rig.unreachable", "The rig is not read");
  return reading;
}

/** The rig said no, or the command was found wrong: nothing is open about what it did. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RigbridgeError &&
  !["rig.timeout", "rig.garbled", "rig.unreachable", "rig.unconfirmed"].includes(error.code);

/** How far a command is, for its row. */
interface Marks {
  /** Before a byte of a write leaves. */
  sent(): Promise<void>;
  /** No byte of it has left after all. */
  unsent(): void;
}

/** One command's time with a rig. Before each write, and before one is repeated, the rig says which one it is. */
class Session {
  readonly #fleet: Fleet;
  readonly #rig: FleetRig;
  readonly #marks: Marks;
  readonly #waits: Waits;
  readonly #closing: AbortSignal;

  constructor(
    fleet: Fleet,
    rig: FleetRig,
    marks: Marks,
    { waits, closing }: { readonly waits: Waits; readonly closing: AbortSignal },
  ) {
    this.#fleet = fleet;
    this.#rig = rig;
    this.#marks = marks;
    this.#waits = waits;
    this.#closing = closing;
  }

  /** Takes each step when the one before is done; resolves with the rig's words. */
  async take(steps: readonly Step[]): Promise<string> {
    const said: string[] = [];
    let reading = await this.#identified();
    for (const [index, step] of steps.entries()) {
      const telling = step(reading);
      said.push(typeof telling === "string" ? telling : await this.#tell(telling, step));
      // A step may take minutes, for the rig restarts: whoever answers then is asked anew.
      if (typeof telling !== "string" && index < steps.length - 1) reading = await this.#identified();
    }
    return joined(said);
  }

  /** Reads the rig now. Throws when it does not answer, or does not say that it is the one that it should be. */
  async #identified(): Promise<Reading> {
    this.#rig.doubt();
    await this.#fleet.read(this.#rig);
    return steerable(this.#rig.state);
  }

  async #tell(telling: Telling, step: Step): Promise<string> {
    try {
      return await this.#send(telling);
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      this.#marks.unsent();
      const again = step(await this.#identified());
      return typeof again === "string" ? again : this.#send(again);
    }
  }

  /** Sends once. With an answer the rig's next reads confirm it; without one they decide what it did. */
  async #send({ write, seconds, isDone, isDoneUnanswered }: Telling): Promise<string> {
    await this.#marks.sent();
    let words: string;
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(this.#waits.answer), this.#closing]);
      words = await write(this.#rig.rig(), signal);
    } catch (error) {
      if (isRefusal(error)) throw error;
      if (await this.#comesTrue(isDoneUnanswered, seconds)) return "The rig gave no answer, but reports the change";
      throw error;
    }
    if (isDone === null || (await this.#comesTrue(isDone, seconds))) return words;
    throw new RigbridgeError("rig.unconfirmed", `The rig does not report the change; it answered "${words}"`);
  }

  async #comesTrue(isDone: (reading: Reading) => boolean, seconds: number): Promise<boolean> {
    const until = performance.now() + Math.min(this.#waits.change, (seconds + 10) * 1000);
    for (let look = 0; performance.now() < until; look += 1) {
      await sleep(looks[Math.min(look, looks.length - 1)], null, { signal: this.#closing }).catch(() => null);
      if (this.#closing.aborted) return false;
      // Some restart for it, and are read often now.
      await this.#fleet.read(this.#rig, { silence: true });
      const { trouble, reading } = this.#rig.state;
      if (trouble === null && reading !== null && isDone(reading)) return true;
    }
    return false;
  }
}

const asError = ({ code, message }: { code: string; message: string }): RigbridgeError => {
  switch (code) {
    case "rig.other":
    case "rig.refused":
    case "rig.login":
    case "rig.read-only":
    case "rig.busy":
    case "rig.garbled":
    case "rig.timeout":
    case "rig.unknown-protocol":
    case "in.use":
    case "internal":
      return new RigbridgeError(code, message);
    default:
      return new RigbridgeError("rig.unreachable", message);
  }
};
