import { type Mistake, type ProblemCode, RigbridgeError } from "../../contract/problems.ts";
import type { ControlKey, ControlValue } from "../../contract/readings.ts";
import type { WorkerHealth } from "../../contract/service.ts";
import type { PoolAction, PoolLogin, PoolReading } from "../../link/driver.ts";
import { SessionEnded } from "../../link/session-ended.ts";
import type { CodedText } from "../../messages/coded-text.ts";
import type { Declared, ReadSettings } from "../declared.ts";
import type { ReadManner } from "../fleet-rig.ts";
import type { Remembered, RigState } from "../state.ts";
import type { ShapeTexts } from "./remote-state.ts";

/**
 * Messages between the main thread and a worker thread: plain data. A worker receives everything and remembers nothing,
 * so it can be replaced at any time. `rig` is the number of a rig in its worker, new for each declaration.
 */

/** Passed to the thread at its start; without secrets. */
export interface ThreadSettings {
  /** ms that one read may take. */
  readonly timeout: number;
  /** Epoch ms at which the monotonic clock of the main thread was 0. */
  readonly timeOrigin: number;
  /** If the main thread has its own clocks; `clocks` sets them. */
  readonly clocks: Clocks | null;
}

/** Epoch ms, and ms of the monotonic clock. */
export interface Clocks {
  readonly now: number;
  readonly monotonicNow: number;
}

/** A rig to poll. */
export interface PutRig {
  readonly rig: number;
  readonly declared: Declared;
  readonly remembered: Remembered;
  /** Its state if another worker has polled it until now; the reading is in `body`. */
  readonly last: Omit<RigState, "reading" | "brief"> | null;
  readonly body: Uint8Array | null;
  readonly uptime: number | null;
  /** The main thread uses it, or waits for it. */
  readonly held: boolean;
  /** s for which it may be silent after an accepted restart. */
  readonly restarts: number;
  /** For the pool passwords, which rigs do not report. */
  readonly logins: readonly PoolLogin[];
}

/** Answered by `done`. */
export type Call = {
  readonly n: number;
  readonly rig: number;
  /** Of a SendDeadline; null if there is none. */
  readonly sendBefore: SharedArrayBuffer | null;
} & (
  | { readonly t: "read"; readonly manner: ReadManner }
  | { readonly t: "set"; readonly key: ControlKey; readonly value: ControlValue }
  | { readonly t: "pool"; readonly action: PoolAction; readonly pool: PoolReading | PoolLogin }
);

export type ToThread =
  | { readonly t: "put"; readonly rigs: readonly PutRig[] }
  | Call
  | { readonly t: "abort"; readonly n: number; readonly reason: string }
  /** Answered by `taken` once nothing else uses the rig, which is then reserved until `give`. */
  | { readonly t: "take" | "give" | "remove" | "doubt" | "makeWay" | "restarted" | "drop"; readonly rig: number }
  | { readonly t: "restarts"; readonly rig: number; readonly seconds: number }
  | { readonly t: "adjust"; readonly rig: number; readonly settings: ReadSettings }
  | { readonly t: "logins"; readonly rig: number; readonly logins: readonly PoolLogin[] }
  | { readonly t: "remembered"; readonly n: number; readonly error: SentError | null }
  | { readonly t: "clocks"; readonly clocks: Clocks }
  | { readonly t: "watchKeys"; readonly watched: boolean }
  /** The main thread has processed a batch of reads; another may be sent. */
  | { readonly t: "credit" }
  | { readonly t: "close" };

/** Batches that a thread may send before the main thread has processed the first of them. */
export const firstCredit = 4;

/** An event of a rig, sent with the reads of a batch. */
export type Happening = { readonly rig: number } & (
  | { readonly t: "disconnected"; readonly isKnown: boolean }
  | { readonly t: "refused"; readonly message: string }
  | { readonly t: "failed"; readonly error: SentError }
);

export type FromThread =
  /** `packet`: as in packet.ts. `shapes`: in the order of the reads that have one. */
  | {
      readonly t: "reads";
      readonly packet: ArrayBuffer;
      readonly count: number;
      readonly shapes: readonly ShapeTexts[];
      readonly happenings: readonly Happening[];
    }
  | { readonly t: "taken"; readonly rig: number }
  | { readonly t: "done"; readonly n: number; readonly value: string; readonly error: SentError | null }
  | { readonly t: "remember"; readonly n: number; readonly rig: number; readonly remembered: Partial<Remembered> }
  | { readonly t: "beat"; readonly health: WorkerHealth }
  | { readonly t: "closed" };

/** An error without its class, which cannot be transferred. */
export interface SentError {
  readonly code: ProblemCode | null;
  readonly session: boolean;
  readonly message: string;
  readonly unquoted: string;
  readonly errors: readonly Mistake[];
  readonly coded: CodedText | null;
  readonly stack: string;
}

export function sentError(error: unknown): SentError {
  const message = error instanceof Error ? error.message : String(error);
  const stack = (error instanceof Error ? error.stack : undefined) ?? message;
  if (!(error instanceof RigbridgeError))
    return { code: null, session: false, message, unquoted: message, errors: [], coded: null, stack };
  const { code, unquoted, errors, coded } = error;
  return { code, session: error instanceof SessionEnded, message, unquoted, errors, coded, stack };
}

export function receivedError({ code, session, message, unquoted, errors, coded, stack }: SentError): Error {
  if (code === null) return Object.assign(new Error(message), { stack });
  const error = new RigbridgeError(code, message, { unquoted, errors, coded });
  return session ? new SessionEnded(error) : error;
}
