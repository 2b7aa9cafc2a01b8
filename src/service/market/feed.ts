import { createHash } from "node:crypto";
import type { Logger } from "pino";
import type { z } from "zod";
import { RigbridgeError } from "../../contract/problems.ts";
import { isRecord } from "../../contract/record.ts";
import type { KeptValues } from "../../store/index.ts";
import { WebBusyError, type WebLimits, type WebRequest, webText } from "../web-text.ts";

/** Receives a sentence about odd, skipped parts of an answer. */
export type Remark = (sentence: string) => void;

/** How to query a source and read its answers: everything that differs between sources. */
export interface SourceShape<Settings, Value> {
  /** The public service; null where there is none. */
  readonly url: string | null;
  /** Whether the address is requested as it is; otherwise it is the base of several. */
  readonly isWhole?: true;
  /** One or more requests; `url` without a slash at the end. */
  requests(settings: Settings, url: string, now: number): readonly WebRequest[];
  /** The address of the next page of an answer; null if there is none. */
  next?(json: unknown): string | null;
  /**
   * The value of the answers: parsed JSON, or text if the answer is not JSON; null for an answer that was empty or
   * failed. Returns null if they hold nothing. Never throws: odd fields are left out with a remark.
   */
  read(answers: readonly unknown[], settings: Settings, remark: Remark, now: number): Value | null;
}

export interface FeedContext {
  readonly kept: KeptValues;
  readonly now: () => number;
  readonly closing: AbortSignal;
  readonly log: Logger;
}

export interface FeedOptions<Settings, Value> {
  readonly shape: SourceShape<Settings, Value>;
  readonly settings: Settings;
  /** Address of the source without a slash at the end. */
  readonly url: string;
  readonly everyMs: number;
  /** Distinguishes it from other sources of its kind, without secrets. */
  readonly identity: readonly (string | undefined)[];
  readonly schema: z.ZodType<Value>;
  /** Accepts a good value; returns the value to keep, which may include older parts. */
  readonly take: (value: Value, at: number) => Value;
}

/** The address of a source; without a slash at the end where paths are added. */
export function addressOf(shape: Pick<SourceShape<never, never>, "url" | "isWhole">, own: string | undefined): string {
  const url = own ?? shape.url ?? "";
  return shape.isWhole ? url : url.replace(/\/+$/, "");
}

const limits: WebLimits = { answerMs: 20_000, bytes: 4_000_000 };
const mostPages = 6;
const firstRetryMs = 60_000;
const longestRetryMs = 6 * 3_600_000;
/** ms by which a poll may come early, so that it is not delayed by a whole turn. */
const earlyMs = 2_500;

/** One external source: schedules requests, and keeps the last value and problem. */
export class Feed<Settings, Value> {
  /** For display; never with a path, which may hold a key. */
  readonly host: string;
  /** Its row in the store. */
  readonly key: string;
  readonly #options: FeedOptions<Settings, Value>;
  readonly #context: FeedContext;
  readonly #etags = new Map<string, { readonly etag: string; readonly json: unknown }>();
  #at: number | null = null;
  #askedAt: number | null = null;
  #dueAt: number;
  #failures = 0;
  #problem: string | null = null;
  #polling: Promise<boolean> | null = null;

  constructor(options: FeedOptions<Settings, Value>, context: FeedContext) {
    this.#options = options;
    this.#context = context;
    this.host = new URL(options.url).host;
    const digest = createHash("sha256").update(JSON.stringify([options.url, ...options.identity.map(String)]));
    this.key = `${options.identity[0] ?? ""} ${digest.digest("base64url").slice(0, 22)}`;
    this.#dueAt = context.now();
    this.#restore();
  }

  /** When the last good answer came, epoch ms. */
  get at(): number | null {
    return this.#at;
  }

  /** Why the last attempt failed, or what was odd about its answer. */
  get problem(): string | null {
    return this.#problem;
  }

  get isDue(): boolean {
    return this.#polling === null && this.#context.now() >= this.#dueAt - earlyMs;
  }

  /** Requests when due; true if there is a new value. Never rejects, and never runs twice at once. */
  poll(): Promise<boolean> {
    const now = this.#context.now();
    // A clock that was set back must not silence a source for long.
    if (this.#askedAt !== null && now < this.#askedAt) this.#dueAt = Math.min(this.#dueAt, now + this.#options.everyMs);
    if (!this.isDue) return Promise.resolve(false);
    this.#askedAt = now;
    this.#polling = this.#ask(now).finally(() => {
      this.#polling = null;
    });
    return this.#polling;
  }

  /** A value from before a restart is used like a new one, only older. */
  #restore(): void {
    const row = this.#context.kept.get(this.key);
    const value = this.#options.schema.safeParse(row?.value);
    if (row === undefined || !value.success || row.at > this.#context.now()) return;
    this.#at = row.at;
    this.#options.take(value.data, row.at);
    this.#dueAt = Math.min(row.at + this.#options.everyMs, this.#context.now() + this.#options.everyMs);
  }

  async #ask(now: number): Promise<boolean> {
    const remarks: string[] = [];
    const { shape, settings, url, everyMs, take } = this.#options;
    try {
      const answers: unknown[] = [];
      const failures: unknown[] = [];
      for (const request of shape.requests(settings, url, now)) {
        try {
          answers.push(...(await this.#pages(request)));
        } catch (error) {
          if (error instanceof WebBusyError || this.#context.closing.aborted) throw error;
          failures.push(error);
          answers.push(null);
        }
      }
      if (answers.every((answer) => answer === null)) throw failures[0] ?? nothing(this.host);
      const value = shape.read(answers, settings, (sentence) => remarks.push(sentence), now);
      if (value === null) throw nothing(this.host, remarks[0]);
      const kept = take(value, now);
      this.#at = now;
      this.#failures = 0;
      this.#dueAt = now + everyMs;
      const [failure] = failures;
      const odd = failure === undefined ? remarks[0] : messageOf(failure, this.host);
      this.#problem = odd === undefined ? null : startingWith(this.host, odd);
      await this.#keep(kept, now);
      return true;
    } catch (error) {
      if (this.#context.closing.aborted) return false;
      this.#fail(error, now);
      return false;
    }
  }

  #fail(error: unknown, now: number): void {
    this.#failures += 1;
    const backOff = Math.min(firstRetryMs * 2 ** Math.min(this.#failures - 1, 20), longestRetryMs);
    // A source that limits requests is not queried sooner than usual; after a few tries, neither are others.
    const busy = error instanceof WebBusyError ? Math.max(error.retryAfterMs ?? 600_000, this.#options.everyMs) : 0;
    this.#dueAt = now + Math.max(backOff, busy);
    const problem = startingWith(this.host, messageOf(error, this.host));
    if (problem !== this.#problem) this.#context.log.warn({ source: this.host, reason: problem }, "a source failed");
    this.#problem = problem;
  }

  async #keep(value: Value, now: number): Promise<void> {
    try {
      await this.#context.kept.save(this.key, value, now);
    } catch (error) {
      this.#context.log.warn({ err: error, source: this.host }, "the value of a source cannot be kept");
    }
  }

  async #pages(request: WebRequest): Promise<unknown[]> {
    const pages: unknown[] = [];
    const { origin } = new URL(request.url);
    for (let url: string | null = request.url; url !== null && pages.length < mostPages; ) {
      const json: unknown = await this.#answer({ ...request, url });
      pages.push(json);
      const next = json === null ? null : (this.#options.shape.next?.(json) ?? null);
      // A page elsewhere would receive the same headers.
      url = next !== null && URL.canParse(next) && new URL(next).origin === origin ? next : null;
    }
    return pages;
  }

  /** Parsed if it is JSON; null for an empty answer. */
  async #answer(request: WebRequest): Promise<unknown> {
    const before = request.body === undefined ? this.#etags.get(request.url) : undefined;
    const answer = await webText(request, limits, this.#context.closing, before?.etag ?? null);
    if (answer.kind === "unchanged") return before?.json ?? null;
    if (answer.kind !== "text" || answer.text.trim() === "") return null;
    const json = parsed(answer.text, this.host);
    // The addresses of some sources contain the date, so old ones are not kept for ever.
    if (this.#etags.size > 20) this.#etags.clear();
    if (answer.etag !== null && answer.text.length < 500_000) this.#etags.set(request.url, { etag: answer.etag, json });
    return json;
  }
}

/** JSON, or XML as text. Throws `service.garbled`. */
function parsed(text: string, host: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    if (/^\s*<\?xml/.test(text) || /^\s*<\w+_MarketDocument/.test(text)) return text;
    const what = /^\s*<(!doctype|html)/i.test(text) ? "a web page" : "something that cannot be read";
    throw new RigbridgeError("service.garbled", `${host} answers with ${what} instead of data`);
  }
}

const nothing = (host: string, why?: string): RigbridgeError =>
  new RigbridgeError(
    "service.garbled",
    why === undefined ? `${host} answers without any value` : startingWith(host, why),
  );

const messageOf = (error: unknown, host: string): string =>
  error instanceof RigbridgeError ? error.message : `${host} could not be read`;

const startingWith = (host: string, sentence: string): string =>
  sentence.startsWith(host) ? sentence : `${host}: ${sentence}`;

/** A number, or a text with one: "1,234.5". Null for anything else, also for "", NaN and infinity. */
export function numberOf(value: unknown): number | null {
  if (typeof value === "number") return Number.isFinite(value) ? value : null;
  if (typeof value !== "string" || value.length > 80) return null;
  const digits = /^\s*[$€£]?\s*([+-]?(?:\d{1,3}(?:,\d{3})+|\d+)(?:\.\d+)?(?:[eE][+-]?\d{1,3})?)\s*$/.exec(value)?.[1];
  const number = digits === undefined ? Number.NaN : Number(digits.replaceAll(",", ""));
  return Number.isFinite(number) ? number : null;
}

/** Above 0, else null. */
export const positive = (value: unknown): number | null => {
  const number = numberOf(value);
  return number !== null && number > 0 ? number : null;
};

export const fieldsOf = (value: unknown): Readonly<Record<string, unknown>> => (isRecord(value) ? value : {});
export const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
export const textOf = (value: unknown): string => (typeof value === "string" ? value : "");
