import type { HttpRequest } from "./http-message.ts";
import type { RigModel } from "./model.ts";
import type { Reply } from "./reply.ts";

/**
 * The answers of a rig in each of its protocols. At a single port it speaks all of them, and the first bytes of a
 * connection decide.
 */
export interface Conversation {
  /** One request per connection. null: no answer, the connection stays open. */
  readonly rpc?: (request: string) => Reply | null;
  /** Accepts one RPC connection at a time, and resets a second one. */
  readonly oneRpc?: true;
  /** One JSON text per line; connections stay open, each with its own conversation. null: no answer. */
  readonly lines?: () => (request: string) => Reply | null;
  readonly http?: (request: HttpRequest) => Reply;
  /** JSON after its length in four bytes; the connection stays open. null: no answer. */
  readonly frames?: (request: string) => Reply | null;
}

/** The requests to a rig. */
export interface RequestLog {
  /** All complete requests. */
  count: number;
  /** The last hundred writes, allowed or not: `switchpool|1`, `PATCH /api/system {...}`. */
  readonly writes: string[];
}

const keptWrites = 100;

/** What every protocol needs of its rig. */
export interface RigBody {
  readonly name: string;
  /** Upper case with colons. */
  readonly mac: string;
  readonly model: RigModel;
  readonly requests: RequestLog;
  /** Refuses every write. */
  readonly denies: () => boolean;
  /** Seconds that a restart takes. */
  readonly restartSeconds: number;
  /** Stops answering, like a program that quits. */
  readonly quit: () => void;
}

export function logWrite(log: RequestLog, write: string): void {
  log.writes.push(write);
  if (log.writes.length > keptWrites) log.writes.shift();
}
