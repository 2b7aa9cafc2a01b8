import { spawn } from "node:child_process";
import { once } from "node:events";
import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { z } from "zod";
import { freePort } from "../free-port.ts";
import { Child } from "./child.ts";
import { inFolder } from "./folder.ts";
import { Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, median, quantile } from "./statistics.ts";

/** More than the events that the service keeps to resume from: whatever the number of miners, they are there. */
const readsAtLeast = 12_000;

/** Bytes of the service with so many rigs, each read twice at least, with a store on disk; some looks. */
const memoryOf = (rigs: number): Promise<number[]> =>
  inFolder(async (folder) => {
    const times = Math.max(2, Math.ceil(readsAtLeast / rigs));
    const farm = await startFarm(rigs);
    const service = new Service();
    await service.start(farm.rigs, { file: join(folder, "rigbridge.db"), interval: times > 2 ? 1 : 10 });
    await service.readBy(rigs, times);
    const seen: number[] = [];
    for (let look = 0; look < 3; look += 1) {
      seen.push(await service.child.ask(z.number(), "memory"));
      await wait(1000);
    }
    await Promise.all([service.end(), farm.end()]);
    return seen;
  });

export async function memory(quick: boolean): Promise<Measured[]> {
  const [few, many] = quick ? [1000, 2000] : [1000, 10_000];
  const small = await memoryOf(few);
  const large = await memoryOf(many);
  const megabytes = (bytes: readonly number[]): string => `${Math.round(median(bytes) / 1e6)} MB`;
  const note = `${megabytes(small)} with ${few} miners, ${megabytes(large)} with ${many}`;
  const differences = large.map((bytes, look) => (bytes - (small[look] ?? Number.NaN)) / (many - few));
  return [measured("memory.perMiner", differences, note)];
}

export const program = fileURLToPath(new URL("../../dist/cli/main.js", import.meta.url));

/** Until it answers with 200. */
export async function answered(url: string): Promise<number> {
  for (;;) {
    const status = await fetch(url).then(
      async (reply) => {
        await reply.arrayBuffer();
        return reply.status;
      },
      () => 0,
    );
    if (status === 200) return performance.now();
    await wait(5);
  }
}

/** s from the start of the built program, with an empty store, to its first answers. */
const startOnce = (): Promise<number> =>
  inFolder(async (folder) => {
    const port = await freePort();
    // Without a configuration it would start a demo farm too.
    const config = join(folder, "rigbridge.yaml");
    writeFileSync(config, "miners: []\n");
    const began = performance.now();
    const args = [
      "--disable-warning=ExperimentalWarning",
      program,
      "serve",
      "--config",
      config,
      "--port",
      String(port),
    ];
    const running = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
    const ended = once(running, "exit");
    const failed = ended.then(([code]) => Promise.reject(new Error(`the program ended (${code}) before it answered`)));
    try {
      const pages = Promise.all(["/health", "/api/miners"].map((path) => answered(`http://127.0.0.1:${port}${path}`)));
      return (Math.max(...(await Promise.race([pages, failed]))) - began) / 1000;
    } finally {
      failed.catch(() => undefined);
      running.kill("SIGTERM");
      await ended;
    }
  });

export async function start(quick: boolean): Promise<Measured[]> {
  const runs: number[] = [];
  for (let run = 0; run <= (quick ? 1 : 7); run += 1) {
    const seconds = await startOnce();
    if (run > 0) runs.push(seconds);
  }
  return [measured("start.seconds", runs, "empty store, both /health and /api/miners")];
}

const Times = z.object({ readings: z.array(z.number()), shown: z.array(z.number()), points: z.int() });

export async function store(quick: boolean): Promise<Measured[]> {
  const miners = quick ? 100 : 5000;
  const rates: number[] = [];
  for (let run = 0; run <= (quick ? 1 : 5); run += 1) {
    const rate = await inFolder(async (folder) => {
      const child = new Child("history.ts");
      const rows = quick ? 20_000 : 500_000;
      const perSecond = await child.ask(z.number(), "append", { file: join(folder, "samples.db"), miners, rows });
      await child.end();
      return perSecond;
    });
    if (run > 0) rates.push(rate);
  }
  return inFolder(async (folder) => {
    const file = join(folder, "history.db");
    const filling = new Child("history.ts");
    await filling.tell("fill", { file, miners, rows: 8640 });
    await filling.end();
    const child = new Child("history.ts");
    const asked = quick ? 5 : 60;
    const { readings, shown, points } = await child.ask(Times, "ask", { file, miners, asked });
    await child.end();
    const size = `${((miners * 8640) / 1e6).toFixed(1)} M readings, ${(statSync(file).size / 1e9).toFixed(2)} GB`;
    const worst = Math.max(...readings, ...shown);
    const note = `${size}; all ${points} readings; as shown ${median(shown).toFixed(1)} ms; the slowest ${worst.toFixed(1)} ms`;
    return [
      measured("store.samples", rates, "in portions of 5 s for 5,000 miners"),
      measured("store.history.ms", readings, `${note}, p90 ${quantile(readings, 0.9).toFixed(1)} ms`),
    ];
  });
}
