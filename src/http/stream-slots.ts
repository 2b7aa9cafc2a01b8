import type { FastifyReply, FastifyRequest } from "fastify";
import { RigbridgeError } from "../contract/problems.ts";

export interface StreamLimits {
  readonly eventStreams: number;
  readonly eventStreamsEach: number;
  readonly eventStreamsOfOwner: number;
}

/**
 * Places for streams of events. Whoever asks has a share of them, and so has an address; some are kept for the service's
 * own key, which is not refused for what others behind the same address have open.
 */
export class StreamSlots {
  readonly #limits: StreamLimits;
  readonly #taken = new Map<string, number>();
  #ofAll = 0;
  #ofOthers = 0;

  constructor(limits: StreamLimits) {
    this.#limits = limits;
  }

  /** Takes a place; what it answers with gives it back. Throws when there is none for who asks. */
  take({ ip, admitted }: FastifyRequest, reply: FastifyReply): () => void {
    const { holder, isOwner = false } = admitted;
    const { eventStreams, eventStreamsEach, eventStreamsOfOwner } = this.#limits;
    const address = `address ${ip}`;
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

/** Seconds after which a client that was refused may try again. */
const retryAfter = "10";

function tooMany(reply: FastifyReply): RigbridgeError {
  reply.header("retry-after", retryAfter);
  return new RigbridgeError("too.many", "Too many event streams of yours are open; close some, or try again later");
}

export function full(reply: FastifyReply): RigbridgeError {
  reply.header("retry-after", retryAfter);
  return new RigbridgeError("service.not-ready", "Too many event streams are open; try again later");
}
