import type { Logger } from "pino";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { Caller } from "../contract/service.ts";
import type { JsonObject } from "../farm/values.ts";
import { parseJson } from "../http/json.ts";
import { Deduplicator } from "./deduplicate.ts";
import type { Message } from "./mqtt-link.ts";
import type { Outcome, Responder } from "./responder.ts";

export interface CommandInboxOptions {
  readonly responder: Responder;
  readonly log: Pick<Logger, "warn">;
  /** Epoch ms. */
  readonly now: () => number;
}

/** The bridge, in the audit log. */
export const caller: Caller = { actor: "mqtt" };

/** Limits the topics with a warning about a retained command, to bound memory. */
const maxWarnedTopics = 100;

/** Accepts commands and requests: executes each once, only if it is not retained, and answers it. */
export class CommandInbox {
  readonly #options: CommandInboxOptions;
  readonly #deduplicator: Deduplicator;
  readonly #warnedTopics = new Set<string>();

  constructor(options: CommandInboxOptions) {
    this.#options = options;
    this.#deduplicator = new Deduplicator(options.now);
  }

  /**
   * `defaultTopic`: the response topic, unless the sender names one. `work` receives the payload as JSON or plain text
   * and resolves with the outcome; errors are answered as well. Undefined: no response.
   */
  async take(
    message: Message,
    defaultTopic: string,
    work: (value: unknown) => Promise<Outcome | undefined>,
  ): Promise<void> {
    if (message.retained) {
      this.#warnOfRetained(message.topic);
      return;
    }
    // An empty payload clears a retained message.
    if (message.payload.length === 0) return;
    const first = this.#deduplicator.find(message);
    if (first !== undefined) {
      const { outcome } = first;
      if (outcome !== null) this.#options.responder.respond(message, defaultTopic, outcome.what, outcome.transaction);
      return;
    }
    const received = this.#deduplicator.remember(message);
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
    if (message.correlation !== null) received.outcome = { what: outcome, transaction };
    this.#options.responder.respond(message, defaultTopic, outcome, transaction);
  }

  #warnOfRetained(topic: string): void {
    if (this.#warnedTopics.has(topic) || this.#warnedTopics.size >= maxWarnedTopics) return;
    this.#warnedTopics.add(topic);
    this.#options.log.warn(
      { topic },
      "A retained command is ignored, because it would be executed again at every start; publish it without retain",
    );
  }
}

/** Bytes of a command, and levels of its JSON. */
const largest = 65_536;
const deepest = 16;

/** The text of a payload. Throws `body.too-large`, and `input.invalid` if it is not UTF-8. */
export function textOf(payload: Buffer): string {
  if (payload.length > largest)
    throw new RigbridgeError("body.too-large", `The payload has ${payload.length} bytes; the limit is ${largest}`);
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(payload).trim();
  } catch {
    throw invalid("payload", "must be UTF-8");
  }
}

/** A payload that must be a JSON object. Throws `input.invalid`. */
export function objectIn(text: string): JsonObject {
  const value = parseJson(text, deepest, "payload");
  if (isRecord(value)) return value;
  throw invalid("payload", "must be a JSON object");
}

/** A payload that is plain text, a JSON scalar, or an object. */
export function looseIn(text: string): unknown {
  return /^[{["]/.test(text) ? parseJson(text, deepest, "payload") : text;
}
