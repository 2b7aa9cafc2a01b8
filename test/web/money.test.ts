import { readFile } from "node:fs/promises";
import { afterAll, beforeAll, expect } from "@jest/globals";
import type { MoneySums } from "../../src/store/index.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { axe, type Dashboard, startDashboard } from "./dashboard.ts";

const caller = { actor: "test" };
const hourSeconds = 3600;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      { rig: { kind: "axeos", warm: true }, name: "known", settings: { group: "Hall" } },
      // It does not report its power.
      { rig: { kind: "cgminer", warm: true }, name: "silent", settings: { group: "Hall" } },
      { rig: { kind: "cgminer", warm: true }, name: "declared", settings: { group: "Den", powerNameplate: 1400 } },
    ],
    config: {
      groups: [{ name: "Hall" }, { name: "Den" }],
      pools: [{ name: "Solo", url: "stratum+tcp://pool.example.com:3333", coin: "BTC" }],
      rates: { btc: 90_000 },
      electricity: { price: 0.3 },
    },
  });
  await dashboard.service.saveCoin({ shortName: "BTC", profit: 5e-10 }, caller);
  const date = new Date().toLocaleDateString("sv-SE");
  const sums: MoneySums = {
    seconds: 30 * hourSeconds,
    energy: 400,
    cost: 2,
    costBtc: null,
    revenue: 5,
    revenueBtc: null,
    profit: 3,
    profitBtc: null,
    compared: 30 * hourSeconds,
    uncosted: 0,
    unearned: 0,
  };
  const unknown = { energy: null, cost: null, profit: null, compared: 0, uncosted: 30 * hourSeconds };
  const key = { date, groupId: 1, coin: "BTC", algorithm: "sha256", currency: "USD" };
  await dashboard.store.moneyDays.add([
    [{ ...key, minerId: 1_000_000_001 }, sums],
    [
      { ...key, minerId: 1_000_000_002 },
      { ...sums, ...unknown },
    ],
  ]);
});

afterAll(async () => {
  await dashboard.close();
  await closeContexts();
});

const amounts = (text: string | null): number[] =>
  [...(text ?? "").matchAll(/-?\$[\d,.]*\d/g)].map(([amount]) => Number(amount.replace(/[$,]/g, "")));

testInBrowser(
  "the tile of the profit is revenue less cost of the same rigs, and says how many it leaves out",
  async () => {
    const { page, close } = await dashboard.visit("");
    const { money } = await dashboard.service.getSummary({}, caller);
    const tile = page.locator(".tile").filter({ hasText: "Profit per day" });
    await tile.getByText("without 1 rig whose revenue or cost is not known").waitFor();
    await tile.getByText("the power of 1 rig is estimated from its nameplate").waitFor();
    const [profit = Number.NaN, earned = Number.NaN, cost = Number.NaN] = amounts(await tile.textContent());
    expect(profit).toBeCloseTo(money?.profitPerDay ?? Number.NaN, 1);
    expect(earned - cost).toBeCloseTo(profit, 1);
    // With the revenue of the rig whose cost is unknown it would be more.
    expect(money?.revenuePerDay).toBeGreaterThan(earned + 0.01);
    const row = page.getByRole("row", { name: /^Hall/ });
    await row.getByText("(1 not counted)").last().waitFor();
    const hall = (await dashboard.service.getSummary({}, caller)).groupList?.find(({ name }) => name === "Hall");
    expect(amounts(await row.textContent())[0]).toBeCloseTo(hall?.money?.profitPerDay ?? Number.NaN, 1);
    expect(await axe(page)).toEqual([]);
    await close();
  },
);

testInBrowser(
  "a report's profit is of the hours in which both were known, and says of which and of how many rigs",
  async () => {
    const { page, close } = await dashboard.visit("money");
    const tile = page.locator(".tile").filter({ hasText: /^Profit/ });
    await tile.getByText("without 30 of 60 rig hours").waitFor();
    await tile.getByText("Not known for 1 rig, at least for a part of the time").waitFor();
    expect(amounts(await tile.textContent())).toEqual([3]);
    expect(
      amounts(
        await page
          .locator(".tile")
          .filter({ hasText: /^Revenue/ })
          .textContent(),
      ),
    ).toEqual([10]);
    const electricity = page.locator(".tile").filter({ hasText: /^Electricity(?! price)/ });
    await electricity.getByText("the power of 1 rig is estimated from its nameplate").waitFor();
    const silent = page.getByRole("row", { name: /^silent/ });
    expect(amounts(await silent.textContent())).toEqual([5]);
    expect(await axe(page)).toEqual([]);
    await close();
  },
);

testInBrowser("a month, or any dates, are chosen and downloaded for the accountant", async () => {
  const { page, close } = await dashboard.visit("money");
  const month = new Date().toLocaleDateString("sv-SE").slice(0, 7);
  await page.getByLabel("Month").selectOption({ index: 1 });
  const first = new URL(page.url()).searchParams.get("from") ?? "";
  expect(first).toMatch(/-01$/);
  expect(new URL(page.url()).searchParams.get("to")?.slice(0, 7)).toBe(month);
  await page
    .getByRole("cell", { name: "known" })
    .or(page.getByRole("rowheader", { name: "known" }))
    .first()
    .waitFor();
  await page.getByRole("button", { name: "CSV" }).click();
  const [excel] = await Promise.all([
    page.waitForEvent("download"),
    page.getByRole("link", { name: "For Excel" }).click(),
  ]);
  const text = (await readFile(await excel.path())).toString("utf8");
  expect(text.startsWith("\u{FEFF}period,id,name,hours (h),energy (kWh)")).toBe(true);
  expect(excel.suggestedFilename()).toBe("money.csv");
  await page.getByLabel("From").fill("2025-01-31");
  await page.getByLabel("To").fill("2025-01-01");
  await page.getByText("The second date must not be before the first.").waitFor();
  await page.getByLabel("To").fill("2025-02-01");
  await page.getByRole("button", { name: "Show" }).click();
  await page.getByText("Nothing was counted in this time.").waitFor();
  expect(new URL(page.url()).search).toBe("?from=2025-01-31&to=2025-02-01");
  expect(await axe(page)).toEqual([]);
  await close();
});
