import { asicModel } from "../../../catalogue/asic-models.ts";
import type { Identity } from "../../../contract/readings.ts";
import type { Reading } from "../../driver.ts";
import { unknownIdentity } from "../../identity.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import type { RpcTransport } from "../../transports/rpc.ts";
import { readingsOf, refusedSummary, snapshotOf, standsInForSummary } from "../cgminer/readings.ts";
import { accepted, isRefused } from "../shared/cgminer-replies.ts";
import { total } from "../shared/figures.ts";
import { typeOf } from "./readings.ts";

/** From the first record of `stats` or `version`. */
export const identityFrom = (answer: unknown, section: "STATS" | "VERSION"): Partial<Identity> | undefined =>
  typeOf(new TolerantReader(answer, new Notes(), "").list(section)[0]?.text("Type") ?? null) ?? undefined;

/**
 * Reads VNish over the RPC of stock firmware, for rigs whose web API does not answer. Newer firmware lacks some of its
 * commands. The RPC controls nothing.
 */
export async function readByRpc(rpc: RpcTransport, signal: AbortSignal): Promise<Reading> {
  const notes = new Notes();
  notes.add("its web API does not answer, so it was read over RPC, which has no controls");
  const ask = async (command: string): Promise<unknown> => {
    const { value, notes: repairs } = await rpc.send(command, undefined, signal);
    notes.addAll(repairs);
    return value;
  };
  const summary = await ask("summary");
  const stats = await ask("stats");
  if (isRefused(summary) && standsInForSummary(stats)) notes.add(refusedSummary);
  else accepted(rpc.at, "summary", summary);
  const snapshot = snapshotOf({ summary, stats, pools: await ask("pools"), devs: null }, notes, {
    make: "VNish",
    model: null,
  });
  const chains =
    new TolerantReader(stats, new Notes(), "").list("STATS")[1] ?? new TolerantReader(undefined, notes, "");
  const power = consumption(chains);
  const state = chains.text("state");
  const readings = readingsOf(snapshot);
  const identity = { ...unknownIdentity, make: "VNish", ...identityFrom(stats, "STATS") };
  return {
    identity,
    readings: {
      ...readings,
      algorithm: asicModel(identity.make, identity.model)?.algorithm ?? null,
      power: readings.power ?? power,
      powerSource: (readings.power ?? power) === null ? null : "reported",
      uptime: chains.number("Elapsed") ?? readings.uptime,
      mining: state === null ? readings.mining : state === "mining" || state === "auto-tuning",
      notes: notes.list(),
    },
    pools: snapshot.pools,
    devices: snapshot.devices,
    controls: [],
    poolActions: [],
    software: null,
    logInterval: snapshot.rates.seconds,
    workUtility: snapshot.summary.number("Work Utility"),
  };
}

/** W of all chains; 0 means not measured. */
function consumption(chains: TolerantReader): number | null {
  const keys = chains.keys().filter((key) => /^chain_consumption\d{1,2}$/.test(key));
  return total(keys.map((key) => chains.number(key, { absent: 0 })));
}
