import type { SourceSettings } from "../../config/loops.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { numberIn, type Quantity } from "../../link/quantity.ts";
import { webText } from "../web-text.ts";

export const roomTemperature: Quantity = { what: "a room temperature", units: ["°C", "C"], min: -40, max: 60 };
export const surplus: Quantity = { what: "a surplus", units: ["W"], min: -10_000_000, max: 10_000_000 };

/** ms for the whole answer, and bytes of it. */
export const sourceLimits = { answerMs: 10_000, bytes: 262_144 };

/**
 * The number at a web address: one request, no redirects. Throws `service.unreachable`, `service.refused` or
 * `service.garbled`, naming only the host: both path and headers may hold a key.
 */
export async function readSource(
  { url, path, headers }: SourceSettings & { readonly url: string },
  quantity: Quantity,
  closing: AbortSignal,
): Promise<number> {
  const at = new URL(url).host;
  const answer = await webText({ url, headers }, sourceLimits, closing);
  if (answer.kind !== "text") throw new RigbridgeError("service.refused", `${at} answers without content`);
  const found = numberIn(answer.text, path, quantity);
  if (typeof found === "string") throw new RigbridgeError("service.garbled", `${at} ${found}`);
  return found;
}
