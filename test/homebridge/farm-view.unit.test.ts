import { expect, test } from "@jest/globals";
import { planWithoutFailing } from "../../homebridge/src/farm-view.ts";
import { planAccessories } from "../../homebridge/src/homekit/accessories.ts";
import { planDevices } from "../../homebridge/src/matter/devices.ts";
import { RigFaults } from "../../src/farm/index.ts";
import { farmOf, miner, settings } from "./miners.ts";

/** A rig that throws when this field is read. */
const failing = (field: string) =>
  Object.defineProperty(miner({ id: 7, uid: "failing", hostDescription: "10.0.0.7:80" }), field, {
    enumerable: true,
    get: () => {
      throw new TypeError("an invented fault");
    },
  });

test.each(["controls", "readings", "identity", "statusInfo"])(
  "a rig whose %s makes the plugin fail is hidden and logged once, and the others are shown",
  (field) => {
    const logged: string[] = [];
    const faults = new RigFaults({ error: (_, text) => logged.push(text) });
    const farm = farmOf([failing(field), miner({ id: 1, uid: "sound" })]);
    const plan = () =>
      planWithoutFailing(farm, faults, (each) => ({
        home: planAccessories(each, settings(), () => undefined),
        devices: planDevices(each, settings(), () => undefined),
      }));
    plan();
    const { home, devices, farm: planned } = plan();
    expect(home.accessories.map(({ key }) => key)).toContain("rig:sound");
    expect(devices.map(({ key }) => key)).toContain("outlet:sound");
    expect([...home.accessories, ...devices].filter(({ key }) => key.includes("failing"))).toEqual([]);
    expect([...planned.hidden]).toEqual(["10.0.0.7:80"]);
    expect(logged).toEqual(["miner 7 cannot be shown"]);
  },
);

test("an error that no single rig causes is thrown", () => {
  const faults = new RigFaults({ error: () => undefined });
  const plan = () => {
    throw new TypeError("an invented fault of all");
  };
  expect(() => planWithoutFailing(farmOf([miner()]), faults, plan)).toThrow("an invented fault of all");
});
