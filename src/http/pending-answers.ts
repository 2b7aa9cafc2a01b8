import type { ServerResponse } from "node:http";
import type { FastifyReply, FastifyRequest } from "fastify";
import { RigbridgeError } from "../contract/problems.ts";
import { FairShare, type Parties } from "./fair-share.ts";

export interface AnswerLimits {
  /** Bytes; an answer longer than this is a big one. */
  readonly bigAnswer: number;
  /** Bytes of answers that are not big, and of big ones. */
  readonly answers: number;
  readonly bigAnswers: number;
  /** How many of those may wait until others have been read. */
  readonly bigAnswersWaiting: number;
  /** ms; a reader that takes longer over a big answer is cut off. */
  readonly bigAnswerTimeout: number;
}

/** Bytes; shorter answers, such as problems, cost no more than their connection. */
const least = 16_384;

/** The parties of an answer. The owner is not delayed by other clients at the same address. */
export function partiesOf({ admitted: { holder, isOwner, centre }, ip }: FastifyRequest): Parties {
  if (isOwner) return ["the owner"];
  if (centre !== undefined) return ["the centre"];
  return holder === undefined ? [ip] : [ip, `user ${holder.id}`];
}

interface Waiting {
  readonly parties: Parties;
  readonly bytes: number;
  begin(): void;
}

/** Bounds the bytes of all pending answers: from before they are made until they are read or the client disconnects. */
export class PendingAnswers {
  readonly #limits: AnswerLimits;
  readonly #small: FairShare;
  readonly #big: FairShare;
  readonly #queue: FairShare;
  readonly #waiting = new Set<Waiting>();

  constructor(limits: AnswerLimits) {
    this.#limits = limits;
    this.#small = new FairShare(limits.answers);
    this.#big = new FairShare(limits.bigAnswers);
    this.#queue = new FairShare(limits.bigAnswersWaiting);
  }

  /** Counts an answer that is already made; returns the problem if there is no room for it. */
  hold(request: FastifyRequest, reply: FastifyReply, bytes: number): RigbridgeError | undefined {
    if (bytes <= least) return undefined;
    const room = bytes > this.#limits.bigAnswer ? this.#big : this.#small;
    const parties = partiesOf(request);
    if (!room.fits(parties, bytes)) return refused(reply, room.isOverShare(parties, bytes));
    this.#take(room, reply.raw, parties, bytes);
    return undefined;
  }

  /**
   * Counts an answer of about this many bytes before it is made; false if it must wait. Throws if there is no room for
   * it.
   */
  enter(request: FastifyRequest, reply: FastifyReply, bytes: number): boolean {
    if (bytes <= this.#limits.bigAnswer) {
      const refusal = this.hold(request, reply, bytes);
      if (refusal !== undefined) throw refusal;
      return true;
    }
    const parties = partiesOf(request);
    if (!this.#big.fits(parties, bytes)) return false;
    this.#take(this.#big, reply.raw, parties, bytes);
    return true;
  }

  /** Waits until there is room; false if the client disconnects in the meantime. Throws if too many are waiting. */
  async turn(request: FastifyRequest, reply: FastifyReply, bytes: number): Promise<boolean> {
    const parties = partiesOf(request);
    if (!this.#queue.fits(parties, 1)) throw refused(reply, this.#queue.isOverShare(parties, 1));
    return !reply.raw.closed && this.#turn(reply.raw, parties, bytes);
  }

  #take(room: FairShare, response: ServerResponse, parties: Parties, bytes: number): void {
    if (response.closed) return;
    room.take(parties, bytes);
    const isBig = room === this.#big;
    const deadline = isBig ? setTimeout(() => response.destroy(), this.#limits.bigAnswerTimeout) : undefined;
    response.once("close", () => {
      clearTimeout(deadline);
      room.give(parties, bytes);
      if (isBig) this.#callWaiting();
    });
  }

  #turn(response: ServerResponse, parties: Parties, bytes: number): Promise<boolean> {
    return new Promise((resolve) => {
      this.#queue.take(parties, 1);
      const waiting = {
        parties,
        bytes,
        begin: () => {
          leave();
          this.#take(this.#big, response, parties, bytes);
          resolve(true);
        },
      };
      const leave = () => {
        response.off("close", left);
        this.#waiting.delete(waiting);
        this.#queue.give(parties, 1);
      };
      const left = () => {
        leave();
        resolve(false);
      };
      this.#waiting.add(waiting);
      response.once("close", left);
    });
  }

  #callWaiting(): void {
    for (const waiting of this.#waiting) if (this.#big.fits(waiting.parties, waiting.bytes)) waiting.begin();
  }
}

/** Seconds after which a refused client may try again. */
const retryAfter = "1";

function refused(reply: FastifyReply, isOverShare: boolean): RigbridgeError {
  reply.header("retry-after", retryAfter);
  return isOverShare
    ? new RigbridgeError("too.many", "Too many answers to this client are pending; read those first and try again")
    : new RigbridgeError("service.not-ready", "Too many large answers are pending; try again in a second");
}
