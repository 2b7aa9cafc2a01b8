import { expect, test } from "vitest";
import { whatAccessories } from "../../homebridge/src/homekit/accessories.ts";
import { whatDevices } from "../../homebridge/src/matter/devices.ts";
import { planned } from "../../homebridge/src/planned.ts";
import { RigFaults } from "../../src/farm/index.ts";
import { farmOf, miner, settings } from "./miners.ts";

/** A rig that fails whoever looks at this of it. */
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
    const said: string[] = [];
    const faults = new RigFaults({ error: (_, text) => said.push(text) });
    const farm = farmOf([failing(field), miner({ id: 1, uid: "sound" })]);
    const plan = () =>
      planned(farm, faults, (each) => ({
        home: whatAccessories(each, settings(), () => undefined),
        devices: whatDevices(each, settings(), () => undefined),
      }));
    plan();
    const { home, devices, farm: shown } = plan();
    expect(home.accessories.map(({ key }) => key)).toContain("rig:sound");
    expect(devices.map(({ key }) => key)).toContain("outlet:sound");
    expect([...home.accessories, ...devices].filter(({ key }) => key.includes("failing"))).toEqual([]);
    expect([...shown.hidden]).toEqual(["10.0.0.7:80"]);
    expect(said).toEqual(["miner 7 cannot be shown"]);
  },
);

test("what is no rig's fault is thrown", () => {
  const faults = new RigFaults({ error: () => undefined });
  const plan = () => {
    throw new TypeError("an invented fault of all");
  };
  expect(() => planned(farmOf([miner()]), faults, plan)).toThrow("an invented fault of all");
});
