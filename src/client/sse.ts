import { createParser, type EventSourceMessage } from "eventsource-parser";
import { eventTypes } from "../contract/events.ts";
import { operations } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Caller } from "../contract/service.ts";
import { garbled, problemIn, refusal } from "./answers.ts";
import type { ServerSession } from "./server-session.ts";
import { type ByteStream, joined } from "./wire.ts";

/** Characters of an event: a miner's is some thousands. */
const longestEvent = 4_000_000;
/** ms that a server polled this often may take for a short answer, or for the first line of its events. */
export const answerMs = (pollMs: number): number => Math.max(2_000, Math.min(10_000, pollMs));

/** The server sends at least a comment every 15 s; a proxy may keep the stream of a dead server open. */
const longestSilenceMs = 45_000;

export interface EventsOptions<E> {
  /** The last known event, or the version of a list. */
  readonly after: number | string | undefined;
  readonly query: Readonly<Record<string, string>>;
  /** Throws for anything that is not an event. */
  readonly event: (value: unknown) => E;
  /** ms without a byte before `check` is called, and called again. */
  readonly silenceMs: number;
  /** Rejects if the server no longer answers. */
  readonly check: () => Promise<void>;
  /** Called for everything that arrives, comments too. */
  readonly heard: () => void;
}

/**
 * The server's own events after a known one. Resolves once the server starts to answer. Throws the server's refusal,
 * `service.unreachable`, and `service.garbled` if the answer is not a stream of events.
 */
export async function openEvents<E>(
  session: ServerSession,
  options: EventsOptions<E>,
  caller: Caller,
  signal: AbortSignal,
): Promise<AsyncGenerator<E | Unreadable>> {
  const { wire } = session;
  const { status, type, stream } = await session.events(options, caller, signal);
  if (status === 200 && type.startsWith("text/event-stream")) return serverSentEvents(stream, wire.origin, options);
  const context = { wire, request: `GET ${operations.watchEvents.path}` };
  // Another server may have replaced the identified one.
  session.forget();
  const body = await beginningOf(stream);
  if (status === 200) throw garbled(`${wire.origin} answers ${context.request} with something other than events`);
  const answer = { status, type, location: "", retryAfter: "", body };
  // The server identified as a Rigbridge answers with a problem; anything else comes from a proxy.
  throw problemIn(answer, context) ?? new RigbridgeError("service.refused", refusal(answer, context).message);
}

/** Bytes of a refusal. */
const longestRefusal = 100_000;

async function beginningOf(stream: ByteStream): Promise<Uint8Array> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  try {
    for await (const chunk of stream) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > longestRefusal) break;
    }
  } catch {
    // The part received so far has to suffice.
  }
  return joined(chunks);
}

/** Marks an unreadable event. */
export type Unreadable = "unreadable";

/**
 * The events of a stream as they arrive; those of unknown types are skipped, since a newer server may have more.
 * Throws `service.unreachable` if the stream breaks off or the server falls silent, `service.garbled` if an event has no
 * end.
 */
async function* serverSentEvents<E>(
  stream: ByteStream,
  origin: string,
  { silenceMs, event, check, heard }: EventsOptions<E>,
): AsyncGenerator<E | Unreadable> {
  const events: (E | Unreadable)[] = [];
  let isEndless = false;
  const parser = createParser({
    maxBufferSize: longestEvent,
    onEvent: (message) => events.push(...eventIn(message, event)),
    onError: ({ type }) => {
      isEndless ||= type === "max-buffer-size-exceeded";
    },
  });
  const decoder = new TextDecoder();
  let heardAt = performance.now();
  let isOver = false;
  let silence: ReturnType<typeof setTimeout> | undefined;
  const awaitSilence = (): void => {
    clearTimeout(silence);
    if (!isOver) silence = setTimeout(checkSilence, silenceMs);
  };
  const checkSilence = (): void => {
    if (performance.now() - heardAt >= longestSilenceMs) stream.destroy();
    else check().then(awaitSilence, (error: Error) => stream.destroy(error));
  };
  awaitSilence();
  // The server starts with a line at once; a proxy may hold it back.
  const start = setTimeout(() => stream.destroy(), answerMs(silenceMs));
  try {
    for await (const chunk of stream) {
      clearTimeout(start);
      heardAt = performance.now();
      heard();
      awaitSilence();
      parser.feed(decoder.decode(chunk, { stream: true }));
      yield* events.splice(0);
      if (isEndless) throw garbled(`${origin} sends an event without an end`);
    }
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    // The stream's own error contains the request.
    throw new RigbridgeError("service.unreachable", `The events of ${origin} broke off`);
  } finally {
    isOver = true;
    clearTimeout(silence);
    clearTimeout(start);
    stream.destroy();
  }
}

/** `reset` is sent whatever a subscriber has chosen. */
const types: ReadonlySet<unknown> = new Set([...eventTypes, "reset"]);

function eventIn<E>({ event, id, data }: EventSourceMessage, read: (value: unknown) => E): (E | Unreadable)[] {
  if (!types.has(event)) return [];
  try {
    const json: unknown = JSON.parse(data);
    return [read({ id: Number(id), type: event, data: json })];
  } catch {
    return ["unreadable"];
  }
}
