import { readFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, shows, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const viewer = "key-of-a-viewer-1234";
const hostile = `<b>x</b><img src=x onerror="alert(1)">\u200f${"w".repeat(150)}`;
const count = 26;

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
      name: index === count - 1 ? hostile : `Rig ${index + 1}`,
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
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const grid = (page: Page): Locator => page.getByRole("grid", { name: "List of rigs" });
const row = (page: Page, name: string): Locator =>
  grid(page)
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name, exact: true }) });
const names = (page: Page): Promise<string[]> => grid(page).getByRole("rowheader").locator("bdi").allInnerTexts();
const lead = (page: Page): Locator => page.locator(".lead");
const searchOf = (page: Page): URLSearchParams => new URL(page.url()).searchParams;

const lists = (page: Page, wanted: readonly string[]): Promise<void> =>
  until(async () => (await names(page)).join() === wanted.join(), `the rigs ${wanted.join()}`, {});

describe("finding rigs", () => {
  test("those that do not mine are one click away, with the reason, and the address can be sent on", async () => {
    const { page, close } = await visit("rigs");
    await page.getByRole("link", { name: "Not mining 2" }).click();
    await lists(page, ["Rig 6", "Rig 7"]);
    await shows(lead(page), "2 of 26 rigs");
    await shows(row(page, "Rig 6"), /Disconnected no network · .* – /);
    expect(searchOf(page).getAll("status")).toContain("Disconnected");
    await page.reload();
    await lists(page, ["Rig 6", "Rig 7"]);
    await close();
  });

  test("a search and filters narrow the list, and totals follow it", async () => {
    const { page, close } = await visit("rigs");
    await page.getByRole("searchbox", { name: /^Search/ }).fill("rig 1");
    await until(() => searchOf(page).get("q") === "rig 1", "the search in the address");
    await page.getByRole("button", { name: "Filters" }).click();
    const dialog = page.getByRole("dialog", { name: "Filters" });
    await dialog.getByText("Tag", { exact: true }).click();
    await dialog.getByRole("checkbox", { name: "loud" }).check();
    await dialog.getByText("Group", { exact: true }).click();
    // A group contains those in it.
    await shows(dialog.locator("label").filter({ hasText: /^Hall\d+$/ }), "Hall 1");
    await dialog.getByRole("button", { name: "Show 1 rig" }).click();
    await lists(page, ["Rig 1"]);
    await shows(page.getByRole("region", { name: "Totals" }), /Mining 1 Hash rate .* [GT]H\/s Power \d+ W$/);
    await page.getByRole("button", { name: "Remove the filter Tag: loud" }).click();
    await shows(lead(page), /^1[0-9] of 26 rigs$/);
    await close();
  });

  test("an empty list says which filter to drop", async () => {
    const { page, close } = await visit("rigs?q=rig&status=Mining&temperature=200..");
    await page.getByRole("heading", { name: "No rig matches these filters" }).waitFor();
    expect(await axe(page)).toEqual([]);
    const drop = page.getByRole("button", { name: /^Without Temperature, °C: from 200: 2\d rigs$/ });
    await drop.click();
    await until(async () => (await names(page)).length > 10, "rigs again");
    expect(searchOf(page).has("temperature")).toBe(false);
    await close();
  });

  test("a list is sorted by any column, with unknown values last", async () => {
    const { page, close } = await visit("rigs?tag=loud&columns=name,power");
    const head = page.getByRole("columnheader", { name: "Name" });
    await head.getByRole("button").click();
    await lists(page, ["Rig 3", "Rig 2", "Rig 1"]);
    expect(await head.getAttribute("aria-sort")).toBe("descending");
    expect(searchOf(page).get("sort")).toBe("-name");
    await close();
    const down = await visit("rigs?sort=-power&status=Disconnected&q=rig");
    await lists(down.page, ["Rig 6", "Rig 7"]);
    await down.close();
  });

  test("columns are chosen and ordered, and stay so", async () => {
    const { page, close } = await visit("rigs?tag=loud");
    await page.getByRole("button", { name: "Columns" }).click();
    const dialog = page.getByRole("dialog", { name: "Columns" });
    await dialog.getByRole("button", { name: "Usual columns" }).click();
    await dialog.getByRole("checkbox", { name: "Model" }).uncheck();
    await dialog.getByRole("checkbox", { name: "Best share" }).check();
    await dialog.getByRole("button", { name: "Move Power forward" }).click();
    expect(await axe(page)).toEqual([]);
    await page.keyboard.press("Escape");
    const heads = async () => (await page.getByRole("columnheader").allInnerTexts()).map((text) => text.trim());
    const wanted = ["Name", "Status", "Hash rate", "Power", "Of expected", "Temperature", "Profit per day", "Group"];
    expect((await heads()).slice(1)).toEqual([...wanted, "Address", "Best share"]);
    // The service is asked for what a column needs.
    await shows(row(page, "Rig 1").getByRole("gridcell").last(), /^[\d.]+ [kMGT]?$/);
    await page.goto(new URL("rigs", dashboard.url).href);
    await grid(page).waitFor();
    expect((await heads()).at(-1)).toBe("Best share");
    await close();
  });

  test("a view is saved under a name, and deleted", async () => {
    const { page, close } = await visit("rigs?tag=loud&sort=-power");
    await page.getByRole("button", { name: "Save view" }).click();
    await page.getByRole("textbox", { name: "Name of the view" }).fill("Noisy ones");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.goto(new URL("rigs", dashboard.url).href);
    await page.getByRole("link", { name: "Noisy ones 3" }).click();
    await until(async () => (await names(page)).length === 3, "the rigs of the view");
    await page.getByRole("button", { name: "Delete the view Noisy ones" }).click();
    await page.getByRole("link", { name: "Noisy ones 3" }).waitFor({ state: "detached" });
    await close();
  });

  test("the list goes into a spreadsheet", async () => {
    const { page, close } = await visit("rigs?tag=loud");
    await page.getByRole("button", { name: "CSV" }).click();
    const [download] = await Promise.all([
      page.waitForEvent("download"),
      page.getByRole("button", { name: "Download as CSV" }).click(),
    ]);
    const lines = readFileSync(await download.path(), "utf8")
      .trim()
      .split("\r\n");
    expect(download.suggestedFilename()).toBe("rigs.csv");
    expect(lines).toHaveLength(4);
    expect(lines[1]).toMatch(/^1000000001,[^,]+,Rig 1,Hall \/ Row 1,,,,,loud,Mining,,\d+/);
    await close();
  });

  test("what a rig reports appears without a reload", async () => {
    const { page, close } = await visit("rigs?q=rig%2024&columns=name,status");
    await shows(row(page, "Rig 24"), /Mining$/);
    dashboard.rigs[23]?.powerOff();
    for (let read = 0; read < 3; read += 1) await dashboard.readAll();
    await shows(row(page, "Rig 24"), /Disconnected/);
    await close();
  });
});

describe("by keyboard", () => {
  test("rows are moved to, selected and opened, with one stop of the Tab key", async () => {
    const { page, close } = await visit("rigs?q=rig");
    await row(page, "Rig 1").focus();
    await page.keyboard.press("ArrowDown");
    await page.keyboard.press("Space");
    await page.keyboard.press("Shift+ArrowDown");
    await page.keyboard.press("Shift+ArrowDown");
    await shows(page.getByRole("region", { name: "Actions for the selected rigs" }), /^3 rigs selected/);
    expect(await row(page, "Rig 4").getAttribute("aria-selected")).toBe("true");
    await page.keyboard.press("End");
    await until(async () => (await names(page)).includes("Rig 25"), "the end of the list");
    await page.keyboard.press("Control+a");
    await shows(page.getByRole("region", { name: "Actions for the selected rigs" }), /^25 rigs selected/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Home");
    await until(
      () =>
        row(page, "Rig 1")
          .evaluate((element) => element === document.activeElement)
          .catch(() => false),
      "the focus at the first row",
    );
    await page.keyboard.press("Enter");
    await page.waitForURL(/\/rigs\/1000000001\?list=q%3Drig$/);
    await close();
  });
});

test("a user who may only look has nothing to select and nothing to press", async () => {
  const { page, close } = await visit("rigs", { key: viewer });
  await grid(page).waitFor();
  expect(await page.getByRole("checkbox").count()).toBe(0);
  expect(await page.getByRole("link", { name: "Add rigs" }).count()).toBe(0);
  expect(await grid(page).getAttribute("aria-multiselectable")).toBe("false");
  await close();
});

describe("looks", () => {
  test("at each width: nothing that axe finds, nothing beyond the edge, hostile names as text", async () => {
    const { page, close } = await visit("rigs");
    // Each width in both schemes, and a selection in both.
    for (const [width, scheme, other] of [
      [1440, "light", "dark"],
      [768, "dark", "light"],
      [320, "light", "dark"],
    ] as const) {
      await page.setViewportSize({ width, height: 900 });
      await page.getByRole("link", { name: hostile }).waitFor();
      expect(await page.locator("img").count()).toBe(0);
      expect([width, await axe(page, [scheme])]).toEqual([width, []]);
      expect([width, await overflow(page)]).toEqual([width, 0]);
      const box = page.getByRole("checkbox", { name: `Select ${hostile}` });
      await box.check();
      expect([width, await axe(page, [other])]).toEqual([width, []]);
      expect([width, await overflow(page)]).toEqual([width, 0]);
      await box.uncheck();
    }
    await close();
  });

  test("on a phone there are cards", async () => {
    const { page, close } = await visit("rigs?sort=-name&q=rig", { width: 375 });
    const card = page.getByRole("list", { name: "List of rigs" }).getByRole("listitem").first();
    await shows(card, /^Rig 25 Mining Hash rate .*TH\/s/);
    // The list begins in the upper half of the screen; what is rarely needed is behind one button.
    expect((await card.boundingBox())?.y).toBeLessThan(400);
    await page.getByRole("button", { name: "Filters" }).click();
    const dialog = page.getByRole("dialog", { name: "Filters" });
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await dialog.getByRole("link", { name: /^Not mining/ }).click();
    await dialog.getByRole("link", { name: /^All rigs/ }).click();
    await dialog.getByRole("button", { name: "Columns" }).click();
    await page.getByRole("dialog", { name: "Columns" }).getByRole("button", { name: "Close" }).last().click();
    await dialog.getByRole("button", { name: "Table" }).click();
    await dialog.getByRole("button", { name: /^Show \d+ rigs$/ }).click();
    await grid(page).waitFor();
    await close();
  });

  test("on paper the list is whole", async () => {
    const { page, close } = await visit("rigs", { height: 500 });
    await grid(page).waitFor();
    const rows = () => page.locator("tbody tr[data-id]").count();
    expect(await rows()).toBeLessThan(count);
    await page.emulateMedia({ media: "print" });
    await page.evaluate(() => dispatchEvent(new Event("beforeprint")));
    await until(async () => (await rows()) === count, "all rows");
    await page.emulateMedia({ media: "screen" });
    await page.evaluate(() => dispatchEvent(new Event("afterprint")));
    await until(async () => (await rows()) < count, "the visible rows");
    await close();
  });

  test("from right to left", async () => {
    const { page, close } = await visit("rigs", { locale: "fa-IR", width: 768 });
    await page.getByRole("grid").waitFor();
    expect(await page.evaluate(() => document.documentElement.dir)).toBe("rtl");
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await close();
  });
});

test("a farm without rigs leads to adding some", async () => {
  const empty = await startDashboard({ rigs: [] });
  const { page, close } = await empty.visit("rigs");
  await page.getByRole("heading", { name: "No rigs yet" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await page.getByRole("main").getByRole("link", { name: "Add rigs" }).click();
  await page.waitForURL("**/add");
  await close();
  await empty.close();
});
