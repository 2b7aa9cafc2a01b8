import type { FastifyReply, FastifyRequest } from "fastify";
import { RigbridgeError } from "../contract/problems.ts";

export interface StreamLimits {
  readonly eventStreams: number;
  readonly eventStreamsEach: number;
  readonly eventStreamsOfOwner: number;
}

/**
 * Slots for event streams, limited per caller and per address. Some are reserved for the service's own key, which does
 * not share the limit of its address.
 */
export class StreamSlots {
  readonly #limits: StreamLimits;
  readonly #taken = new Map<string, number>();
  #ofAll = 0;
  #ofOthers = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Takes a slot; call the returned function to release it. Throws if none is free for the caller. */
  take({ ip, admitted }: FastifyRequest, reply: FastifyReply): () => void {
    const { holder, isOwner = false, centre } = admitted;
    const { eventStreams, eventStreamsEach, eventStreamsOfOwner } = this.#limits;
    const address = centre === undefined ? `address ${ip}` : "the centre";
    const caller = isOwner ? "the owner" : holder === undefined ? address : `user ${holder.id}`;
    const bounded = isOwner ? [caller] : [caller, address];
    if (bounded.some((party) => (this.#taken.get(party) ?? 0) >= eventStreamsEach)) throw tooMany(reply);
    const isFull = this.#ofAll >= eventStreams || (!isOwner && this.#ofOthers >= eventStreams - eventStreamsOfOwner);
    if (isFull) throw full(reply);
    const parties = new Set([caller, address]);
    const count = (change: 1 | -1): void => {
      this.#ofAll += change;
      if (!isOwner) this.#ofOthers += change;
      for (const party of parties) {
        const taken = (this.#taken.get(party) ?? 0) + change;
        if (taken > 0) this.#taken.set(party, taken);
        else this.#taken.delete(party);
      }
    };
    count(1);
    return () => count(-1);
  }
}

/** Seconds after which a refused client may try again. */
const retryAfter = "10";

function tooMany(reply: FastifyReply): RigbridgeError {
  reply.header("retry-after", retryAfter);
  return new RigbridgeError("too.many", "This client has too many open event streams; close some, or try again later");
}

export function full(reply: FastifyReply): RigbridgeError {
  reply.header("retry-after", retryAfter);
  return new RigbridgeError("service.not-ready", "Too many event streams are open; try again later");
}
