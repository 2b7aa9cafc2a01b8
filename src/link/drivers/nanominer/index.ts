import type { DeviceReading, PoolReading } from "../../driver.ts";
import { Notes, TolerantReader } from "../../tolerant-reader.ts";
import { unknownDevice } from "../shared/board-device.ts";
import { busOf, dualWork, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { firstTwo, type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/**
 * nanominer. Its web interface is on at port 9090 and only reads; one with a `webPassword` cannot be read. Source: the
 * maker's documents, and readers in other managers.
 */
export const nanominer = readOnlyProgram({
  id: "nanominer",
  name: "nanominer",
  evidence: { readings: "other source", controls: "vendor document" },
  ports: [9090],
  path: "/stats",
  isIts: (reply) => reply.isList("Algorithms") && reply.isList("Devices"),
  report,
});

/** An algorithm with its name, which is its key. */
interface Algorithm {
  readonly name: string;
  readonly reply: TolerantReader;
}

function report(reply: TolerantReader): ProgramReport {
  const [first, second] = firstTwo(named(reply.list("Algorithms", 16)), reply.notes);
  return {
    software: "NanoMiner",
    make: "nanominer",
    version: null,
    readings: {
      ...(first === undefined ? {} : workOf(first)),
      dual: second === undefined ? null : dualWork(workOf(second)),
      uptime: reply.number("WorkTime"),
    },
    devices: named(reply.list("Devices")).map((device) => deviceOf(device, [first, second])),
    pools: [...(first === undefined ? [] : poolOf(first)), ...(second === undefined ? [] : poolOf(second, true))],
  };
}

/** The members of the objects in a list, under their keys. */
const named = (list: readonly TolerantReader[]): Algorithm[] =>
  list.flatMap((each) =>
    each
      .keys()
      .slice(0, 256)
      .map((name) => ({ name, reply: each.object(name) })),
  );

function workOf({ name, reply }: Algorithm) {
  const total = reply.object("Total");
  return {
    algorithm: nameOf(name),
    hashrate: total.number("Hashrate"),
    shares: { accepted: total.integer("Accepted"), rejected: total.integer("Denied"), hardwareErrors: null },
  };
}

/** A key as a text. */
const nameOf = (key: string): string | null => new TolerantReader({ key }, new Notes(), "").text("key", 100);

/** "GPU 0" or "CPU", with its share of the first algorithm that it mines. */
function deviceOf({ name, reply }: Algorithm, algorithms: readonly (Algorithm | undefined)[]): DeviceReading {
  const work = algorithms.find((algorithm) => algorithm?.reply.has(name))?.reply.object(name);
  const known = {
    name: reply.text("Name") ?? nameOf(name) ?? "GPU",
    hashrate: work?.number("Hashrate") ?? null,
    temperature: reply.number("Temperature", gpuRules.temperature),
    power: reply.number("Power", gpuRules.power),
    accepted: work?.integer("Accepted") ?? null,
    rejected: work?.integer("Denied") ?? null,
  };
  if (/^CPU/i.test(name)) return { ...unknownDevice, ...known, kind: "cpu" };
  return gpuDevice({ ...known, fanPercent: reply.number("Fan", gpuRules.fanPercent), bus: busOf(reply, "Pci") });
}

function poolOf({ reply }: Algorithm, isSecond = false): PoolReading[] {
  const total = reply.object("Total");
  return programPool({
    second: isSecond,
    url: reply.text("CurrentPool", 255),
    worker: null,
    accepted: total.integer("Accepted"),
    rejected: total.integer("Denied"),
  });
}
