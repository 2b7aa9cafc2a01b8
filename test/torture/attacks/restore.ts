import { linkSync } from "node:fs";
import { cp, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { z } from "zod";
import { type Farm, startFarm } from "../../../src/simulator/index.ts";
import { type Running, rigbridge, running } from "../../cli/command.ts";
import { until } from "../../until.ts";
import type { Attack } from "../attack.torture.ts";
import { type Verdict, wait } from "../measure.ts";

/**
 * What a careful owner does to a service that is restarting 40 rigs one after the other: makes a backup, restores it when
 * the work is done, kills the service, opens its store under another name. SECURITY.md: no command is sent twice.
 */
const count = 40;
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;
const Job = z.object({ state: z.string(), results: z.array(z.object({ state: z.string() })) });

export const attack: Attack = {
  name: "a backup restored, a killed service and a hard link, while rigs are restarted",
  run: async (verdict) => {
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-attack-"));
    const farm = await startFarm({
      rigs: Array.from({ length: count }, () => ({ kind: "cgminer", warm: true, restartSeconds: 0 }) as const),
    });
    const service = new Service(folder);
    try {
      const miners = farm.rigs.map(({ address }) => ({ address, driver: "cgminer", interval: 3600 }));
      await writeFile(join(folder, "farm.yaml"), JSON.stringify({ store: { url: "farm.db" }, miners }));
      await attackAll(verdict, farm, service, folder);
    } finally {
      await service.end("SIGKILL");
      await farm.close();
      await rm(folder, { recursive: true });
    }
  },
};

async function attackAll(verdict: Verdict, farm: Farm, service: Service, folder: string): Promise<void> {
  const store = join(folder, "farm.db");
  const times = () => farm.rigs.map(({ requests }) => requests.writes.filter((write) => write === "restart").length);
  const told = () => times().filter((each) => each > 0).length;
  await service.start();
  await until(async () => (await service.readable()) === count, "every rig to be read");

  const job = await service.restartAll();
  await until(() => told() >= 10, "ten rigs to be told");
  const raw = new DatabaseSync(store);
  raw.exec(`vacuum into '${join(folder, "backup.db")}'`);
  raw.close();
  await until(async () => (await service.look(job)).state === "done", "the job to end");
  await service.end("SIGTERM");
  for (const end of ["", "-wal", "-shm"]) await rm(`${store}${end}`, { force: true });
  await cp(join(folder, "backup.db"), store);
  await service.start();
  await until(async () => (await service.readable()) === count, "every rig to be read again");
  await wait(5_000);
  const twice = times().filter((each) => each > 1).length;
  verdict.check(`restored: ${twice} of ${count} rigs were restarted a second time`, twice === 0);
  const restored = await service.look(job);
  const unknown = restored.results.filter(({ state }) => state === "unknown").length;
  verdict.check(
    `restored: the job is ${restored.state}, ${unknown} of ${count} results are unknown`,
    restored.state === "cancelled" &&
      unknown > 0 &&
      restored.results.every(({ state }) => ["done", "unknown"].includes(state)),
  );

  for (const { requests } of farm.rigs) requests.writes.length = 0;
  const next = await service.restartAll();
  for (const enough of [8, 20, 30]) {
    await until(() => told() >= enough, `${enough} rigs to be told`);
    await service.end("SIGKILL");
    await service.start();
  }
  await until(async () => (await service.look(next)).state !== "running", "the job to end");
  const again = times().filter((each) => each > 1).length;
  const missing = times().filter((each) => each === 0).length;
  const open = (await service.look(next)).results.filter(({ state }) => state === "unknown").length;
  verdict.check(
    `killed three times: ${again} of ${count} rigs were restarted twice, ${missing} not at all, ${open} are unknown`,
    // What a rig had taken and not shown yet when the process was killed is unknown, however many that are.
    again === 0 && missing <= open,
  );

  linkSync(store, join(folder, "link.db"));
  await writeFile(join(folder, "link.yaml"), JSON.stringify({ store: { url: "link.db" } }));
  const second = await Promise.race([
    rigbridge(["serve", "--port", "0", "--config", "link.yaml"], { cwd: folder }).then(({ code }) => code),
    wait(20_000).then(() => "running"),
  ]);
  verdict.check(
    `a second service on a hard link of the store: ${second === "running" ? "it serves" : `ends with ${second}`}`,
    second === 1,
  );
  await rm(join(folder, "link.db"));
}

class Service {
  readonly #folder: string;
  #process: Running | undefined;
  #url = "";

  constructor(folder: string) {
    this.#folder = folder;
  }

  async start(): Promise<void> {
    this.#process = await running(["serve", "--port", "0", "--config", "farm.yaml"], ready, { cwd: this.#folder });
    this.#url = ready.exec(this.#process.said())?.[1] ?? "";
  }

  async end(signal: NodeJS.Signals): Promise<void> {
    this.#process?.signal(signal);
    await this.#process?.ended;
    this.#process = undefined;
  }

  async readable(): Promise<number> {
    const text = await (await fetch(`${this.#url}/api/miners`)).text();
    return text.match(/"canRestart":true/g)?.length ?? 0;
  }

  /** One after the other, two under way at once. */
  async restartAll(): Promise<number> {
    const response = await fetch(`${this.#url}/api/actions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ action: "restart", all: true, parallel: 2, delay: 0.05 }),
    });
    return z.object({ id: z.int() }).parse(await response.json()).id;
  }

  async look(id: number): Promise<z.infer<typeof Job>> {
    return Job.parse(await (await fetch(`${this.#url}/api/actions/${id}`)).json());
  }
}
