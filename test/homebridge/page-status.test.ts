import { afterEach, expect, test } from "@jest/globals";
import { folderIn, readStatus, type Status } from "../../homebridge/src/status-file.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { startHomebridge } from "./homebridge.ts";

let ending: (() => Promise<void>)[] = [];
afterEach(async () => {
  for (const end of ending.toReversed()) await end();
  ending = [];
});

const name = "Under the roof / 1";

async function rigs(count: number): Promise<{ address: string; name: string; password: string; interval: number }[]> {
  const farm = await startFarm({
    rigs: Array.from({ length: count }, () => ({ kind: "axeos", warm: true, host: ownHost() })),
  });
  ending.push(() => farm.close());
  return farm.rigs.map(({ address }, index) => ({
    address,
    name: `Garage ${index}`,
    password: "invented-secret",
    interval: 1,
  }));
}

const shows = (status: Status | null, rig: string): boolean =>
  status?.accessories.some((accessory) => accessory.name === rig) === true;

test("a running plugin stores what is in Home for its settings page, without secrets", async () => {
  const [rig] = await rigs(1);
  let homebridge = await startHomebridge({ platform: { name, rigs: [rig] } });
  ending.push(() => homebridge.close());
  const status = () => readStatus(folderIn(homebridge.folder, name));
  await until(async () => shows(await status(), "Garage 0"), "the status file to name the rig");
  const stored = await status();
  expect(stored).toMatchObject({ problem: null });
  const garage = stored?.accessories.find((accessory) => accessory.name === "Garage 0");
  expect(garage).toMatchObject({ host: rig?.address });
  expect(garage?.services).toContain("Outlet");
  expect(JSON.stringify(stored)).not.toContain("invented-secret");

  homebridge = await homebridge.restart({ platform: { name, rigs: [{ adress: rig?.address }] } });
  await until(async () => (await status())?.problem !== null, "the status file to name the mistakes");
  expect(await status()).toMatchObject({ problem: expect.stringMatching(/has mistakes/), accessories: [] });

  homebridge = await homebridge.restart({ platform: { name } });
  await homebridge.until(/Nothing is configured/);
  await until(async () => (await status()) === null, "the status file to be removed");
});

test("two setups, each on its own bridge, read two sets of rigs", async () => {
  const [one, other] = await rigs(2);
  const _bridge = { username: "0E:5A:00:00:00:01", bind: ["127.0.0.1"] };
  const homebridge = await startHomebridge({ platform: { name, rigs: [one], _bridge }, others: [{ rigs: [other] }] });
  ending.push(() => homebridge.close());
  await until(
    async () => shows(await readStatus(folderIn(homebridge.folder, name)), "Garage 0"),
    "the first bridge's status file to name its rig",
  );
  await until(
    async () => shows(await readStatus(folderIn(homebridge.folder, "Rigbridge")), "Garage 1"),
    "the second bridge's status file to name its rig",
  );
});

test("an unreadable status counts as none", async () => {
  expect(await readStatus("/nowhere")).toBeNull();
});
