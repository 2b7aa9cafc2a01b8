import type { HttpRequest } from "./http-message.ts";
import type { RigModel } from "./model.ts";
import type { Reply } from "./reply.ts";

/**
 * How a rig answers, on top of its model: in each protocol that it speaks. At a port of its own it speaks all of them,
 * and the first bytes tell which is meant.
 */
export interface Conversation {
  /** One request a connection. Null: no answer at all, the connection stays. */
  readonly rpc?: (request: string) => Reply | null;
  /** It holds one RPC connection at a time, and resets a second one. */
  readonly oneRpc?: true;
  readonly http?: (request: HttpRequest) => Reply;
  /** JSON behind its length in four bytes; the connection stays. Null: no answer at all. */
  readonly frames?: (request: string) => Reply | null;
}

/** What was asked of a rig. */
export interface RequestLog {
  /** All requests that came whole. */
  count: number;
  /** The last hundred that would change something, allowed or not: `switchpool|1`, `PATCH /api/system {...}`. */
  readonly writes: string[];
}

const keptWrites = 100;

/** What every conversation has under it: the rig without its protocol. */
export interface RigBody {
  readonly name: string;
  /** Upper case with colons. */
  readonly mac: string;
  readonly model: RigModel;
  readonly requests: RequestLog;
  /** Refuses whatever would change something. */
  readonly denies: () => boolean;
  /** Seconds that a restart takes. */
  readonly restartSeconds: number;
  /** Stops answering, as a program that was told to quit. */
  readonly quit: () => void;
}

export function logWrite(log: RequestLog, write: string): void {
  log.writes.push(write);
  if (log.writes.length > keptWrites) log.writes.shift();
}
