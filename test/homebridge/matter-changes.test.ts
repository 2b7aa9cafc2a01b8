import { createServer } from "node:http";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import { pino } from "pino";
import { Config } from "../../src/config/index.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../../src/store/index.ts";
import { until } from "../until.ts";
import { longTest } from "../whole.ts";
import { failuresOf, isMatterPossible, MatterController, type MatterHub, matterHome } from "./matter-controller.ts";

let ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
});

const log = pino({ level: "silent" });
const namesOf = (hub: MatterHub) => hub.devices.map(({ name }) => name).sort();
const isThere = (hub: MatterHub, name: string) => hub.has(name) && hub.device(name).reachable;

(isMatterPossible ? describe : describe.skip)("Matter", () => {
  let controller: MatterController;
  let room: { readonly url: string; readonly every: number };
  const thermometer = createServer((_, reply) => void reply.end("18.5"));
  beforeAll(async () => {
    controller = await MatterController.start();
    await new Promise<void>((resolve) => thermometer.listen(0, "127.0.0.1", resolve));
    const address = thermometer.address();
    room = { url: `http://127.0.0.1:${typeof address === "object" ? address?.port : ""}/`, every: 5 };
  });
  afterAll(async () => {
    thermometer.close();
    await controller.close();
  });

  longTest(
    "applies changed settings at the next start: a rig stays the same device, whatever is added or renamed",
    async () => {
      const farm = await startFarm({ rigs: [{ kind: "axeos" }, { kind: "axeos" }, { kind: "axeos" }] });
      ending.push(() => farm.close());
      const [garage, bath, shed] = farm.rigs.map(({ address }) => ({ address, interval: 1 }));
      const heating = { name: "Bathroom", target: 21, roomTemperature: room };
      const settings = (rigs: readonly object[]) => ({ name: "Rigbridge", rigs });
      const heated = { ...bath, name: "Bath", as: "heater", heating };
      const before = settings([{ ...garage, name: "Garage" }, heated, { ...shed, name: "Shed" }]);
      let { homebridge, hub, options } = await matterHome(before, controller);
      ending.push(() => homebridge.close());
      await until(() => ["Garage", "Bath", "Shed"].every((name) => isThere(hub, name)), "all rigs to be reachable");
      const { number } = hub.device("Garage");

      const sensing = { ...garage, name: "Workshop", sensors: ["temperature"] };
      const after = settings([sensing, { ...heated, as: "outlet" }]);
      homebridge = await homebridge.restart({ ...options, platform: after });
      await hub.reconnect();
      const wanted = ["Bath", "Workshop", "Workshop temperature"];
      await until(
        () => namesOf(hub).join() === wanted.join() && wanted.every((name) => isThere(hub, name)),
        "the devices of the new settings to be reachable",
      );
      expect(hub.device("Workshop").number).toBe(number);
      expect(hub.device("Bath").read("thermostat", "systemMode")).toBeUndefined();
      await until(() => hub.device("Bath").read("onOff", "onOff") === true, "the outlet to show that it is on");

      homebridge = await homebridge.restart({ ...options, platform: before });
      await hub.reconnect();
      await until(
        () => namesOf(hub).join() === ["Bath", "Garage", "Shed"].join() && isThere(hub, "Shed"),
        "the devices of the first settings to return",
      );
      expect(hub.device("Garage").number).toBe(number);
      expect(failuresOf(homebridge)).toEqual([]);
    },
  );

  test("restores what a read-only key cannot set, and shows no room temperature while the service is down", async () => {
    const farm = await startFarm({
      rigs: [
        { kind: "axeos", warm: true },
        { kind: "axeos", warm: true },
      ],
    });
    const store = await openStore({ file: ":memory:", now: Date.now });
    const [bath, garage] = farm.rigs.map(({ address }) => ({ address }));
    const key = "invented-read-only-key";
    const config = Config.parse({
      http: { port: 0, key: "invented-key-of-the-homebridge-tests" },
      poll: { interval: 1 },
      miners: [
        { ...bath, name: "Bath" },
        { ...garage, name: "Garage" },
      ],
      heating: [{ name: "Bathroom", miner: "Bath", target: 21, roomTemperature: room }],
      users: [{ name: "anna", key, privilege: "view" }],
    });
    const service = await startService({ config, store, log });
    const server = await startHttpServer({ service, settings: config.http, log, version: "test" });
    ending.push(async () => {
      await server.close();
      await service.close();
      await store.close();
      await farm.close();
    });
    const platform = {
      name: "Rigbridge",
      service: { url: server.url, key, poll: 1 },
      rigs: [{ miner: "Bath", as: "heater", sensors: ["room_temperature"] }],
    };
    const { homebridge, hub } = await matterHome(platform, controller);
    ending.push(() => homebridge.close());
    const bathroom = "Bath room temperature";
    await until(
      () => isThere(hub, "Garage") && isThere(hub, "Bath") && isThere(hub, bathroom),
      "the rigs and the sensor to be reachable",
    );
    const read = (attribute: string) => hub.device("Bath").read("thermostat", attribute);
    await until(() => read("localTemperature") === 1850, "the thermostat to show the room temperature");

    const forbidden = 126;
    expect(await hub.device("Garage").switch("off")).toBe(forbidden);
    expect(hub.device("Garage").read("onOff", "onOff")).toBe(true);
    await hub.device("Bath").write("thermostat", { occupiedHeatingSetpoint: 2350 });
    await until(() => read("occupiedHeatingSetpoint") === 2100, "the thermostat to return to its target");
    await hub.device("Bath").write("thermostat", { systemMode: 0 });
    await until(() => read("systemMode") === 4, "the thermostat to return to heating");

    await server.close();
    await until(
      () => !hub.device("Bath").reachable && !hub.device(bathroom).reachable,
      "the heater and its sensor to become unreachable",
    );
    expect([read("localTemperature"), read("occupiedHeatingSetpoint")]).toEqual([null, 2100]);
    expect(hub.device(bathroom).read("temperatureMeasurement", "measuredValue")).toBeNull();
  });
});
