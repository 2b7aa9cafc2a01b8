import type { Logger } from "pino";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import { isBelow, matches } from "../contract/topic.ts";
import type { Message, MqttLink } from "./mqtt-link.ts";
import { commandTopic } from "./topics.ts";

export type Outcome = { readonly data: unknown } | { readonly error: unknown };

/** The JSON of a response. */
export interface CommandResponse {
  readonly status: "ok" | "error";
  readonly code?: string;
  /** For people. */
  readonly error?: string;
  readonly errors?: readonly Mistake[];
  readonly data?: unknown;
  /** The sender's own. */
  readonly transaction?: unknown;
}

export function responseOf(outcome: Outcome, transaction: unknown): CommandResponse {
  const echo = transaction === undefined ? {} : { transaction };
  if ("data" in outcome) return { status: "ok", data: outcome.data, ...echo };
  const { error } = outcome;
  if (!(error instanceof RigbridgeError))
    return { status: "error", code: "internal", error: "The bridge failed; its log says why", ...echo };
  const { code, message, errors } = error;
  return { status: "error", code, error: message, ...(errors.length > 0 ? { errors } : {}), ...echo };
}

/** The broker drops a response that it cannot deliver within this time (MQTT 5). */
const expirySeconds = 60;
/** Refusals answered and logged per second; further ones are only counted. */
const refusalsPerSecond = 20;
/** Limits the refused response topics that are logged, to bound memory. */
const maxLoggedTopics = 20;

export interface ResponderOptions {
  readonly connection: MqttLink;
  /** First levels of the bridge's own topics. */
  readonly base: string;
  /** Filters of the topics outside `base` that may receive responses. */
  readonly responseTopics: readonly string[];
  readonly log: Pick<Logger, "warn">;
  /** Epoch ms. */
  readonly now: () => number;
}

/**
 * Responds at the sender's response topic if that is allowed, otherwise at the default one; refusals are rate-limited.
 * The bridge publishes with its own rights on the broker, so a sender may not name just any topic.
 */
export class Responder {
  readonly #options: ResponderOptions;
  readonly #refusedTopics = new Set<string>();
  #second = 0;
  #refused = 0;
  #unlogged = 0;

  constructor(options: ResponderOptions) {
    this.#options = options;
  }

  respond(message: Message, defaultTopic: string, outcome: Outcome, transaction: unknown): void {
    if ("error" in outcome && !this.#mayRefuse(message.topic, outcome.error)) return;
    const { connection } = this.#options;
    const { responseTopic, correlation } = message;
    const requestedTopic = responseTopic !== null && this.#mayRespondAt(responseTopic) ? responseTopic : null;
    connection.publish({
      topic: requestedTopic ?? defaultTopic,
      payload: JSON.stringify(responseOf(outcome, transaction)),
      qos: 1,
      retain: false,
      expiry: expirySeconds,
      ...(requestedTopic !== null && correlation !== null ? { correlation } : {}),
    });
  }

  #mayRespondAt(topic: string): boolean {
    const { base, responseTopics, log } = this.#options;
    if (isTopic(topic) && (isBelow(topic, base) ? isForResponses(topic, base) : isListed(topic, responseTopics)))
      return true;
    if (!this.#refusedTopics.has(topic) && this.#refusedTopics.size < maxLoggedTopics) {
      this.#refusedTopics.add(topic);
      log.warn(
        { topic: shortened(topic) },
        "The response topic of a command is not allowed, so the response goes to the default one; see mqtt.responseTopics",
      );
    }
    return false;
  }

  #mayRefuse(topic: string, error: unknown): boolean {
    const { log, now } = this.#options;
    const second = Math.floor(now() / 1000);
    if (second !== this.#second) {
      if (this.#unlogged > 0)
        log.warn(`${this.#unlogged} more commands were refused without a response: too many in one second`);
      this.#second = second;
      this.#refused = 0;
      this.#unlogged = 0;
    }
    this.#refused += 1;
    if (this.#refused > refusalsPerSecond) {
      this.#unlogged += 1;
      return false;
    }
    const [reason, sentence] =
      error instanceof RigbridgeError ? [{ code: error.code }, error.message] : [{ err: error }, "the bridge failed"];
    log.warn({ topic: shortened(topic), ...reason }, `A command is refused: ${sentence}`);
    return true;
  }
}

const shortened = (text: string): string => (text.length > 200 ? `${text.slice(0, 200)}…` : text);

const isTopic = (topic: string): boolean =>
  topic.length > 0 && topic.length <= 1000 && !/[+#\0]/.test(topic) && !topic.startsWith("$");

/** An entry allows the topics that it matches and all topics below. */
const isListed = (topic: string, filters: readonly string[]): boolean =>
  filters.some((filter) => matches(filter.endsWith("#") ? filter : `${filter}/#`, topic));

/** The bridge's own topics at and below its base. */
const own = /^(|bridge|curtailment|miner|group|summary|notifications?)(\/|$)/;
const ownResponses = /^(bridge|curtailment|(miner|group)\/[^/]+)\/response(\/|$)/;

/** Below the base, a response must not be mistaken for a state or a command. */
function isForResponses(topic: string, base: string): boolean {
  const rest = topic.slice(base.length + 1);
  return !own.test(rest) || (ownResponses.test(rest) && commandTopic(base, topic) === null);
}
