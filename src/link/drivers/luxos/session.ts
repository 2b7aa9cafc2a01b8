import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { SessionEnded } from "../../session-ended.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted, isRefusal, type Status, statusOf } from "../shared/cgminer-replies.ts";
import { redacted } from "../shared/redact.ts";

/** Sends one write of the session; resolves with the device's own words. */
export type Write = (command: string, ...parameters: readonly string[]) => Promise<string>;

/** `undo` sends even after the deadline, for what must not be left half done. */
export type Work<T> = (write: Write, undo: Write) => Promise<T>;

/** Code of `logon` while another client holds the only session. */
const sessionTaken = 402;
/** For `logoff`, which a rebooting rig may never answer. */
const logoffTimeoutMs = 1_000;
/** Timeout for undoing a change. */
const undoTimeoutMs = 5_000;

/**
 * LuxOS lets one client at a time change it: `logon` opens a session, each write starts with its id, `logoff` closes
 * it. An idle session ends after a minute. It is not a protection, so there is no login. Source: Luxor's "Session
 * management".
 */
export class LuxosSession {
  readonly #rpc: RpcTransport;
  /** A session that could not be closed. */
  #left: string | null = null;

  constructor(rpc: RpcTransport) {
    this.#rpc = rpc;
  }

  /**
   * Throws `rig.busy` while another client holds the session, `rig.refused` with the device's words, and `SessionEnded`
   * where the first write is refused for its session. An undo opens a new session if needed, so that the rig is never
   * left half changed.
   */
  async during<T>(signal: AbortSignal, work: Work<T>): Promise<T> {
    let session = this.#left ?? (await this.#logon(signal));
    this.#left = null;
    let hasWritten = false;
    const send = async (until: AbortSignal, command: string, parameters: readonly string[]): Promise<unknown> =>
      (await this.#rpc.send(command, [session, ...parameters].join(","), until)).value;
    const write: Write = async (command, ...parameters) => {
      const answer = await send(signal, command, parameters);
      if (!hasWritten && isOutdated(statusOf(answer))) throw this.#ended(command, session, answer);
      const result = this.#accepted(command, session, answer);
      hasWritten = true;
      return result;
    };
    const undo: Write = async (command, ...parameters) => {
      const until = AbortSignal.timeout(undoTimeoutMs);
      let answer = await send(until, command, parameters);
      if (isOutdated(statusOf(answer))) {
        session = await this.#logon(until);
        answer = await send(until, command, parameters);
      }
      return this.#accepted(command, session, answer);
    };
    try {
      return await work(write, undo);
    } finally {
      await this.#logoff(session);
    }
  }

  #ended(command: string, session: string, answer: unknown): unknown {
    try {
      return this.#accepted(command, session, answer);
    } catch (error) {
      return error instanceof RigbridgeError ? new SessionEnded(error) : error;
    }
  }

  #accepted(command: string, session: string, answer: unknown): string {
    try {
      return accepted(this.#rpc.at, command, answer);
    } catch (error) {
      throw redacted(error, [session]);
    }
  }

  async #logon(signal: AbortSignal): Promise<string> {
    const { value } = await this.#rpc.send("logon", undefined, signal);
    const status = statusOf(value);
    if (status !== null && isRefusal(status) && (status.code === sessionTaken || /session/i.test(status.words))) {
      throw new RigbridgeError(
        "rig.busy",
        `${this.#rpc.at}: ${status.words}; LuxOS allows one session at a time and ends an idle one after a minute; try again then`,
      );
    }
    accepted(this.#rpc.at, "logon", value);
    const session = sessionIn(value);
    if (session !== null) return session;
    throw new RigbridgeError("rig.garbled", `${this.#rpc.at} answered "logon" without a session`);
  }

  /** A failure is not an error, since the writes are done; the session is used again next time. */
  async #logoff(session: string): Promise<void> {
    try {
      const { value } = await this.#rpc.send("logoff", session, AbortSignal.timeout(logoffTimeoutMs));
      accepted(this.#rpc.at, "logoff", value);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (error.code !== "rig.refused") this.#left = session;
    }
  }
}

const isOutdated = (status: Status | null): boolean =>
  status !== null && isRefusal(status) && /session/i.test(status.words);

/** null for anything that could be read as a further parameter. */
function sessionIn(value: unknown): string | null {
  const [first] = new TolerantReader(isRecord(value) ? value : undefined, new Notes(), "").list("SESSION");
  const session = first?.text("SessionID", 100) ?? null;
  return session !== null && /^[\w.:=+/-]+$/.test(session) ? session : null;
}
