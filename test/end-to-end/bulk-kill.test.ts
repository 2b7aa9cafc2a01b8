import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, expect, test } from "@jest/globals";
import { minersIn } from "../../src/contract/miners-in.ts";
import { BulkAction, CommandList, JobStarted, MinerList } from "../../src/contract/resources.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";
import { workers } from "../pollers.ts";
import { until, within } from "../until.ts";

/** The real program, killed while it sends commands to many rigs, which run here and count them. */
const rigs = 60;
const summer = [
  { set: "frequency", value: 510 },
  { action: "locate", on: true },
];
let folder = "";
let farm: Farm;
let service: Running | undefined;

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-bulk-"));
  farm = await startFarm({
    rigs: Array.from({ length: rigs }, () => ({ kind: "axeos", warm: true })),
  });
  const miners = farm.rigs.map(({ address }) => ({ address, driver: "axeos", interval: 3600 }));
  const templates = [{ name: "Summer", do: summer }];
  const config = { store: { url: "farm.db" }, poll: { workers }, miners, templates };
  await writeFile(join(folder, "farm.yaml"), JSON.stringify(config));
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

/** The number of rigs that have been read, with their controls. */
async function tellable(url: string): Promise<number> {
  const { groupList } = MinerList.parse(await call(`${url}/api/miners`));
  return minersIn(groupList).filter(({ canRestart }) => canRestart).length;
}

/** Resolves once this many rigs have got a command, while the service waits for the last answers. */
function areTold(enough: number): Promise<void> {
  const told = Promise.withResolvers<void>();
  const look = (): void => {
    if (farm.rigs.filter(({ requests }) => requests.writes.length > 0).length >= enough) told.resolve();
  };
  for (const { requests } of farm.rigs) {
    const { writes } = requests;
    writes.push = (...items) => {
      const length = Array.prototype.push.apply(writes, items);
      look();
      return length;
    };
  }
  look();
  return within(told.promise, `${enough} rigs to be told to locate themselves`);
}

test("a service that is killed repeatedly sends each rig at most one command, and loses none", async () => {
  let url = await serve();
  await until(async () => (await tellable(url)) === rigs, "every rig to be read");
  for (const rig of farm.rigs) rig.fault = { name: "delay", ms: 20 };
  // A restart, which stays open until the rig shows it, long after the command.
  const action = { action: "locate", parameters: { on: true }, all: true, parallel: 5 };
  const started = await call(`${url}/api/actions`, action);
  expect(started).toEqual({ id: 1 });
  for (const enough of [5, 20, 40]) {
    await areTold(enough);
    service?.signal("SIGKILL");
    await service?.ended;
    url = await serve();
  }
  await until(async () => (await look(url, 1)).state !== "running", "the job to end");

  const job = await look(url, 1);
  expect(job).toMatchObject({ state: "done", total: rigs });
  expect(job.done + job.unknown).toBe(rigs);
  expect(job.unknown).toBe(job.results.filter(({ state }) => state === "unknown").length);
  const writes = farm.rigs.map(({ requests }) => requests.writes.filter((write) => write.includes("identify")).length);
  const outcomes = job.results.map(({ state, message }, index) => ({ state, message, times: writes[index] ?? 0 }));
  const open = outcomes.filter(({ state }) => state !== "done");
  expect(outcomes.filter(({ state, times }) => state === "done" && times !== 1)).toEqual([]);
  expect(open.filter(({ state, times }) => state !== "unknown" || times > 1)).toEqual([]);
  expect(open.every(({ message }) => message === "the service stopped before the rig answered")).toBe(true);
  expect(open.length).toBeLessThanOrEqual(3 * 5);
});

test("a service that is killed between the steps of a template takes each step at each rig at most once", async () => {
  let url = await serve();
  await until(async () => (await tellable(url)) === rigs, "every rig to be read");
  for (const { requests } of farm.rigs) requests.writes.length = 0;
  const action = { action: "apply_template", parameters: { template_id: 1 }, all: true, parallel: 5 };
  const { id } = JobStarted.parse(await call(`${url}/api/actions`, action));
  for (const enough of [3, 20, 45]) {
    await areTold(enough);
    service?.signal("SIGKILL");
    await service?.ended;
    url = await serve();
  }
  await until(async () => (await look(url, id)).state !== "running", "the job to end");

  const { results, total } = await look(url, id);
  expect(total).toBe(rigs);
  const outcomes = results.map(({ state, message }, index) => {
    const writes = farm.rigs[index]?.requests.writes ?? [];
    const located = writes.filter((write) => write.includes("identify")).length;
    return { state, message, set: writes.length - located, located };
  });
  expect(outcomes.filter(({ set, located }) => set > 1 || located > 1)).toEqual([]);
  expect(outcomes.filter(({ state, set, located }) => state === "done" && set + located !== 2)).toEqual([]);
  const open = outcomes.filter(({ state }) => state !== "done");
  expect(open.filter(({ state }) => state !== "unknown")).toEqual([]);
  // Nothing is sent to a rig after a step whose outcome is unknown.
  const { commandList } = CommandList.parse(await call(`${url}/api/commands`));
  for (const { minerId, state } of results) {
    const ofMiner = commandList.filter((command) => command.minerId === minerId && command.cause?.run === id);
    const [last] = ofMiner;
    if (state === "unknown") expect(last?.state).toBe("unknown");
  }
  expect(open.length).toBeLessThanOrEqual(3 * 5);
});
