import type { SourceSettings } from "../config/loops.ts";
import { RigbridgeError } from "../contract/problems.ts";

/** What a source counts; a number may have its unit behind it. */
export interface Quantity {
  readonly what: string;
  readonly units: readonly string[];
  readonly min: number;
  readonly max: number;
}

export const roomTemperature: Quantity = { what: "a room temperature", units: ["°C", "C"], min: -40, max: 60 };
export const surplus: Quantity = { what: "a surplus", units: ["W"], min: -10_000_000, max: 10_000_000 };

/** ms for the whole answer, and bytes of it. */
const limits = { answer: 10_000, bytes: 262_144 };

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
  const text = await textAt(url, headers, at, AbortSignal.any([closing, AbortSignal.timeout(limits.answer)]));
  const found = numberIn(text, path, quantity);
  if (typeof found === "string") throw new RigbridgeError("service.garbled", `${at} ${found}`);
  return found;
}

/** The number in an answer; words for what is wrong with it. */
export function numberIn(text: string, path: string | undefined, { what, units, min, max }: Quantity): number | string {
  const json = parsed(text);
  if (path !== undefined && json === undefined) return "answers with something else than JSON";
  const value = path === undefined ? (json ?? text) : at(json, path.split("."));
  if (value === undefined) return `has nothing at "${path}" in its answer`;
  if (typeof value === "object" && path === undefined)
    return "answers with JSON; say with path where the number stands";
  const number = typeof value === "number" ? value : typeof value === "string" ? numberOf(value, units) : Number.NaN;
  if (!Number.isFinite(number)) return "answers with something else than a number";
  return number < min || number > max ? `answers with ${number}, which is not ${what} in ${units[0]}` : number;
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
    const late = error instanceof DOMException && error.name === "TimeoutError";
    // Without the cause: what Node says of a request may quote it.
    throw new RigbridgeError("service.unreachable", late ? `${at} does not answer in time` : `${at} cannot be reached`);
  }
}

async function bounded(response: Response, at: string): Promise<string> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.length;
    if (bytes > limits.bytes)
      throw new RigbridgeError("service.garbled", `${at} answers with more than ${limits.bytes / 1024} KB`);
    chunks.push(chunk);
  }
  return Buffer.concat(chunks).toString();
}

function parsed(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** What stands at a path of keys and places in lists. */
function at(json: unknown, [step, ...rest]: readonly string[]): unknown {
  if (step === undefined) return json;
  if (typeof json !== "object" || json === null || !Object.prototype.propertyIsEnumerable.call(json, step))
    return undefined;
  return at(Reflect.get(json, step), rest);
}

/** Decimal point, an exponent as JSON has it, one of the units behind it. NaN for all else. */
function numberOf(text: string, units: readonly string[]): number {
  const [, digits = "", unit = ""] =
    /^\s*([+-]?\d{1,15}(?:\.\d{1,15})?(?:e[+-]?\d{1,3})?)\s*(\S*)\s*$/i.exec(text) ?? [];
  return digits === "" || (unit !== "" && !units.includes(unit)) ? Number.NaN : Number(digits);
}
