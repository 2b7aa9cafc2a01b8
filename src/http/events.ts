import type { ServerResponse } from "node:http";
import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import { inputOf } from "../contract/decode.ts";
import type { RowEvent, ServiceEvent } from "../contract/events.ts";
import { EventsQuery } from "../contract/inputs.ts";
import { fixedFormsOf, operations, viewsOf } from "../contract/operations.ts";
import { invalid, RigbridgeError } from "../contract/problems.ts";
import type { Caller, EncodedEvent, Input, MiningService } from "../contract/service.ts";
import { callerOf } from "./caller.ts";
import { presentedKey } from "./credentials.ts";
import { keyDigest } from "./keys.ts";
import type { HttpLimits } from "./limits.ts";
import { loggable } from "./log.ts";
import type { Sessions } from "./sessions.ts";
import { full, StreamSlots } from "./stream-slots.ts";

const headers = {
  "content-type": "text/event-stream; charset=utf-8",
  "cache-control": "no-store",
  // Otherwise nginx buffers events.
  "x-accel-buffering": "no",
};

/** ms after which a disconnected client reconnects. */
const retry = 2_000;
const comment = ":\n\n";

type Batches = AsyncIterable<readonly EncodedEvent[]>;

interface Streaming {
  readonly service: MiningService;
  readonly limits: HttpLimits;
  readonly log: FastifyBaseLogger;
  readonly sessions: Sessions;
}

/** GET /api/events: server-sent events, each batch in one write, no faster than the client reads. */
export function addEventStream(app: FastifyInstance, { service, limits, log, sessions }: Streaming): void {
  const operation = operations.watchEvents;
  const decode = inputOf(operation, { views: [...viewsOf(operation).keys()] });
  const decodeRows = inputOf(operations.watchMinerRows);
  const framed = frameCache();
  const open = new Set<AbortController>();
  const places = new StreamSlots(limits);
  let closing = false;
  app.addHook("preClose", (done) => {
    closing = true;
    for (const stream of open) stream.abort();
    done();
  });

  const decodeEither: typeof decode = (raw) =>
    raw.query.values.get("view") === operations.watchMinerRows.view ? decodeRows(raw) : decode(raw);

  const answer = (decoding: typeof decode) => async (request: FastifyRequest, reply: FastifyReply) => {
    const { input, userId } = decoding({ params: {}, query: request.queryText, body: undefined });
    const ending = new AbortController();
    if (closing) throw full(reply);
    const batches = batchesOf(
      service,
      { ...input, ...lastEvent(request) },
      callerOf(request.admitted, userId),
      ending.signal,
    );
    const leave = places.take(request, reply);
    reply.raw.once("close", leave);
    reply.headers(headers);
    if (request.method === "HEAD") return reply.send();
    reply.hijack();
    for (const [name, value] of Object.entries(reply.getHeaders()))
      if (value !== undefined) reply.raw.setHeader(name, value);
    open.add(ending);
    const line = { method: request.method, path: loggable(request.url), status: 200 };
    // Most streams end this way, and the hook for answers does not run then.
    reply.raw.once("close", () => {
      if (!reply.raw.writableFinished) log.debug({ ...line, ms: Math.round(reply.elapsedTime) }, "left");
    });
    const serving = {
      intervalMs: limits.eventCommentInterval,
      framed,
      admitted: stillAdmitted(request, service, sessions),
    };
    try {
      await send(batches, reply.raw, ending, serving);
    } catch (error) {
      if (!(error instanceof RigbridgeError)) log.error({ err: error, ...line }, "a fault of the service");
    } finally {
      open.delete(ending);
    }
    return reply;
  };
  app.route({ method: ["GET", "HEAD"], url: operation.path, handler: answer(decodeEither) });
  for (const { path, fixed } of fixedFormsOf(operations.watchMinerRows))
    app.route({ method: ["GET", "HEAD"], url: path, handler: answer(inputOf(operations.watchMinerRows, { fixed })) });
}

/**
 * Whether the session that opened the stream is still open, or its key still belongs to the same user. An open stream
 * counts as use of its session: a wall display may send no other request for weeks.
 */
function stillAdmitted(request: FastifyRequest, { keyHolder }: MiningService, sessions: Sessions): () => boolean {
  const { holder, session } = request.admitted;
  if (session !== undefined) return () => sessions.use(session.digest) !== undefined;
  const key = presentedKey(request, request.queryText);
  if (holder === undefined || key === undefined) return () => true;
  const digest = keyDigest(key);
  return () => keyHolder?.(digest)?.id === holder.id;
}

/** The header of a resuming browser. It overrides the query, which stays as it was when the page first connected. */
function lastEvent({ headers }: FastifyRequest): Input<"watchEvents"> {
  const header = headers["last-event-id"];
  if (header === undefined) return {};
  const after = EventsQuery.shape.after.safeParse(header);
  if (!after.success)
    throw invalid("Last-Event-ID", "must be a whole number of 1 to 15 digits, or the version of a list");
  return { after: after.data };
}

type EventsInput = Input<"watchEvents"> | Input<"watchMinerRows">;

function batchesOf(service: MiningService, input: EventsInput, caller: Caller, signal: AbortSignal): Batches {
  const ready = service.encodedEvents?.(input, caller, signal);
  if (ready !== undefined) return ready;
  return "view" in input
    ? encoded(service.watchMinerRows(input, caller, signal), input.fields)
    : encoded(service.watchEvents(input, caller, signal));
}

async function* encoded(events: AsyncIterable<ServiceEvent | RowEvent>, fields?: readonly string[]): Batches {
  for await (const { id, type, data } of events) {
    const shown = type === "miner" && fields !== undefined ? onlyFields(data, ["id", ...fields]) : data;
    yield [{ id, type, json: Buffer.from(JSON.stringify(shown)) }];
  }
}

const onlyFields = (data: object, fields: readonly string[]): object =>
  Object.fromEntries(Object.entries(data).filter(([name]) => fields.includes(name)));

interface Serving {
  /** ms between two comments */
  readonly intervalMs: number;
  readonly framed: FrameBatch;
  /** Checked before each batch and with every comment. */
  admitted(): boolean;
}

/** Sends until the client disconnects, the server closes, or the service ends the stream, after which clients reconnect. */
async function send(
  batches: Batches,
  response: ServerResponse,
  ending: AbortController,
  serving: Serving,
): Promise<void> {
  const stop = startComments(response, serving, ending);
  if (response.closed) ending.abort();
  response.once("close", () => ending.abort());
  ending.signal.addEventListener("abort", () => {
    if (response.writableNeedDrain) response.destroy();
  });
  response.write(`retry: ${retry}\n\n`);
  try {
    for await (const batch of batches) {
      if (!serving.admitted()) break;
      response.write(serving.framed(batch));
      if (response.writableNeedDrain) await drained(response);
    }
  } finally {
    stop();
    response.end();
  }
}

/** Comments keep proxies from closing the connection; a client that has read nothing since the last one is cut off. */
function startComments(
  response: ServerResponse,
  { intervalMs, admitted }: Serving,
  ending: AbortController,
): () => void {
  let stuck = false;
  response.on("drain", () => {
    stuck = false;
  });
  const timer = setInterval(() => {
    if (!admitted()) ending.abort();
    if (stuck) response.destroy();
    stuck = response.writableNeedDrain;
    if (!stuck) response.write(comment);
  }, intervalMs);
  return () => clearInterval(timer);
}

type FrameBatch = (batch: readonly EncodedEvent[]) => Buffer;

/** Clients that receive the same batch share its bytes, made once. */
function frameCache(): FrameBatch {
  let last: readonly EncodedEvent[] = [];
  let bytes = Buffer.alloc(0);
  return (batch) => {
    if (batch.length !== last.length || batch.some((event, index) => event !== last[index])) {
      last = batch;
      bytes = Buffer.concat(batch.flatMap(frame));
    }
    return bytes;
  };
}

const frame = ({ id, type, json }: EncodedEvent): Uint8Array[] => [
  Buffer.from(`event: ${type}\nid: ${id}\ndata: `),
  json,
  Buffer.from("\n\n"),
];

async function drained(response: ServerResponse): Promise<void> {
  if (response.closed || response.destroyed) return;
  await new Promise<void>((resolve) => {
    const done = (): void => {
      response.off("drain", done).off("close", done);
      resolve();
    };
    response.on("drain", done).on("close", done);
  });
}
