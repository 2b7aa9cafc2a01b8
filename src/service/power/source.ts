import type { SourceSettings } from "../../config/loops.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { numberIn, type Quantity } from "../../link/quantity.ts";

export const roomTemperature: Quantity = { what: "a room temperature", units: ["°C", "C"], min: -40, max: 60 };
export const surplus: Quantity = { what: "a surplus", units: ["W"], min: -10_000_000, max: 10_000_000 };

/** ms for the whole answer, and bytes of it. */
export const sourceLimits = { answerMs: 10_000, bytes: 262_144 };

/**
 * The number at a web address: one request, no redirects. Throws `service.unreachable`, `service.refused` or
 * `service.garbled`, naming the host alone: a path may hold a key as well as the headers.
 */
export async function readSource(
  { url, path, headers }: SourceSettings & { readonly url: string },
  quantity: Quantity,
  closing: AbortSignal,
): Promise<number> {
  const at = new URL(url).host;
  const text = await textAt(url, headers, at, AbortSignal.any([closing, AbortSignal.timeout(sourceLimits.answerMs)]));
  const found = numberIn(text, path, quantity);
  if (typeof found === "string") throw new RigbridgeError("service.garbled", `${at} ${found}`);
  return found;
}

async function textAt(
  url: string,
  headers: Readonly<Record<string, string>>,
  at: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    const response = await fetch(url, {
      headers: { accept: "application/json, text/plain", ...headers },
      redirect: "manual",
      signal,
    });
    if (response.status === 200) return await bounded(response, at);
    await response.body?.cancel();
    const why = response.status >= 300 && response.status < 400 ? "; redirects are not followed" : "";
    throw new RigbridgeError("service.refused", `${at} answers ${response.status}${why}`);
  } catch (error) {
    if (error instanceof RigbridgeError) throw error;
    const isTimeout = error instanceof DOMException && error.name === "TimeoutError";
    // Without the cause: Node's message may quote the request.
    throw new RigbridgeError(
      "service.unreachable",
      isTimeout ? `${at} does not answer in time` : `${at} cannot be reached`,
    );
  }
}

async function bounded(response: Response, at: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > sourceLimits.bytes)
      throw new RigbridgeError("service.garbled", `${at} answers with more than ${sourceLimits.bytes / 1024} KB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}
