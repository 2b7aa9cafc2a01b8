import type { z } from "zod";
import type { EventType } from "./events.ts";
import type { Operation, OperationName, operations } from "./operations.ts";
import type { Miner, Privilege } from "./resources.ts";

type Params<O> = O extends { params: infer P extends Record<string, z.ZodType> }
  ? { readonly [K in keyof P]: z.output<P[K]> }
  : unknown;
type Query<O> = O extends { query: infer Q extends z.ZodType } ? Readonly<z.output<Q>> : unknown;
type Body<O> = O extends { body: infer B extends z.ZodType } ? Readonly<z.output<B>> : unknown;

type InputOf<O extends Operation> = Params<O> & Query<O> & Body<O>;

/** What an operation takes: path parameters, query and body in one flat object, already checked and decoded. */
export type Input<K extends OperationName> = InputOf<(typeof operations)[K]>;
export type Reply<K extends OperationName> = z.output<(typeof operations)[K]["reply"]>;

/** Operations that go on until they are aborted. */
export type StreamName = {
  [K in OperationName]: (typeof operations)[K]["kind"] extends "stream" ? K : never;
}[OperationName];
export type CallName = Exclude<OperationName, StreamName>;

/** Who asks. */
export interface Caller {
  /** For the audit: the key's user, or the front end. Never a key. */
  readonly actor: string;
  /** Whose eyes to look through: the `user_id` of the request, or the user whose key it is. */
  readonly userId?: number | undefined;
  /** What the caller may do at most, whoever's eyes are looked through; absent: as much as those. */
  readonly privilege?: Privilege | undefined;
}

/** Ready-made bytes of a reply, so that lists are never serialised again. */
export interface Encoded {
  /** The same as long as nothing but time has passed. */
  readonly etag: string;
  readonly length: number;
  readonly chunks: readonly Uint8Array[];
}

/** An event with its data as JSON, ready made. */
export interface EncodedEvent {
  readonly id: number;
  readonly type: EventType;
  readonly json: Uint8Array;
}

/**
 * The one interface behind every front end: a method for each operation of the table. The service itself, in this
 * process, and the client of a service elsewhere both are one. Methods reject with a RigbridgeError and nothing else.
 */
export type MiningService = {
  readonly [K in CallName]: (input: Input<K>, caller: Caller) => Promise<Reply<K>>;
} & {
  /** A stream ends when the signal is aborted, or throws a RigbridgeError. */
  readonly [K in StreamName]: (input: Input<K>, caller: Caller, signal: AbortSignal) => AsyncIterable<Reply<K>>;
} & {
  /** What is offered; anything else rejects with `service.unsupported`. A foreign server may not be reached. */
  features(): Promise<ReadonlySet<OperationName>>;
  /** Bytes of a read, where the service keeps them ready. */
  encoded?(operation: OperationName, input: object, caller: Caller): Encoded | undefined;
  /** The events of `watchEvents` from bytes kept ready, as many at a time as there are. */
  encodedEvents?(
    input: Input<"watchEvents">,
    caller: Caller,
    signal: AbortSignal,
  ): AsyncIterable<readonly EncodedEvent[]>;
  /** Each miner in turn, presented as it is asked for, so that who reads many can let others have their turn. */
  eachMiner?(caller: Caller): Iterable<Miner>;
  /**
   * Throws what this caller would be refused an operation with whatever its input is: `not.found` for an unknown user,
   * `user.forbidden`. So nobody's body is read who may not send it.
   */
  checkAccess?(operation: OperationName, caller: Caller): void;
  /** Who has this API key of their own, by its SHA-256 in hex. */
  keyHolder?(digest: string): KeyHolder | undefined;
  close(): Promise<void>;
};

export interface KeyHolder {
  readonly id: number;
  readonly name: string;
}
