import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import { refusedWith } from "../../transports/limits.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { firstOf, isRefusal, type Status, statusOf } from "../shared/cgminer-replies.ts";

/** s between a command and its effect: the firmware takes a time, not a delay. */
export const notice = 5;

/**
 * Sets one option of the first module with `ascset`. Resolves with the rig's words (S119, or I118 with some).
 * Throws `control.absent` where the firmware has no such option, `rig.read-only` where this address may not write, and
 * `rig.refused` with the rig's words (E120). Source: A10 API manual; API of the Nano 3S.
 */
export async function ascset(
  rpc: RpcTransport,
  option: string,
  value: string | undefined,
  signal: AbortSignal,
): Promise<string> {
  const parameter = value === undefined ? `0,${option}` : `0,${option},${value}`;
  const status = statusOf((await rpc.send("ascset", parameter, signal)).value);
  if (status === null) throw new RigbridgeError("rig.garbled", `${rpc.at} answered "${option}" without a STATUS`);
  // A few refusals have the status of an information.
  if (isRefusal(status) || /\bnot in \(|parameter invalid|param(?:eter)? (?:error|wrong)/i.test(status.words)) {
    throw refusedOption(rpc.at, option, status);
  }
  return status.words;
}

function refusedOption(at: string, option: string, { code, words }: Status): RigbridgeError {
  const what = `${at} refused "${option}"`;
  if (/Unknown option/i.test(words)) return refusedWith("control.absent", what, words);
  if (code === 45 || /access denied/i.test(words)) return refusedWith("rig.read-only", what, words);
  if (/(?:username|userpass|passwd) err|auth failed|password invalid/i.test(words))
    return refusedWith("rig.login", what, words);
  return refusedWith("rig.refused", what, words);
}

/**
 * The options of `ascset` that the firmware lists; null where it has no such list.
 * Source: the reply of an Avalon Q, "ASC 0 set info: help|voltage|fan-spd|".
 */
export async function optionsOf(rpc: RpcTransport, signal: AbortSignal): Promise<ReadonlySet<string> | null> {
  const status = statusOf((await readable(rpc.send("ascset", "0,help", signal)))?.value);
  if (status === null || isRefusal(status)) return null;
  const listed = status.words.split("set info:").at(-1) ?? "";
  const options = listed.split("|").map((option) => option.trim().toLowerCase());
  return options.length < 2 ? null : new Set(options.filter((option) => /^[a-z0-9_-]{1,40}$/.test(option)));
}

/** undefined for an unreadable answer, as some firmware gives to unknown commands. */
export async function readable<T>(answer: Promise<T>): Promise<T | undefined> {
  try {
    return await answer;
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "rig.garbled") return undefined;
    throw error;
  }
}

/** Epoch seconds by the rig's own clock, which may count from its start; null where it is not reported. */
export function clockOf(value: unknown): number | null {
  const listed = isRecord(value) ? firstOf(value.STATUS) : undefined;
  const when: unknown = isRecord(listed) ? listed.When : undefined;
  return typeof when === "number" && Number.isSafeInteger(when) && when > 0 && when < 2 ** 40 ? when : null;
}
