import type { Page } from "playwright-core";
import { afterAll, beforeAll, expect } from "vitest";
import { closeBrowser, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const anna = { actor: "anna" };
const hostile = `<img src=x onerror="alert(1)">${"W".repeat(150)}`;
const [desk, shelf, evil] = [1_000_000_001, 1_000_000_002, 1_000_000_003];

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: { http: { key } },
    rigs: ["Desk", "Shelf", hostile].map((name) => ({ name, rig: { kind: "axeos", warm: true } })),
  });
  const { service } = dashboard;
  await service.minerAction({ id: desk, action: "set", property: "fan", value: "50" }, anna);
  await service.minerAction({ id: evil, action: "set", property: "fan", value: "auto" }, { actor: "bert" });
  await service.minerAction({ id: shelf, action: "set", property: "fan", value: "700" }, anna).catch(() => undefined);
});

afterAll(async () => {
  await dashboard?.close();
  await closeBrowser();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const rows = (page: Page) => page.locator("tbody").getByRole("row");
const has = (page: Page, count: number): Promise<void> =>
  until(async () => (await rows(page).count()) === count, `${count} rows`);

test("commands are filtered by rig and sender, in the address; new ones appear by themselves", async () => {
  const { page, close } = await visit("activity");
  await page.getByRole("link", { name: "bert" }).click();
  await page.waitForURL(/actor=bert/);
  await has(page, 1);
  await page.getByRole("link", { name: "Clear the filters" }).click();
  await page.getByLabel("Rig", { exact: true }).fill("desk");
  await page.getByLabel("Rig", { exact: true }).press("Tab");
  await page.waitForURL(new RegExp(`miner=${desk}`));
  await has(page, 1);
  await page.getByText("Set fan to 50").waitFor();
  await dashboard.service.minerAction({ id: desk, action: "set", property: "fan", value: "55" }, anna);
  await dashboard.service.minerAction({ id: shelf, action: "set", property: "fan", value: "56" }, anna);
  await page.getByText("Set fan to 55").waitFor();
  await has(page, 2);
  await page.getByLabel("Rig", { exact: true }).fill("nothing like it");
  await page.getByLabel("Rig", { exact: true }).press("Tab");
  await page.getByText("No rig has this name").waitFor();
  await page.getByLabel("Period").selectOption("1h");
  await page.waitForURL(/since=1h/);
  await close();
});

test("a bulk action shows each rig's result, and its commands lead to it", async () => {
  const { id } = await dashboard.service.startBulkAction(
    {
      action: "set",
      parameters: { property: "fan", value: "65" },
      miners: [desk, shelf],
      parallel: 2,
      delay: 0,
      dryRun: false,
    },
    anna,
  );
  await until(
    async () => (await dashboard.service.getBulkAction({ id }, anna)).state === "done",
    "the bulk action is done",
  );
  const { page, close } = await visit(`activity?miner=${shelf}`);
  await page.getByText("Bulk action").first().waitFor();
  await page.getByRole("link", { name: "set", exact: true }).first().click();
  await page.waitForURL(new RegExp(`job=${id}`));
  await page.getByText("2 of 2 done, 0 failed, 0 unknown").waitFor();
  await page.getByRole("region", { name: "Results by rig" }).getByRole("link", { name: "Shelf" }).click();
  await page.getByRole("heading", { level: 1, name: "Shelf" }).waitFor();
  await close();
});

test("both sections are accessible in light and dark, and fit 320 px, with a hostile name", async () => {
  const { page, close } = await visit("activity", { width: 320 });
  for (const path of ["activity", "activity?tab=bulk&job=1", "activity?actor=nobody"]) {
    await page.goto(`${dashboard.url}/${path}`);
    await page.getByRole("heading", { level: 1 }).waitFor();
    await page.getByText("Loading…").waitFor({ state: "detached" });
    expect([path, await overflow(page)]).toEqual([path, 0]);
    expect([path, await axe(page)]).toEqual([path, []]);
  }
  expect(await page.locator("img").count()).toBe(0);
  await close();
});
