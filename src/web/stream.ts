import { createParser } from "eventsource-parser";
import { Problem } from "./api.ts";

/** ms of silence after which the stream counts as broken: the service sends a comment every 15 s. */
const silenceMs = 40_000;
/** ms for the stream to begin: its first line arrives at once. */
const beginMs = 10_000;

/** The stream has ended or resets: read the lists again. */
export class Reconnect extends Error {}

/** A proxy between page and service blocks or delays events: the lists are polled instead. */
export class NoEvents extends Error {}

interface Receiver {
  readonly receive: (event: { readonly id: string | undefined; readonly type: string; readonly data: unknown }) => void;
  /** Called for everything that arrives, including comments. */
  readonly heard: () => void;
}

/**
 * Passes on the events at an address relative to the dashboard's own, and throws the reason why they end: an error, or
 * the signal's reason.
 */
export async function followEvents(path: string, signal: AbortSignal, { receive, heard }: Receiver): Promise<never> {
  const silence = new AbortController();
  let timer = setTimeout(() => silence.abort(), beginMs);
  let begun = false;
  const parser = createParser({
    onEvent: ({ id, event = "", data }) => {
      if (event === "reset") throw new Reconnect();
      receive({ id, type: event, data: JSON.parse(data) });
    },
  });
  try {
    const response = await fetch(new URL(path, document.baseURI), {
      headers: { accept: "text/event-stream" },
      cache: "no-store",
      signal: AbortSignal.any([signal, silence.signal]),
    });
    if (response.status === 401) throw new Problem(response.status, "events", response.statusText);
    if (!response.ok || response.body === null) throw new NoEvents();
    const reader = response.body.pipeThrough(new TextDecoderStream()).getReader();
    try {
      for (;;) {
        const { done, value } = await reader.read();
        if (done) throw new Reconnect();
        begun = true;
        clearTimeout(timer);
        timer = setTimeout(() => silence.abort(), silenceMs);
        parser.feed(value);
        heard();
      }
    } finally {
      await reader.cancel().catch(() => undefined);
    }
  } catch (error) {
    signal.throwIfAborted();
    throw silence.signal.aborted && !begun ? new NoEvents() : error;
  } finally {
    clearTimeout(timer);
  }
}

/** Waits for the time to pass, the page to become visible, or the network to return. */
export function waitForTurn(ms: number): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      clearTimeout(timer);
      removeEventListener("online", done);
      document.removeEventListener("visibilitychange", ifVisible);
      resolve();
    };
    const isHidden = () => document.visibilityState === "hidden";
    const ifVisible = () => (isHidden() ? undefined : done());
    const timer = isHidden() ? undefined : setTimeout(done, ms);
    addEventListener("online", done);
    document.addEventListener("visibilitychange", ifVisible);
  });
}
