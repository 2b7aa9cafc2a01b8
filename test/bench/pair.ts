import { spawn } from "node:child_process";
import { once } from "node:events";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { z } from "zod";
import { freePort } from "../free-port.ts";
import { hasPostgres, type Postgres, startPostgres } from "../store/postgres.ts";
import { inFolder } from "./folder.ts";
import { answered, program } from "./keeping.ts";
import { LeftOut } from "./left-out.ts";
import { cpuOf, residentOf } from "./linux-processes.ts";
import { type Farm, Service, startFarm, wait } from "./rigs.ts";
import { type Measured, measured, quantile, ratios } from "./statistics.ts";

const key = "benchmark-benchmark";
const headers = { "x-api-key": key, "content-type": "application/json" };
const Kept = z.object({ success: z.literal(true) });

/**
 * What a store in PostgreSQL costs, against SQLite in the same minutes, how long its writes take, and what the service beside
 * it costs that waits.
 */
export async function pair(quick: boolean): Promise<Measured[]> {
  if (process.platform !== "linux") throw new LeftOut("it needs Linux");
  if (!hasPostgres("the part pair")) throw new LeftOut("there is no PostgreSQL");
  const rigs = quick ? 200 : 5000;
  // As a server that is meant to keep what it has confirmed.
  const server = await startPostgres(["fsync=on", "shared_buffers=128MB", "autovacuum=on"]);
  const farm = await startFarm(rigs);
  try {
    return await inFolder((folder) => measuredOver(server, farm, folder, quick));
  } finally {
    await Promise.all([farm.end(), server.stop()]);
  }
}

async function measuredOver(server: Postgres, farm: Farm, folder: string, quick: boolean): Promise<Measured[]> {
  const database = server.url(await server.database());
  const [sqlite, postgres] = [new Service(), new Service()];
  const { rigs } = farm;
  const [times, writes] = quick ? [1, 20] : [2, 300];
  try {
    // Each answers writes while the other is not there: two services that read as many rigs take most of two cores.
    await sqlite.start(rigs, { key, file: join(folder, "rigbridge.db") });
    await sqlite.readBy(rigs.length, times);
    const bySqlite = await writesOf(sqlite, writes);
    await postgres.start(rigs, { key, database });
    await postgres.readBy(rigs.length, times);
    const costs = await costsOf(sqlite, postgres, quick ? [1, 2] : [5, 12]);
    await sqlite.end();
    const byPostgres = await writesOf(postgres, writes);
    const standby = await standbyOf(folder, database, quick ? 2 : 20);
    const [one, other] = [costs.sqlite, costs.postgres].map((each) => (100 * quantile(each, 0.5)).toFixed(1));
    const p50 = [byPostgres, bySqlite].map((each) => quantile(each, 0.5).toFixed(1));
    return [
      measured("pair.cpu.ratio", ratios(costs.postgres, costs.sqlite), `${other} % of a core, SQLite ${one} %`),
      measured(
        "pair.write.p99.ms",
        [quantile(byPostgres, 0.99)],
        `p50 ${p50[0]} ms; SQLite ${p50[1]} and ${quantile(bySqlite, 0.99).toFixed(1)} ms`,
      ),
      measured("pair.standby.cpu", [standby.share], "of a core"),
      measured("pair.standby.memory.mb", [standby.resident / 1e6], "of the process"),
    ];
  } finally {
    await Promise.all([sqlite.end(), postgres.end()]);
  }
}

/** Cores that each of two services takes, in the same windows. */
async function costsOf(sqlite: Service, postgres: Service, [windows, seconds]: readonly [number, number]) {
  const costs: Record<"sqlite" | "postgres", number[]> = { sqlite: [], postgres: [] };
  for (let window = 0; window < windows; window += 1) {
    const [one, other] = await Promise.all([sqlite.watched(seconds), postgres.watched(seconds)]);
    costs.sqlite.push(one.cpu / 1e6 / one.seconds);
    costs.postgres.push(other.cpu / 1e6 / other.seconds);
  }
  return costs;
}

/** ms until each of some writes with a key of its own is answered, one after another. */
async function writesOf({ url }: Service, count: number): Promise<number[]> {
  const times: number[] = [];
  for (let turn = 0; turn < count; turn += 1) {
    const began = performance.now();
    const answer = await fetch(`${url}/api/miners/1000000001/notes`, {
      method: "POST",
      headers: { ...headers, "idempotency-key": `bench-${turn}-${Date.now()}` },
      body: JSON.stringify({ note: `Note ${turn}` }),
    });
    Kept.parse(await answer.json());
    times.push(performance.now() - began);
    await wait(20);
  }
  return times;
}

/** The built program beside the active service. */
async function standbyOf(folder: string, database: string, seconds: number) {
  const port = await freePort();
  const config = join(folder, "standby.yaml");
  writeFileSync(config, `http: {port: ${port}}\nstore: {url: "${database}", site: bench}\n`, { mode: 0o600 });
  const options = ["--disable-warning=ExperimentalWarning", "--max-semi-space-size=4"];
  const args = [...options, program, "serve", "--config", config];
  const running = spawn(process.execPath, args, { cwd: folder, stdio: ["ignore", "ignore", "inherit"] });
  const ended = once(running, "exit");
  const failed = ended.then(([code]) => Promise.reject(new Error(`the standby ended (${code})`)));
  failed.catch(() => undefined);
  try {
    await Promise.race([answered(`http://127.0.0.1:${port}/health`), failed]);
    // What its start leaves to be done.
    await wait(5_000);
    const before = cpuOf(running.pid);
    await wait(1000 * seconds);
    return { share: (cpuOf(running.pid) - before) / seconds, resident: residentOf(running.pid) };
  } finally {
    running.kill("SIGTERM");
    await ended;
  }
}
