import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { until } from "../until.ts";
import { farmKinds, type OpenedFarm } from "./farms.ts";
import { type RunningHomebridge, startHomebridge } from "./homebridge.ts";

/** HAP's "not allowed in current state". */
const notNow = -70412;
const consumption = "E863F10D-079E-48FF-8F27-9C2605A29F52";
const meter = "00000001-0000-1777-8000-775D67EC4377";

describe.each(farmKinds)("beside its outlet a rig of $name", ({ name, open }) => {
  let farm: OpenedFarm;
  let homebridge: RunningHomebridge;
  beforeAll(async () => {
    farm = await open();
    const rules = farm.rule === null ? [] : [farm.rule.name];
    const defaults = { alarm: true, switches: ["restart"] };
    homebridge = await startHomebridge({ platform: { ...farm.platform, defaults, rules } });
    await until(
      async () => (await homebridge.controller.accessories()).some((each) => each.name === farm.name),
      "the rig to appear",
    );
    const on = await homebridge.controller.find(farm.name, "outlet", "on");
    await until(async () => (await homebridge.controller.read(on)).status === 0, "the outlet to respond");
  });
  afterAll(async () => {
    await homebridge.close();
    await farm.close();
  });
  const find = (service: string, characteristic: string) =>
    homebridge.controller.find(farm.name, service, characteristic);

  test("tells Eve what it draws", async () => {
    const watts = await find(meter, consumption);
    expect(watts.perms).toEqual(expect.arrayContaining(["pr", "ev"]));
    expect(Number((await homebridge.controller.read(watts)).value)).toBeGreaterThan(0);
  });

  test("is restarted by a switch, which springs back", async () => {
    const button = await find("switch", "on");
    const told: unknown[] = [];
    await homebridge.controller.subscribe(button, (value) => told.push(value));
    const before = farm.startedAt();
    expect(await homebridge.controller.write(button, true)).toBe(0);
    await until(() => farm.startedAt() > before, "the rig to restart");
    await until(() => told.some((value) => !value), "the notification that the switch is off");
    await until(async () => (await homebridge.controller.read(button)).value === 0, "the switch to spring back");
  });

  if (name !== "rigs by address")
    test("is there for a manual rule, which is not said to be run when it was not", async () => {
      const button = await homebridge.controller.find(farm.rule?.name ?? "", "switch", "on");
      expect(await homebridge.controller.write(button, true)).toBe(farm.rule?.runs ? 0 : notNow);
      await until(
        async () => (await homebridge.controller.read(button)).value === 0,
        "the rule's switch to spring back",
      );
    });

  test("opens its alarm when it cannot be reached, and closes it when it is back", async () => {
    const contact = await find("sensor.contact", "contact-state");
    await until(async () => (await homebridge.controller.read(contact)).value === 0, "the alarm to close");
    const told: unknown[] = [];
    await homebridge.controller.subscribe(contact, (value) => told.push(value));
    farm.off();
    await until(() => told.includes(1), "the notification that the alarm has opened");
    await farm.on();
    await until(() => told.includes(0), "the notification that the alarm has closed");
  });
});
