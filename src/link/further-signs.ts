import { RigbridgeError } from "../contract/problems.ts";
import { hostAndPort, type RigAddress } from "./address.ts";
import type { HttpSign, Question, Signs } from "./driver.ts";
import type { Pace } from "./pace.ts";
import type { Target } from "./transports/exchange.ts";
import type { HttpReply, HttpTransport } from "./transports/http.ts";
import { askLines, askText, lineRequest } from "./transports/lines.ts";
import { exchange } from "./transports/rpc.ts";

/** Of a read's time, for an answer in the protocol of a mining program, which runs on a computer and answers at once. */
const programShare = 0.3;
const signLength = 65_536;

/** The signs of one address that drivers ask for. Each is requested once. */
export class FurtherSigns {
  /** The port at which RPC was answered. */
  rpcPort: number | null = null;
  readonly #address: RigAddress;
  readonly #http: HttpTransport;
  readonly #token: string | undefined;
  readonly #pace: Pace;
  readonly #signal: AbortSignal;
  readonly #pages: Record<string, HttpSign | null> = {};
  readonly #reports: Record<string, unknown> = {};
  readonly #lines: Record<string, unknown> = {};
  readonly #texts: Record<string, string | null> = {};

  constructor(address: RigAddress, http: HttpTransport, token: string | undefined, pace: Pace, signal: AbortSignal) {
    this.#address = address;
    this.#http = http;
    this.#token = token;
    this.#pace = pace;
    this.#signal = signal;
  }

  /** Resolves with whether there was an answer. */
  async ask(question: Question): Promise<boolean> {
    if ("page" in question) {
      const page = await this.#page(question.page, question.withToken === true);
      this.#pages[question.page] = page;
      return page !== null;
    }
    if ("command" in question) {
      const report = await this.#report(question.command);
      this.#reports[question.command] = report;
      return report !== null;
    }
    if ("line" in question) {
      const line = await this.#line(question.line);
      this.#lines[question.line] = line;
      return line !== null;
    }
    const text = await this.#program((target, signal) => askText(target, question.text, signal));
    this.#texts[question.text] = text;
    return text !== null;
  }

  /** All signs, including those gathered for every device. */
  signs(gathered: Pick<Signs, "root" | "version">): Signs {
    const { port } = this.#address;
    const asked = { pages: this.#pages, reports: this.#reports, lines: this.#lines, texts: this.#texts };
    return { ...gathered, ...asked, ...(port === null ? {} : { port }) };
  }

  /** The HTTP status of a requested path. */
  status(path: string): number | undefined {
    return this.#pages[path]?.status;
  }

  #page(path: string, withToken: boolean): Promise<HttpSign | null> {
    const token = withToken ? this.#token : undefined;
    const headers = token === undefined ? {} : { authorization: `Bearer ${token}` };
    return unlessFailed(async () => signOf(await this.#http.call({ method: "GET", path, headers }, this.#signal)));
  }

  /** null if RPC, or this command, is not answered. */
  async #report(command: string): Promise<unknown> {
    const { host } = this.#address;
    const port = this.rpcPort;
    if (port === null) return null;
    const target = { host, port, at: hostAndPort(host, port) };
    const request = `${JSON.stringify({ command })}\n`;
    return unlessFailed(async () => (await exchange(target, request, this.#signal)).value);
  }

  async #line(method: string): Promise<unknown> {
    const replies = await this.#program((target, signal) => askLines(target, [lineRequest(method)], signal));
    return replies?.[0]?.value ?? null;
  }

  /** Asks in the protocol of a mining program at the address's port; null without an answer. */
  async #program<T>(ask: (target: Target, signal: AbortSignal) => Promise<T>): Promise<T | null> {
    const { host, port, tls } = this.#address;
    if (port === null || tls) return null;
    const signal = AbortSignal.any([this.#signal, AbortSignal.timeout(this.#pace.partMs(programShare))]);
    return unlessFailed(() => ask({ host, port, at: hostAndPort(host, port) }, signal));
  }
}

/** null where the device gave no readable answer. */
async function unlessFailed<T>(ask: () => Promise<T>): Promise<T | null> {
  try {
    return await ask();
  } catch (error) {
    if (error instanceof RigbridgeError) return null;
    throw error;
  }
}

export const signOf = ({ status, headers, body }: HttpReply): HttpSign => ({
  status,
  headers,
  body: body.slice(0, signLength),
});
