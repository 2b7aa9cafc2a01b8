import { setTimeout as sleep } from "node:timers/promises";
import type { Logger } from "pino";
import { Background } from "../../async/index.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { ActionReply, CommandCause } from "../../contract/resources.ts";
import type { Caller } from "../../contract/service.ts";
import type { PolledRig, Poller } from "../../fleet/poller.ts";
import { missesUntilDisconnected } from "../../fleet/schedule.ts";
import { isUnread, type RigState, type Trouble } from "../../fleet/state.ts";
import type { Reading } from "../../link/driver.ts";
import { SessionEnded } from "../../link/session-ended.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, StoredCommand } from "../../store/index.ts";
import { requestKeyOf } from "../request-key.ts";
import { endedByLater, type Start, type StartGuard, WaitingStarts } from "./before-start.ts";
import { CommandProgress, expired, type Permitted } from "./command-progress.ts";
import { loweringOnly } from "./lowering.ts";
import { joinMessages, type Proof, type RigWrite, type Step } from "./steps.ts";

/** ms. */
export interface CommandTimeouts {
  /** How long a command waits for its rig; after that it is not sent. */
  readonly queueMs: number;
  /** How long a request waits for the rig; after that the reply has the command's id. */
  readonly requestMs: number;
  /** How long one write waits for the rig's answer. */
  readonly answerMs: number;
  /** How long the rig may take to report the change. */
  readonly changeMs: number;
}

const defaultTimeouts: CommandTimeouts = { queueMs: 60_000, requestMs: 20_000, answerMs: 60_000, changeMs: 600_000 };
/** ms before each read that checks for the change; the last one repeats. */
const confirmDelaysMs = [100, 300, 700, 1_500, 3_000];
/** Reads that check for the change, however long each takes: a machine that stands still says nothing about the rig. */
const leastReads = 3;

/** A command for a miner, as the audit shows it. */
export interface CommandSpec {
  readonly minerId: number;
  readonly minerName: string;
  readonly action: string;
  /** Without secrets. */
  readonly parameters: Record<string, string | number | boolean>;
  /** The run that the command belongs to. */
  readonly cause?: CommandCause;
  /** The message of one that is done as soon as it is stored, such as a note. */
  readonly done?: string;
}

/** A stored command that is being sent. */
export interface BegunCommand {
  readonly progress: CommandProgress;
  /**
   * Resolves with the rig's answer once it has accepted the command; rejects with the error of the rig or the
   * connection.
   */
  readonly taken: Promise<string>;
  /** Like `taken`, but once the result is known, which takes longer for a restart. */
  readonly ended: Promise<string>;
}

/** What decides whether a command is for safety. */
export type SafetyFacts = Pick<StoredCommand, "actor" | "action" | "parameters" | "cause">;

/** The result of a command. */
interface Outcome {
  /** The rig's answer. */
  readonly answer: string;
  /** A restart that later reads must confirm. */
  readonly restart: OpenRestart | null;
}

interface OpenRestart {
  readonly proof: Extract<Proof, { by: "restart" }>;
  readonly seconds: number;
  /** By `performance.now`. */
  readonly sentAt: number;
  /** The error of the write; null if the rig has answered. */
  readonly unanswered: unknown;
}

/** Does a command in its turn; null if it starts its rig and must wait first, and nothing was sent. */
type Work = (progress: CommandProgress, start: Start) => Promise<Outcome | null>;

/**
 * Sends commands to rigs: stored before any byte leaves, in order per rig, confirmed by reading back, never sent twice.
 */
export class CommandExecutor {
  readonly #fleet: Poller;
  readonly #store: Store;
  readonly #log: Logger;
  readonly #watchers: ((command: StoredCommand) => void)[] = [];
  readonly #timeouts: CommandTimeouts;
  readonly #isForSafety: (command: SafetyFacts) => boolean;
  readonly #starts = new WaitingStarts();
  readonly #closing = new AbortController();
  readonly #running = new Background();
  /** Unfinished commands. */
  readonly #open = new Map<number, CommandProgress>();

  /** `isForSafety`: whether a command is to lower the power of a rig for safety, which goes on while the store is away. */
  constructor(
    fleet: Poller,
    store: Store,
    log: Logger,
    timeouts: CommandTimeouts = defaultTimeouts,
    isForSafety: (command: SafetyFacts) => boolean = () => false,
  ) {
    this.#fleet = fleet;
    this.#store = store;
    this.#log = log;
    this.#timeouts = timeouts;
    this.#isForSafety = isForSafety;
    store.commands.watchLate((command) => this.#moved(command));
  }

  /** Calls the watcher with each command when it is stored, and whenever its state changes. */
  watch(watcher: (command: StoredCommand) => void): void {
    this.#watchers.push(watcher);
  }

  /** Has starts of rigs wait for this before they are sent. */
  guardStarts(guard: StartGuard): void {
    this.#starts.guardBy(guard);
  }

  /** Stores a command for a later `send`. */
  async enqueue(spec: CommandSpec, caller: Caller): Promise<StoredCommand> {
    const command = { ...spec, actor: caller.actor, cause: spec.cause ?? null };
    const row = await this.#store.commands.add(command, requestKeyOf(caller), this.#isForSafety(command));
    this.#moved(row);
    return row;
  }

  /** Stores a change that writes nothing to a rig, with its result. Settles like the change. */
  async record(spec: CommandSpec, caller: Caller, change: () => Promise<string>): Promise<string> {
    const { id } = await this.enqueue(spec, caller);
    const end = async (state: "done" | "failed", message: string): Promise<void> =>
      this.#moved(await this.#store.commands.move(id, state, message));
    let message: string;
    try {
      message = await change();
    } catch (error) {
      await end("failed", messageOf(error));
      throw error;
    }
    await end("done", message);
    return message;
  }

  /** Sends a stored command in its turn. */
  send(rig: PolledRig, command: StoredCommand, steps: readonly Step[]): BegunCommand {
    return this.#begin(rig, command, (progress, start) => {
      const session = { timeouts: this.#timeouts, closing: this.#closing.signal, start };
      return new Session(this.#fleet, rig, progress, session).take(steps);
    });
  }

  /**
   * Like `send`, for a write that needs no reading of the rig and is confirmed by its answer, such as to its plug.
   * `starts`: the rig starts with it.
   */
  sendUnread(
    rig: PolledRig,
    command: StoredCommand,
    write: (signal: AbortSignal) => Promise<string>,
    starts = false,
  ): BegunCommand {
    return this.#begin(rig, command, async (progress, start) => {
      if (starts && start.mustWait()) return null;
      await progress.markSent();
      const signal = AbortSignal.any([AbortSignal.timeout(this.#timeouts.answerMs), this.#closing.signal]);
      return { answer: await progress.sending(() => write(signal)), restart: null };
    });
  }

  #begin(rig: PolledRig, command: StoredCommand, work: Work): BegunCommand {
    const { id } = command;
    const progress = new CommandProgress(
      id,
      async (state, message) => this.#moved(await this.#store.commands.move(id, state, message)),
      () => this.#permitted(command),
      this.#store.lease?.deadline ?? null,
    );
    this.#open.set(id, progress);
    for (const ended of this.#starts.endedBy(command)) this.#withdrawUnawaited(ended, endedByLater());
    const start = this.#starts.startBy(command, progress);
    const turn = this.#inTurn(rig, progress, start, work);
    const settledTurn = Promise.race([turn, progress.withdrawn]).finally(() => {
      start.end();
      this.#open.delete(id);
    });
    const ended = settledTurn.then((outcome) => this.#confirm(rig, progress, outcome));
    const taken = settledTurn.then(({ answer, restart }) =>
      restart === null || restart.unanswered === null ? answer : ended,
    );
    void this.#running.add(Promise.allSettled([turn, ended.catch(this.#logUnexpected(id))]));
    return { progress, taken, ended };
  }

  /**
   * Does the work of a command while nothing else uses the rig. A start that must wait gives up its turn and takes
   * another one afterwards, in which the rig is identified again.
   */
  async #inTurn(rig: PolledRig, progress: CommandProgress, start: Start, work: Work): Promise<Outcome> {
    for (;;) {
      const { queueMs } = this.#timeouts;
      const expiry = setTimeout(() => this.#withdrawUnawaited(progress, expired(queueMs)), queueMs);
      rig.makeWay();
      const turn = rig.exclusively(() => this.#settled(progress, () => work(progress, start)));
      const over = (): void => clearTimeout(expiry);
      progress.withdrawn.catch(over);
      const outcome = await turn.finally(over);
      if (outcome !== null) return outcome;
      await this.#settled(progress, async () => {
        await start.wait();
        return null;
      });
    }
  }

  #withdrawUnawaited(progress: CommandProgress, why: RigbridgeError): void {
    void progress.withdraw(why).catch(this.#logUnexpected(progress.id));
  }

  #permitted(command: StoredCommand): Permitted {
    const { lease, commands } = this.#store;
    if (lease === null || (lease.mayAct() && !commands.isWaiting(command.id))) return "all";
    return lease.isLast() && this.#isForSafety(command) ? "lowering" : "nothing";
  }

  /** Ends a command that was not sent; false if it is too late for that. */
  async withdraw(id: number, why: RigbridgeError): Promise<boolean> {
    return (await this.#open.get(id)?.withdraw(why)) === true;
  }

  /** Resolves with `sent` or `queued` if the rig needs longer; rejects with the error of the rig or the connection. */
  async run(rig: PolledRig, spec: CommandSpec, caller: Caller, steps: readonly Step[]): Promise<ActionReply> {
    const { progress, taken } = this.send(rig, await this.enqueue(spec, caller), steps);
    const done = new AbortController();
    const timeout = sleep(this.#timeouts.requestMs, null, { signal: done.signal, ref: false }).catch(() => null);
    try {
      const message = await Promise.race([taken, timeout]);
      const { id: commandId, state } = progress;
      if (message === null) return { success: true, message: notConfirmedYet, commandId, state };
      return { success: true, message, commandId, state, ...(state === "sent" ? { taken: true } : {}) };
    } finally {
      done.abort();
    }
  }

  /** Resolves once the results of all commands are stored. */
  settled(): Promise<void> {
    return this.#running.settled();
  }

  /** Aborts running commands, and resolves once their results are stored. */
  close(): Promise<void> {
    this.#closing.abort();
    return this.settled();
  }

  /**
   * Runs the work of a command and sets the resulting state; with null, it has not ended. While the store is away, the log keeps the state in which a
   * command has ended.
   */
  async #settled(progress: CommandProgress, work: () => Promise<Outcome | null>): Promise<Outcome | null> {
    progress.check();
    let outcome: Outcome | null;
    try {
      if (this.#closing.signal.aborted) throw new RigbridgeError("service.not-ready", detail("service.stopping"));
      outcome = await work();
    } catch (error) {
      const isHalfSent = progress.sent && isOfStore(error);
      const message = isHalfSent
        ? `It was sent in part: ${messageOf(error)}`
        : isOfStore(error)
          ? `It was not sent: ${messageOf(error)}`
          : messageOf(error);
      const isUnknown = isHalfSent || (progress.sent && !isRefusal(error));
      await progress.move(isUnknown ? "unknown" : "failed", message).catch(unstored(progress));
      throw error;
    }
    if (outcome === null) return null;
    const { answer, restart } = outcome;
    if (restart === null) await progress.move("done", answer).catch(unstored(progress));
    else if (restart.unanswered === null)
      // Its end is awaited in any case.
      await progress.move("sent", answer).catch((error: unknown) => {
        if (!isOfStore(error)) throw error;
      });
    return outcome;
  }

  /** Waits for reads to confirm a restart, while other commands may run. Rejects if it is not confirmed. */
  async #confirm(rig: PolledRig, progress: CommandProgress, { answer, restart }: Outcome): Promise<string> {
    if (restart === null) return answer;
    if (await this.#hasRestarted(rig, restart)) {
      rig.restarted();
      const message = restart.unanswered === null ? answer : "The rig did not answer, but has restarted";
      await progress.move("done", message).catch(unstored(progress));
      return message;
    }
    const error = restart.unanswered ?? restartUnconfirmed(answer, restart, this.#closing.signal);
    await progress.move("unknown", messageOf(error)).catch(unstored(progress));
    throw error;
  }

  async #hasRestarted(rig: PolledRig, { proof, seconds, sentAt }: OpenRestart): Promise<boolean> {
    const until = performance.now() + Math.min(this.#timeouts.changeMs, seconds * 1000);
    let wasAway = false;
    for (let attempt = 0; performance.now() < until && this.#fleet.get(rig.id) === rig; attempt += 1) {
      await pauseBefore(attempt, this.#closing.signal);
      if (this.#closing.signal.aborted) return false;
      const before = rig.state.reading;
      await rig.exclusively(() => this.#fleet.read(rig, { silence: true, yields: true }));
      const { trouble, reading } = rig.state;
      if (trouble !== null) wasAway ||= away.has(trouble.code);
      else if (reading !== null && reading !== before) {
        const since = { wasAway, seconds: (performance.now() - sentAt) / 1000 };
        if (proof.hasRestarted(reading, since)) return true;
      }
    }
    return false;
  }

  #moved(command: StoredCommand): void {
    for (const watcher of this.#watchers) watcher(command);
  }

  #logUnexpected(id: number): (error: unknown) => void {
    return (error) => {
      if (!(error instanceof RigbridgeError))
        this.#log.error({ err: error, command: id }, "a command failed unexpectedly");
    };
  }
}

const notConfirmedYet = "The rig has not confirmed yet. Check GET /api/commands for the result";

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error));

/** Troubles of a rig that does not answer or closes the connection. */
const away: ReadonlySet<string> = new Set(["rig.unreachable", "rig.timeout", "rig.garbled"]);

const isAway = (error: unknown): boolean => error instanceof RigbridgeError && away.has(error.code);

/** The answer was not garbled: a restarting rig cuts connections. */
const notBack = (): RigbridgeError => new RigbridgeError("rig.unreachable", detail("command.restarting"));

const restartUnconfirmed = (answer: string, { seconds }: OpenRestart, closing: AbortSignal): RigbridgeError =>
  new RigbridgeError(
    "rig.unconfirmed",
    closing.aborted
      ? `The service stopped before the rig had restarted; it answered "${answer}"`
      : detail("command.notRestarted", { seconds, answer }),
  );

const pauseBefore = (attempt: number, signal: AbortSignal): Promise<unknown> =>
  sleep(confirmDelaysMs[Math.min(attempt, confirmDelaysMs.length - 1)], null, { signal }).catch(() => null);

const isStart = ({ sets }: RigWrite): boolean => sets?.key === "mining" && sets.value === true;

const isUnidentified = (state: RigState): boolean => isUnread(state) || state.trouble?.coded?.code === "link.nameless";

/** The reading of a rig that accepts commands. Throws if the rig cannot be reached or is a different one. */
export function requireReading({ reading, trouble }: RigState): Reading {
  if (trouble !== null) throw errorOf(trouble);
  if (reading === null) throw new RigbridgeError("rig.unreachable", detail("command.unread"));
  return reading;
}

/** The rig or a check refused the command, so it certainly had no effect. */
const isRefusal = (error: unknown): boolean =>
  error instanceof RigbridgeError &&
  !["rig.timeout", "rig.garbled", "rig.unreachable", "rig.unconfirmed"].includes(error.code);

/** The store cannot be reached, or is another service's now. */
const isOfStore = (error: unknown): boolean =>
  error instanceof RigbridgeError && ["service.no.active", "service.store-away"].includes(error.code);

/** Says of a command that was sent that its result could not be stored. */
const unstored =
  ({ sent }: CommandProgress) =>
  (error: unknown): never => {
    if (!sent || !isOfStore(error)) throw error;
    throw new RigbridgeError(
      "rig.unconfirmed",
      `The command was sent, but its result could not be stored: ${messageOf(error)}`,
    );
  };

/** The driver knows that the rig has stored the change, and not whether it took effect; a read would only show the former. */
const isHalfDone = (error: unknown): boolean => error instanceof RigbridgeError && error.code === "rig.unconfirmed";

interface SessionOptions {
  readonly timeouts: CommandTimeouts;
  readonly closing: AbortSignal;
  readonly start: Start;
}

/** One command's session with a rig. The rig is identified before each write, including repeats. */
class Session {
  readonly #fleet: Poller;
  readonly #rig: PolledRig;
  readonly #progress: CommandProgress;
  readonly #timeouts: CommandTimeouts;
  readonly #closing: AbortSignal;
  readonly #start: Start;

  constructor(fleet: Poller, rig: PolledRig, progress: CommandProgress, options: SessionOptions) {
    this.#fleet = fleet;
    this.#rig = rig;
    this.#progress = progress;
    this.#timeouts = options.timeouts;
    this.#closing = options.closing;
    this.#start = options.start;
  }

  /**
   * Runs the steps in order; a restart, which comes last, may still have to be confirmed. Null if they start the rig, which
   * is their first write, and that must wait.
   */
  async take(steps: readonly Step[]): Promise<Outcome | null> {
    const messages: string[] = [];
    let restart: OpenRestart | null = null;
    let reading = await this.#identified();
    let isIdentified = true;
    for (const [index, step] of steps.entries()) {
      let write = step(reading);
      // The previous step may have taken minutes if the rig restarted: a different rig may answer at the address now.
      if (typeof write !== "string" && !isIdentified) {
        reading = await this.#identified();
        isIdentified = true;
        write = step(reading);
      }
      if (typeof write === "string") {
        messages.push(write);
        continue;
      }
      if (isStart(write) && this.#start.mustWait()) return null;
      const before = this.#rig.state.reading;
      const outcome = await this.#write(write, step);
      messages.push(outcome.answer);
      restart = outcome.restart;
      const { reading: confirmed, trouble } = this.#rig.state;
      if (trouble === null && confirmed !== null && confirmed !== before) {
        reading = confirmed;
        isIdentified = false;
      } else if (index < steps.length - 1) {
        reading = await this.#identified();
        isIdentified = true;
      }
    }
    return { answer: joinMessages(messages), restart };
  }

  /** Reads the rig. Throws if it does not answer or a different rig does. */
  async #identified(): Promise<Reading> {
    this.#rig.doubt();
    await this.#fleet.read(this.#rig);
    // Right after the start, when every rig is read at once, the first answer may be late; so may the page that names the rig.
    for (let attempt = 1; attempt < missesUntilDisconnected && isUnidentified(this.#rig.state); attempt += 1) {
      await pauseBefore(attempt, this.#closing);
      if (this.#closing.aborted) break;
      await this.#fleet.read(this.#rig, { silence: true });
    }
    return requireReading(this.#rig.state);
  }

  async #write(write: RigWrite, step: Step): Promise<Outcome> {
    try {
      return await this.#send(write);
    } catch (error) {
      if (!(error instanceof SessionEnded)) throw error;
      this.#progress.markUnsent();
      const again = step(await this.#identified());
      return typeof again === "string" ? { answer: again, restart: null } : this.#send(again);
    }
  }

  /** Sends once. The next reads confirm the change; if the rig did not answer, they decide whether it was made. */
  async #send({ write, seconds, restarts, proof }: RigWrite): Promise<Outcome> {
    const wasSent = this.#progress.sent;
    const permitted = await this.#progress.markSent();
    const rig = this.#rig.rig();
    const sentAt = performance.now();
    let answer: string;
    try {
      const signal = AbortSignal.any([AbortSignal.timeout(this.#timeouts.answerMs), this.#closing]);
      const given = permitted === "all" ? rig : loweringOnly(rig, this.#rig.state.controls);
      answer = await this.#progress.sending(() => write(given, signal));
    } catch (error) {
      if (isOfStore(error) && !wasSent) this.#progress.markUnsent();
      if (isRefusal(error) || isHalfDone(error)) throw error;
      if (proof.by === "restart") {
        // Some rigs cut the connection because they restart.
        if (error instanceof RigbridgeError && error.code === "rig.garbled") this.#rig.restarts(seconds);
        return { answer: "", restart: { proof, seconds, sentAt, unanswered: error } };
      }
      if (proof.by === "read" && (await this.#confirms(proof, seconds)))
        return { answer: "The rig did not answer, but reports the change", restart: null };
      throw this.#rig.state.restarting && isAway(error) ? notBack() : error;
    }
    if (restarts) this.#rig.restarts(seconds);
    if (proof.by === "restart") return { answer, restart: { proof, seconds, sentAt, unanswered: null } };
    if (proof.by === "answer") return { answer, restart: null };
    const isDone = await this.#confirms(proof, seconds);
    const { reading } = this.#rig.state;
    const doubt = (reading && proof.doubt?.(reading)) ?? "";
    if (isDone) {
      if (restarts) this.#rig.restarted();
      const remark = (reading && proof.remark?.(reading)) ?? "";
      return { answer: joinMessages([answer, remark, doubt]), restart: null };
    }
    const unconfirmed = detail("command.unconfirmed", { answer });
    throw new RigbridgeError("rig.unconfirmed", doubt === "" ? unconfirmed : joinMessages([unconfirmed.text, doubt]));
  }

  /** Reads until the rig reports the change without doubt; after the last read, the change alone is enough. */
  async #confirms({ isDone, doubt }: Extract<Proof, { by: "read" }>, seconds: number): Promise<boolean> {
    const until = performance.now() + Math.min(this.#timeouts.changeMs, (seconds + 10) * 1000);
    let isConfirmed = false;
    for (let attempt = 0; attempt < leastReads || performance.now() < until; attempt += 1) {
      await pauseBefore(attempt, this.#closing);
      if (this.#closing.aborted) return isConfirmed;
      // Some rigs restart for the change, so missed reads are expected.
      await this.#fleet.read(this.#rig, { silence: true });
      const { trouble, reading } = this.#rig.state;
      isConfirmed = trouble === null && reading !== null && isDone(reading);
      if (isConfirmed && reading !== null && (doubt?.(reading) ?? null) === null) return true;
    }
    return isConfirmed;
  }
}

const errorOf = ({ code, message, coded }: Trouble): RigbridgeError =>
  new RigbridgeError(rigCodes.find((each) => each === code) ?? "rig.unreachable", message, { coded: coded ?? null });

const rigCodes = [
  ...(["rig.other", "rig.refused", "rig.login", "rig.read-only", "rig.busy", "rig.garbled", "rig.timeout"] as const),
  ...(["rig.unknown-protocol", "in.use", "internal"] as const),
];
