import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { Miner } from "../../src/contract/resources.ts";
import { unusable } from "../../src/fleet/state.ts";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { failing, failingProgram } from "../failing-rig.ts";
import { type Mosquitto, type Subscriber, startMosquitto, subscribeAt } from "../mqtt/mosquitto.ts";
import { workers } from "../pollers.ts";
import { type ServiceProcess, startProcess } from "../torture/process.ts";
import { until, within } from "../until.ts";

// depends on: src/**, test/failing-rig.preload.ts

const drivers = new URL("../../src/link/drivers/index.ts", import.meta.url);
const key = "invented-key-of-the-failing-rig";
const password = "invented-password-of-the-failing-rig";

describe("a service that fails on the answers of one rig", () => {
  let farm: Farm;
  let mosquitto: Mosquitto;
  let service: ServiceProcess;
  let listener: Subscriber;
  let ids: { readonly failing: number; readonly sound: number };

  const json = async (path: string) => JSON.parse((await service.ask("GET", path)).text);
  const listed = async (): Promise<Miner[]> => (await json("/api/miners")).groupList[0].minerList;
  const statuses = async () => (await listed()).map(({ name, statusInfo }) => `${name}: ${statusInfo.statusDisplay}`);
  const uid = async (id: number): Promise<string> => (await json(`/api/miners/${id}`)).uid;

  beforeAll(async () => {
    [farm, mosquitto] = await Promise.all([
      startFarm({
        rigs: [
          { kind: "axeos", name: failing.hostname, warm: true, host: "127.103.21.1" },
          { kind: "axeos", warm: true, host: "127.103.21.2" },
        ],
      }),
      startMosquitto(),
    ]);
    const [bad, good] = farm.rigs;
    service = await startProcess({
      config: {
        http: { key },
        poll: { workers, interval: 1 },
        mqtt: { url: mosquitto.url, interval: 1 },
        miners: [
          { address: bad?.address, name: "Failing", password },
          { address: good?.address, name: "Sound" },
        ],
      },
      ...failingProgram(drivers, "readings.shares"),
    });
    listener = await subscribeAt(mosquitto.url);
    await until(async () => (await statuses()).join() === "Failing: Error,Sound: Mining", "both rigs to be read", {
      details: () => service.stderr() + service.stdout(),
    });
    const [first, second] = await listed();
    ids = { failing: first?.id ?? 0, sound: second?.id ?? 0 };
  });
  afterAll(async () => {
    await listener.close();
    await service.close();
    await mosquitto.stop();
    await farm.close();
  });

  test("keeps reading every rig", async () => {
    const requests = () => farm.rigs.map((rig) => rig.requests.count);
    const before = requests();
    await until(() => requests().every((count, index) => count > (before[index] ?? 0)), "another read of each");
    expect(await statuses()).toEqual(["Failing: Error", "Sound: Mining"]);
  });

  test("answers for that rig alone, and with totals of all", async () => {
    expect(await json(`/api/miners/${ids.failing}`)).toMatchObject({ readings: { notes: [unusable.message] } });
    expect(await json(`/api/miners/${ids.sound}`)).toMatchObject({ hasValidStatus: true });
    expect(await json("/api/summary")).toMatchObject({ totalCount: 2, runningCount: 1 });
    const { text } = await service.ask("GET", "/metrics");
    expect(text).toMatch(/^rigbridge_miner_up\{.*name="Failing".*\} 0$/m);
    expect(text).toMatch(/^rigbridge_miner_up\{.*name="Sound".*\} 1$/m);
    expect(text).toContain('rigbridge_miners{status="Error"} 1');
  });

  test("streams changes of the others", async () => {
    const leaving = new AbortController();
    const options = { headers: { "x-api-key": key }, signal: leaving.signal };
    const { body } = await fetch(`http://127.0.0.1:${service.port}/api/events`, options);
    if (body === null) throw new Error("there is no stream");
    const heard = async (): Promise<void> => {
      let text = "";
      const decoder = new TextDecoder();
      for await (const part of body) {
        text += decoder.decode(part, { stream: true });
        if (text.includes(`data: {"id":${ids.sound},"uid"`)) return;
      }
    };
    try {
      await within(heard(), "an event of the sound rig");
    } finally {
      leaving.abort();
    }
  });

  test("publishes both at the broker, and to Home Assistant", async () => {
    for (const [id, status] of [
      [ids.failing, "error"],
      [ids.sound, "mining"],
    ] as const) {
      const name = await uid(id);
      await listener.until(
        ({ topic, payload }) => topic === `rigbridge/miner/${name}/state` && JSON.parse(payload).status === status,
      );
      await listener.until(
        ({ topic, payload }) => topic === `homeassistant/device/rigbridge_miner_${name}/config` && payload !== "",
      );
    }
  });

  test("logs the failure once, with the id of the rig and no password", () => {
    const lines = service
      .stdout()
      .split("\n")
      .filter((line) => line.includes("cannot be shown"));
    expect(lines.map((line) => JSON.parse(line).msg)).toEqual([`miner ${ids.failing} cannot be shown`]);
    expect(lines[0]).toContain(failing.fault);
    expect(lines[0]).not.toContain(password);
  });
});
