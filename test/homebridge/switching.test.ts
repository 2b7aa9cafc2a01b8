import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../until.ts";
import { noResponse } from "./controller.ts";
import { farmKinds, type OpenedFarm } from "./farms.ts";
import { type RunningHomebridge, rememberedBy, startHomebridge } from "./homebridge.ts";

/** HAP's "not allowed in current state". */
const notNow = -70412;
const consumption = "E863F10D-079E-48FF-8F27-9C2605A29F52";
const meter = "00000001-0000-1777-8000-775D67EC4377";

describe.each(farmKinds)("an outlet of $name", ({ name, open, refuses }) => {
  let farm: OpenedFarm;
  let homebridge: RunningHomebridge;
  /** With all the parts that a rig may have besides its outlet. */
  let platform: object;
  beforeAll(async () => {
    farm = await open();
    const rules = farm.rule === null ? [] : [farm.rule.name];
    platform = { ...farm.platform, defaults: { alarm: true, switches: ["restart"] }, rules };
    homebridge = await startHomebridge({ platform });
    await until(
      async () => (await homebridge.controller.accessories()).some((each) => each.name === farm.name),
      "the rig to appear",
    );
  });
  afterAll(async () => {
    await homebridge.close();
    await farm.close();
  });
  const on = () => homebridge.controller.find(farm.name, "outlet", "on");
  const find = (service: string, characteristic: string) =>
    homebridge.controller.find(farm.name, service, characteristic);
  const inUse = () => homebridge.controller.find(farm.name, "outlet", "outlet-in-use");
  const isRead = (value: boolean) => async () =>
    Boolean((await homebridge.controller.read(await on())).value) === value;

  test("is on and in use while the rig mines", async () => {
    await until(async () => (await homebridge.controller.read(await on())).status === 0, "the outlet to respond");
    expect(await homebridge.controller.read(await on())).toMatchObject({ value: 1, status: 0 });
    expect(await homebridge.controller.read(await inUse())).toMatchObject({ value: 1, status: 0 });
  });

  test("switched off stops the rig, switched on starts it, and both notify subscribers", async () => {
    const values: unknown[] = [];
    await homebridge.controller.subscribe(await inUse(), (value) => values.push(value));
    expect(await homebridge.controller.write(await on(), false)).toBe(0);
    await until(() => !farm.mines(), "the rig to stop");
    await until(isRead(false), "the outlet to show that it is off");
    await until(() => values.some((value) => !value), "the notification that the outlet is not in use");
    expect(await homebridge.controller.write(await on(), true)).toBe(0);
    await until(() => farm.mines(), "the rig to start");
    await until(isRead(true), "the outlet to show that it is on");
  });

  test("shows the rig's power in Eve", async () => {
    const watts = await find(meter, consumption);
    expect(watts.perms).toEqual(expect.arrayContaining(["pr", "ev"]));
    expect(Number((await homebridge.controller.read(watts)).value)).toBeGreaterThan(0);
  });

  // Before the restart, which for 30 s may be why a rig does not answer.
  test("has an alarm that opens when the rig is unreachable, and closes when it is back", async () => {
    const contact = await find("sensor.contact", "contact-state");
    await until(async () => (await homebridge.controller.read(contact)).value === 0, "the alarm to close");
    const values: unknown[] = [];
    await homebridge.controller.subscribe(contact, (value) => values.push(value));
    farm.off();
    await until(() => values.includes(1), "the notification that the alarm has opened");
    await farm.on();
    await until(() => values.includes(0), "the notification that the alarm has closed");
  });

  test("has a switch that restarts the rig, and springs back", async () => {
    const button = await find("switch", "on");
    const values: unknown[] = [];
    await homebridge.controller.subscribe(button, (value) => values.push(value));
    const before = farm.startedAt();
    expect(await homebridge.controller.write(button, true)).toBe(0);
    await until(() => farm.startedAt() > before, "the rig to restart");
    await until(() => values.some((value) => !value), "the notification that the switch is off");
    await until(async () => (await homebridge.controller.read(button)).value === 0, "the switch to spring back");
  });

  if (name !== "rigs by address")
    test("has a switch for a manual rule, which reports an error when the rule did not run", async () => {
      const button = await homebridge.controller.find(farm.rule?.name ?? "", "switch", "on");
      expect(await homebridge.controller.write(button, true)).toBe(farm.rule?.runs ? 0 : notNow);
      await until(
        async () => (await homebridge.controller.read(button)).value === 0,
        "the rule's switch to spring back",
      );
    });

  test("keeps its identity when Homebridge is restarted", async () => {
    const before = await on();
    homebridge = await homebridge.restart({ platform });
    await until(
      async () => (await homebridge.controller.read(before)).status === 0,
      "the outlet to respond after the restart",
    );
    expect((await on()).id).toBe(before.id);
  });

  test("shows No Response while the rig is off, and responds again when it is back", async () => {
    farm.off();
    await until(
      async () => (await homebridge.controller.read(await on())).status === noResponse,
      "the outlet to show No Response",
    );
    expect(await homebridge.controller.write(await on(), false)).not.toBe(0);
    await farm.on();
    await until(async () => (await homebridge.controller.read(await on())).status === 0, "the outlet to respond again");
  });

  test("keeps its identity when Homebridge is restarted while the rig is off", async () => {
    const before = await on();
    farm.off();
    await until(
      async () => (await homebridge.controller.read(before)).status === noResponse,
      "the outlet to show No Response",
    );
    homebridge = await homebridge.restart({ platform: { ...farm.platform, defaults: { sensors: ["temperature"] } } });
    // A sensor appears as soon as the service has reported the rig.
    await until(
      async () =>
        homebridge.controller.find(farm.name, "sensor.temperature", "status-active").then(
          () => true,
          () => false,
        ),
      "the temperature sensor to appear",
    );
    expect((await on()).id).toBe(before.id);
    expect((await homebridge.controller.read(before)).status).toBe(noResponse);
    await farm.on();
    await until(async () => (await homebridge.controller.read(before)).status === 0, "the outlet to respond again");
  });

  if (refuses)
    test("reports an error when the rig refuses a command", async () => {
      farm.refuse();
      expect(await homebridge.controller.write(await on(), false)).not.toBe(0);
      expect(await homebridge.controller.read(await on())).toMatchObject({ value: 1, status: 0 });
      expect(farm.mines()).toBe(true);
      await homebridge.until(/Garage: .*refuse/i);
    });

  test("stops before Homebridge has to kill it, and is remembered", async () => {
    expect((await homebridge.stop()).code).toBe(0);
    expect(await rememberedBy(homebridge.folder)).toContain('"key":"rig:');
  });
});
