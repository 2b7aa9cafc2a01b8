import { afterEach, expect, test } from "@jest/globals";
import { folderIn, readStatus } from "../../homebridge/src/status-file.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { startHomebridge } from "./homebridge.ts";
import { until } from "./until.ts";

let ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
});

test("a running plugin notes for its settings page what is in Home, and nothing secret", async () => {
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }] });
  ending.push(() => farm.close());
  const rigs = farm.rigs.map(({ address }) => ({ address, name: "Garage", password: "invented-secret", interval: 1 }));
  const homebridge = await startHomebridge({ platform: { name: "Under the roof / 1", rigs } });
  ending.push(() => homebridge.close());
  const status = () => readStatus(folderIn(homebridge.folder), "Under the roof / 1");
  await until(async () => (await status())?.accessories.some(({ name }) => name === "Garage") === true);
  const said = await status();
  expect(said).toMatchObject({ problem: null });
  const garage = said?.accessories.find(({ name }) => name === "Garage");
  expect(garage).toMatchObject({ host: farm.rigs[0]?.address });
  expect(garage?.services).toContain("Outlet");
  expect(JSON.stringify(said)).not.toContain("invented-secret");
});

test("what cannot be read back counts as nothing noted", async () => {
  expect(await readStatus("/nowhere", "Rigbridge")).toBeNull();
});
