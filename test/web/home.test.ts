import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard, stopBy, withoutLoadingAhead } from "./dashboard.ts";

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
      {
        rig: { kind: "braiins", warm: true, restartSeconds: 0 },
        name: "tiles",
        settings: { group: "Sun", username: "root", password: "" },
      },
    ],
    config: {
      // It goes away and comes back: an address of its own, whose port nobody takes meanwhile.
      http: { key: keys.owner, host: ownHost() },
      display: { currency: "EUR" },
      electricity: { price: 0.3 },
      groups: [{ name: "Study" }, { name: "Den", room: true }, { name: "Hall" }, { name: "Sun" }],
      follow: [{ name: "Roof", group: "Sun", surplus: { api: true }, measures: "available", dwell: 0 }],
      heating: [{ name: "Study", group: "Study", target: 21, roomTemperature: { api: true } }],
      users: [
        { name: "anna", key: keys.anna, privilege: "control", groups: ["Study", "Den", "Sun"] },
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
  await closeContexts();
});

describe("the overview", () => {
  testInBrowser("shows what the farm does, by algorithm, and leads to the rigs", async () => {
    const { page, close } = await dashboard.visit("", { key: keys.owner });
    await page.getByText("5 of 5 rigs mining", { exact: false }).waitFor();
    await page.getByText("Hash rate, SHA-256").waitFor();
    await page.getByText("Hash rate, RandomX").waitFor();
    // The chart has the hash rate of the first tile.
    expect(await page.locator(".tile").first().textContent()).toContain("SHA-256");
    const history = page.waitForRequest((request) => request.url().includes("/api/summary/history"));
    await page.getByRole("button", { name: "1 h", exact: true }).click();
    expect(new URL((await history).url()).searchParams.get("algorithm")).toBe("SHA-256");
    expect(await page.getByRole("link", { name: "5 Mining" }).getAttribute("href")).toBe("/rigs?status=Mining");
    await page.getByRole("row", { name: /^Hall 2 of 2/ }).waitFor();
    expect(await page.title()).toBe("Overview · Rigbridge");
    expect(await axe(page)).toEqual([]);
    await close();
  });

  testInBrowser("has a chart that ends with what its tiles show, not with a step that has just begun", async () => {
    const { page, close } = await dashboard.visit("rigs", { key: keys.owner });
    await page.route("**/api/summary/history*", async (route) => {
      const answer = await route.fetch();
      const begun = Date.now() - 60_000;
      const point = (time: number, rate: number) => [time, rate, 10 * rate, 5, 5, null, null, null];
      const points = [point(begun - 300_000, 1e12), point(begun, 7e11)];
      await route.fulfill({ json: { ...(await answer.json()), step: 300, points } });
    });
    await page.goto(dashboard.url);
    const tile = (await page.locator(".tile-value").first().innerText()).trim();
    expect(tile).toMatch(/TH\/s$/);
    await page.getByText(`Hash rate: last ${tile}, between 1.00 TH/s and ${tile}`).waitFor();
    await close();
  });

  testInBrowser("follows the rigs without a reload, and an alarm that nobody has seen stands in its head", async () => {
    const { page, close } = await dashboard.visit("", { key: keys.owner });
    await page.getByText("5 of 5 rigs mining", { exact: false }).waitFor();
    await dashboard.service.minerAction({ id: 1_000_000_002, action: "stop" }, { actor: "test" });
    await page.getByText("4 of 5 rigs mining", { exact: false }).waitFor();
    await dashboard.service.minerAction({ id: 1_000_000_002, action: "start" }, { actor: "test" });
    await page.getByText("5 of 5 rigs mining", { exact: false }).waitFor();
    // The heater has no login.
    await page.getByRole("link", { name: "1 open alarm" }).waitFor();
    dashboard.service.setWarning?.("The disk is nearly full", "12 MB are left.");
    await page.getByRole("link", { name: "2 open alarms" }).waitFor();
    await page.getByText("The disk is nearly full: 12 MB are left.").waitFor();
    dashboard.service.setWarning?.("The disk is nearly full", null);
    await page.getByRole("link", { name: "1 open alarm" }).waitFor();
    await close();
  });

  testInBrowser.each(["375", "320"])("fits a phone of %s px, with a name that is long and markup", async (width) => {
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
    const { page, close } = await dashboard.visit("family", { key: keys.anna, clock: true });
    const den = page.getByRole("region", { name: "Den" });
    const lamp = den.getByRole("switch", { name: "Den on or off" });
    await stopBy(lamp);
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
    await den.getByText("Never more than 15 W.").waitFor();
    await owner.page.goto(`${dashboard.url}/activity`);
    await owner.page.getByText("Set the maximum: Den, from no limit to 15 W").waitFor();
    await owner.close();

    const anna = await dashboard.visit("family", { key: keys.anna });
    const hers = anna.page.getByRole("region", { name: "Den" });
    await hers.getByText("Never more than 15 W.").waitFor();
    expect(await hers.getByRole("button", { name: /Maximum of Den/ }).count()).toBe(0);
    await anna.close();

    const bo = await dashboard.visit("family", { key: keys.bo });
    await bo.page.getByRole("heading", { name: "No rooms yet" }).waitFor();
    expect(await bo.page.getByRole("switch").count()).toBe(0);
    await bo.close();
  });
});

describe("the sun on the family page", () => {
  const tiles = () => dashboard.rigs[4]?.model;
  const sun = (watts: number) =>
    dashboard.service.minerAction({ id: 1_000_000_005, action: "set_surplus", surplus: watts }, { actor: "test" });
  const limitOfTiles = async () => {
    const { controls } = await dashboard.service.getMiner({ id: 1_000_000_005 }, { actor: "test" });
    return controls.find(({ key }) => key === "power_limit")?.value;
  };
  const roof = async () => {
    const found = (await dashboard.service.listRooms({}, { actor: "test" })).find(({ name }) => name === "Roof");
    if (found === undefined) throw new Error("there is no Roof");
    return found;
  };

  testInBrowser("is followed at once when somebody switches it on again", async () => {
    await sun(9000);
    const { page, close } = await dashboard.visit("family", { key: keys.anna, clock: true });
    const card = page.getByRole("region", { name: "Roof" });
    const follows = card.getByRole("switch", { name: "Roof on or off" });
    if ((await follows.getAttribute("aria-checked")) === "true") await stopBy(follows);
    await card.getByText("off · switched off by", { exact: false }).waitFor();
    await until(() => tiles()?.mining === false, "the rig to stop");
    await follows.click();
    await card.getByRole("switch", { checked: true }).waitFor();
    await until(() => tiles()?.mining === true, "the rig to follow the sun again");
    // By hand it would hold for an hour.
    await dashboard.service.minerAction(
      { id: 1_000_000_005, action: "set_power_limit", watts: 2000 },
      { actor: "grandma" },
    );
    await card.getByText("set by grandma, automatic again at", { exact: false }).waitFor();
    await card.getByRole("button", { name: "Follow the sun again Roof" }).click();
    await card.getByText("set by grandma", { exact: false }).waitFor({ state: "detached" });
    expect((await roof()).heldBy).toBeNull();
    await close();
  });

  testInBrowser("is shared by one slider: the rigs take no more, and the page shows what the roof has", async () => {
    const { page, close } = await dashboard.visit("family", { key: keys.anna, clock: true, width: 375, height: 800 });
    const card = page.getByRole("region", { name: "Roof" });
    await card.getByText("Its rigs may use all that the roof has to spare.").waitFor();
    await card.getByText("to spare from the roof", { exact: false }).waitFor();
    const entry = card.getByRole("textbox", { name: "Roof: Use at most (W)" });
    await entry.fill("1500");
    await entry.press("Enter");
    await card.getByText("Its rigs use 1,500 W of it at most.", { exact: false }).waitFor();
    await until(async () => (await roof()).control?.value === 1500, "the limit of the sun to be 1500 W");
    await until(async () => (await limitOfTiles()) === 1500, "the rig to be limited to 1500 W");
    await card.getByText(/^on, uses [\d,]+ W; [\d,]+ W are left/).waitFor();
    // Nearer to off than to the lowest power of its rig.
    await entry.fill("100");
    await entry.press("Enter");
    await page.getByText("Stopping \u2068Roof\u2069 in", { exact: false }).waitFor();
    await page.clock.fastForward(10_000);
    await card.getByRole("switch", { checked: false }).waitFor();
    await until(() => tiles()?.mining === false, "the rig to stop");
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await close();
  });

  testInBrowser("is understood in German and in Persian, from right to left", async () => {
    const german = await dashboard.visit("family", { key: keys.anna, locale: "de-DE", width: 320, height: 800 });
    await german.page.getByRole("region", { name: "Roof" }).getByText("Höchstens nutzen").first().waitFor();
    expect(await overflow(german.page)).toBe(0);
    await german.close();
    const persian = await dashboard.visit("family", { key: keys.anna, locale: "fa-IR", width: 320, height: 800 });
    await persian.page.getByRole("region", { name: "Roof" }).getByText("حداکثر مصرف").first().waitFor();
    expect([await axe(persian.page), await overflow(persian.page)]).toEqual([[], 0]);
    await persian.close();
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

testInBrowser(
  "a page whose files are gone says so; the others still open, and it opens once they are there",
  async () => {
    const { page, close } = await dashboard.visit("", {
      key: keys.owner,
      fresh: true,
      expected: /ERR_|Failed|preload/,
    });
    await withoutLoadingAhead(page);
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
    await page.getByRole("heading", { name: "Activity" }).waitFor();
    await close();
  },
);
