import { expect, test } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { until } from "../until.ts";
import { startHomebridge } from "./homebridge.ts";

test("150 rigs are shown only as groups, at no time as rigs, with advice on child bridges", async () => {
  const farm = await startFarm({ rigs: Array.from({ length: 150 }, () => ({ kind: "axeos", warm: true }) as const) });
  const rigs = farm.rigs.map(({ address }, index) => ({ address, group: index < 100 ? "Hall" : "Yard" }));
  const homebridge = await startHomebridge({ platform: { name: "Rigbridge", rigs } });
  try {
    const seen = new Set<string>();
    await until(async () => {
      for (const { name } of await homebridge.controller.accessories()) seen.add(name);
      return seen.has("Hall") && seen.has("Yard") && seen.has("All rigs");
    }, "the groups to appear");
    const contact = await homebridge.controller.find("Rig alarm", "sensor.contact", "contact-state");
    // It closes only once every rig has been read.
    await until(async () => (await homebridge.controller.read(contact)).value === 0, "the alarm to close");
    for (const { name } of await homebridge.controller.accessories()) seen.add(name);
    expect([...seen].sort()).toEqual(["All rigs", "Hall", "Rig alarm", "Yard"]);
    await homebridge.until(/150 rigs.*child bridge/);
  } finally {
    await homebridge.close();
    await farm.close();
  }
});
