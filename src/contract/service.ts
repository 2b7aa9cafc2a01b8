import type { z } from "zod";
import type { CodedText } from "../messages/coded-text.ts";
import type { AgentConnection, AgentReceiver } from "./agent-connection.ts";
import type { EventType } from "./events.ts";
import type { Idempotency } from "./idempotency.ts";
import type { Operation, OperationName, operations } from "./operations.ts";
import type { RigbridgeError } from "./problems.ts";
import type { Miner, Privilege } from "./resources.ts";
import type { About } from "./session.ts";
import type { SiteConnection, SiteReceiver } from "./site-connection.ts";

type Params<O> = O extends { params: infer P extends Record<string, z.ZodType> }
  ? { readonly [K in keyof P]: z.output<P[K]> }
  : unknown;
type Query<O> = O extends { query: infer Q extends z.ZodType } ? Readonly<z.output<Q>> : unknown;
type Body<O> = O extends { body: infer B extends z.ZodType } ? Readonly<z.output<B>> : unknown;

type InputOf<O extends Operation> = Params<O> & Query<O> & Body<O>;

/** The input of an operation: path parameters, query and body in one flat object, checked and decoded. */
export type Input<K extends OperationName> = InputOf<(typeof operations)[K]>;
export type Reply<K extends OperationName> = z.output<(typeof operations)[K]["reply"]>;

/** Operations that continue until they are aborted. */
export type StreamName = {
  [K in OperationName]: (typeof operations)[K]["kind"] extends "stream" ? K : never;
}[OperationName];
export type CallName = Exclude<OperationName, StreamName>;

/** The caller of an operation. */
export interface Caller {
  /** For the audit trail: the user whose key was used, or the front end. Never a key. */
  readonly actor: string;
  /** The user whose access applies: the `user_id` of the request, or the user whose key was used. */
  readonly userId?: number | undefined;
  /** An upper limit of the privilege; absent: that of the user. */
  readonly privilege?: Privilege | undefined;
  /** The centre that this service has connected to, if it is the caller: its name. */
  readonly centre?: string | undefined;
  /** Of a write; reads ignore it. */
  readonly idempotency?: Idempotency | undefined;
}

/**
 * Called once with the error when a remote service no longer answers, although its stream continues, and once with null
 * when the stream is up to date again.
 */
export type Reach = (error: RigbridgeError | null) => void;

/** A reply as bytes, so that lists are not serialised again. */
export interface Encoded {
  /** Changes only if more than the time has changed. */
  readonly etag: string;
  readonly length: number;
  readonly chunks: readonly Uint8Array[];
}

/** An event with its data as JSON. */
export interface EncodedEvent {
  readonly id: number;
  readonly type: EventType;
  readonly json: Uint8Array;
}

/**
 * The one interface behind every front end: a method for each operation of the table. Both the service in this process
 * and the client of a remote service implement it. Methods reject only with a RigbridgeError.
 */
export type MiningService = {
  readonly [K in CallName]: (input: Input<K>, caller: Caller) => Promise<Reply<K>>;
} & {
  /** A stream ends when the signal is aborted, or throws a RigbridgeError. */
  readonly [K in StreamName]: (
    input: Input<K>,
    caller: Caller,
    signal: AbortSignal,
    reach?: Reach,
  ) => AsyncIterable<Reply<K>>;
} & {
  /** The supported operations; others reject with `service.unsupported`. Rejects if a remote server cannot be reached. */
  features(): Promise<ReadonlySet<OperationName>>;
  /** The caller's rights, and what a page needs to know of the service. Throws `not.found` for an unknown user. */
  about(caller: Caller): Promise<About>;
  /** The reply to a read as bytes, if the service keeps them. */
  encoded?(operation: OperationName, input: object, caller: Caller): Encoded | undefined;
  /**
   * Builds the data that `encoded` needs for this reply, yielding in between; undefined if `encoded` may be called at
   * once.
   */
  prepare?(operation: OperationName, input: object, caller: Caller): Promise<void> | undefined;
  /** The events of `watchEvents` or `watchMinerRows` as bytes, in batches of all that are available. */
  encodedEvents?(
    input: Input<"watchEvents"> | Input<"watchMinerRows">,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<readonly EncodedEvent[]>;
  /** Each miner, presented when the iterator reaches it, so that a caller that reads many can yield in between. */
  eachMiner?(caller: Caller): Iterable<Miner>;
  /**
   * Throws if this caller may not call the operation with any input: `not.found` for an unknown user, or
   * `user.forbidden`. Called before the body is read.
   */
  checkAccess?(operation: OperationName, caller: Caller): void;
  /** The user whose API key has this SHA-256, in hex. */
  keyHolder?(digest: string): KeyHolder | undefined;
  /**
   * Adds a notification about the service itself, one for each title while it is open; null closes and acknowledges it.
   * Absent for a service elsewhere.
   */
  setWarning?(title: string | CodedText, message: string | CodedText | null): void;
  /** SHA-256 in hex of the secret of an incoming web hook; undefined if there is no such hook. */
  hookDigest?(name: string): string | undefined;
  /** Handles a web hook whose secret was checked: its JSON, or its text. */
  receiveHook?(name: string, payload: unknown): void;
  /** Whether a token of a host's agent has this SHA-256, in hex. */
  knowsAgent?(digest: string): boolean;
  /** Accepts the connection of the agent with this token; undefined if it was revoked in the meantime. */
  takeAgent?(digest: string, connection: AgentConnection): AgentReceiver | undefined;
  /** Whether the token of a site that connects by itself has this SHA-256, in hex. */
  knowsSite?(digest: string): boolean;
  /** Accepts the connection of the site with this token; undefined if it was revoked in the meantime. */
  takeSite?(digest: string, connection: SiteConnection): SiteReceiver | undefined;
  /** Accepts the agent of the service's own machine; undefined unless the configuration enables it. */
  takeOwnAgent?(connection: AgentConnection): AgentReceiver | undefined;
  /** The health of each worker thread that reads rigs, as of the last second. */
  workers?(): readonly WorkerHealth[];
  close(): Promise<void>;
};

export interface WorkerHealth {
  /** Bytes of its heap in use. */
  readonly heap: number;
  /** Event loop lag, s. */
  readonly lagP99: number;
  readonly lagMax: number;
}

export interface KeyHolder {
  readonly id: number;
  readonly name: string;
  /** Its key belongs to a centre, whose word on who acts is believed. */
  readonly centre?: true;
}
