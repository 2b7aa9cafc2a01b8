import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [{ name: "Desk", rig: { kind: "axeos", warm: true } }],
    config: { groups: [{ name: "Den", room: true }] },
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

test.each([
  ["en-US", "More", "Settings"],
  ["de-DE", "Mehr", "Einstellungen"],
  ["sv-SE", "Mer", "Inställningar"],
  ["fa-IR", "بیشتر", "تنظیمات"],
] as const)(
  "the bar of a phone has four pages and the others behind a button, by keys too: %s",
  async (locale, more, settings) => {
    const { page, close } = await dashboard.visit("", { width: 320, height: 640, locale });
    const menu = page.locator("nav.menu");
    const button = menu.getByRole("button", { name: more });
    await button.waitFor();
    expect(await menu.getByRole("link").count()).toBe(4);
    for (const entry of [...(await menu.getByRole("link").all()), button]) {
      const box = await entry.boundingBox();
      expect(box?.x).toBeGreaterThanOrEqual(0);
      expect((box?.x ?? 0) + (box?.width ?? 0)).toBeLessThanOrEqual(320);
      expect(await entry.evaluate((each) => each.scrollWidth <= each.clientWidth)).toBe(true);
    }
    await button.focus();
    await page.keyboard.press("Enter");
    expect(await menu.getByRole("link").count()).toBe(13);
    expect([await axe(page), await overflow(page)]).toEqual([[], 0]);
    await page.keyboard.press("Escape");
    expect(await menu.getByRole("link").count()).toBe(4);
    expect(await button.evaluate((each) => each === document.activeElement)).toBe(true);
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.closest("#more-pages") !== null)).toBe(true);
    await menu.getByRole("link", { name: settings }).press("Enter");
    await page.waitForURL(/settings/);
    await menu.getByRole("link", { name: settings }).waitFor({ state: "hidden" });
    expect(await button.getAttribute("aria-current")).toBe("true");
    await close();
  },
);
