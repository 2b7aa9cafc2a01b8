import type { Logger } from "pino";
import { type Mistake, RigbridgeError } from "../contract/problems.ts";
import type { Connection, Message } from "./connection.ts";

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

export interface AnsweringOptions {
  readonly connection: Connection;
  /** First levels of the bridge's own topics. */
  readonly base: string;
  readonly log: Pick<Logger, "warn">;
  /** Epoch ms. */
  readonly now: () => number;
}

/** Answers where the sender wants it, else at a topic of the thing itself; garbage is answered only so often. */
export class Answering {
  readonly #options: AnsweringOptions;
  #second = 0;
  #refused = 0;
  #unsaid = 0;

  constructor(options: AnsweringOptions) {
    this.#options = options;
  }

  answer(message: Message, usual: string, outcome: Outcome, transaction: unknown): void {
    if ("error" in outcome && !this.#mayRefuse(message.topic, outcome.error)) return;
    const { connection, base } = this.#options;
    const { responseTopic, correlation } = message;
    const asked = responseTopic !== null && isAnswerable(responseTopic, base) ? responseTopic : null;
    connection.publish({
      topic: asked ?? usual,
      payload: JSON.stringify(answerOf(outcome, transaction)),
      qos: 1,
      retain: false,
      expiry,
      ...(asked !== null && correlation !== null ? { correlation } : {}),
    });
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

/** Not where the bridge itself would take it for something, and nowhere that is no topic. */
const isAnswerable = (topic: string, base: string): boolean =>
  topic.length > 0 && topic.length <= 1000 && !/[+#\0]/.test(topic) && !topic.startsWith("$") && !isOurs(topic, base);

const isOurs = (topic: string, base: string): boolean => topic.startsWith(`${base}/`) && !topic.includes("/response");
