import type { IncomingMessage } from "node:http";
import { RigbridgeError } from "../contract/problems.ts";

/** Headers that may be given only once; Node would use the first, or join them. */
const single: ReadonlySet<string> = new Set(["host", "origin", "sec-fetch-site", "x-api-key", "content-type"]);

/**
 * Refuses requests that a proxy in front of this server could parse differently, in addition to what Node refuses.
 * Throws `input.invalid`.
 */
export function checkFraming({ httpVersion, rawHeaders, headers }: IncomingMessage): void {
  const coding = headers["transfer-encoding"];
  if (httpVersion !== "1.1" && httpVersion !== "1.0") throw bad("This is not HTTP/1.1");
  if (coding !== undefined && httpVersion === "1.0") throw bad("HTTP/1.0 does not support Transfer-Encoding");
  if (coding !== undefined && coding.toLowerCase() !== "chunked")
    throw bad("The only supported Transfer-Encoding is chunked");
  const seen = new Set<string>();
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? "";
    if (!single.has(name)) continue;
    if (seen.has(name)) throw bad(`The header ${name} is given more than once`);
    seen.add(name);
  }
}

const bad = (message: string): RigbridgeError => new RigbridgeError("input.invalid", message);
