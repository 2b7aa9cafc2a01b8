import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../../contract/record.ts";
import type { VnishWeb } from "./web.ts";

/** A section of VNish's settings: `miner` has `overclock`, `pools`, `cooling`. */
export type Section = Readonly<Record<string, unknown>>;

export async function minerSettings(web: VnishWeb, signal: AbortSignal): Promise<Section> {
  const { miner } = await web.getStrict("settings", signal);
  if (isRecord(miner)) return miner;
  throw new RigbridgeError("rig.garbled", `${web.at}: its settings have no part "miner"`);
}

/** When the rig applies stored settings: with a restart of mining now, or with the next one. */
export type Apply = "restart" | "later";

/**
 * Stores settings; missing ones stay unchanged. Mining is restarted if the rig requires it, but a stopped rig is not
 * started, and the rig is never rebooted, which is left to the owner.
 */
export async function store(
  web: VnishWeb,
  miner: Section,
  how: Apply,
  signal: AbortSignal,
  secrets: readonly string[] = [],
): Promise<string> {
  const result = await web.post("settings", { miner }, signal, { secrets });
  const reboot = result.boolean("reboot_required") === true ? "; they take effect after a reboot of the rig" : "";
  if (result.boolean("restart_required") !== true) return `VNish stored the settings${reboot}`;
  const state = await minerState(web, signal);
  if (how === "later" || state === "stopped" || state === "shutting-down") {
    return `VNish stored the settings; they take effect when mining starts next${reboot}`;
  }
  await web.post("mining/restart", undefined, signal).catch((error: unknown) => {
    if (!(error instanceof RigbridgeError)) throw error;
    throw new RigbridgeError(error.code, `The settings are stored, but mining was not restarted: ${error.message}`);
  });
  return `VNish stored the settings and restarts mining${reboot}`;
}

async function minerState(web: VnishWeb, signal: AbortSignal): Promise<unknown> {
  const { value } = await web.get("status", signal);
  return isRecord(value) ? value.miner_state : null;
}
