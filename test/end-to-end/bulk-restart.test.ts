import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { BulkAction } from "../../src/contract/resources.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";

/** The real program, killed while it tells many rigs something; the rigs live here and count what they are told. */
const rigs = 60;
let folder = "";
let farm: Farm;
let service: Running | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-bulk-"));
  farm = await startFarm({
    rigs: Array.from({ length: rigs }, () => ({ kind: "cgminer", warm: true, restartSeconds: 0 })),
  });
  const miners = farm.rigs.map(({ address }) => ({ address, driver: "cgminer", interval: 3600 }));
  await writeFile(join(folder, "farm.yaml"), JSON.stringify({ store: { url: "farm.db" }, miners }));
});
afterEach(async () => {
  service?.signal("SIGKILL");
  await service?.ended;
});
afterAll(async () => {
  await farm.close();
  await rm(folder, { recursive: true });
});

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

async function serve(): Promise<string> {
  service = await running(["serve", "--port", "0", "--config", "farm.yaml"], ready, { cwd: folder });
  return ready.exec(service.said())?.[1] ?? "";
}

async function call(url: string, body?: object): Promise<unknown> {
  const json = { method: "POST", headers: { "content-type": "application/json" }, body: JSON.stringify(body) };
  const response = await fetch(url, body === undefined ? {} : json);
  expect(response.ok).toBe(true);
  return response.json();
}

const look = async (url: string, id: number) => BulkAction.parse(await call(`${url}/api/actions/${id}`));

const told = (): number => farm.rigs.filter(({ requests }) => requests.writes.length > 0).length;

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await condition())) await new Promise((resolve) => setTimeout(resolve, 2));
}

test("a service that is killed again and again tells every rig at most once, and forgets none", async () => {
  let url = await serve();
  await until(() => farm.rigs.every(({ requests }) => requests.count > 0));
  for (const rig of farm.rigs) rig.fault = { name: "delay", ms: 20 };
  const started = await call(`${url}/api/actions`, { action: "restart", all: true, parallel: 5 });
  expect(started).toEqual({ id: 1 });
  for (const enough of [5, 20, 40]) {
    await until(() => told() >= enough);
    service?.signal("SIGKILL");
    await service?.ended;
    url = await serve();
  }
  await until(async () => (await look(url, 1)).state !== "running");

  const job = await look(url, 1);
  expect(job).toMatchObject({ state: "done", total: rigs });
  expect(job.done + job.failed).toBe(rigs);
  const writes = farm.rigs.map(({ requests }) => requests.writes.filter((write) => write === "restart").length);
  const outcomes = job.results.map(({ state, message }, index) => ({ state, message, times: writes[index] ?? 0 }));
  const open = outcomes.filter(({ state }) => state !== "done");
  expect(outcomes.filter(({ state, times }) => state === "done" && times !== 1)).toEqual([]);
  expect(open.filter(({ state, times }) => state !== "unknown" || times > 1)).toEqual([]);
  expect(open.every(({ message }) => message === "the service stopped before the rig answered")).toBe(true);
  expect(open.length).toBeLessThanOrEqual(3 * 5);
});
