import type { DeviceReading, PoolReading } from "../../driver.ts";
import type { TolerantReader } from "../../tolerant-reader.ts";
import { busOf, type CardFields, cardFigures, dualWork, gpuDevice } from "../shared/gpu-device.ts";
import { loginOf, type ProgramReport, programPool, readOnlyProgram } from "../shared/program.ts";

/** Rigel's HTTP API (--api-bind), which is read only. Source: Rigel's documents, 1.23. */
export const rigel = readOnlyProgram({
  id: "rigel",
  name: "Rigel",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [],
  path: "/stat",
  isIts: (stat) => /^rigel\b/i.test(stat.text("name") ?? ""),
  report,
  // The passwords of its pools.
  isSecret: true,
});

/** Figures are grouped by the name of their algorithm; `algorithm` joins the names: "autolykos2+sha512256d". */
function report(stat: TolerantReader): ProgramReport {
  const [first, second] = (stat.text("algorithm") ?? "").split("+").filter((each) => each !== "");
  return {
    software: "RigelMiner",
    make: "Rigel",
    version: stat.text("version"),
    readings: {
      algorithm: first ?? null,
      ...(first === undefined ? {} : { hashrate: rateOf(stat, first), shares: sharesOf(stat, first) }),
      dual:
        second === undefined
          ? null
          : dualWork({ algorithm: second, hashrate: rateOf(stat, second), shares: sharesOf(stat, second) }),
      power: stat.number("power_usage", { absent: 0 }),
      uptime: stat.number("uptime"),
    },
    devices: stat
      .list("devices", 64)
      .filter((device) => device.boolean("selected") !== false)
      .map((device, position) => card(device, position, first)),
    pools: [...poolsOf(stat, first, false), ...poolsOf(stat, second, true)].map((pool, index) => ({ ...pool, index })),
  };
}

const rateOf = (stat: TolerantReader, algorithm: string): number | null => stat.object("hashrate").number(algorithm);

function sharesOf(stat: TolerantReader, algorithm: string) {
  const solutions = stat.object("solution_stat").object(algorithm);
  return {
    accepted: solutions.integer("accepted"),
    rejected: solutions.integer("rejected"),
    hardwareErrors: solutions.integer("invalid"),
  };
}

/** The first connected pool of an algorithm is in use; the passwords are never read. */
function poolsOf(stat: TolerantReader, algorithm: string | undefined, second: boolean): PoolReading[] {
  if (algorithm === undefined) return [];
  const { accepted, rejected } = sharesOf(stat, algorithm);
  const pools = stat.object("pools").list(algorithm, 16);
  const inUse = pools.find((pool) => !isDead(pool));
  return pools.flatMap((pool, priority) => {
    const at = pool.object("connection_details");
    const [host, port] = [at.text("hostname", 200), at.integer("port", { min: 1, max: 65_535 })];
    return programPool({
      url: host === null || port === null ? null : `${host}:${port}`,
      tls: at.boolean("ssl"),
      worker: loginOf(at.text("username", 255), at.text("worker", 255)),
      priority,
      status: isDead(pool) ? "dead" : "enabled",
      ...(pool === inUse ? { second, accepted, rejected } : { active: false }),
    });
  });
}

const isDead = (pool: TolerantReader): boolean => /disconnect|fail|error|dead/i.test(pool.text("state") ?? "");

const health = {
  temperature: "core_temperature",
  memoryTemperature: "memory_temperature",
  fanPercent: "fan_speed",
  power: "power_usage",
  clock: "core_clock",
  memoryClock: "memory_clock",
  activity: "core_utilization",
} satisfies CardFields;

function card(device: TolerantReader, position: number, algorithm: string | undefined): DeviceReading {
  return gpuDevice({
    name: device.text("name") ?? `GPU ${position}`,
    status: /lost|crash|fail|error/i.test(device.text("state") ?? "") ? "dead" : "enabled",
    ...(algorithm === undefined ? {} : { hashrate: rateOf(device, algorithm), ...sharesOf(device, algorithm) }),
    ...cardFigures(device.object("monitoring_info"), health),
    bus: busOf(device, "pci_address"),
  });
}
