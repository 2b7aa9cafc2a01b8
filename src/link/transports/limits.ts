import { type ProblemCode, RigbridgeError } from "../../contract/problems.ts";
import { detail } from "../../messages/detail.ts";

/** What one exchange with a device may cost. */
export const limits = {
  /** Of one reply; a farm's longest real ones stay below 100 KB. */
  replyBytes: 1_048_576,
  /** Of the status line and headers of a reply over HTTP. */
  headBytes: 16_384,
  /** Of arrays and objects in a reply; real ones stay below 8. */
  depth: 32,
  /** ms to connect. */
  connect: 2_000,
  /** ms without a byte after which a reply without an end mark counts as complete. */
  quiet: 250,
} as const;

/** The error for a failed socket. */
export function socketError(at: string, error: NodeJS.ErrnoException): RigbridgeError {
  const { code = "" } = error;
  const known = causes.find((each) => each === code);
  const why = known === undefined && code !== "" ? `${at}: ${code}` : detail(`link.${known ?? "failed"}`, { at });
  return new RigbridgeError("rig.unreachable", why, { cause: error });
}

/** Whether the device has cut the connection. */
export const isReset = ({ code }: NodeJS.ErrnoException): boolean => code === "ECONNRESET" || code === "EPIPE";

const causes = [
  ...(["ECONNREFUSED", "EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ETIMEDOUT"] as const),
  ...(["ENOTFOUND", "EAI_AGAIN", "EFORBIDDEN", "ECONNRESET", "EPIPE"] as const),
];

export const connectTimeout = (at: string): RigbridgeError =>
  new RigbridgeError("rig.unreachable", detail("link.connectTimeout", { at, seconds: limits.connect / 1000 }));

/** The deadline passed, or the caller aborted; without a signal, the transport was closed. */
export function cutShort(at: string, signal: AbortSignal | null, received: number): RigbridgeError {
  const byDeadline = signal?.reason instanceof DOMException && signal.reason.name === "TimeoutError";
  if (byDeadline && received > 0)
    return new RigbridgeError("rig.timeout", detail("link.lateAfter", { at, bytes: received }));
  if (byDeadline) return new RigbridgeError("rig.timeout", detail("link.late", { at }));
  const why = detail("link.cancelled", { at });
  return new RigbridgeError("rig.timeout", received > 0 ? `${why.text} (${received} bytes received)` : why);
}

export const garbled = (at: string, problem: string): RigbridgeError =>
  new RigbridgeError("rig.garbled", `${at}: ${problem}`);

/** The same, quoting the beginning of a text that is not a rig's answer. */
export const garbledText = (at: string, problem: string, text: string): RigbridgeError =>
  new RigbridgeError("rig.garbled", `${at}: ${problem}; ${beginning(text)}`, { unquoted: `${at}: ${problem}` });

/** A refusal in the device's own words. */
export const refusedWith = (code: ProblemCode, what: string, words: string, advice = ""): RigbridgeError =>
  new RigbridgeError(code, `${what}: ${words}${advice}`, { unquoted: `${what}${advice}` });

export const tooLarge = (at: string): RigbridgeError =>
  garbled(at, `the reply is larger than ${limits.replyBytes / 1024} KB`);

/** The beginning of something unexpected, in one line. */
function beginning(text: string): string {
  const line = text
    .slice(0, 48)
    .replace(/[^\x20-\x7e]+/g, "?")
    .trim();
  return `it begins with ${JSON.stringify(line)}`;
}
