import type { IncomingMessage } from "node:http";
import { RigbridgeError } from "../contract/problems.ts";

/** Headers that decide something here and can only be given once; Node would take the first, or join them. */
const single: ReadonlySet<string> = new Set(["host", "origin", "sec-fetch-site", "x-api-key", "content-type"]);

/**
 * Refuses what a proxy before this server could read in another way than it does, beside what Node's parser refuses.
 * Throws `input.invalid`.
 */
export function checkFraming({ httpVersion, rawHeaders, headers }: IncomingMessage): void {
  const coding = headers["transfer-encoding"];
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw bad("This is not HTTP/1.1");
  if (coding !== undefined && httpVersion === "1.0") throw bad("HTTP/1.0 knows no Transfer-Encoding");
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw bad("Of transfer encodings only chunked is taken");
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!single.has(name)) continue;
    if (seen.has(name)) throw bad(`The header ${name} is given more than once`);
    seen.add(name);
  }
}

const bad = (message: string): RigbridgeError => new RigbridgeError("input.invalid", message);
