import type { Logger } from "pino";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import { isBelow, matches } from "../contract/topic.ts";
import type { Message, MqttLink } from "./mqtt-link.ts";
import { commandTopic } from "./topics.ts";

/** What came of a command or a request. */
export type Outcome = { readonly data: unknown } | { readonly error: unknown };

/** What is answered, as JSON. */
export interface Answer {
  readonly status: "ok" | "error";
  readonly code?: string;
  /** For people. */
  readonly error?: string;
  readonly errors?: readonly Mistake[];
  readonly data?: unknown;
  /** As the sender gave it. */
  readonly transaction?: unknown;
}

export function answerOf(outcome: Outcome, transaction: unknown): Answer {
  const known = transaction === undefined ? {} : { transaction };
  if ("data" in outcome) return { status: "ok", data: outcome.data, ...known };
  const { error } = outcome;
  if (!(error instanceof RigbridgeError))
    return { status: "error", code: "internal", error: "A fault of the bridge", ...known };
  const { code, message, errors } = error;
  return { status: "error", code, error: message, ...(errors.length > 0 ? { errors } : {}), ...known };
}

/** s for which an answer waits for who asked. */
const expiry = 60;
/** Refusals that are answered and logged in a second; what comes beyond that is counted. */
const refusalsPerSecond = 20;
/** Response topics of which the log says that nothing is sent there; beyond that they are all alike. */
const refusedAtMost = 20;

export interface AnsweringOptions {
  readonly connection: MqttLink;
  /** First levels of the bridge's own topics. */
  readonly base: string;
  /** Filters of the topics elsewhere to which answers may go. */
  readonly responseTopics: readonly string[];
  readonly log: Pick<Logger, "warn">;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Answers where the sender wants it, else at a topic of the thing itself; garbage is answered only so often. The bridge
 * publishes with its own rights at the broker, so it does not let a sender name any topic.
 */
export class Answering {
  readonly #options: AnsweringOptions;
  readonly #refusedTopics = new Set<string>();
  #second = 0;
  #refused = 0;
  #unsaid = 0;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  answer(message: Message, usual: string, outcome: Outcome, transaction: unknown): void {
    if ("error" in outcome && !this.#mayRefuse(message.topic, outcome.error)) return;
    const { connection } = this.#options;
    const { responseTopic, correlation } = message;
    const asked = responseTopic !== null && this.#mayAnswerAt(responseTopic) ? responseTopic : null;
    connection.publish({
      topic: asked ?? usual,
      payload: JSON.stringify(answerOf(outcome, transaction)),
      qos: 1,
      retain: false,
      expiry,
      ...(asked !== null && correlation !== null ? { correlation } : {}),
    });
  }

  #mayAnswerAt(topic: string): boolean {
    const { base, responseTopics, log } = this.#options;
    if (isTopic(topic) && (isBelow(topic, base) ? isForAnswers(topic, base) : isListed(topic, responseTopics)))
      return true;
    if (!this.#refusedTopics.has(topic) && this.#refusedTopics.size < refusedAtMost) {
      this.#refusedTopics.add(topic);
      log.warn(
        { topic: shortened(topic) },
        "This bridge does not answer at the response topic of a request; it answers at its own",
      );
    }
    return false;
  }

  #mayRefuse(topic: string, error: unknown): boolean {
    const { log, now } = this.#options;
    const second = Math.floor(now() / 1000);
    if (second !== this.#second) {
      if (this.#unsaid > 0) log.warn(`${this.#unsaid} more commands were refused, unanswered: there are too many`);
      this.#second = second;
      this.#refused = 0;
      this.#unsaid = 0;
    }
    this.#refused += 1;
    if (this.#refused > refusalsPerSecond) {
      this.#unsaid += 1;
      return false;
    }
    const reason = error instanceof RigbridgeError ? { code: error.code } : { err: error };
    log.warn({ topic: shortened(topic), ...reason }, `A command was refused: ${sentence(error)}`);
    return true;
  }
}

const sentence = (error: unknown): string =>
  error instanceof RigbridgeError ? error.message : "a fault of the bridge";

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

const isTopic = (topic: string): boolean =>
  topic.length > 0 && topic.length <= 1000 && !/[+#\0]/.test(topic) && !topic.startsWith("$");

/** An entry stands for what it matches and for everything below that. */
const isListed = (topic: string, filters: readonly string[]): boolean =>
  filters.some((filter) => matches(filter.endsWith("#") ? filter : `${filter}/#`, topic));

/** What the bridge publishes by itself at and below its base, and hears there. */
const own = /^(|bridge|miner|group|summary|notifications?)(\/|$)/;
const ownAnswers = /^(bridge|(miner|group)\/[^/]+)\/response(\/|$)/;

/** Below the base: not where it would be taken for a state or a command. */
function isForAnswers(topic: string, base: string): boolean {
  const rest = topic.slice(base.length + 1);
  return !own.test(rest) || (ownAnswers.test(rest) && commandTopic(base, topic) === null);
}
