import { afterAll, beforeAll, describe, expect } from "vitest";
import { closeBrowser, testInBrowser } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const hostile = `<img src=x onerror="document.title='run'"> ${"long ".repeat(25)}`;
const keys = {
  owner: "the-key-of-the-owner",
  anna: "the-key-of-anna-1234",
  bo: "the-key-of-bo-123456",
};

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      { rig: { kind: "whatsminer", warm: true }, name: "heater", settings: { group: "Study" } },
      { rig: { kind: "axeos", warm: true, restartSeconds: 0 }, name: "lamp", settings: { group: "Den" } },
      { rig: { kind: "axeos", warm: true }, name: hostile, settings: { group: "Hall" } },
      { rig: { kind: "xmrig", warm: true }, name: "cpu", settings: { group: "Hall", token: "simulated" } },
    ],
    config: {
      http: { key: keys.owner },
      display: { currency: "EUR" },
      electricity: { price: 0.3 },
      groups: [{ name: "Study" }, { name: "Den", room: true }, { name: "Hall" }],
      heating: [{ name: "Study", group: "Study", target: 21, roomTemperature: { api: true } }],
      users: [
        { name: "anna", key: keys.anna, privilege: "control", groups: ["Study", "Den"] },
        { name: "bo", key: keys.bo, privilege: "view", groups: ["Hall"] },
      ],
    },
  });
  const [heater] = dashboard.rigs;
  expect(heater).toBeDefined();
  await dashboard.service.minerAction(
    { id: 1_000_000_001, action: "set_room_temperature", temperature: 19.5 },
    { actor: "test" },
  );
});

afterAll(async () => {
  await dashboard.close();
  await closeBrowser();
});

describe("the overview", () => {
  testInBrowser("shows what the farm does, by algorithm, and leads to the rigs", async () => {
    const { page, close } = await dashboard.visit("", { key: keys.owner });
    await page.getByText("4 of 4 rigs mining", { exact: false }).waitFor();
    await page.getByText("Hash rate, SHA-256").waitFor();
    await page.getByText("Hash rate, RandomX").waitFor();
    expect(await page.getByRole("link", { name: "4 Mining" }).getAttribute("href")).toBe("/rigs?status=Mining");
    await page.getByRole("row", { name: /^Hall 2 of 2/ }).waitFor();
    expect(await page.title()).toBe("Overview · Rigbridge");
    expect(await axe(page)).toEqual([]);
    await close();
  });

  testInBrowser("follows the rigs without a reload, and an alarm that nobody has seen stands in its head", async () => {
    const { page, close } = await dashboard.visit("", { key: keys.owner });
    await page.getByText("4 of 4 rigs mining", { exact: false }).waitFor();
    await dashboard.service.minerAction({ id: 1_000_000_002, action: "stop" }, { actor: "test" });
    await page.getByText("3 of 4 rigs mining", { exact: false }).waitFor();
    await dashboard.service.minerAction({ id: 1_000_000_002, action: "start" }, { actor: "test" });
    await page.getByText("4 of 4 rigs mining", { exact: false }).waitFor();
    // The heater has no login.
    await page.getByRole("link", { name: "1 open alarm" }).waitFor();
    dashboard.service.setWarning?.("The disk is nearly full", "12 MB are left.");
    await page.getByRole("link", { name: "2 open alarms" }).waitFor();
    await page.getByText("The disk is nearly full: 12 MB are left.").waitFor();
    dashboard.service.setWarning?.("The disk is nearly full", null);
    await page.getByRole("link", { name: "1 open alarm" }).waitFor();
    await close();
  });

  testInBrowser.for(["375", "320"])("fits a phone of %s px, with a name that is long and markup", async (width) => {
    const { page, close } = await dashboard.visit("", { key: keys.owner, width: Number(width), height: 700 });
    await page.getByText("rigs mining", { exact: false }).waitFor();
    expect(await overflow(page)).toBe(0);
    expect(await page.title()).not.toContain("run");
    await close();
  });
});

describe("the family page", () => {
  testInBrowser("sets the temperature of a room, which the service then holds", async () => {
    const { page, close } = await dashboard.visit("family", { key: keys.anna, width: 375, height: 800 });
    const study = page.getByRole("region", { name: "Study" });
    await study.getByText("19.5 °C").waitFor();
    const entry = study.getByRole("textbox", { name: "Study: Wanted temperature (°C)" });
    await entry.fill("22");
    await entry.press("Enter");
    const anna = { actor: "test" };
    await until(
      async () => (await dashboard.service.listRooms({}, anna)).some(({ control }) => control?.value === 22),
      "the target of the room to be 22 °C",
    );
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await close();
  });

  testInBrowser("switches a room off and on: the page shows what its rig reports", async () => {
    const { page, close } = await dashboard.visit("family", { key: keys.anna });
    const den = page.getByRole("region", { name: "Den" });
    const lamp = den.getByRole("switch", { name: "Den on or off" });
    await lamp.click();
    await until(() => dashboard.rigs[1]?.model.mining === false, "the rig of the den to stop");
    await den.getByRole("switch", { checked: false }).waitFor();
    await lamp.click();
    await until(() => dashboard.rigs[1]?.model.mining === true, "the rig of the den to mine again");
    await den.getByRole("switch", { checked: true }).waitFor();
    await close();
  });

  testInBrowser("only an administrator changes the maximum; a user with a view key can only look", async () => {
    const owner = await dashboard.visit("family", { key: keys.owner });
    const den = owner.page.getByRole("region", { name: "Den" });
    await den.getByRole("button", { name: "Change Maximum of Den" }).click();
    const dialog = owner.page.getByRole("dialog", { name: "Maximum of Den" });
    const watts = dialog.getByRole("textbox", { name: /Watts at most/ });
    await watts.fill("a lot");
    await dialog.getByText("Must be a number of watts, 0 or more.").waitFor();
    expect(await axe(owner.page)).toEqual([]);
    await watts.fill("15");
    await dialog.getByRole("button", { name: "Save" }).click();
    await den.getByText("At most 15 W.").waitFor();
    await owner.close();

    const anna = await dashboard.visit("family", { key: keys.anna });
    const hers = anna.page.getByRole("region", { name: "Den" });
    await hers.getByText("At most 15 W.").waitFor();
    expect(await hers.getByRole("button", { name: /Maximum of Den/ }).count()).toBe(0);
    await anna.close();

    const bo = await dashboard.visit("family", { key: keys.bo });
    await bo.page.getByRole("heading", { name: "No rooms yet" }).waitFor();
    expect(await bo.page.getByRole("switch").count()).toBe(0);
    await bo.close();
  });
});

describe("signing in", () => {
  testInBrowser("a wrong key is refused in a sentence, the right one opens the page and stays out of it", async () => {
    const { page, close } = await dashboard.visit("", { expected: /401/ });
    await page.getByRole("textbox", { name: "API key" }).fill("wrong-key-wrong-key");
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("This key is wrong, or was revoked.").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("textbox", { name: "API key" }).fill(keys.anna);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("button", { name: "Account and display: anna" }).waitFor();
    // Her key is not an administrator's, and she has rooms: she begins with them.
    await page.getByRole("heading", { level: 1, name: "At home" }).waitFor();
    await page.getByRole("link", { name: "Overview" }).click();
    await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
    expect(await page.content()).not.toContain(keys.anna);
    expect(await page.evaluate(() => JSON.stringify({ ...localStorage, ...sessionStorage }))).not.toContain(keys.anna);
    expect(await page.evaluate(() => document.cookie)).toBe("");
    await close();
  });

  testInBrowser("what a user may not see or do is not there, and signing out ends the session", async () => {
    const { page, close } = await dashboard.visit("", { key: keys.bo, expected: /401/ });
    await page.getByText("2 of 2 rigs mining", { exact: false }).waitFor();
    expect(await page.getByRole("link", { name: "Add rigs" }).count()).toBe(0);
    await page.goto(`${dashboard.url}/add`);
    await page.getByRole("heading", { name: "This page does not exist" }).waitFor();
    await page.getByRole("button", { name: /^Account and display/ }).click();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("textbox", { name: "API key" }).waitFor();
    await page.reload();
    await page.getByRole("textbox", { name: "API key" }).waitFor();
    await close();
  });

  testInBrowser("right-to-left, in Persian, without a fault", async () => {
    const { page, close } = await dashboard.visit("", { key: keys.owner, locale: "fa-IR" });
    await page.getByRole("heading", { name: "نمای کلی" }).waitFor();
    expect(await page.evaluate(() => document.documentElement.dir)).toBe("rtl");
    expect(await axe(page)).toEqual([]);
    await close();
  });
});

testInBrowser(
  "a service that goes away is said, and what is shown is not called live; it comes back by itself",
  async () => {
    const { page, close } = await dashboard.visit("", { key: keys.owner, expected: /ERR_|Failed to load/ });
    await page.getByText("rigs mining", { exact: false }).waitFor();
    await dashboard.goAway();
    await page.getByText("Rigbridge does not answer.", { exact: false }).waitFor();
    await dashboard.comeBack();
    await page.getByText("Rigbridge does not answer.", { exact: false }).waitFor({ state: "detached" });
    // Without signing in again.
    await page.getByText("rigs mining", { exact: false }).waitFor();
    await close();
  },
);

testInBrowser("a service that comes back as another version asks to reload the page", async () => {
  const { page, close } = await dashboard.visit("", { key: keys.owner, expected: /ERR_|Failed to load/ });
  await page.getByText("rigs mining", { exact: false }).waitFor();
  await page.route("**/api/session", async (route) => {
    const answer = await route.fetch().catch(() => null);
    if (answer === null) return route.abort();
    return route.fulfill({ response: answer, json: { ...(await answer.json()), version: "99.0.0" } });
  });
  await dashboard.goAway();
  await page.getByText("Rigbridge does not answer.", { exact: false }).waitFor();
  await dashboard.comeBack();
  await page.getByText("Rigbridge has been updated.", { exact: false }).waitFor();
  await page.unrouteAll();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await page.getByText("Rigbridge has been updated.", { exact: false }).waitFor({ state: "detached" });
  await close();
});

testInBrowser("a page whose files are gone says so; the others still open, and a reload mends it", async () => {
  const { page, close } = await dashboard.visit("", { key: keys.owner, expected: /ERR_|Failed|preload/ });
  await page.getByText("rigs mining", { exact: false }).waitFor();
  await page.route("**/assets/*", (route) => route.abort());
  const menu = page.getByRole("navigation", { name: "Pages" });
  await menu.getByRole("link", { name: "Activity" }).click();
  await page.getByRole("heading", { name: "This page failed" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await menu.getByRole("link", { name: "Overview" }).click();
  await page.getByRole("heading", { name: "Overview" }).waitFor();
  await page.unrouteAll();
  await menu.getByRole("link", { name: "Activity" }).click();
  await page.getByRole("button", { name: "Reload the page" }).click();
  await page.getByRole("heading", { name: "Activity" }).waitFor();
  await close();
});
