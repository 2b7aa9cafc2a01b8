import { pause } from "../async/index.ts";
import { centreActorHeader, centreActorText } from "../contract/centre-actor.ts";
import { idempotencyHeader, newIdempotencyKey } from "../contract/idempotency.ts";
import { mcpClientHeader, mcpClientOf } from "../contract/mcp-actor.ts";
import { type Operation, type OperationName, operations } from "../contract/operations.ts";
import { isAway, RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { type ErrorContext, jsonOf, problemIn, refusal, succeeded } from "./answers.ts";
import type { Log } from "./log.ts";
import { requestOf } from "./requests.ts";
import { identifyServer, type Server, unsupported } from "./server.ts";
import type { Answer, AnswerStream, Wire } from "./wire.ts";

export interface SessionOptions {
  /** One for each URL of the service; the first is used until it fails. */
  readonly wires: readonly [Wire, ...Wire[]];
  readonly key: string | undefined;
  readonly timeoutSeconds: number;
  /** It asks for the people at a centre, whom the audit trail of the server shows. */
  readonly isCentre?: boolean | undefined;
  readonly log: Log | undefined;
}

/** A rig may be slow, and the result of an abandoned action is unknown. A write that is repeated gets half of it each time. */
const writeTimeoutSeconds = 60;
/** Factor on the usual timeout for the list of miners; a farm's has 200 MB. */
const listTimeoutFactor = 6;
/** Bytes of a reply: a list of miners, and any other. */
const longestList = 400_000_000;
const longestReply = 32_000_000;

/** Delays between the attempts of a read, or of a write with a key: half is fixed, the rest random. */
const retryDelaysMs = [300, 900];
/** The longest Retry-After that is honoured. */
const longestRetryAfterSeconds = 5;

/** Requests to one service of either kind: its identification, key, URLs, retries and timeouts. */
export class ServerSession {
  readonly #options: SessionOptions;
  #server: Promise<Server> | undefined;
  #wire: Wire;
  /** The last logged kind: a server that refuses requests is identified again each time. */
  #loggedKind: Server["kind"] | undefined;

  constructor(options: SessionOptions) {
    this.#options = options;
    [this.#wire] = options.wires;
  }

  /** The one in use. */
  get wire(): Wire {
    return this.#wire;
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

  /**
   * The answer to an operation that succeeded. A write has a key if the server takes one, and is then repeated while no
   * answer comes, like a read: at the next URL if there are several.
   */
  async answer(
    name: OperationName,
    input: object,
    { actor, userId, idempotency }: Caller,
  ): Promise<{ answer: Answer; context: ErrorContext }> {
    const operation: Operation = operations[name];
    let server = await this.serverFor(name);
    const { path, query, body } = requestOf(operation, input);
    const { method } = operation;
    const key = method === "GET" ? undefined : this.#keyFor(server, idempotency?.key);
    const timeoutMs = this.#options.timeoutSeconds * 1000;
    const writeTimeoutMs = Math.max(timeoutMs, writeTimeoutSeconds * 1000);
    const context = (): ErrorContext => ({ wire: server.wire, request: `${method} ${path}` });
    const send = async (): Promise<Answer> => {
      const answer = await server.wire.exchange({
        method,
        path,
        query: { ...query, ...userQuery(userId), ...server.query },
        headers: {
          ...server.headers,
          ...actorHeaders(server, actor, this.#options.isCentre === true),
          ...(key === undefined ? {} : { [idempotencyHeader]: key }),
        },
        body,
        maxBytes: name === "listMiners" ? longestList : longestReply,
        timeoutMs:
          method === "GET"
            ? timeoutMs * (name === "listMiners" ? listTimeoutFactor : 1)
            : writeTimeoutMs / (key === undefined ? 1 : 2),
      });
      return active(answer, context());
    };
    const lost = async (error: RigbridgeError): Promise<void> => {
      server = await this.#serverAfter(server, name);
      if (key !== undefined && !server.takesKeys) throw error;
    };
    return this.#forgetOnFailure(async () => {
      const answer =
        method === "GET"
          ? await retried(send, { ...this.#attempts(timeoutMs), lost }, refusedForNow)
          : key === undefined
            ? await send()
            : await repeated(async () => answered(await send(), context()), {
                ...this.#attempts(writeTimeoutMs),
                lost,
              });
      // A missing path without an id means that another server has replaced the identified one.
      if (answer.status === 404 && operation.params === undefined) this.forget();
      if (!succeeded(answer)) throw refusal(answer, context());
      return { answer, context: context() };
    });
  }

  async json(name: OperationName, input: object, caller: Caller): Promise<{ json: unknown; context: ErrorContext }> {
    const { answer, context } = await this.answer(name, input, caller);
    return this.#forgetOnFailure(async () => ({ json: jsonOf(answer, context), context }));
  }

  /** The description of the caller by a server with GET /api/session. */
  async describeCaller({ userId }: Caller): Promise<unknown> {
    let server = await this.server();
    const path = "/api/session";
    const context = (): ErrorContext => ({ wire: server.wire, request: `GET ${path}` });
    const timeoutMs = this.#options.timeoutSeconds * 1000;
    const lost = async (): Promise<void> => {
      server = await this.#serverAfter(server);
    };
    return this.#forgetOnFailure(async () => {
      const send = async () => {
        const { wire, headers, query } = server;
        const asked = { ...userQuery(userId), ...query };
        const request = { method: "GET", path, query: asked, headers, timeoutMs, maxBytes: longestReply } as const;
        return active(await wire.exchange(request), context());
      };
      const answer = await retried(send, { ...this.#attempts(timeoutMs), lost }, refusedForNow);
      if (!succeeded(answer)) throw refusal(answer, context());
      return jsonOf(answer, context());
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
      server.wire.open({
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

  /** The caller's key, else a new one; undefined if the server takes none. Throws `service.unsupported` for a caller's key. */
  #keyFor(server: Server, given: string | undefined): string | undefined {
    if (server.takesKeys) return given ?? newIdempotencyKey();
    if (given === undefined) return undefined;
    throw unsupported(`the header ${idempotencyHeader}, so a repeat would be done twice`, { wire: this.wire }, server);
  }

  /** Identifies the server again on the next request. */
  forget(): void {
    this.#server = undefined;
  }

  async #identify(): Promise<Server> {
    const { key, log } = this.#options;
    const timeoutMs = this.#options.timeoutSeconds * 1000;
    const lost = async (): Promise<void> => this.#useNext(this.wire);
    try {
      const identify = () => identifyServer({ wire: this.wire, key, timeoutMs });
      const server = await retried(identify, { ...this.#attempts(timeoutMs), lost });
      if (server.kind !== this.#loggedKind)
        log?.info({ service: server.wire.origin, kind: server.kind }, "a mining service answers");
      this.#loggedKind = server.kind;
      return server;
    } catch (error) {
      this.forget();
      throw error;
    }
  }

  #attempts(timeoutMs: number): Attempts {
    const { wires } = this.#options;
    return { timeoutMs, urls: wires.length, isClosed: () => this.wire.isClosed() };
  }

  /** Uses the next URL, unless another request has changed it already. */
  #useNext(failed: Wire): void {
    const { wires } = this.#options;
    if (this.#wire === failed) this.#wire = wires[(wires.indexOf(failed) + 1) % wires.length] ?? failed;
  }

  /** The server at the next URL; the same one if there is no other. */
  async #serverAfter(failed: Server, name?: OperationName): Promise<Server> {
    if (this.#options.wires.length === 1) return failed;
    if (this.#wire === failed.wire) this.forget();
    this.#useNext(failed.wire);
    return name === undefined ? this.server() : this.serverFor(name);
  }

  async #forgetOnFailure<T>(ask: () => Promise<T>): Promise<T> {
    const { wire } = this;
    try {
      return await ask();
    } catch (error) {
      if (isLost(error)) this.#useNext(wire);
      if (error instanceof RigbridgeError && doubtful.has(error.code)) this.forget();
      throw error;
    }
  }
}

/** A Rigbridge names the MCP client in its audit trail, or the person for whom a centre asks. */
function actorHeaders({ kind }: Server, actor: string, isCentre: boolean): Readonly<Record<string, string>> {
  if (kind !== "rigbridge") return {};
  if (isCentre) return { [centreActorHeader]: centreActorText(actor) };
  const client = mcpClientOf(actor);
  return client === undefined ? {} : { [mcpClientHeader]: client };
}

const doubtful: ReadonlySet<string> = new Set([
  "service.unreachable",
  "service.garbled",
  "service.not-ready",
  "service.no.active",
  "service.active-unreachable",
  "key.wrong",
]);

const userQuery = (userId: number | undefined): Readonly<Record<string, string>> =>
  userId === undefined ? {} : { user_id: String(userId) };

/** ms to wait before a read is retried; false if the answer is final. */
const refusedForNow = (answer: Answer): number | false =>
  [502, 503, 504].includes(answer.status) && retryAfterMs(answer);

/** Of a standby that could not pass the request on to an active service. */
const notPassedOn: ReadonlySet<string> = new Set(["service.no.active", "service.active-unreachable"]);

/** No answer came, or one of those. */
const isLost = (error: unknown): error is RigbridgeError =>
  error instanceof RigbridgeError && (error.code === "service.unreachable" || notPassedOn.has(error.code));

/** Throws the problem of a request that was not passed on, whatever was asked. */
function active(answer: Answer, context: ErrorContext): Answer {
  const problem = [502, 503].includes(answer.status) ? problemIn(answer, context) : undefined;
  if (problem !== undefined && notPassedOn.has(problem.code)) throw problem;
  return answer;
}

interface Attempts {
  readonly timeoutMs: number;
  /** Each is tried at least once. */
  readonly urls: number;
  isClosed(): boolean;
}

const delaysFor = (urls: number): number[] => [...retryDelaysMs, ...Array<number>(Math.max(0, urls - 3)).fill(300)];

/**
 * Retries a read while it fails quickly: without a connection, or if `again` returns a delay for its answer. `lost` is
 * called before it is retried without a connection.
 */
async function retried<T>(
  send: () => Promise<T>,
  { timeoutMs, urls, isClosed, lost }: Attempts & { lost(error: RigbridgeError): Promise<void> },
  again: (value: T) => number | false = () => false,
): Promise<T> {
  for (const longest of delaysFor(urls)) {
    const start = performance.now();
    const jittered = (longest * (1 + Math.random())) / 2;
    try {
      const value = await send();
      const wait = again(value);
      if (wait === false || wait > longestRetryAfterSeconds * 1000) return value;
      await pause(Math.max(wait, jittered));
    } catch (error) {
      // A request that has used up its timeout is not retried at the same URL.
      const isUsedUp = urls === 1 && performance.now() - start >= timeoutMs * 0.9;
      if (!isLost(error) || isClosed() || isUsedUp) throw error;
      await pause(jittered);
      await lost(error);
    }
  }
  return send();
}

/** Throws the answer of a proxy whose server did not answer. */
function answered(answer: Answer, context: ErrorContext): Answer {
  if (refusedForNow(answer) !== false && problemIn(answer, context) === undefined) throw refusal(answer, context);
  return answer;
}

/** Repeats a write with its key while no answer comes, for this long. `lost` is called before it is repeated. */
async function repeated(
  send: () => Promise<Answer>,
  { timeoutMs, urls, isClosed, lost }: Attempts & { lost(error: RigbridgeError): Promise<void> },
): Promise<Answer> {
  const start = performance.now();
  for (const longest of delaysFor(urls)) {
    try {
      return await send();
    } catch (error) {
      if (!(error instanceof RigbridgeError) || !isAway(error) || isClosed()) throw error;
      await pause((longest * (1 + Math.random())) / 2);
      // A command must not be sent long after it was asked for.
      if (performance.now() - start >= timeoutMs) throw error;
      await lost(error);
    }
  }
  return send();
}

/** 0 if the server sends none. */
const retryAfterMs = (answer: Answer): number =>
  /^\d{1,6}$/.test(answer.retryAfter) ? Number(answer.retryAfter) * 1000 : 0;
