import type { z } from "zod";
import type { Operation, OperationName, operations } from "./operations.ts";

type Params<O> = O extends { params: infer P extends Record<string, z.ZodType> }
  ? { readonly [K in keyof P]: z.output<P[K]> }
  : unknown;
type Query<O> = O extends { query: infer Q extends z.ZodType } ? Readonly<z.output<Q>> : unknown;
type Body<O> = O extends { body: infer B extends z.ZodType } ? Readonly<z.output<B>> : unknown;

type InputOf<O extends Operation> = Params<O> & Query<O> & Body<O>;

/** What an operation takes: path parameters, query and body in one flat object, already checked and decoded. */
export type Input<K extends OperationName> = InputOf<(typeof operations)[K]>;
export type Reply<K extends OperationName> = z.output<(typeof operations)[K]["reply"]>;

/** Who asks. */
export interface Caller {
  /** For the audit: the key's user, or the front end. Never a key. */
  readonly actor: string;
  /** The `user_id` of the request: what may be seen. */
  readonly userId?: number | undefined;
}

/** Ready-made bytes of a reply, so that lists are never serialised again. */
export interface Encoded {
  /** The same as long as nothing but time has passed. */
  readonly etag: string;
  readonly length: number;
  readonly chunks: readonly Uint8Array[];
}

/**
 * The one interface behind every front end: a method for each operation of the table.
 * Methods reject with a RigbridgeError and nothing else.
 */
export type MiningService = {
  readonly [K in OperationName]: (input: Input<K>, caller: Caller) => Promise<Reply<K>>;
} & {
  /** Bytes of a read, where the service keeps them ready. */
  encoded?(operation: OperationName, input: object, caller: Caller): Encoded | undefined;
};
