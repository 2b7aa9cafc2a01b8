import type { Readable } from "node:stream";
import type { Reply } from "./reply.ts";

export interface HttpRequest {
  readonly method: string;
  /** Without the query. */
  readonly path: string;
  /** The query string without the question mark; "" if there is none. */
  readonly query: string;
  /** Lower-case names. */
  readonly headers: ReadonlyMap<string, string>;
  readonly body: string;
}

const longest = 1_000_000;

/**
 * Calls `answer` for every request on the socket, one after the other.
 * Just enough HTTP/1.1 for a rig; node:http would not send the malformed replies that virtual rigs need.
 */
export function readRequests(socket: Readable, answer: (request: HttpRequest) => void): void {
  let pending = "";
  socket.setEncoding("latin1");
  socket.on("data", (chunk: string) => {
    pending += chunk;
    if (pending.length > longest) socket.destroy();
    while (pending !== "" && !socket.destroyed) {
      const taken = takeRequest(pending);
      if (taken === null) return;
      pending = pending.slice(taken.length);
      answer(taken.request);
    }
  });
}

/** The first complete request in the text, and its length; null while it is incomplete. */
function takeRequest(text: string): { request: HttpRequest; length: number } | null {
  const end = text.indexOf("\r\n\r\n");
  if (end === -1) return null;
  const [first = "", ...lines] = text.slice(0, end).split("\r\n");
  const [method = "", target = ""] = first.split(" ");
  const headers = new Map(lines.map(headerOf));
  const rest = text.slice(end + 4);
  const body = headers.get("transfer-encoding") === "chunked" ? takeChunks(rest) : takeBody(rest, headers);
  if (body === null) return null;
  const mark = target.indexOf("?");
  const [path, query] = mark === -1 ? [target, ""] : [target.slice(0, mark), target.slice(mark + 1)];
  const request = { method, path, query, headers, body: Buffer.from(body.text, "latin1").toString() };
  return { request, length: end + 4 + body.length };
}

function headerOf(line: string): [string, string] {
  const colon = line.indexOf(":");
  return [line.slice(0, colon).toLowerCase(), line.slice(colon + 1).trim()];
}

function takeBody(rest: string, headers: ReadonlyMap<string, string>): { text: string; length: number } | null {
  const length = Math.max(0, Number.parseInt(headers.get("content-length") ?? "0", 10) || 0);
  return rest.length < length ? null : { text: rest.slice(0, length), length };
}

function takeChunks(rest: string): { text: string; length: number } | null {
  let text = "";
  let at = 0;
  for (;;) {
    const line = rest.indexOf("\r\n", at);
    if (line === -1) return null;
    const size = Number.parseInt(rest.slice(at, line), 16);
    const next = line + 2 + size + 2;
    if (!(size >= 0) || rest.length < next) return null;
    if (size === 0) return { text, length: next };
    text += rest.slice(line + 2, line + 2 + size);
    at = next;
  }
}

export interface HttpReplyOptions {
  readonly status: number;
  readonly reason: string;
  readonly headers: readonly string[];
  /** null: a reply without body and length. */
  readonly body: string | null;
  readonly times?: number;
  readonly close: boolean;
}

export function httpReply({ status, reason, headers, body, times = 1, close }: HttpReplyOptions): Reply {
  const start = [`HTTP/1.1 ${status} ${reason}`, ...headers].join("\r\n");
  const head = (length: number) => start.replace("{length}", String(length)).concat("\r\n\r\n");
  return { head, body: body ?? "", tail: "", times, close };
}
