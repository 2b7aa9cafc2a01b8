import { createHash } from "node:crypto";
import type { Outcome } from "./answering.ts";
import type { Message } from "./mqtt-link.ts";

/** ms for which a command is known again, and how many are. */
const remembered = 600_000;
const most = 10_000;

/** A command that has come in. */
export interface ReceivedCommand {
  readonly at: number;
  /** What came of it, once that is known. */
  outcome: { readonly what: Outcome; readonly transaction: unknown } | null;
}

/** What is the same command: the same payload at the same topic, by the same correlation where it has one. */
export const keyOf = ({ topic, payload, correlation }: Message): string =>
  `${correlation?.toString("base64") ?? ""} ${topic} ${createHash("sha256").update(payload).digest("base64")}`;

/**
 * Knows commands that were heard before, for ten minutes: one with a correlation by that, one without only where the
 * broker says that it sends it once more, since people do say the same twice.
 */
export class Deduplicator {
  readonly #now: () => number;
  readonly #heard = new Map<string, ReceivedCommand>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The first of which this is a repetition; undefined where it is new. */
  first(message: Message): ReceivedCommand | undefined {
    const { correlation, duplicate } = message;
    const known = this.#heard.get(keyOf(message));
    if (known === undefined || known.at + remembered <= this.#now()) return undefined;
    return correlation !== null || duplicate ? known : undefined;
  }

  note(message: Message): ReceivedCommand {
    const key = keyOf(message);
    const heard: ReceivedCommand = { at: this.#now(), outcome: null };
    this.#heard.delete(key);
    this.#heard.set(key, heard);
    if (this.#heard.size > most) this.#heard.delete(this.#heard.keys().next().value ?? "");
    return heard;
  }
}
