import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { type Operation, type OperationName, operations } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { type Asked, jsonOf, refusal, succeeded } from "./answers.ts";
import { requestOf } from "./requests.ts";
import { learn, type Server, unsupported } from "./server.ts";
import type { Answer, AnswerStream, Wire, WireRequest } from "./wire.ts";

export interface ConnectionOptions {
  readonly wire: Wire;
  readonly key: string | undefined;
  /** s */
  readonly timeout: number;
  readonly log: Pick<Logger, "info" | "warn"> | undefined;
}

/** s. A rig may take its time, and an action that was given up is one of which nobody knows. */
const changeTimeout = 60;
/** Of the list of miners, how many times the usual time; a farm's has 200 MB. */
const listPatience = 6;
/** Bytes of a reply: a list of miners, and anything else. */
const longestList = 400_000_000;
const longestReply = 32_000_000;

/** Tries of a read, and the ms before the next: half of it at least, the rest by chance. */
const pauses = [300, 900];
/** s that a server may ask to be waited for. */
const longestRetryAfter = 5;

/** Operations asked of one server, whatever its kind: what it is, its key, tries and time limits. */
export class ServerSession {
  readonly #options: ConnectionOptions;
  #server: Promise<Server> | undefined;
  /** What the log was told that it is: one that refuses what it is asked is learnt anew each time. */
  #told: Server["kind"] | undefined;

  constructor(options: ConnectionOptions) {
    this.#options = options;
  }

  get wire(): Wire {
    return this.#options.wire;
  }

  /** What the server is: learnt when first asked, and again after it could not be reached or understood. */
  server(): Promise<Server> {
    this.#server ??= this.#learn();
    return this.#server;
  }

  /** Throws `service.unsupported` where the server does not offer the operation. */
  async serverFor(name: OperationName): Promise<Server> {
    const server = await this.server();
    if (server.features.has(name)) return server;
    throw unsupported(`the operation ${name}`, { wire: this.wire }, server);
  }

  /** The answer to an operation that succeeded. */
  async answer(name: OperationName, input: object, { userId }: Caller): Promise<{ answer: Answer; asked: Asked }> {
    const operation: Operation = operations[name];
    const server = await this.serverFor(name);
    const { path, query, body } = requestOf(operation, input);
    const { method } = operation;
    const asked = { wire: this.wire, request: `${method} ${path}` };
    const timeout = this.#options.timeout * 1000;
    const request: WireRequest = {
      method,
      path,
      query: { ...query, ...userQuery(userId), ...server.query },
      headers: server.headers,
      body,
      longest: name === "listMiners" ? longestList : longestReply,
      deadline:
        method !== "GET"
          ? Math.max(timeout, changeTimeout * 1000)
          : name === "listMiners"
            ? timeout * listPatience
            : timeout,
    };
    return this.#forgetting(async () => {
      const send = () => this.wire.exchange(request);
      const answer = method === "GET" ? await retried(send, { wire: this.wire, timeout }, refusedForNow) : await send();
      // A path without an id that is not there: another server has taken the place of the one that was learnt.
      if (answer.status === 404 && operation.params === undefined) this.forget();
      if (!succeeded(answer)) throw refusal(answer, asked);
      return { answer, asked };
    });
  }

  async json(name: OperationName, input: object, caller: Caller): Promise<{ json: unknown; asked: Asked }> {
    const { answer, asked } = await this.answer(name, input, caller);
    return this.#forgetting(async () => ({ json: jsonOf(answer, asked), asked }));
  }

  /** The server's own stream of events, behind this one. */
  async events(after: number | undefined, { userId }: Caller, signal: AbortSignal): Promise<AnswerStream> {
    const server = await this.serverFor("watchEvents");
    const { method, path } = operations.watchEvents;
    return this.#forgetting(() =>
      this.wire.open({
        method,
        path,
        query: { ...userQuery(userId), ...server.query },
        headers: { ...server.headers, ...(after === undefined ? {} : { "last-event-id": String(after) }) },
        deadline: this.#options.timeout * 1000,
        longest: longestReply,
        signal,
      }),
    );
  }

  /** What answers there from now on may be something else. */
  forget(): void {
    this.#server = undefined;
  }

  async #learn(): Promise<Server> {
    const { wire, key, log } = this.#options;
    const timeout = this.#options.timeout * 1000;
    try {
      const server = await retried(() => learn({ wire, key, timeout }), { wire, timeout });
      if (server.kind !== this.#told)
        log?.info({ service: wire.origin, kind: server.kind }, "a mining service answers");
      this.#told = server.kind;
      return server;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  async #forgetting<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof RigbridgeError && unsure.has(error.code)) this.forget();
      throw error;
    }
  }
}

const unsure: ReadonlySet<string> = new Set([
  "service.unreachable",
  "service.garbled",
  "service.not-ready",
  "key.wrong",
]);

const userQuery = (userId: number | undefined): Readonly<Record<string, string>> =>
  userId === undefined ? {} : { user_id: String(userId) };

/** ms to wait before a read is tried again; false where the answer is taken as it is. */
const refusedForNow = (answer: Answer): number | false => [502, 503, 504].includes(answer.status) && retryAfter(answer);

/** A read, tried again while it fails quickly: for want of a connection, and as `again` says of what came back. */
async function retried<T>(
  send: () => Promise<T>,
  { wire, timeout }: { readonly wire: Wire; readonly timeout: number },
  again: (value: T) => number | false = () => false,
): Promise<T> {
  for (const longest of pauses) {
    const start = performance.now();
    const jittered = (longest * (1 + Math.random())) / 2;
    try {
      const value = await send();
      const wait = again(value);
      if (wait === false || wait > longestRetryAfter * 1000) return value;
      await pause(Math.max(wait, jittered));
    } catch (error) {
      const isLost = error instanceof RigbridgeError && error.code === "service.unreachable";
      // What has used up its time is not asked a second time.
      if (!isLost || wire.isClosed() || performance.now() - start >= timeout * 0.9) throw error;
      await pause(jittered);
    }
  }
  return send();
}

/** ms; 0 where the server does not say. */
const retryAfter = (answer: Answer): number =>
  /^\d{1,6}$/.test(answer.retryAfter) ? Number(answer.retryAfter) * 1000 : 0;
