import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { until } from "../until.ts";
import { isWhole } from "../whole.ts";
import { farmKinds, type OpenedFarm } from "./farms.ts";
import type { HomebridgeOptions, RunningHomebridge } from "./homebridge.ts";
import { failuresOf, isMatterPossible, MatterController, type MatterHub, matterHome } from "./matter-controller.ts";

const describeMatter = isMatterPossible ? describe : describe.skip;

/** A Rigbridge counts energy, Awesome Miner does not. */
const kinds = farmKinds
  .filter(({ name }) => isWhole || name === "another Rigbridge")
  .map((kind) => ({ ...kind, counts: kind.refuses }));

describeMatter("Matter", () => {
  let controller: MatterController;
  beforeAll(async () => {
    controller = await MatterController.start();
  });
  afterAll(() => controller.close());

  describe.each(kinds)("shows a rig of $name", ({ name, open, refuses, counts }) => {
    let farm: OpenedFarm;
    let options: HomebridgeOptions;
    let homebridge: RunningHomebridge;
    let hub: MatterHub;
    beforeAll(async () => {
      farm = await open();
      ({ options, homebridge, hub } = await matterHome(farm.platform, controller));
      await until(() => hub.has(farm.name), "the rig to appear in Matter");
    });
    afterAll(async () => {
      await homebridge.close();
      await farm.close();
    });
    const rig = () => hub.device(farm.name);
    const isOn = () => rig().read("onOff", "onOff");
    const power = () => rig().read("electricalPowerMeasurement", "activePower");

    test("as an outlet that is on, with its power and energy", async () => {
      await until(() => rig().reachable && isOn() === true, "the outlet to be reachable and on");
      await until(() => Number(power()) > 1_000, "the outlet to show the rig's power");
      const energy = () => rig().read("electricalEnergyMeasurement", "cumulativeEnergyImported");
      if (counts) await until(() => energy() !== null, "the outlet to show the rig's energy");
      else expect(energy()).toBeNull();
    });

    test("that stops when it is switched off, and starts when it is switched on", async () => {
      const before = Number(power());
      expect(await rig().switch("off")).toBe(0);
      await until(() => !farm.mines(), "the rig to stop");
      await until(() => isOn() === false, "the outlet to show that it is off");
      await until(() => Number(power()) < before / 2, "the outlet to show less power");
      expect(await rig().switch("toggle")).toBe(0);
      await until(() => farm.mines(), "the rig to start");
      await until(() => isOn() === true, "the outlet to show that it is on");
    });

    // What a rig is after a restart depends on the service; test/homebridge/matter-changes tests rigs by address.
    if (name === "another Rigbridge")
      test("that is the same device after a restart of Homebridge", async () => {
        const { number } = rig();
        homebridge = await homebridge.restart(options);
        await hub.reconnect();
        await until(
          () => hub.has(farm.name) && rig().reachable && isOn() === true,
          "the outlet to be reachable and on again",
        );
        expect(rig().number).toBe(number);
        expect(hub.devices.map(({ name }) => name)).toContain(farm.name);
      });

    if (refuses) {
      test("that is unreachable and without power while it is off, and reachable again when it is back", async () => {
        farm.off();
        await until(() => !rig().reachable && power() === null, "the outlet to be unreachable and without power");
        expect(await rig().switch("off")).not.toBe(0);
        await farm.on();
        await until(() => rig().reachable && Number(power()) > 1_000, "the outlet to be reachable with its power");
      });

      test("and reports an error when it refuses a command", async () => {
        farm.refuse();
        expect(await rig().switch("off")).not.toBe(0);
        await homebridge.until(/Garage: .*refuse/i);
        expect([farm.mines(), isOn()]).toEqual([true, true]);
      });
    }

    test("until Homebridge stops, which it does in time", async () => {
      expect((await homebridge.stop()).code).toBe(0);
      expect(failuresOf(homebridge)).toEqual([]);
    });
  });
});
