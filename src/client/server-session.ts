import { setTimeout as pause } from "node:timers/promises";
import type { Logger } from "pino";
import { type Operation, type OperationName, operations } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { type ErrorContext, jsonOf, refusal, succeeded } from "./answers.ts";
import { requestOf } from "./requests.ts";
import { identifyServer, type Server, unsupported } from "./server.ts";
import type { Answer, AnswerStream, Wire, WireRequest } from "./wire.ts";

export interface SessionOptions {
  readonly wire: Wire;
  readonly key: string | undefined;
  readonly timeoutSeconds: number;
  readonly log: Pick<Logger, "info" | "warn"> | undefined;
}

/** s. A rig may take its time, and an action that was given up is one of which nobody knows. */
const writeTimeoutSeconds = 60;
/** Of the list of miners, how many times the usual time; a farm's has 200 MB. */
const listTimeoutFactor = 6;
/** Bytes of a reply: a list of miners, and anything else. */
const longestList = 400_000_000;
const longestReply = 32_000_000;

/** Tries of a read, and the ms before the next: half of it at least, the rest by chance. */
const retryDelaysMs = [300, 900];
/** s that a server may ask to be waited for. */
const longestRetryAfterSeconds = 5;

/** Operations asked of one server, whatever its kind: what it is, its key, tries and time limits. */
export class ServerSession {
  readonly #options: SessionOptions;
  #server: Promise<Server> | undefined;
  /** What the log was told that it is: one that refuses what it is asked is learnt anew each time. */
  #loggedKind: Server["kind"] | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get wire(): Wire {
    return this.#options.wire;
  }

  /** What the server is: learnt when first asked, and again after it could not be reached or understood. */
  server(): Promise<Server> {
    this.#server ??= this.#identify();
    return this.#server;
  }

  /** Throws `service.unsupported` where the server does not offer the operation. */
  async serverFor(name: OperationName): Promise<Server> {
    const server = await this.server();
    if (server.features.has(name)) return server;
    throw unsupported(`the operation ${name}`, { wire: this.wire }, server);
  }

  /** The answer to an operation that succeeded. */
  async answer(
    name: OperationName,
    input: object,
    { userId }: Caller,
  ): Promise<{ answer: Answer; context: ErrorContext }> {
    const operation: Operation = operations[name];
    const server = await this.serverFor(name);
    const { path, query, body } = requestOf(operation, input);
    const { method } = operation;
    const context = { wire: this.wire, request: `${method} ${path}` };
    const timeoutMs = this.#options.timeoutSeconds * 1000;
    const request: WireRequest = {
      method,
      path,
      query: { ...query, ...userQuery(userId), ...server.query },
      headers: server.headers,
      body,
      maxBytes: name === "listMiners" ? longestList : longestReply,
      timeoutMs:
        method !== "GET"
          ? Math.max(timeoutMs, writeTimeoutSeconds * 1000)
          : name === "listMiners"
            ? timeoutMs * listTimeoutFactor
            : timeoutMs,
    };
    return this.#forgetOnFailure(async () => {
      const send = () => this.wire.exchange(request);
      const answer =
        method === "GET" ? await retried(send, { wire: this.wire, timeoutMs }, refusedForNow) : await send();
      // A path without an id that is not there: another server has taken the place of the one that was learnt.
      if (answer.status === 404 && operation.params === undefined) this.forget();
      if (!succeeded(answer)) throw refusal(answer, context);
      return { answer, context };
    });
  }

  async json(name: OperationName, input: object, caller: Caller): Promise<{ json: unknown; context: ErrorContext }> {
    const { answer, context } = await this.answer(name, input, caller);
    return this.#forgetOnFailure(async () => ({ json: jsonOf(answer, context), context }));
  }

  /** The server's own stream of events, behind this one. */
  async events(after: number | undefined, { userId }: Caller, signal: AbortSignal): Promise<AnswerStream> {
    const server = await this.serverFor("watchEvents");
    const { method, path } = operations.watchEvents;
    return this.#forgetOnFailure(() =>
      this.wire.open({
        method,
        path,
        query: { ...userQuery(userId), ...server.query },
        headers: { ...server.headers, ...(after === undefined ? {} : { "last-event-id": String(after) }) },
        timeoutMs: this.#options.timeoutSeconds * 1000,
        maxBytes: longestReply,
        signal,
      }),
    );
  }

  /** What answers there from now on may be something else. */
  forget(): void {
    this.#server = undefined;
  }

  async #identify(): Promise<Server> {
    const { wire, key, log } = this.#options;
    const timeoutMs = this.#options.timeoutSeconds * 1000;
    try {
      const server = await retried(() => identifyServer({ wire, key, timeoutMs }), { wire, timeoutMs });
      if (server.kind !== this.#loggedKind)
        log?.info({ service: wire.origin, kind: server.kind }, "a mining service answers");
      this.#loggedKind = server.kind;
      return server;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  async #forgetOnFailure<T>(ask: () => Promise<T>): Promise<T> {
    try {
      return await ask();
    } catch (error) {
      if (error instanceof RigbridgeError && doubtful.has(error.code)) this.forget();
      throw error;
    }
  }
}

const doubtful: ReadonlySet<string> = new Set([
  "service.unreachable",
  "service.garbled",
  "service.not-ready",
  "key.wrong",
]);

const userQuery = (userId: number | undefined): Readonly<Record<string, string>> =>
  userId === undefined ? {} : { user_id: String(userId) };

/** ms to wait before a read is tried again; false where the answer is taken as it is. */
const refusedForNow = (answer: Answer): number | false =>
  [502, 503, 504].includes(answer.status) && retryAfterMs(answer);

/** A read, tried again while it fails quickly: for want of a connection, and as `again` says of what came back. */
async function retried<T>(
  send: () => Promise<T>,
  { wire, timeoutMs }: { readonly wire: Wire; readonly timeoutMs: number },
  again: (value: T) => number | false = () => false,
): Promise<T> {
  for (const longest of retryDelaysMs) {
    const start = performance.now();
    const jittered = (longest * (1 + Math.random())) / 2;
    try {
      const value = await send();
      const wait = again(value);
      if (wait === false || wait > longestRetryAfterSeconds * 1000) return value;
      await pause(Math.max(wait, jittered));
    } catch (error) {
      const isLost = error instanceof RigbridgeError && error.code === "service.unreachable";
      // What has used up its time is not asked a second time.
      if (!isLost || wire.isClosed() || performance.now() - start >= timeoutMs * 0.9) throw error;
      await pause(jittered);
    }
  }
  return send();
}

/** ms; 0 where the server does not say. */
const retryAfterMs = (answer: Answer): number =>
  /^\d{1,6}$/.test(answer.retryAfter) ? Number(answer.retryAfter) * 1000 : 0;
