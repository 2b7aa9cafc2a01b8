import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { type Farm, startFarm } from "../../src/simulator/index.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { freePort } from "../free-port.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const caller = { actor: "test" };
const macs = ["02:00:00:AA:BB:01", "02:00:00:AA:BB:02"];
let dashboard: Dashboard;
let others: Farm;
let folder: string;

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), "leases-"));
  const [host, port] = [ownHost(), await freePort()];
  others = await startFarm({ rigs: macs.map((mac, n) => ({ kind: "axeos", warm: true, host, port: port + n, mac })) });
  const leases = join(folder, "dnsmasq.leases");
  writeFileSync(leases, `0 02:00:00:aa:bb:ff ${host} * *\n`);
  const networks = macs.map((_, n) => `${host}:${port + n}`);
  dashboard = await startDashboard({ rigs: [], config: { scan: { networks, leases: [leases] } } });
  await until(async () => (await dashboard.service.listSightings({}, caller)).length === 2, "both rigs to be sighted");
});

afterAll(async () => {
  await dashboard.close();
  await others.close();
  rmSync(folder, { recursive: true, force: true });
  await closeContexts();
});

testInBrowser(
  "a rig at hand is found by its label, by hand or by camera, and put where it is, one after another",
  async () => {
    const place = { kind: "rack", name: "R1", parentId: null, order: 0, rows: 2, columns: 1 } as const;
    const { id } = await dashboard.service.addPlace(place, caller);
    const { page, close } = await dashboard.visit("add", { width: 375, height: 800 });
    await page.getByRole("link", { name: "At the rack" }).click();
    const buttons = page.getByRole("button", { name: "Put it there" });
    await until(async () => (await buttons.count()) === 2, "both rigs to be listed");
    expect([await axe(page), await overflow(page)]).toEqual([[], 0]);
    await page.getByRole("combobox", { name: "Place" }).selectOption("R1");
    await page.getByRole("spinbutton", { name: "Row" }).fill("1");
    await page.getByRole("spinbutton", { name: "Column" }).fill("1");
    await page.getByRole("textbox", { name: "MAC address" }).fill("aabb02");
    await page.getByText(macs[1] ?? "").waitFor();
    await until(async () => (await buttons.count()) === 1, "the other rig to be hidden");
    await buttons.click();
    await page.getByText("is in its place").waitFor();
    const positions = () => dashboard.store.miners.all().map(({ placeId, position }) => [placeId, position]);
    expect(positions()).toEqual([[id, { row: 1, column: 1 }]]);
    // The rack has one column.
    expect(await page.getByRole("spinbutton", { name: "Row" }).inputValue()).toBe("2");
    // A browser that reads codes, and a camera that sees the label of the other rig.
    await page.evaluate((code) => {
      Object.assign(window, {
        BarcodeDetector: class {
          detect = async () => [{ rawValue: code }];
        },
      });
      navigator.mediaDevices.getUserMedia = async () => {
        const canvas = document.createElement("canvas");
        canvas.getContext("2d")?.fillRect(0, 0, 9, 9);
        return canvas.captureStream();
      };
    }, `MAC:${macs[0]}`);
    await page.getByRole("textbox", { name: "MAC address" }).fill("nothing like it");
    await page.getByText("No rig has reported itself").waitFor();
    await page.getByRole("button", { name: "Read a code" }).click();
    await page.getByText(macs[0] ?? "").waitFor();
    await buttons.click();
    await until(() => positions().length === 2, "the second rig to be added");
    expect(positions()[1]).toEqual([id, { row: 2, column: 1 }]);
    await close();
  },
);
