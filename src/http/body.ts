import type { IncomingMessage, ServerResponse } from "node:http";
import { RigbridgeError } from "../contract/problems.ts";
import { parseBody } from "./json.ts";

export interface BodyLimits {
  /** Bytes. */
  readonly body: number;
  /** Chunks, or packets: a body of 1 MB in chunks of a byte takes seconds of CPU. */
  readonly pieces: number;
  /** Levels of nesting. */
  readonly depth: number;
  /** Characters of one string; by default those that any other operation needs. */
  readonly characters?: number;
}

/** Called for every piece; throws if the client exceeds its write limit. */
type Charge = (bytes: number) => void;

/** The JSON body of the response's request. Throws `body.not-json`, `body.too-large`, and `input.invalid` if it is malformed. */
export async function readJson(response: ServerResponse, limits: BodyLimits, pay: Charge): Promise<unknown> {
  const request = response.req;
  const type = request.headers["content-type"];
  if (type !== undefined && !isJson(type)) throw notJson();
  refuseCompressed(request);
  const bytes = await readBody(response, limits, pay);
  if (bytes.length === 0)
    throw new RigbridgeError("input.invalid", "The body is empty; this operation takes a JSON object");
  if (type === undefined) throw notJson();
  return parseBody(utf8(bytes), limits.depth, limits.characters);
}

/** Whether a request says that its body is CSV. */
export const isCsv = ({ headers }: IncomingMessage): boolean =>
  /^\s*text\/csv\s*(;|$)/i.test(headers["content-type"] ?? "");

/** The CSV body of the response's request. Throws `body.too-large`, `body.not-json` if it is compressed, `input.invalid`. */
export async function readCsv(response: ServerResponse, limits: BodyLimits, pay: Charge): Promise<string> {
  refuseCompressed(response.req);
  return utf8(await readBody(response, limits, pay));
}

/** The body as JSON, or as text if it is not JSON. Throws `body.too-large`. */
export async function readJsonOrText(response: ServerResponse, limits: BodyLimits, pay: Charge): Promise<unknown> {
  const bytes = await readBody(response, limits, pay);
  const text = utf8(bytes);
  try {
    return parseBody(text, limits.depth);
  } catch {
    return text;
  }
}

/** Discards the body of an operation without one: clients do send such bodies (`curl -d POST`). */
export async function skipBody(response: ServerResponse, limits: BodyLimits, pay: Charge): Promise<void> {
  await readBody(response, limits, pay);
}

/**
 * How much of a body is unread when the answer is ready: `none`; `little`, announced and untouched, which Node discards
 * to keep the connection; or `endless`: the connection must end, or the rest would be parsed as the next request.
 */
export function unreadBody(request: IncomingMessage, limits: BodyLimits): "none" | "little" | "endless" {
  if (!hasBody(request) || request.complete) return "none";
  // A client that waits for 100 Continue and gets an answer instead does not send its announced body.
  const announced = request.headers.expect === undefined ? Number(request.headers["content-length"]) : Number.NaN;
  const untouched = request.readableFlowing === null;
  return untouched && announced <= limits.body ? "little" : "endless";
}

export const hasBody = (request: IncomingMessage): boolean =>
  request.headers["transfer-encoding"] !== undefined || (request.headers["content-length"] ?? "0") !== "0";

const notJson = () =>
  new RigbridgeError("body.not-json", "The body must be JSON in UTF-8, with Content-Type: application/json");

const isJson = (type: string): boolean =>
  /^\s*application\/([a-z0-9.!#$&^_-]+\+)?json\s*(;|$)/i.test(type) &&
  /^("?)(utf-?8|us-ascii)\1$/i.test(/;\s*charset\s*=\s*([^;\s]*)/i.exec(type)?.[1] ?? "utf-8");

const inTooManyPieces = (most: number) =>
  new RigbridgeError("body.too-large", `The body comes in more than ${most} pieces; send it in larger chunks`);

function refuseCompressed({ headers }: IncomingMessage): void {
  if (!/^(identity)?$/i.test(headers["content-encoding"] ?? ""))
    throw new RigbridgeError("body.not-json", "Send the body uncompressed");
}

function readBody(response: ServerResponse, limits: BodyLimits, pay: Charge): Promise<Buffer> {
  const request = response.req;
  if (!hasBody(request)) return Promise.resolve(Buffer.alloc(0));
  const tooLarge = () => new RigbridgeError("body.too-large", `The body is larger than ${limits.body} bytes`);
  if (Number(request.headers["content-length"] ?? 0) > limits.body) return Promise.reject(tooLarge());
  if (/100-continue/i.test(request.headers.expect ?? "")) response.writeContinue();
  return new Promise((resolve, reject) => {
    const chunks: Buffer[] = [];
    let length = 0;
    const onData = (chunk: Buffer) => {
      length += chunk.length;
      chunks.push(chunk);
      try {
        if (length > limits.body) throw tooLarge();
        if (chunks.length > limits.pieces) throw inTooManyPieces(limits.pieces);
        pay(chunk.length);
      } catch (error) {
        request.off("data", onData).pause();
        reject(error);
      }
    };
    const brokenOff = () => reject(new RigbridgeError("input.invalid", "The body ended too early"));
    request
      .on("data", onData)
      .once("end", () => resolve(Buffer.concat(chunks)))
      .once("error", brokenOff)
      .once("close", brokenOff);
  });
}

function utf8(bytes: Buffer): string {
  try {
    return new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    throw new RigbridgeError("input.invalid", "The body is not UTF-8");
  }
}
