import type { ControlKey } from "../../../contract/readings.ts";
import type { MinerDetail } from "../../../contract/resources.ts";
import type { Messages } from "../../../messages/messages.ts";
import { controlsOf } from "./control-command.ts";

/** A remedy for a rig that does not hash: a command, a section of its page, or another read. Null: waiting. */
export type Remedy =
  | { readonly control: Extract<ControlKey, "mining" | "restart" | "reboot"> }
  | { readonly tab: "settings" | "pools" }
  | { readonly read: true }
  | null;

export interface Help {
  readonly why: keyof Messages["help"]["why"];
  readonly remedy: Remedy;
}

/** The most likely remedy; null for a rig that hashes or is about to. */
export function helpFor(miner: MinerDetail): Help | null {
  const { statusInfo, readings, power } = miner;
  const status = statusInfo.statusDisplay;
  if (status === "Mining" || status === "Starting") return null;
  if (status === "Disabled") return { why: "disabled", remedy: { tab: "settings" } };
  const code = readings.reason?.code;
  if (code === "login") return { why: "login", remedy: { tab: "settings" } };
  if (code === "no-power") return { why: "noPower", remedy: commandFor(miner, "mining") };
  if (status === "Disconnected" && code !== "program") return { why: "away", remedy: { read: true } };
  if (status === "Stopped" && code !== "user" && power.heldBy !== null)
    return { why: "held", remedy: commandFor(miner, "mining") };
  switch (code) {
    case "hot":
    case "cooling":
    case "warming":
    case "cold":
    case "tuning":
    case "updating":
    case "power-limit":
      return { why: "waits", remedy: null };
    case "pools":
    case "network":
      return { why: "pools", remedy: { tab: "pools" } };
    case "licence":
      return { why: "licence", remedy: null };
    case "program":
      return { why: "program", remedy: commandFor(miner, "restart", "reboot") };
    case "user":
      return { why: "stopped", remedy: commandFor(miner, "mining") };
    case "hardware":
      return { why: "broken", remedy: commandFor(miner, "reboot", "restart") };
    default:
      return status === "Stopped"
        ? { why: "stopped", remedy: commandFor(miner, "mining") }
        : { why: "broken", remedy: commandFor(miner, "restart", "reboot") };
  }
}

type Key = Extract<Remedy, { control: unknown }>["control"];

/** The first of these controls that the rig has. */
function commandFor(miner: MinerDetail, ...wanted: readonly Key[]): Remedy {
  const keys = controlsOf(miner).map(({ key }) => key);
  const control = wanted.find((each) => keys.includes(each));
  return control === undefined ? null : { control };
}
