import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard, stopBy, type VisitOptions } from "./dashboard.ts";

const count = 30;
const guest = "key-of-a-guest-12345";
const idOf = (number: number): number => 1_000_000_000 + number;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      http: { key: "key-of-the-service" },
      groups: [{ name: "Hall" }, { name: "Study" }],
      users: [{ name: "Gustav", key: guest, privilege: "control", groups: ["Study"] }],
    },
    rigs: Array.from({ length: count }, (_, index) => ({
      name: `Rig ${index + 1}`,
      rig: { kind: "axeos", warm: true },
      settings: { group: index < 27 ? "Hall" : "Study", tags: index % 3 === 0 ? ["loud"] : [] },
    })),
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) =>
  dashboard.visit(path, { key: "key-of-the-service", ...options });
const steps = (page: Page) => page.getByRole("navigation", { name: "Other rigs of the list" });
const isOn = (page: Page, name: string) => page.getByRole("heading", { level: 1, name, exact: true }).waitFor();
const rowOf = (page: Page, name: string) =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });

describe("from a rig to the next one", () => {
  test("of the list that it was opened from, in its order, and back", async () => {
    const { page, close } = await visit("rigs?tag=loud&sort=-name");
    await page.getByRole("link", { name: "Rig 22", exact: true }).click();
    await isOn(page, "Rig 22");
    await steps(page).getByText("3 of 10", { exact: true }).waitFor();
    await steps(page).getByRole("link", { name: "Next rig: Rig 19" }).click();
    await isOn(page, "Rig 19");
    await steps(page).getByText("4 of 10", { exact: true }).waitFor();
    await steps(page).getByRole("link", { name: "Previous rig: Rig 22" }).click();
    await isOn(page, "Rig 22");
    await steps(page).getByRole("link", { name: "To the list" }).click();
    await rowOf(page, "Rig 1").waitFor();
    expect(new URL(page.url()).search).toBe("?tag=loud&sort=-name");
    await close();
  });

  test("stays in its section, and works after a reload", async () => {
    const { page, close } = await visit("rigs?tag=loud");
    await page.getByRole("link", { name: "Rig 4", exact: true }).click();
    await page.getByRole("link", { name: "Hardware" }).click();
    await page.reload();
    await steps(page).getByRole("link", { name: "Next rig: Rig 7" }).click();
    await isOn(page, "Rig 7");
    expect(await page.getByRole("link", { name: "Hardware" }).getAttribute("aria-current")).toBe("page");
    await close();
  });

  test("of all rigs, if nothing says of which", async () => {
    const { page, close } = await visit(`rigs/${idOf(2)}`);
    await steps(page).getByText("2 of 30", { exact: true }).waitFor();
    await steps(page).getByRole("link", { name: "Next rig: Rig 3" }).waitFor();
    await page.goto(`${dashboard.url}/rigs/${idOf(2)}?list=nonsense%3D1%26sort%3D-nothing`);
    await steps(page).getByText("2 of 30", { exact: true }).waitFor();
    expect(await axe(page)).toEqual([]);
    await close();
  });

  test("by the keys j and k, but not from fields; at the end nothing happens", async () => {
    const { page, close } = await visit(`rigs/${idOf(29)}`);
    await steps(page).getByText("29 of 30", { exact: true }).waitFor();
    const fan = page.getByRole("listitem").filter({ has: page.getByRole("heading", { name: "Fan", exact: true }) });
    await fan.getByRole("textbox").press("j");
    await fan.getByRole("textbox").press("Escape");
    expect(page.url()).toContain(String(idOf(29)));
    await page.locator("main").focus();
    await page.keyboard.press("Control+j");
    await page.keyboard.press("j");
    await isOn(page, "Rig 30");
    await steps(page).getByText("30 of 30", { exact: true }).waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("k");
    await isOn(page, "Rig 29");
    await page.keyboard.press("k");
    await isOn(page, "Rig 28");
    await close();
  });

  test("not by keys while they are switched off in the settings", async () => {
    const { page, close } = await visit("settings?tab=display");
    await page.getByRole("checkbox", { name: "Keyboard shortcuts" }).uncheck();
    await page.goto(`${dashboard.url}/rigs/${idOf(5)}`);
    const next = steps(page).getByRole("link", { name: "Next rig: Rig 6" });
    await next.waitFor();
    expect(await next.getAttribute("aria-keyshortcuts")).toBeNull();
    await page.keyboard.press("j");
    await next.click();
    await isOn(page, "Rig 6");
    await page.goto(`${dashboard.url}/settings?tab=display`);
    await page.getByRole("checkbox", { name: "Keyboard shortcuts" }).check();
    await page.goto(`${dashboard.url}/rigs/${idOf(5)}`);
    await next.waitFor();
    await page.keyboard.press("j");
    await isOn(page, "Rig 6");
    await close();
  });

  test("the link keeps the focus, so that it can be pressed again", async () => {
    const { page, close } = await visit(`rigs/${idOf(1)}`);
    await steps(page).getByRole("link", { name: "Next rig: Rig 2" }).press("Enter");
    await isOn(page, "Rig 2");
    await page.keyboard.press("Enter");
    await isOn(page, "Rig 3");
    await close();
  });

  test("goes on from a rig that its filter no longer lists", async () => {
    const { page, close } = await visit("rigs?tag=loud&status=Mining", { clock: true });
    await page.getByRole("link", { name: "Rig 10", exact: true }).click();
    await stopBy(page.getByRole("button", { name: "Stop" }));
    await steps(page).getByText("no longer in this list", { exact: true }).waitFor();
    await steps(page).getByRole("link", { name: "Next rig: Rig 13" }).click();
    await isOn(page, "Rig 13");
    await steps(page).getByText("4 of 9", { exact: true }).waitFor();
    await close();
  });

  test("of those that a user may see", async () => {
    const { page, close } = await visit(`rigs/${idOf(28)}`, { key: guest });
    await steps(page).getByText("1 of 3", { exact: true }).waitFor();
    expect(
      await steps(page)
        .getByRole("link", { name: /^Previous rig/ })
        .getAttribute("href"),
    ).toBeNull();
    await close();
  });
});

describe("back in the list", () => {
  test("it is scrolled as before, and the row that was open has the focus stop", async () => {
    const { page, close } = await visit("rigs?sort=name", { height: 600 });
    const list = page.locator(".rigs-scroll");
    await rowOf(page, "Rig 1").waitFor();
    await list.evaluate((element) => element.scrollTo(0, 500));
    await page.getByRole("link", { name: "Rig 14", exact: true }).click();
    await isOn(page, "Rig 14");
    await page.keyboard.press("j");
    await isOn(page, "Rig 15");
    await steps(page).getByRole("link", { name: "To the list" }).click();
    await rowOf(page, "Rig 15").waitFor();
    expect(await list.evaluate(({ scrollTop }) => scrollTop)).toBe(500);
    expect(await rowOf(page, "Rig 15").getAttribute("tabindex")).toBe("0");
    // Far down, the rig that was open is shown.
    await rowOf(page, "Rig 15").press("Enter");
    await isOn(page, "Rig 15");
    for (let number = 16; number <= count; number += 1) {
      await page.keyboard.press("j");
      await isOn(page, `Rig ${number}`);
    }
    await page.goBack();
    await isOn(page, "Rig 29");
    await steps(page).getByRole("link", { name: "To the list" }).click();
    await rowOf(page, "Rig 29").waitFor();
    expect(await rowOf(page, "Rig 29").isVisible()).toBe(true);
    await close();
  });

  test("the same for cards on a phone", async () => {
    const { page, close } = await visit("rigs", { width: 375, height: 700 });
    await page.getByRole("link", { name: "Rig 1", exact: true }).waitFor();
    const cards = page.getByRole("list", { name: "List of rigs" }).getByRole("listitem");
    // The list shows what stands there now, and no longer begins at its top.
    await until(async () => {
      await page.evaluate(() => scrollTo(0, 3000));
      return Number(await cards.first().getAttribute("aria-posinset")) > 5;
    }, "the list to be scrolled");
    const name = await cards.nth(5).locator("bdi").first().innerText();
    await page.getByRole("link", { name, exact: true }).click();
    await isOn(page, name);
    expect(await overflow(page)).toBe(0);
    const top = await page.evaluate(() => scrollY);
    expect(top).toBe(0);
    await page.goBack();
    await page.getByRole("link", { name, exact: true }).waitFor();
    await until(async () => (await page.evaluate(() => scrollY)) > 2500, "the place of before");
    await close();
  });
});

test("from right to left the arrows point the other way", async () => {
  const { page, close } = await visit(`rigs/${idOf(2)}`, { locale: "fa-IR", width: 320 });
  const next = page.locator("a[aria-keyshortcuts=j]");
  const previous = page.locator("a[aria-keyshortcuts=k]");
  await next.waitFor();
  const [right, left] = [await previous.boundingBox(), await next.boundingBox()];
  expect(left?.x).toBeLessThan(right?.x ?? 0);
  expect(await overflow(page)).toBe(0);
  await close();
});
