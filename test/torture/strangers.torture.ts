import { spawn } from "node:child_process";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { z } from "zod";
import { MinerDetail } from "../../src/contract/resources.ts";
import { type RigSpec, startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { Verdict } from "./measure.ts";
import { startProcess } from "./process.ts";
import { say } from "./say.ts";

/**
 * Two other readers of miners, asic-rs and pyasic from PyPI, read our virtual rigs: they recognise every family that they
 * know, and take from it what we take. A figure that a reader cannot have, by no fault of the virtual rig, stands below
 * with its reason.
 */
const rigs: readonly { readonly name: string; readonly spec: RigSpec }[] = [
  { name: "antminer", spec: { kind: "antminer" } },
  { name: "avalon", spec: { kind: "avalon" } },
  { name: "axeos", spec: { kind: "axeos" } },
  { name: "boser", spec: { kind: "braiins", password: "root" } },
  { name: "bosminer", spec: { kind: "braiins", generation: "bosminer" } },
  { name: "luxos", spec: { kind: "luxos" } },
  { name: "vnish", spec: { kind: "vnish" } },
  { name: "whatsminer v2", spec: { kind: "whatsminer", generation: "v2" } },
  { name: "whatsminer v3", spec: { kind: "whatsminer", generation: "v3" } },
];

type Figure = "all" | "hashrate" | "power" | "fans" | "boards" | "pools";
const unreadable: Record<"asic-rs" | "pyasic", Partial<Record<string, Partial<Record<Figure, string>>>>> = {
  "asic-rs": {
    avalon: { power: "it takes what the power supply gives off, where we take what it draws from the wall" },
  },
  pyasic: {
    antminer: { boards: "it wants a serial of every board, which the firmware of an S19 does not tell" },
    avalon: {
      power: "it takes it from WALLPOWER alone, which an Avalon Q does not have",
      fans: "it expects two",
    },
    axeos: { pools: "it does not read them from a Bitaxe" },
    boser: { all: "it reads BOSer over gRPC, which the virtual rig does not speak" },
    luxos: { hashrate: "its code returns before it has read it" },
    vnish: { pools: "it leaves out the pool of the fee" },
    "whatsminer v2": { all: "it opens two connections at once, of which a WhatsMiner drops the second" },
    "whatsminer v3": { all: "it opens two connections at once, of which a WhatsMiner drops the second" },
  },
};

const Numbers = z.array(z.number());
const seenBy = <T extends z.ZodType>(figure: T) => z.union([figure, z.object({ error: z.string() })]).nullable();
const Seen = z.object({
  as: z.string().optional(),
  error: z.string().optional(),
  /** TH/s */
  hashrate: seenBy(z.number()).optional(),
  power: seenBy(z.number()).optional(),
  fans: seenBy(Numbers).optional(),
  boards: seenBy(Numbers).optional(),
  pools: seenBy(z.array(z.string())).optional(),
});
type Seen = z.infer<typeof Seen>;
const Report = z.record(z.string(), z.record(z.string(), Seen.nullable()));

const verdict = new Verdict();
const folder = await mkdtemp(join(tmpdir(), "rigbridge-strangers-"));
const python = join(folder, "venv", "bin");

function run(command: string, args: readonly string[]): Promise<string> {
  const child = spawn(command, args, { stdio: ["ignore", "pipe", "inherit"] });
  let out = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    out += text;
  });
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("close", (code) => (code === 0 ? resolve(out) : reject(new Error(`${command} ended with ${code}`))));
  });
}

const isNear = (one: number, other: number): boolean => Math.abs(one - other) <= 0.05 * Math.max(one, other);
const areNear = (some: readonly number[], others: readonly number[]): boolean =>
  some.length === others.length && some.every((each, index) => isNear(each, others[index] ?? Number.NaN));
const present = (values: readonly (number | null)[]): number[] => values.filter((value) => value !== null);

/** Some name the port of what has none. */
const hostsOf = (urls: readonly string[]): string[] =>
  urls
    .map((url) =>
      url
        .replace(/^.*:\/\//, "")
        .replace(/:\d*$/, "")
        .toLowerCase(),
    )
    .sort();

/** What we read, in the same units. */
function ours({ readings, poolList }: z.infer<typeof MinerDetail>) {
  return {
    hashrate: (readings.hashrate ?? 0) / 1e12,
    power: readings.power,
    fans: present(readings.fans.map(({ rpm }) => rpm)).filter((rpm) => rpm > 0),
    boards: present(readings.boards.map(({ hashrate }) => hashrate)).map((rate) => rate / 1e12),
    pools: hostsOf(poolList.map(({ additionalInfo }) => additionalInfo.displayUrl)),
  };
}

function differences(seen: Seen, read: ReturnType<typeof ours>, known: Partial<Record<Figure, string>>): string[] {
  const checks: Record<Exclude<Figure, "all">, boolean> = {
    hashrate: typeof seen.hashrate === "number" && isNear(seen.hashrate, read.hashrate),
    power: read.power === null ? seen.power === null : typeof seen.power === "number" && isNear(seen.power, read.power),
    fans:
      Array.isArray(seen.fans) &&
      areNear(
        seen.fans.filter((rpm) => rpm > 0),
        read.fans,
      ),
    boards: Array.isArray(seen.boards) && areNear(seen.boards, read.boards),
    pools: Array.isArray(seen.pools) && JSON.stringify(hostsOf(seen.pools)) === JSON.stringify(read.pools),
  };
  return (["hashrate", "power", "fans", "boards", "pools"] as const).flatMap((figure) => {
    const reason = known[figure];
    if (reason !== undefined) say(`  left out: ${figure}, since ${reason}`);
    const isSame = checks[figure];
    return isSame || reason !== undefined
      ? []
      : [`${figure} ${JSON.stringify(seen[figure])}, we read ${JSON.stringify(read[figure])}`];
  });
}

const farm = await startFarm({
  rigs: rigs.map(({ spec }, index) => ({ ...spec, host: `127.110.3.${index + 1}`, usualPorts: true, warm: true })),
});
const hosts = farm.rigs.map(({ host }) => host);
const service = await startProcess({
  config: {
    http: { key: "the-key-of-the-service" },
    miners: rigs.map(({ name, spec }, index) => ({
      name,
      address: hosts[index],
      ...("password" in spec ? { username: "root", password: spec.password } : {}),
    })),
  },
});
try {
  say("-- fetching asic-rs and pyasic");
  await run("python3", ["-m", "venv", join(folder, "venv")]);
  await run(join(python, "pip"), ["install", "--quiet", "pyasic", "pyasic-rs"]);
  const detail = async (index: number) =>
    MinerDetail.parse(JSON.parse((await service.ask("GET", `/api/miners/${1_000_000_001 + index}`)).text));
  for (const index of rigs.keys())
    await until(async () => (await detail(index)).readings.hashrate !== null, `${rigs[index]?.name} to be read`);
  const read = await Promise.all(rigs.map(async (_, index) => ours(await detail(index))));
  // A WhatsMiner speaks with one at a time.
  await service.stop();
  const program = new URL("./strangers/read.py", import.meta.url).pathname;
  const report = Report.parse(JSON.parse(await run(join(python, "python"), [program, ...hosts])));
  for (const reader of ["asic-rs", "pyasic"] as const) {
    say(`-- ${reader}`);
    for (const [index, { name }] of rigs.entries()) {
      const known = unreadable[reader][name] ?? {};
      const seen = report[reader]?.[hosts[index] ?? ""] ?? null;
      if (known.all !== undefined) {
        say(`left out: ${name}, since ${known.all}`);
        continue;
      }
      const faults = seen?.as === undefined ? [`not recognised (${seen?.error ?? "no answer"})`] : [];
      const here = read[index];
      if (seen?.as !== undefined && here !== undefined) faults.push(...differences(seen, here, known));
      verdict.check(
        `${name}: ${[seen?.as ?? "", ...faults].filter((text) => text !== "").join("; ")}`,
        faults.length === 0,
      );
    }
  }
} finally {
  await service.close();
  await farm.close();
  await rm(folder, { recursive: true, force: true });
}
verdict.end();
