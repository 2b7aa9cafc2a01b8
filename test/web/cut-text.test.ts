import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { axe, type Dashboard, startDashboard } from "./dashboard.ts";

const usual = "Container1-R04-S19-0042";
const long = `Container1-${"w".repeat(60)}-S19`;
let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [usual, long].map((name) => ({
      name,
      rig: { kind: "whatsminer", warm: true },
      settings: { username: "admin", password: "admin" },
    })),
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

test("a usual name stands whole in the list at 1440 px, wider than the status", async () => {
  const { page, close } = await dashboard.visit("rigs");
  const name = page.getByRole("link", { name: usual, exact: true }).locator("bdi");
  await name.waitFor();
  expect(await name.evaluate((each) => each.scrollWidth <= each.clientWidth)).toBe(true);
  const widths = await page.getByRole("columnheader").evaluateAll((all) => all.map((each) => each.clientWidth));
  expect(widths[1]).toBeGreaterThan(widths[2] ?? 0);
  await close();
});

test("a name that is cut is shown whole to the pointer and to keys, until Escape", async () => {
  const { page, close } = await dashboard.visit("rigs");
  const name = page.getByRole("link", { name: long, exact: true }).locator("bdi");
  await name.hover();
  expect(await name.getAttribute("title")).toBe(long);
  await page.getByRole("row").filter({ hasText: usual }).click();
  await page.keyboard.press("End");
  const bubble = page.locator(".cut-text");
  await bubble.getByText(long).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.keyboard.press("Escape");
  await bubble.waitFor({ state: "hidden" });
  await close();
});
