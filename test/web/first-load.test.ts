import { statSync } from "node:fs";
import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { type Dashboard, startDashboard, withoutLoadingAhead } from "./dashboard.ts";

/** Bytes of JavaScript, gzipped, that the overview may need until its figures are there, in one language. */
const mostBytes = 60_000;
/** The library of charts comes after them, once a chart is near the screen. */
const mostWithCharts = 72_000;
const mostRequests = 8;

const assets = new URL("../../dist/web/assets/", import.meta.url);

let dashboard: Dashboard;
beforeAll(async () => {
  dashboard = await startDashboard({ rigs: [{ rig: { kind: "axeos", warm: true }, name: "lamp" }] });
});
afterAll(async () => {
  await dashboard.close();
  await closeContexts();
});

testInBrowser.each([["en-US"], ["ru-RU"]])("the first load of the overview stays small (%s)", async (locale) => {
  const { page, close } = await dashboard.visit("", { locale, fresh: true });
  await withoutLoadingAhead(page);
  await page.locator(".chart-picture canvas").first().waitFor();
  const scripts: string[] = await page.evaluate(() =>
    performance
      .getEntriesByType("resource")
      .map(({ name }) => new URL(name).pathname.split("/").at(-1) ?? "")
      .filter((name) => name.endsWith(".js")),
  );
  const sizes = scripts.map((name) => ({ name, bytes: statSync(new URL(`${name}.gz`, assets)).size }));
  const sum = (some: typeof sizes): number => some.reduce((total, { bytes }) => total + bytes, 0);
  const charts = sizes.filter(({ name }) => name.startsWith("uPlot"));
  expect(charts).toHaveLength(1);
  expect(scripts.length).toBeLessThanOrEqual(mostRequests);
  expect(sum(sizes) - sum(charts)).toBeLessThanOrEqual(mostBytes);
  expect(sum(sizes)).toBeLessThanOrEqual(mostWithCharts);
  await close();
});
