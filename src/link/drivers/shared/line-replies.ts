import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { Signs } from "../../driver.ts";
import type { Credentials } from "../../link.ts";
import { printable } from "../../tolerant-reader.ts";
import { refusedWith } from "../../transports/limits.ts";

/** The answer of a program to a line of JSON. */
export interface LineReply {
  readonly result: unknown;
  readonly error: { readonly code: number | null; readonly words: string } | null;
}

/** undefined for anything else. */
export function lineReplyOf(value: unknown): LineReply | undefined {
  if (!isRecord(value) || !("result" in value || "error" in value || "jsonrpc" in value)) return undefined;
  const { result = null, error } = value;
  if (error === null || error === undefined) return { result, error: null };
  const { code = null, message = error }: Record<string, unknown> = isRecord(error) ? error : {};
  const words = typeof message === "string" ? printable(message.slice(0, 1_000)).slice(0, 200) : "an error";
  return { result: null, error: { code: typeof code === "number" ? code : null, words: words || "an error" } };
}

/** The result. Throws `rig.refused` with the program's words when it is an error. */
export function acceptedLine(at: string, method: string, value: unknown): unknown {
  const reply = lineReplyOf(value);
  if (reply === undefined) throw new RigbridgeError("rig.garbled", `${at} answered "${method}" without a result`);
  if (reply.error !== null) throw refusedWith("rig.refused", `${at} refused "${method}"`, reply.error.words);
  return reply.result;
}

/** Whether to send a program a line of JSON: only if nothing but its web page has answered. */
export const mayAnswerLines = ({ root, port }: Signs): boolean =>
  port !== undefined &&
  (root === null || /miner/i.test(root.headers.server ?? "") || /"result"\s*:\s*\[/.test(root.body));

/** These programs have a password without a user name. A managed one gets its token as password. */
export const passwordOf = ({ password, token }: Credentials): string | undefined => password ?? token;

/** A pool's address as such programs write it, without the login in it. */
export function poolPartsOf(written: string): { readonly url: string; readonly worker: string } {
  const [, scheme = "stratum+tcp://", login = "", place = ""] =
    /^([a-z0-9+]{1,20}:\/\/)?(?:(.*)@)?(.*)$/i.exec(written) ?? [];
  const [user = ""] = login.split(":");
  const [host = "", ...path] = place.split("/");
  // ethminer writes the worker behind the address too.
  return {
    url: `${scheme}${host}`,
    worker: printable([decoded(user), ...path.filter((part) => part !== "")].join(".")),
  };
}

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
