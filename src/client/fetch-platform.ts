import { detail } from "../messages/detail.ts";
import {
  type ByteStream,
  type Failure,
  joined,
  type Platform,
  type PlatformAnswer,
  type PlatformRequest,
} from "./wire.ts";

class TooLong extends Error {}

/** A redirect, whose status and target browsers hide. */
class Redirected extends Error {}

/** HTTP of a browser. */
export const fetchPlatform: Platform = {
  whole: async (request, { maxBytes }) => {
    const { body, ...answer } = await ask(request);
    const chunks: Uint8Array[] = [];
    let length = 0;
    for await (const chunk of streamOf(body)) {
      chunks.push(chunk);
      length += chunk.length;
      if (length > maxBytes) throw new TooLong();
    }
    return { ...answer, body: joined(chunks) };
  },
  streamed: async (request) => {
    const { body, ...answer } = await ask(request);
    return { ...answer, body: streamOf(body) };
  },
  failureOf,
  close: () => {},
};

type Body = ReadableStream<Uint8Array> | null;

async function ask({ url, method, headers, body, signal }: PlatformRequest): Promise<PlatformAnswer<Body>> {
  const response = await fetch(url, {
    method,
    headers,
    body: body ?? null,
    signal,
    redirect: "manual",
    cache: "no-store",
  });
  if (response.type === "opaqueredirect") throw new Redirected();
  return { status: response.status, header: (name) => response.headers.get(name) ?? "", body: response.body };
}

/** Readers, because Safari cannot iterate over a stream. */
function streamOf(body: Body): ByteStream {
  const reader = body?.getReader();
  let destroyedWith: Error | undefined;
  const cancel = (): void => void reader?.cancel().catch(() => undefined);
  return {
    destroy: (error = new Error("The stream was closed")) => {
      destroyedWith ??= error;
      cancel();
    },
    async *[Symbol.asyncIterator]() {
      try {
        while (reader !== undefined) {
          const { value } = await reader.read();
          if (destroyedWith !== undefined) throw destroyedWith;
          if (value === undefined) return;
          yield value;
        }
      } finally {
        cancel();
      }
    },
  };
}

function failureOf(error: unknown): Failure {
  if (error instanceof TooLong) return { kind: "too long" };
  if (error instanceof DOMException && /^(Abort|Timeout)Error$/.test(error.name)) return { kind: "late" };
  const words =
    error instanceof Redirected
      ? "it redirects, which is not followed; give the service's own URL"
      : "the browser's console has the reason; a page of another origin must be listed in http.origins";
  return { kind: "unreachable", reason: detail("client.failed"), words };
}
