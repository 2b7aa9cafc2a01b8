import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { OpenAdrSignal } from "../../../contract/signal-settings.ts";
import { type WebRequest, webText } from "../../web-text.ts";

/** ms and bytes of one answer: 10,000 events without their optional fields are 6 MB. */
const limits = { answerMs: 15_000, bytes: 16_000_000 };
/** Objects of a page, as OpenADR allows at most. */
const pageSize = 50;
/** Objects of a list that are read. */
export const mostListed = 10_000;
/** s by which a token is renewed early. */
const earlySeconds = 30;
/** Lifetime in s of a token that states none. */
const usualSeconds = 300;

interface Token {
  readonly text: string;
  /** ms of the monotonic clock. */
  readonly until: number;
}

/**
 * Requests of a VEN to a VTN of OpenADR 3.1. All throw `service.unreachable`, `service.refused` or `service.garbled`, which name
 * only the host: neither the secret nor the token stands in an error or an address.
 */
export class OpenAdrClient {
  readonly #settings: OpenAdrSignal;
  readonly #monotonicNow: () => number;
  #token: Token | null = null;

  constructor(settings: OpenAdrSignal, monotonicNow: () => number) {
    this.#settings = settings;
    this.#monotonicNow = monotonicNow;
  }

  /** For messages. */
  get at(): string {
    return new URL(this.#settings.url).host;
  }

  programs(signal: AbortSignal): AsyncIterable<unknown[]> {
    return this.#pages("programs", {}, signal);
  }

  events(programId: string | null, signal: AbortSignal): AsyncIterable<unknown[]> {
    return this.#pages("events", programId === null ? {} : { programID: programId }, signal);
  }

  /** Page by page, so that no more than one is in memory. Ends early at a page that brings nothing new. */
  async *#pages(list: string, query: Readonly<Record<string, string>>, signal: AbortSignal): AsyncIterable<unknown[]> {
    const seen = new Set<unknown>();
    for (let skip = 0; skip < mostListed; ) {
      const parameters = new URLSearchParams({ ...query, skip: String(skip), limit: String(pageSize) });
      const page = await this.#get(`${this.#base}/${list}?${parameters}`, signal);
      if (!Array.isArray(page))
        throw new RigbridgeError("service.garbled", `${this.at} answers without a list of ${list}`);
      // A server that knows no pages answers with everything each time.
      const fresh = page.filter((each: unknown) => !isRecord(each) || !seen.has(each.id)).slice(0, mostListed);
      for (const each of fresh) if (isRecord(each)) seen.add(each.id);
      if (fresh.length === 0) return;
      yield fresh;
      // Some servers give shorter pages than they were asked for.
      skip += page.length;
    }
  }

  get #base(): string {
    return this.#settings.url.replace(/\/+$/, "");
  }

  /** A token that is refused may have been revoked: it is asked for again, once. */
  async #get(url: string, signal: AbortSignal): Promise<unknown> {
    const isKnown = this.#token !== null;
    try {
      return await this.#json({ url, headers: await this.#authorization(signal) }, signal);
    } catch (error) {
      const isRefused = error instanceof RigbridgeError && / answers 40[13]$/.test(error.message);
      if (isRefused) this.#token = null;
      if (!isRefused || !isKnown) throw error;
      return this.#json({ url, headers: await this.#authorization(signal) }, signal);
    }
  }

  /** None for a VTN that asks for no login. */
  async #authorization(signal: AbortSignal): Promise<Readonly<Record<string, string>>> {
    const { clientId, clientSecret, scope, tokenUrl = `${this.#base}/auth/token` } = this.#settings;
    if (clientId === undefined || clientSecret === undefined) return {};
    if (this.#token === null || this.#monotonicNow() >= this.#token.until) {
      const body = new URLSearchParams({
        grant_type: "client_credentials",
        client_id: clientId,
        client_secret: clientSecret,
        ...(scope === undefined ? {} : { scope }),
      });
      const headers = { "content-type": "application/x-www-form-urlencoded" };
      const answer = await this.#json({ url: tokenUrl, headers, body: body.toString() }, signal);
      const text = isRecord(answer) ? answer.access_token : undefined;
      if (!isRecord(answer) || typeof text !== "string" || !/^[\x21-\x7e]{1,4096}$/.test(text))
        throw new RigbridgeError("service.garbled", `${new URL(tokenUrl).host} answers without a token`);
      const seconds = typeof answer.expires_in === "number" ? answer.expires_in : usualSeconds;
      this.#token = { text, until: this.#monotonicNow() + 1000 * Math.max(0, seconds - earlySeconds) };
    }
    return { authorization: `Bearer ${this.#token.text}` };
  }

  async #json(request: WebRequest, signal: AbortSignal): Promise<unknown> {
    const answer = await webText(request, limits, signal);
    try {
      return JSON.parse(answer.kind === "text" ? answer.text : "");
    } catch {
      throw new RigbridgeError(
        "service.garbled",
        `${new URL(request.url).host} answers with something other than JSON`,
      );
    }
  }
}
