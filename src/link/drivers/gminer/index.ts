import type { TolerantReader } from "../../tolerant-reader.ts";
import { total } from "../shared/figures.ts";
import { cardReader, dualWork } from "../shared/gpu-device.ts";
import { type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/** GMiner's HTTP API (--api), which is read only. Source: GMiner's documents, 3.44. */
export const gminer = readOnlyProgram({
  id: "gminer",
  name: "GMiner",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [],
  path: "/stat",
  isIts: (stat) => name.test(stat.text("miner") ?? ""),
  report,
});

const name = /^gminer\b\s*v?/i;

/** Rates are in H/s, Sol/s or G/s, depending on `speed_unit`. The fields of the second algorithm end with 2. */
function report(stat: TolerantReader): ProgramReport {
  const devices = stat.list("devices", 64);
  const [algorithm, second] = (stat.text("algorithm") ?? "").split("+").map((each) => each.trim());
  const isDual = second !== undefined || stat.has("total_accepted_shares2");
  const speeds2 = devices.map((device) => device.number("speed2"));
  return {
    software: "GMiner",
    make: "GMiner",
    version: stat.text("miner")?.replace(name, "") || null,
    readings: {
      algorithm: algorithm || null,
      dual: isDual
        ? dualWork({
            algorithm: second ?? stat.text("algorithm2"),
            hashrate: total(speeds2),
            shares: sharesOf(stat, "2"),
          })
        : null,
      uptime: stat.number("uptime"),
      shares: sharesOf(stat, ""),
    },
    devices: devices.map(card),
    pools: [...poolOf(stat, ""), ...(isDual ? poolOf(stat, "2") : [])],
  };
}

const sharesOf = (stat: TolerantReader, which: "" | "2") => ({
  accepted: stat.integer(`total_accepted_shares${which}`),
  rejected: stat.integer(`total_rejected_shares${which}`),
  hardwareErrors: stat.integer(`total_invalid_shares${which}`),
});

const poolOf = (stat: TolerantReader, which: "" | "2") =>
  programPool({
    second: which === "2",
    url: stat.text(`server${which}`, 255),
    worker: stat.text(`user${which}`, 255),
    accepted: stat.integer(`total_accepted_shares${which}`),
    rejected: stat.integer(`total_rejected_shares${which}`),
    stale: stat.integer(`total_stale_shares${which}`),
  });

const card = cardReader({
  name: "name",
  hashrate: "speed",
  temperature: "temperature",
  memoryTemperature: "memory_temperature",
  fanPercent: "fan",
  power: "power_usage",
  clock: "core_clock",
  memoryClock: "memory_clock",
  accepted: "accepted_shares",
  rejected: "rejected_shares",
  hardwareErrors: "invalid_shares",
  bus: "bus_id",
});
