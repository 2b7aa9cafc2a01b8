import { pause } from "../async/index.ts";
import { mcpClientHeader, mcpClientOf } from "../contract/mcp-actor.ts";
import { type Operation, type OperationName, operations } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { type ErrorContext, jsonOf, refusal, succeeded } from "./answers.ts";
import type { Log } from "./log.ts";
import { requestOf } from "./requests.ts";
import { identifyServer, type Server, unsupported } from "./server.ts";
import type { Answer, AnswerStream, Wire, WireRequest } from "./wire.ts";

export interface SessionOptions {
  readonly wire: Wire;
  readonly key: string | undefined;
  readonly timeoutSeconds: number;
  readonly log: Log | undefined;
}

/** A rig may be slow, and the result of an abandoned action is unknown. */
const writeTimeoutSeconds = 60;
/** Factor on the usual timeout for the list of miners; a farm's has 200 MB. */
const listTimeoutFactor = 6;
/** Bytes of a reply: a list of miners, and any other. */
const longestList = 400_000_000;
const longestReply = 32_000_000;

/** Delays between the attempts of a read: half is fixed, the rest random. */
const retryDelaysMs = [300, 900];
/** The longest Retry-After that is honoured. */
const longestRetryAfterSeconds = 5;

/** Requests to one server of either kind: its identification, key, retries and timeouts. */
export class ServerSession {
  readonly #options: SessionOptions;
  #server: Promise<Server> | undefined;
  /** The last logged kind: a server that refuses requests is identified again each time. */
  #loggedKind: Server["kind"] | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
  }

  get wire(): Wire {
    return this.#options.wire;
  }

  /** The server, identified on first use and again after it could not be reached or understood. */
  server(): Promise<Server> {
    this.#server ??= this.#identify();
    return this.#server;
  }

  /** Throws `service.unsupported` if the server does not offer the operation. */
  async serverFor(name: OperationName): Promise<Server> {
    const server = await this.server();
    if (server.features.has(name)) return server;
    throw unsupported(`the operation ${name}`, { wire: this.wire }, server);
  }

  /** The answer to an operation that succeeded. */
  async answer(
    name: OperationName,
    input: object,
    { actor, userId }: Caller,
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
      headers: { ...server.headers, ...clientHeaders(server, actor) },
      body,
      maxBytes: name === "listMiners" ? longestList : longestReply,
      timeoutMs:
        method === "GET"
          ? timeoutMs * (name === "listMiners" ? listTimeoutFactor : 1)
          : Math.max(timeoutMs, writeTimeoutSeconds * 1000),
    };
    return this.#forgetOnFailure(async () => {
      const send = () => this.wire.exchange(request);
      const answer =
        method === "GET" ? await retried(send, { wire: this.wire, timeoutMs }, refusedForNow) : await send();
      // A missing path without an id means that another server has replaced the identified one.
      if (answer.status === 404 && operation.params === undefined) this.forget();
      if (!succeeded(answer)) throw refusal(answer, context);
      return { answer, context };
    });
  }

  async json(name: OperationName, input: object, caller: Caller): Promise<{ json: unknown; context: ErrorContext }> {
    const { answer, context } = await this.answer(name, input, caller);
    return this.#forgetOnFailure(async () => ({ json: jsonOf(answer, context), context }));
  }

  /** The description of the caller by a server with GET /api/session. */
  async describeCaller({ userId }: Caller): Promise<unknown> {
    const server = await this.server();
    const path = "/api/session";
    const context = { wire: this.wire, request: `GET ${path}` };
    const timeoutMs = this.#options.timeoutSeconds * 1000;
    const query = { ...userQuery(userId), ...server.query };
    return this.#forgetOnFailure(async () => {
      const send = () =>
        this.wire.exchange({
          method: "GET",
          path,
          query,
          headers: server.headers,
          timeoutMs,
          maxBytes: longestReply,
        });
      const answer = await retried(send, { wire: this.wire, timeoutMs }, refusedForNow);
      if (!succeeded(answer)) throw refusal(answer, context);
      return jsonOf(answer, context);
    });
  }

  /** The server's own stream of events after this one, or after the list with this version. */
  async events(
    { after, query }: { readonly after: number | string | undefined; readonly query: Readonly<Record<string, string>> },
    { userId }: Caller,
    signal: AbortSignal,
  ): Promise<AnswerStream> {
    const server = await this.serverFor("view" in query ? "watchMinerRows" : "watchEvents");
    const { method, path } = operations.watchEvents;
    return this.#forgetOnFailure(() =>
      this.wire.open({
        method,
        path,
        query: { ...query, ...userQuery(userId), ...server.query },
        headers: { ...server.headers, ...(after === undefined ? {} : { "last-event-id": String(after) }) },
        timeoutMs: this.#options.timeoutSeconds * 1000,
        maxBytes: longestReply,
        signal,
      }),
    );
  }

  /** Identifies the server again on the next request. */
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

/** A Rigbridge names the MCP client in its audit trail. */
function clientHeaders({ kind }: Server, actor: string): Readonly<Record<string, string>> {
  const client = kind === "rigbridge" ? mcpClientOf(actor) : undefined;
  return client === undefined ? {} : { [mcpClientHeader]: client };
}

const doubtful: ReadonlySet<string> = new Set([
  "service.unreachable",
  "service.garbled",
  "service.not-ready",
  "key.wrong",
]);

const userQuery = (userId: number | undefined): Readonly<Record<string, string>> =>
  userId === undefined ? {} : { user_id: String(userId) };

/** ms to wait before a read is retried; false if the answer is final. */
const refusedForNow = (answer: Answer): number | false =>
  [502, 503, 504].includes(answer.status) && retryAfterMs(answer);

/** Retries a read while it fails quickly: without a connection, or if `again` returns a delay for its answer. */
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
      // A request that has used up its timeout is not retried.
      if (!isLost || wire.isClosed() || performance.now() - start >= timeoutMs * 0.9) throw error;
      await pause(jittered);
    }
  }
  return send();
}

/** 0 if the server sends none. */
const retryAfterMs = (answer: Answer): number =>
  /^\d{1,6}$/.test(answer.retryAfter) ? Number(answer.retryAfter) * 1000 : 0;
