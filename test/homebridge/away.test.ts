import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { type ServiceProcess, startProcess } from "../torture/process.ts";
import { until } from "../until.ts";
import { noResponse, type SeenCharacteristic } from "./controller.ts";
import { type RunningHomebridge, startHomebridge } from "./homebridge.ts";

const key = "invented-key-of-the-homebridge-tests";

describe("a service elsewhere", () => {
  let farm: Farm;
  let service: ServiceProcess;
  let homebridge: RunningHomebridge;
  let on: SeenCharacteristic;
  const start = (port: number) =>
    startProcess({
      config: {
        http: { key, port },
        poll: { interval: 1 },
        miners: farm.rigs.map(({ address }) => ({ address, name: "Garage" })),
      },
    });
  beforeAll(async () => {
    farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
    service = await start(0);
    const url = `http://127.0.0.1:${service.port}`;
    homebridge = await startHomebridge({ platform: { name: "Rigbridge", service: { url, key, poll: 2 } } });
    await until(
      async () => (await homebridge.controller.accessories()).some(({ name }) => name === "Garage"),
      "the rig to appear",
    );
    on = await homebridge.controller.find("Garage", "outlet", "on");
    await until(responds, "the outlet to respond");
  });
  afterAll(async () => {
    await homebridge.close();
    await service.close();
    await farm.close();
  });
  const status = async () => (await homebridge.controller.read(on)).status;
  const responds = async () => (await status()) === 0;
  const isGone = async () => (await status()) === noResponse;
  const logged = (what: RegExp) => homebridge.lines.filter((line) => what.test(line)).length;
  // Less than the three polls, and the 45 s of silence, after which a stream is given up in any case.
  const soon = { timeoutMs: 40_000 };

  test("that hangs is not shown as it was: its rigs do not respond until it goes on", async () => {
    process.kill(service.pid, "SIGSTOP");
    await until(isGone, "the outlet to stop responding", soon);
    process.kill(service.pid, "SIGCONT");
    await until(responds, "the outlet to respond again");
    expect([logged(/cannot be watched/), logged(/answers again/)]).toEqual([1, 1]);
  });

  test("that dies is not shown as it was: its rigs do not respond until it is started again", async () => {
    process.kill(service.pid, "SIGKILL");
    await until(isGone, "the outlet to stop responding", soon);
    const { port } = service;
    await service.close();
    service = await start(port);
    await until(responds, "the outlet to respond again");
    expect([logged(/cannot be watched/), logged(/answers again/)]).toEqual([2, 2]);
  });
});
