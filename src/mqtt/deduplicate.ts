import { createHash } from "node:crypto";
import type { Message } from "./mqtt-link.ts";
import type { Outcome } from "./responder.ts";

/** How long a command is remembered, and how many are. */
const rememberedMs = 600_000;
const maxRemembered = 10_000;

export interface ReceivedCommand {
  readonly at: number;
  /** Null until it is executed. */
  outcome: { readonly what: Outcome; readonly transaction: unknown } | null;
}

/** The same for equal payloads at the same topic with the same correlation, if any. */
export const keyOf = ({ topic, payload, correlation }: Message): string =>
  `${correlation?.toString("base64") ?? ""} ${topic} ${createHash("sha256").update(payload).digest("base64")}`;

/**
 * Remembers commands for ten minutes. A command with a correlation is recognised by it; one without, only if the broker
 * marks it as a duplicate, because a user may send the same command twice.
 */
export class Deduplicator {
  readonly #now: () => number;
  readonly #recent = new Map<string, ReceivedCommand>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** The command that this one repeats; undefined if it is new. */
  find(message: Message): ReceivedCommand | undefined {
    const { correlation, duplicate } = message;
    const first = this.#recent.get(keyOf(message));
    if (first === undefined || first.at + rememberedMs <= this.#now()) return undefined;
    return correlation !== null || duplicate ? first : undefined;
  }

  remember(message: Message): ReceivedCommand {
    const key = keyOf(message);
    const command: ReceivedCommand = { at: this.#now(), outcome: null };
    this.#recent.delete(key);
    this.#recent.set(key, command);
    if (this.#recent.size > maxRemembered) this.#recent.delete(this.#recent.keys().next().value ?? "");
    return command;
  }
}
