import { RigbridgeError } from "../../../contract/problems.ts";
import { SessionEnded } from "../../session-ended.ts";
import { isRecord, Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { accepted, isRefusal, type Status, statusOf } from "../shared/cgminer-replies.ts";
import { redacted } from "../shared/redact.ts";

/** Writes with this session, in turn; resolves with the device's own words. */
export type Write = (command: string, ...parameters: readonly string[]) => Promise<string>;

/** `undo` sends even when the time for the whole is over: for what must not be left half done. */
export type Work<T> = (write: Write, undo: Write) => Promise<T>;

/** Of `logon` while somebody else holds the one session. */
const sessionTaken = 402;
/** ms for a goodbye that a rebooting rig may never answer. */
const goodbyeTime = 1_000;
/** ms to put back what was changed on the way. */
const undoTime = 5_000;

/**
 * LuxOS lets one at a time change it: `logon` gives a session, each write names it first, `logoff` gives it back.
 * It ends by itself after a minute. It is no protection, so there is no login. Source: Luxor's "Session management".
 */
export class LuxosSession {
  readonly #rpc: RpcTransport;
  /** Of a session that could not be given back. */
  #left: string | null = null;

  constructor(rpc: RpcTransport) {
    this.#rpc = rpc;
  }

  /**
   * Throws `rig.busy` while another holds the session, `rig.refused` with the device's words, and `SessionEnded` where
   * the first write is refused for its session. What undoes a change opens a new one if it must: a rig is never left
   * half changed.
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
      const said = this.#accepted(command, session, answer);
      hasWritten = true;
      return said;
    };
    const undo: Write = async (command, ...parameters) => {
      const until = AbortSignal.timeout(undoTime);
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
        `${this.#rpc.at}: ${status.words}; LuxOS lets one at a time change it, and drops an idle session after a minute`,
      );
    }
    accepted(this.#rpc.at, "logon", value);
    const session = sessionIn(value);
    if (session !== null) return session;
    throw new RigbridgeError("rig.garbled", `${this.#rpc.at} answered "logon" without a session`);
  }

  /** What was done is done, so a goodbye that fails is no error; the session is used again next time. */
  async #logoff(session: string): Promise<void> {
    try {
      const { value } = await this.#rpc.send("logoff", session, AbortSignal.timeout(goodbyeTime));
      accepted(this.#rpc.at, "logoff", value);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      if (error.code !== "rig.refused") this.#left = session;
    }
  }
}

const isOutdated = (status: Status | null): boolean =>
  status !== null && isRefusal(status) && /session/i.test(status.words);

/** Sessions are short words; what could be read as a further parameter is none. */
function sessionIn(value: unknown): string | null {
  const [first] = new TolerantReader(isRecord(value) ? value : undefined, new Notes(), "").list("SESSION");
  const session = first?.text("SessionID", 100) ?? null;
  return session !== null && /^[\w.:=+/-]+$/.test(session) ? session : null;
}
