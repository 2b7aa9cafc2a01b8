import type { Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect } from "vitest";
import { closeBrowser, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const key = "key-of-the-service";
const viewer = "key-of-a-viewer-1234";
const hostile = `<b>x</b><img src=x onerror="alert(1)">\u200f${"w".repeat(150)}`;
const count = 26;
const ids = (index: number): number => 1_000_000_001 + index;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      http: { key },
      users: [{ name: "Vera", key: viewer, privilege: "view" }],
      groups: [{ name: "Hall", groups: [{ name: "Row 1" }, { name: "Row 2" }] }],
      pools: [{ name: "Spare", url: "stratum+tcp://spare.example.com:3333", worker: "a.b" }],
    },
    rigs: Array.from({ length: count }, (_, index) => ({
      name: index === 25 ? hostile : `Rig ${index + 1}`,
      rig: { kind: index % 5 === 4 ? "luxos" : "axeos", warm: true, restartSeconds: 0.1 },
      settings: { group: index % 2 === 0 ? "Row 1" : "Row 2", tags: index < 3 ? ["loud"] : [] },
    })),
  });
  // Two are down.
  for (const index of [5, 6]) dashboard.rigs[index]?.powerOff();
  for (let read = 0; read < 3; read += 1) await dashboard.readAll();
});

afterAll(async () => {
  await dashboard?.close();
  await closeBrowser();
});

const visit = (path: string, options: Parameters<Dashboard["visit"]>[1] = {}) =>
  dashboard.visit(path, { key, ...options });
const names = async (page: Page): Promise<string[]> => {
  const texts = await page.getByRole("grid").locator("tbody a").allInnerTexts();
  return texts.map((text) => text.trim());
};
const lead = (page: Page) => page.locator(".lead");
const row = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

describe("the list of rigs", () => {
  test("leads to the rigs that are down, says why, and restarts them", async () => {
    const { page, close } = await visit("rigs");
    await page.getByRole("link", { name: "Not mining 2" }).click();
    await until(async () => (await names(page)).join() === "Rig 6,Rig 7", "the two that are down");
    expect(new URL(page.url()).searchParams.getAll("status")).toContain("Disconnected");
    await expectText(lead(page), "2 of 26 rigs");
    await expectText(row(page, "Rig 6"), /Disconnected\s*no network/);
    for (const index of [5, 6]) await dashboard.rigs[index]?.powerOn();
    await page.getByRole("checkbox", { name: "Select all rigs in this list" }).check();
    await page.getByRole("button", { name: "Reboot" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByRole("button", { name: "Reboot 2 rigs" }).click();
    const job = page.getByRole("article", { name: "Reboot: 2 rigs" });
    await expectText(job, /Ended · 2 done/);
    expect(dashboard.rigs[5]?.model.starts).toBeGreaterThan(0);
    await close();
  });
});

async function expectText(locator: { innerText(): Promise<string> }, wanted: string | RegExp): Promise<void> {
  let text = "";
  await until(
    async () => {
      text = (await locator.innerText()).replace(/\s+/g, " ").trim();
      return typeof wanted === "string" ? text === wanted : wanted.test(text);
    },
    `the text ${wanted}`,
    { details: () => text },
  );
}
