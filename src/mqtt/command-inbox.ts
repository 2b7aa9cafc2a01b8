import type { Logger } from "pino";
import { isRecord } from "../contract/record.ts";
import type { Answering, Outcome } from "./answering.ts";
import { Deduplicator } from "./deduplicate.ts";
import type { Message } from "./mqtt-link.ts";
import { looseIn, textOf } from "./payloads.ts";

export interface CommandInboxOptions {
  readonly answering: Answering;
  readonly log: Pick<Logger, "warn">;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Topics of which is said that a broker keeps a command there; beyond that they are all alike. */
const saidAtMost = 100;

/** Where commands and requests come in: each is done once, said now and not long ago, and answered. */
export class CommandInbox {
  readonly #options: CommandInboxOptions;
  readonly #repeats: Deduplicator;
  readonly #said = new Set<string>();

  constructor(options: CommandInboxOptions) {
    this.#options = options;
    this.#repeats = new Deduplicator(options.now);
  }

  /**
   * `usual`: where it is answered unless the sender says. `work` is given the payload as JSON or plain text, and
   * resolves with what is answered; what it throws is answered too. Undefined: there is nothing to answer.
   */
  async take(message: Message, usual: string, work: (value: unknown) => Promise<Outcome | undefined>): Promise<void> {
    if (message.retained) {
      this.#warnOfRetained(message.topic);
      return;
    }
    // Who takes a retained message back says nothing.
    if (message.payload.length === 0) return;
    const first = this.#repeats.first(message);
    if (first !== undefined) {
      const { outcome } = first;
      if (outcome !== null) this.#options.answering.answer(message, usual, outcome.what, outcome.transaction);
      return;
    }
    const heard = this.#repeats.note(message);
    let transaction: unknown;
    let outcome: Outcome | undefined;
    try {
      const value = looseIn(textOf(message.payload));
      if (isRecord(value)) transaction = value.transaction;
      outcome = await work(value);
    } catch (error) {
      outcome = { error };
    }
    if (outcome === undefined) return;
    if (message.correlation !== null) heard.outcome = { what: outcome, transaction };
    this.#options.answering.answer(message, usual, outcome, transaction);
  }

  #warnOfRetained(topic: string): void {
    if (this.#said.has(topic) || this.#said.size >= saidAtMost) return;
    this.#said.add(topic);
    this.#options.log.warn(
      { topic },
      "A command that the broker keeps (retain) is not done, since it would be done again at every start",
    );
  }
}
