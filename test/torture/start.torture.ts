import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { fetchAway } from "../bench/web.ts";
import { running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { until, within } from "../until.ts";
import { storeOfMany } from "./many-miners.ts";
import { megabytes } from "./measure.ts";
import { main } from "./process.ts";
import { say } from "./say.ts";
import { sender } from "./written.ts";

/** How soon a service with many miners in its store answers, and how soon it ends when told to in the midst of work. */
const bound = { answer: 3_000, end: 5_000 };
const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

async function measureAll(): Promise<void> {
  for (const count of [1_000, 10_000, 50_000]) {
    const folder = mkdtempSync(join(tmpdir(), "rigbridge-start-"));
    try {
      await storeOfMany(folder, count);
      for (const turn of ["first", "second"]) await measure(folder, count, turn);
    } finally {
      rmSync(folder, { recursive: true });
    }
  }
}

async function measure(folder: string, count: number, turn: string): Promise<void> {
  const port = await freePort();
  const url = `http://127.0.0.1:${port}`;
  const begun = performance.now();
  const args = ["serve", "--config", "rigbridge.yaml", "--port", String(port)];
  const starting = running(args, ready, { cwd: folder, program: main });
  const { send, close } = sender(url);
  await until(async () => (await send("GET", "/health"))?.status === 200, "the service to answer");
  const health = performance.now() - begun;
  // Read and thrown away: to understand 150 MB takes the client longer than the service.
  const bytes = await fetchAway(`${url}/api/miners`, null).catch(async (error: unknown) => {
    // Otherwise it would go on after this program.
    (await starting).signal("SIGKILL");
    throw error;
  });
  const miners = performance.now() - begun;
  const service = await starting;
  say(
    `${count} miners, ${turn} start: /health after ${Math.round(health)} ms, ` +
      `/api/miners (${megabytes(bytes)}) after ${Math.round(miners)} ms`,
  );
  if (health > bound.answer) broken(`the first answer came after more than ${bound.answer} ms`);

  const load = Promise.all(Array.from({ length: 4 }, () => asking(send)));
  await pause(2_000);
  const told = performance.now();
  service.signal("SIGTERM");
  const { code, stderr } = await within(service.ended, "the service to end");
  const ended = performance.now() - told;
  say(`  ended ${Math.round(ended)} ms after SIGTERM under load, with ${code}`);
  if (code !== 0 || ended > bound.end) broken(`it should end with 0 within ${bound.end} ms: ${stderr}`);
  await load;
  close();
}

/** Until nobody answers any more. */
async function asking(send: ReturnType<typeof sender>["send"]): Promise<void> {
  for (let turn = 0; ; turn += 1) {
    const answer =
      turn % 20 === 0 ? await send("GET", "/api/miners") : await send("POST", "/api/groups", { name: "g" });
    if (answer === null) return;
  }
}

function broken(sentence: string): void {
  say(`BROKEN ${sentence}`);
  process.exitCode = 1;
}

await measureAll();
