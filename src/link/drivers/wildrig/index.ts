import type { DeviceReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { total } from "../shared/figures.ts";
import { busOf, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/** WildRig Multi. Its API is off without --api-port and controls nothing. Source: readers in other managers. */
export const wildrig = readOnlyProgram({
  id: "wildrig",
  name: "WildRig Multi",
  evidence: { readings: "other source", controls: "other source" },
  ports: [],
  path: "/",
  // Old XMRigs have such a page, with their own name.
  isIts: (reply) => {
    const isXmrig = /^xmrig/i.test(reply.text("ua") ?? "") || reply.text("kind") === "proxy";
    return reply.object("hashrate").isList("threads") && !isXmrig;
  },
  report,
});

function report(reply: TolerantReader): ProgramReport {
  const [now, minute, quarter] = reply.object("hashrate").numbers("total");
  const connection = reply.object("connection");
  const shares = sharesOf(reply.object("results"));
  return {
    software: "WildRigMulti",
    make: "WildRig",
    version: reply.text("version"),
    hostname: reply.text("worker_id"),
    readings: {
      hashrate: now ?? minute ?? null,
      hashrateAverage: quarter ?? minute ?? null,
      algorithm: reply.text("algo"),
      uptime: reply.number("uptime"),
      shares,
    },
    devices: cardsOf(reply),
    pools: programPool({
      url: connection.text("pool", 255),
      worker: null,
      accepted: shares.accepted,
      rejected: shares.rejected,
    }),
    logInterval: 10,
  };
}

/** Newer versions list the shares of each card, older ones only the totals. */
function sharesOf(results: TolerantReader) {
  const good = results.integer("shares_good");
  const all = results.integer("shares_total");
  return {
    accepted: sumOf(results, "shares_accepted") ?? good,
    rejected: sumOf(results, "shares_rejected") ?? (good === null || all === null ? null : Math.max(all - good, 0)),
    hardwareErrors: sumOf(results, "shares_ignored"),
  };
}

function sumOf(results: TolerantReader, key: string): number | null {
  const row = results.row(key);
  return total(row.keys().map((position) => row.integer(position)));
}

/** Figures are in lists, in the order of the cards. Cards have no names here. */
function cardsOf(reply: TolerantReader): DeviceReading[] {
  const sensors = reply.object("hwmon");
  const results = reply.object("results");
  const bus = sensors.row("busID");
  const temperature = sensors.row("temp");
  const fan = sensors.row("fan");
  const power = sensors.row("power");
  const clock = sensors.row("cclk");
  const memoryClock = sensors.row("mclk");
  const accepted = results.row("shares_accepted");
  const rejected = results.row("shares_rejected");
  const ignored = results.row("shares_ignored");
  const rates = reply.object("hashrate").rows("threads");
  return rates.map((rate, position) => {
    const at = `${position}`;
    return gpuDevice({
      name: "GPU",
      hashrate: rate.number("0"),
      hashrateAverage: rate.number("2"),
      temperature: temperature.number(at, gpuRules.temperature),
      fanPercent: fan.number(at, gpuRules.fanPercent),
      power: power.number(at, gpuRules.power),
      clock: clock.number(at, gpuRules.megahertz),
      memoryClock: memoryClock.number(at, gpuRules.megahertz),
      accepted: accepted.integer(at),
      rejected: rejected.integer(at),
      hardwareErrors: ignored.integer(at),
      bus: busOf(bus, at),
    });
  });
}
