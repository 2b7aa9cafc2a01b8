import type { TolerantReader } from "../../tolerant-reader.ts";
import { uptimeSince } from "../shared/figures.ts";
import { cardReader, dualWork } from "../shared/gpu-device.ts";
import { type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/** NBMiner's HTTP API (--api), which is read only. Source: NBMiner's documents, 42.3. */
export const nbminer = readOnlyProgram({
  id: "nbminer",
  name: "NBMiner",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [22_333],
  path: "/api/v1/status",
  isIts: (status) => status.object("miner").has("total_hashrate_raw"),
  report,
});

/** Each raw rate has a text beside it, such as "61.02 M"; -1 is an unknown figure. */
function report(status: TolerantReader, now: number): ProgramReport {
  const miner = status.object("miner");
  const stratum = status.object("stratum");
  const isDual = stratum.boolean("dual_mine") === true;
  return {
    software: "NBMiner",
    make: "NBMiner",
    version: status.text("version"),
    readings: {
      hashrate: miner.number("total_hashrate_raw"),
      algorithm: algorithmsOf(stratum)[0] ?? null,
      dual: isDual
        ? dualWork({
            algorithm: algorithmsOf(stratum)[1] ?? null,
            hashrate: miner.number("total_hashrate2_raw"),
            shares: sharesOf(stratum, "2"),
          })
        : null,
      power: miner.number("total_power_consume", { absent: 0 }),
      uptime: uptimeSince(status.number("start_time", { absent: 0 }), now),
      shares: sharesOf(stratum, ""),
    },
    devices: miner.list("devices", 64).map(card),
    pools: [...poolOf(stratum, ""), ...(isDual ? poolOf(stratum, "2") : [])],
  };
}

/** "ethash", or "tensority_ethash" for two at once. */
function algorithmsOf(stratum: TolerantReader): string[] {
  const text = stratum.text("algorithm") ?? "";
  const [, first, second] = /^(.+)_(ethash|etchash)$/.exec(text) ?? [];
  if (stratum.boolean("dual_mine") === true && first !== undefined && second !== undefined) return [first, second];
  return text === "" ? [] : [text];
}

const sharesOf = (stratum: TolerantReader, which: "" | "2") => ({
  accepted: stratum.integer(`accepted_shares${which}`),
  rejected: stratum.integer(`rejected_shares${which}`),
  hardwareErrors: stratum.integer(`invalid_shares${which}`),
});

const poolOf = (stratum: TolerantReader, which: "" | "2") =>
  programPool({
    second: which === "2",
    url: stratum.text(`url${which}`, 255),
    tls: stratum.boolean(`use_ssl${which}`),
    worker: stratum.text(`user${which}`, 255),
    accepted: stratum.integer(`accepted_shares${which}`),
    rejected: stratum.integer(`rejected_shares${which}`),
  });

const card = cardReader({
  name: "info",
  hashrate: "hashrate_raw",
  temperature: "temperature",
  memoryTemperature: ["memTemperature", { absent: -1 }],
  fanPercent: "fan",
  power: "power",
  clock: "core_clock",
  memoryClock: "mem_clock",
  activity: "core_utilization",
  accepted: "accepted_shares",
  rejected: "rejected_shares",
  hardwareErrors: "invalid_shares",
  bus: "pci_bus_id",
});
