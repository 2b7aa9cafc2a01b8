import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { Curtailment } from "../../src/contract/curtailment.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import { MinerList } from "../../src/contract/resources.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { type Running, running } from "../cli/command.ts";
import { freePort } from "../free-port.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";

// depends on: src/**

let folder = "";
let farm: Farm;
let service: Running | null = null;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), "rigbridge-curtailment-"));
  farm = await startFarm({
    rigs: Array.from({ length: 3 }, () => ({ kind: "axeos", warm: true, host: ownHost() }) as const),
  });
});
afterEach(async () => {
  service?.signal("SIGKILL");
  await service?.ended;
  await farm.close();
  await rm(folder, { recursive: true });
});

test("a service that is killed while it curtails, holds and gives back goes on each time, and leaves no rig stopped", async () => {
  const port = await freePort();
  const config = join(folder, "rigbridge.yaml");
  const miners = farm.rigs.map(({ address }, index) => ({ address, name: `rig ${index + 1}` }));
  const power = { minOn: 0, minOff: 0 };
  await writeFile(config, JSON.stringify({ http: { port }, poll: { interval: 1 }, power, miners }), { mode: 0o600 });
  const start = async (): Promise<void> => {
    service = await running(["serve", "--config", config], /is ready at http/, { cwd: folder });
  };
  const kill = async (): Promise<void> => {
    service?.signal("SIGKILL");
    await service?.ended;
    await start();
  };
  const ask = async (path: string, body?: object): Promise<unknown> => {
    const init = { method: "POST", body: JSON.stringify(body), headers: { "content-type": "application/json" } };
    const answer = await fetch(`http://127.0.0.1:${port}${path}`, body === undefined ? {} : init);
    return answer.json();
  };
  const shown = async () => Curtailment.parse(await ask("/api/curtailments/1"));
  const mining = (): number => farm.rigs.filter(({ model }) => model.mining).length;
  const known = async () =>
    minersIn(MinerList.parse(await ask("/api/miners")).groupList).filter(({ canStop }) => canStop);

  await start();
  await until(async () => (await known()).length === 3, "all to be read");
  // One that does not answer, so that it is killed while commands are under way.
  const [slow] = farm.rigs;
  if (slow !== undefined) slow.fault = "silent";
  const begun = Curtailment.parse(await ask("/api/curtailments", { target: { all: true }, reason: "peak" }));
  expect(begun).toMatchObject({ id: 1, rigs: { total: 3 } });
  await kill();
  if (slow !== undefined) slow.fault = null;
  await until(async () => (await shown()).rigs.reached === 3, "the stop of all");
  expect(mining()).toBe(0);
  await kill();
  expect(await shown()).toMatchObject({ state: "holding", rigs: { reached: 3 } });
  await ask("/api/curtailments/1/end", {});
  await kill();
  await until(async () => (await shown()).state === "ended", "the end");
  expect(mining()).toBe(3);
  expect((await shown()).rigs).toMatchObject({ restored: 3 });
});
