import { afterAll, beforeAll, beforeEach, describe, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "the-key-of-the-owner";
const caller = { actor: "test" };
const garage = 1_000_000_001;
const evil = 1_000_000_002;
const hostile = `<img src=x onerror="alert(1)">${"w".repeat(60)} \u200fevil`;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      { name: "Garage S19", rig: { kind: "axeos", warm: true, restartSeconds: 0 }, settings: { group: "Den" } },
      { name: hostile, rig: { kind: "axeos", warm: true } },
      { name: `${hostile}2`, rig: { kind: "axeos", warm: true } },
    ],
    config: { http: { key }, groups: [{ name: "Den", room: true }] },
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

beforeEach(async () => {
  if (isMining()) return;
  await dashboard.service.minerAction({ id: garage, action: "start" }, caller);
  await until(isMining, "the rig to mine again");
  await dashboard.readAll();
});

const isMining = (): boolean => dashboard.rigs[0]?.model.mining === true;
const stops = async (): Promise<number> => {
  const { commandList } = await dashboard.service.listCommands({}, caller);
  return commandList.filter(({ action, actor }) => action !== "start" && actor !== "test").length;
};

/** A page for which time passes only when the test lets it. */
async function visit(path: string, options: VisitOptions = {}) {
  const { page, close } = await dashboard.visit(path, { key, clock: true, ...options });
  await page.clock.pauseAt(Date.now() + 5_000);
  return { page, close };
}
const bar = (page: Page) => page.locator(".undo-bar");
const stopButton = (page: Page) => page.getByRole("button", { name: "Stop", exact: true });

describe("a stop on a rig's page", () => {
  test("is sent after ten seconds, also from another page", async () => {
    const before = await stops();
    const { page, close } = await visit(`rigs/${garage}`);
    await stopButton(page).click();
    await bar(page).getByText("Stopping \u2068Garage S19\u2069 in 10 s").waitFor();
    expect(await stopButton(page).isDisabled()).toBe(true);
    await page.getByRole("link", { name: "Alarms", exact: true }).click();
    await page.getByRole("heading", { name: "Alarms", exact: true }).waitFor();
    await page.clock.runFor(9_000);
    await bar(page)
      .getByText(/in 1 s$/)
      .waitFor();
    expect([await stops(), isMining()]).toEqual([before, true]);
    await page.clock.runFor(1_000);
    await bar(page).waitFor({ state: "detached" });
    await until(() => !isMining(), "the rig to stop");
    expect(await stops()).toBe(before + 1);
    await close();
  });

  test("can be taken back by keys, and then nothing is sent; the focus returns", async () => {
    const before = await stops();
    const { page, close } = await visit(`rigs/${garage}`);
    const said = page.getByRole("status").filter({ hasText: "Garage S19" });
    await stopButton(page).press("Enter");
    await said.getByText("\u2068Garage S19\u2069 stops in 10 s. Undo takes it back.").waitFor();
    await page.keyboard.press("Tab");
    expect(await page.evaluate(() => document.activeElement?.textContent)).toBe("Undo");
    await page.keyboard.press("Enter");
    await said.getByText("\u2068Garage S19\u2069 was not stopped.").waitFor();
    expect(await stopButton(page).evaluate((each) => each === document.activeElement)).toBe(true);
    await page.clock.runFor(60_000);
    expect([await stops(), isMining()]).toEqual([before, true]);
    await close();
  });

  test("is sent at once when the page is left, hidden, or its user signs out", async () => {
    for (const leave of [
      (page: Page) => page.goto("about:blank"),
      (page: Page) =>
        page.evaluate(() => {
          Object.defineProperty(document, "visibilityState", { value: "hidden" });
          document.dispatchEvent(new Event("visibilitychange"));
        }),
      async (page: Page) => {
        await page.getByRole("button", { name: /^Account and display/ }).click();
        await page.getByRole("button", { name: "Sign out" }).click();
      },
    ]) {
      const before = await stops();
      const { page, close } = await visit(`rigs/${garage}`, { expected: /401/ });
      await stopButton(page).click();
      await bar(page).waitFor();
      expect(await stops()).toBe(before);
      await leave(page);
      await until(() => !isMining(), "the rig to stop");
      expect(await stops()).toBe(before + 1);
      await close();
      await dashboard.service.minerAction({ id: garage, action: "start" }, caller);
      await until(isMining, "the rig to mine again");
      await dashboard.readAll();
    }
  });

  test("of a rig with a hostile name fits a phone, in Persian too", async () => {
    for (const [index, locale] of ["en-US", "fa-IR"].entries()) {
      const { page, close } = await visit(`rigs/${evil + index}`, { width: 320, height: 640, locale });
      await page.locator(".control").first().getByRole("button").click();
      await bar(page).getByText(hostile.slice(0, 20)).first().waitFor();
      expect(await overflow(page)).toBe(0);
      // It waits for timers of the page.
      await page.clock.resume();
      expect(await axe(page)).toEqual([]);
      await close();
    }
  });
});

test("a room that is switched off can be taken back, too; switching on is sent at once", async () => {
  const before = await stops();
  const { page, close } = await visit("family");
  const room = page.getByRole("region", { name: "Den" });
  await room.getByRole("switch", { checked: true }).click();
  await room.getByRole("button", { name: "Undo" }).click();
  await page.clock.runFor(60_000);
  expect([await stops(), isMining()]).toEqual([before, true]);
  await room.getByRole("switch", { checked: true }).click();
  await bar(page).getByText("Stopping \u2068Den\u2069 in").waitFor();
  await page.clock.runFor(10_000);
  await until(() => !isMining(), "the room to be off");
  await page.clock.resume();
  await room.getByRole("switch", { checked: false }).click();
  await until(isMining, "the room to be on again");
  expect(await bar(page).count()).toBe(0);
  await close();
});
