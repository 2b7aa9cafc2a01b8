import { RigbridgeError } from "../../../contract/problems.ts";
import { isRecord } from "../../tolerant-reader.ts";
import type { VnishWeb } from "./web.ts";

/** What VNish keeps, as it says it: `miner` has `overclock`, `pools`, `cooling`. */
export type Section = Readonly<Record<string, unknown>>;

export async function minerSettings(web: VnishWeb, signal: AbortSignal): Promise<Section> {
  const { miner } = await web.getStrict("settings", signal);
  if (isRecord(miner)) return miner;
  throw new RigbridgeError("rig.garbled", `${web.at}: its settings have no part "miner"`);
}

/** How the rig takes up what was stored: by a restart of mining that we order, or whenever it restarts next. */
export type TakenUp = "restart" | "later";

/**
 * Stores settings; what is left out stays. Where the rig wants mining restarted for them that is done, but a rig that
 * is stopped is not started by it, and it is never rebooted: that is the owner's to say.
 */
export async function store(
  web: VnishWeb,
  miner: Section,
  how: TakenUp,
  signal: AbortSignal,
  secrets: readonly string[] = [],
): Promise<string> {
  const result = await web.post("settings", { miner }, signal, { secrets });
  const reboot = result.boolean("reboot_required") === true ? "; the rig wants a reboot to take it up" : "";
  if (result.boolean("restart_required") !== true) return `VNish stored the settings${reboot}`;
  const state = await minerState(web, signal);
  if (how === "later" || state === "stopped" || state === "shutting-down") {
    return `VNish stored the settings, and takes them up when mining starts next${reboot}`;
  }
  await web.post("mining/restart", undefined, signal).catch((error: unknown) => {
    if (!(error instanceof RigbridgeError)) throw error;
    throw new RigbridgeError(error.code, `The settings are stored, but mining was not restarted: ${error.message}`);
  });
  return `VNish stored the settings, and restarts mining${reboot}`;
}

async function minerState(web: VnishWeb, signal: AbortSignal): Promise<unknown> {
  const { value } = await web.get("status", signal);
  return isRecord(value) ? value.miner_state : null;
}
