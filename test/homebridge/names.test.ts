import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import type { SeenAccessory } from "./controller.ts";
import { type RunningHomebridge, rememberedBy, startHomebridge } from "./homebridge.ts";

let farm: Farm;
let homebridge: RunningHomebridge;
const platform = (name: string) => ({
  name: "Rigbridge",
  alarm: false,
  defaults: { sensors: ["temperature"], switches: ["restart"] },
  rigs: farm.rigs.map(({ address }) => ({ address, name, interval: 1 })),
});
beforeAll(async () => {
  farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
  homebridge = await startHomebridge({ platform: platform("Garage") });
  await until(async () => (await accessories()).length === 1, "the rig to appear");
});
afterAll(async () => {
  await homebridge.close();
  await farm.close();
});

const accessories = () => homebridge.controller.accessories();

/** The names of the tiles, by service. */
const tiles = ([accessory]: readonly SeenAccessory[]): [string, unknown][] =>
  (accessory?.services ?? []).flatMap(({ type, characteristics }) =>
    characteristics
      .filter((each) => each.type === "configured-name")
      .map(({ value }): [string, unknown] => [type, value]),
  );

const ids = (all: readonly SeenAccessory[]) =>
  all.map(({ aid, services }) => [aid, services.flatMap(({ characteristics }) => characteristics.map(({ id }) => id))]);

describe("a rig's tiles in Home", () => {
  test("have names of their own, those that the owner gives them, and stay the same accessory", async () => {
    const before = await accessories();
    expect(tiles(before)).toEqual(
      expect.arrayContaining([
        ["outlet", "Garage"],
        ["sensor.temperature", "Garage temperature"],
        ["switch", "Garage restart mining"],
      ]),
    );
    const name = await homebridge.controller.find("Garage", "switch", "configured-name");
    expect(await homebridge.controller.write(name, "Kick it")).toBe(0);
    // Written at once: Homebridge may be killed.
    expect(await rememberedBy(homebridge.folder)).toContain("Kick it");
    homebridge = await homebridge.restart({ platform: platform("Attic") });
    await until(async () => tiles(await accessories()).some(([, value]) => value === "Attic"), "the new name");
    const after = await accessories();
    expect(tiles(after)).toEqual(
      expect.arrayContaining([
        ["outlet", "Attic"],
        ["sensor.temperature", "Attic temperature"],
        ["switch", "Kick it"],
      ]),
    );
    expect(ids(after)).toEqual(ids(before));
    expect(await homebridge.controller.write(name, "")).toBe(0);
    await until(
      async () => tiles(await accessories()).some(([, value]) => value === "Attic restart mining"),
      "its name",
    );
  });

  test("are identified by the rig, and the log says who switched what", async () => {
    const on = await homebridge.controller.find("Attic", "outlet", "on");
    await until(async () => (await homebridge.controller.read(on)).status === 0, "the outlet to respond");
    const identify = await homebridge.controller.find("Attic", "accessory-information", "identify");
    expect(await homebridge.controller.write(identify, true)).toBe(0);
    await homebridge.until(/Attic: HomeKit sets locate to on|Attic: HomeKit triggers locate/);
    await until(
      () => farm.rigs[0]?.requests.writes.some((each) => each.includes("identify")) ?? false,
      "the rig to blink",
    );
    expect(await homebridge.controller.write(on, false)).toBe(0);
    await homebridge.until(/Attic: HomeKit controller \w+ at 127\.0\.0\.1 sets mining to off/);
  });
});

describe("the Eve app", () => {
  const characteristic = (id: string) =>
    homebridge.controller.find(
      "Attic",
      "E863F007-079E-48FF-8F27-9C2605A29F52",
      `E863F${id}-079E-48FF-8F27-9C2605A29F52`,
    );
  const read = async (id: string) =>
    Buffer.from(String((await homebridge.controller.read(await characteristic(id))).value), "base64");

  test("reads the history of a rig from where it stopped to its end", async () => {
    const status = await read("116");
    const last = status.readUInt32LE(27) + status.readUInt16LE(23) - 1;
    const request = Buffer.alloc(8);
    request.writeUInt32LE(last - 1, 2);
    expect(await homebridge.controller.write(await characteristic("11C"), request.toString("base64"))).toBe(0);
    const entries = await read("117");
    const next = entries.readUInt8(0);
    expect([entries.readUInt32LE(1), entries.readUInt32LE(next + 1)]).toEqual([last - 1, last]);
    expect(entries.readUInt32LE(next + 5) - entries.readUInt32LE(5)).toBe(600);
    expect(await read("117")).toEqual(Buffer.from([0]));
  });
});
