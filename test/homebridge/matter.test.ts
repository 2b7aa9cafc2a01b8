import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import { farmKinds, type OpenedFarm } from "./farms.ts";
import type { HomebridgeOptions, RunningHomebridge } from "./homebridge.ts";
import { failuresOf, isMatterPossible, MatterController, type MatterHub, matterHome } from "./matter-controller.ts";
import { until } from "./until.ts";

const describeMatter = isMatterPossible ? describe : describe.skip;

/** A Rigbridge counts energy, the reference product does not. */
const kinds = farmKinds.map((kind) => ({ ...kind, counts: kind.refuses }));

describeMatter("Matter", () => {
  let controller: MatterController;
  beforeAll(async () => {
    controller = await MatterController.start();
  });
  afterAll(() => controller.close());

  describe.each(kinds)("shows a rig of $name", ({ open, refuses, counts }) => {
    let farm: OpenedFarm;
    let options: HomebridgeOptions;
    let homebridge: RunningHomebridge;
    let hub: MatterHub;
    beforeAll(async () => {
      farm = await open();
      ({ options, homebridge, hub } = await matterHome(farm.platform, controller));
      await until(() => hub.has(farm.name));
    });
    afterAll(async () => {
      await homebridge.close();
      await farm.close();
    });
    const rig = () => hub.device(farm.name);
    const isOn = () => rig().read("onOff", "onOff");
    const power = () => rig().read("electricalPowerMeasurement", "activePower");

    test("as an outlet that is on, with the power that it draws and what that came to", async () => {
      await until(() => rig().reachable && isOn() === true);
      await until(() => Number(power()) > 1_000);
      const energy = () => rig().read("electricalEnergyMeasurement", "cumulativeEnergyImported");
      if (counts) await until(() => energy() !== null);
      else expect(energy()).toBeNull();
    });

    test("that stops when it is switched off, and starts when it is switched on", async () => {
      const drawn = Number(power());
      expect(await rig().switch("off")).toBe(0);
      await until(() => !farm.mines());
      await until(() => isOn() === false);
      await until(() => Number(power()) < drawn / 2);
      expect(await rig().switch("toggle")).toBe(0);
      await until(() => farm.mines());
      await until(() => isOn() === true);
    });

    test("that is itself after a restart of Homebridge", async () => {
      const { number } = rig();
      homebridge = await homebridge.restart(options);
      await hub.reconnect();
      await until(() => hub.has(farm.name) && rig().reachable && isOn() === true);
      expect(rig().number).toBe(number);
      expect(hub.devices.map(({ name }) => name)).toContain(farm.name);
    });

    if (refuses) {
      test("that cannot be reached while it is off, without any power, and can be when it is back", async () => {
        farm.off();
        await until(() => !rig().reachable && power() === null);
        expect(await rig().switch("off")).not.toBe(0);
        await farm.on();
        await until(() => rig().reachable && Number(power()) > 1_000);
      });

      test("and says that it did not do what it refused", async () => {
        farm.refuse();
        expect(await rig().switch("off")).not.toBe(0);
        await homebridge.until(/Garage: .*refuse/i);
        expect([farm.mines(), isOn()]).toEqual([true, true]);
      });
    }

    test("until Homebridge ends, which it does by itself", async () => {
      expect((await homebridge.stop()).code).toBe(0);
      expect(failuresOf(homebridge)).toEqual([]);
    });
  });
});
