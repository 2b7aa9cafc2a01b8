import type { HttpRequest } from "./http-message.ts";
import type { RigModel } from "./model.ts";
import type { Reply } from "./reply.ts";

/** How a rig answers, on top of its model. */
export type Conversation =
  | {
      readonly transport: "rpc";
      /** Null: no answer at all, the connection stays. */
      readonly answer: (request: string) => Reply | null;
    }
  | { readonly transport: "http"; readonly answer: (request: HttpRequest) => Reply };

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
