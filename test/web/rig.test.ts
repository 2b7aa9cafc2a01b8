import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, follow, overflow, startDashboard, stopBy, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const viewer = "key-of-a-viewer-1234";
const hostile = `<img src=x onerror="alert(1)"><b>${"W".repeat(150)}`;
const pools = [
  { url: "stratum+tcp://pool.example.com:3333", user: "acct.rig" },
  { url: "stratum+tcp://backup.example.net:3333", user: "acct.rig" },
];
const caller = { actor: "test" };
const [bitaxe, luxos, gpus, evil] = [1_000_000_001, 1_000_000_002, 1_000_000_003, 1_000_000_004];

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      http: { key },
      users: [{ name: "Vera", key: viewer, privilege: "view" }],
      groups: [{ name: "Hall", groups: [{ name: "Row 1" }] }],
      pools: [{ name: "Spare", url: "stratum+tcp://spare.example.com:3333", worker: "a.b", password: "hush-hush" }],
      electricity: { price: 0.3 },
    },
    rigs: [
      {
        name: "Desk",
        rig: { kind: "axeos", warm: true, pools },
        settings: { group: "Row 1", tags: ["loud"], location: { site: "Home", rack: "R2" }, power: { minOff: 3600 } },
      },
      { name: "Lux", rig: { kind: "luxos", warm: true, pools, restartSeconds: 0.1 } },
      { name: "Cards", rig: { kind: "trex", warm: true } },
      { name: hostile, rig: { kind: "axeos", warm: true } },
    ],
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const miner = (id: number) => dashboard.service.getMiner({ id }, caller);
/** The row of a control by its heading. */
const control = (page: Page, name: string): Locator =>
  page.getByRole("listitem").filter({ has: page.getByRole("heading", { name, exact: true }) });
const reported = async (id: number, key: string) => (await miner(id)).controls.find((each) => each.key === key)?.value;
const sent = async (property: string) => {
  const { commandList } = await dashboard.service.listCommands({}, caller);
  return commandList
    .filter(({ parameters }) => parameters.property === property)
    .map(({ parameters }) => parameters.value);
};

describe("controls", () => {
  test("a number that is typed goes to the rig, whose own words and new value are shown", async () => {
    const { page, close } = await visit(`rigs/${bitaxe}`);
    const fan = control(page, "Fan");
    await fan.getByRole("textbox").fill("60");
    await fan.getByRole("textbox").press("Enter");
    await fan.getByText("Confirmed").waitFor();
    await fan.getByText("Rig reports 60 %", { exact: true }).waitFor();
    expect(await reported(bitaxe, "fan")).toBe(60);
    await fan.getByRole("button", { name: "automatic" }).click();
    await fan.getByText("Rig reports automatic", { exact: true }).waitFor();
    expect(await reported(bitaxe, "fan")).toBe("auto");
    await close();
  });

  test("a slider that is moved by keys sends one command when the focus leaves", async () => {
    const { page, close } = await visit(`rigs/${bitaxe}`, { clock: true });
    const target = control(page, "Target temperature");
    const slider = target.getByRole("slider");
    const before = Number(await reported(bitaxe, "temperature_target"));
    // Keys that rest for 0.8 s send a command, too: for the page, no time passes between these.
    await page.clock.pauseAt(Date.now() + 20_000);
    await slider.focus();
    for (let press = 0; press < 3; press += 1) await slider.press("ArrowRight");
    await slider.press("Tab");
    await page.clock.resume();
    await target.getByText("Confirmed").waitFor();
    expect(await sent("temperature_target")).toEqual([String(before + 3)]);
    await target.getByText(`Rig reports ${before + 3} °C`, { exact: true }).waitFor();
    await close();
  });

  test("a rig is stopped; what it may not do yet is refused in words, and it is shown as it is", async () => {
    const { page, close } = await visit(`rigs/${bitaxe}`, { clock: true, expected: /409/ });
    const mining = control(page, "Mining");
    await stopBy(mining.getByRole("button", { name: "Stop" }));
    await mining.getByText("Rig reports stopped", { exact: true }).waitFor();
    await page.getByText("Power is controlled by").waitFor();
    expect(await reported(bitaxe, "mining")).toBe(false);
    const power = control(page, "Power");
    await power.getByRole("slider").press("End");
    await power.getByRole("slider").press("Tab");
    await power.getByText(/has not been stopped for/).waitFor();
    await power.getByText("Rig reports off", { exact: true }).waitFor();
    expect(await reported(bitaxe, "mining")).toBe(false);
    await mining.getByRole("button", { name: "Start" }).click();
    await mining.getByText("Rig reports mining", { exact: true }).waitFor();
    await close();
  });

  test("what interrupts mining asks first", async () => {
    const { page, close } = await visit(`rigs/${luxos}`);
    await page.getByRole("button", { name: "Restart mining" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByText(/Restarts mining/i).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    const { commandList } = await dashboard.service.listCommands({ miner: luxos }, caller);
    expect(commandList).toEqual([]);
    await close();
  });

  test("who may only look sees what is set, and nothing to change it", async () => {
    const { page, close } = await visit(`rigs/${bitaxe}`, { key: viewer });
    await page.getByRole("heading", { name: "Set to" }).waitFor();
    await page.getByRole("link", { name: "History" }).waitFor();
    expect(await page.getByRole("slider").count()).toBe(0);
    for (const name of ["Stop", "Start", "Read now", "Reboot"])
      expect(await page.getByRole("button", { name }).count()).toBe(0);
    expect(await page.getByRole("main").getByRole("link", { name: "Settings" }).count()).toBe(0);
    await page.getByRole("link", { name: "Pools", exact: true }).last().click();
    await page.getByText("pool.example.com:3333").waitFor();
    expect(await page.getByRole("button", { name: /Remove|Add or change/ }).count()).toBe(0);
    await close();
  });
});

test("the head says what and where it is; a loopback port is no page of its own", async () => {
  const { page, close } = await visit(`rigs/${bitaxe}`);
  await page.getByRole("link", { name: "Hall / Row 1" }).waitFor();
  await page.getByText("Home · R2").waitFor();
  await page.getByRole("link", { name: "loud" }).waitFor();
  await page.getByText(/^Bitaxe/).waitFor();
  expect(await page.locator("a[target=_blank]").count()).toBe(0);
  await close();
});

test("pools: one is removed after a question, the last one cannot be", async () => {
  const { page, close } = await visit(`rigs/${luxos}?tab=pools`);
  await page.getByText("backup.example.net:3333").first().waitFor();
  await page.getByRole("button", { name: /^Remove: backup/ }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Remove" }).click();
  await page.getByText("The last pool of a rig cannot be removed.").waitFor();
  expect((await miner(luxos)).poolList).toHaveLength(1);
  expect(await page.getByRole("button", { name: /^Remove/ }).count()).toBe(0);
  await page.getByRole("button", { name: "Add or change pool" }).click();
  await page.getByRole("combobox", { name: "Pool" }).selectOption({ label: "Spare" });
  await page.getByRole("button", { name: "Add as a further pool" }).click();
  await page.getByText("spare.example.com:3333").first().waitFor();
  expect(await page.content()).not.toContain("hush-hush");
  await close();
});

test("hardware: boards of an ASIC and cards of a computer, each with its state", async () => {
  const { page, close } = await visit(`rigs/${luxos}?tab=devices`);
  const boards = page.getByRole("region", { name: "Boards" });
  await boards.getByRole("row", { name: /OK/ }).first().waitFor();
  expect(await boards.getByRole("row").count()).toBe((await miner(luxos)).readings.boards.length + 1);
  await close();
  const other = await visit(`rigs/${gpus}?tab=devices`);
  await other.page.getByRole("region", { name: "Graphics cards" }).getByRole("row").nth(1).waitFor();
  await other.close();
});

test("history: its period stands in the address, and the curves are a table, too", async () => {
  const { page, close } = await visit(`rigs/${bitaxe}?tab=history`);
  await page.getByRole("link", { name: "1 hour" }).click();
  await page.waitForURL(/period=1h/);
  await page.getByRole("figure", { name: /^Hash rate/ }).waitFor();
  await page.getByText("As a table").first().click();
  await page.getByRole("columnheader", { name: "Hash rate" }).waitFor();
  await page.getByText("Other period").click();
  await page.getByLabel("From").fill("2026-01-02T00:00");
  await page.getByLabel("To").fill("2026-01-01T00:00");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.getByText("The end must be after the start.").waitFor();
  await page.getByLabel("To").fill("2026-01-03T00:00");
  await page.getByRole("button", { name: "Show", exact: true }).click();
  await page.waitForURL(/period=own/);
  await page.getByText("No readings yet").first().waitFor();
  await close();
});

describe("settings", () => {
  test("a rig of the configuration file is changed there", async () => {
    const { page, close } = await visit(`rigs/${bitaxe}?tab=settings`);
    await page.getByRole("heading", { name: "The configuration file declares this rig" }).waitFor();
    expect(await page.getByRole("button", { name: /Save|Delete/ }).count()).toBe(0);
    await close();
  });

  test("any other is renamed and moved; its login is written and never shown; it is deleted after a question", async () => {
    const { id } = await dashboard.service.addMiner(
      { address: "127.0.0.1:9", name: "Attic", password: "secret-of-attic" },
      caller,
    );
    const { page, close } = await visit(`rigs/${id}?tab=settings`, { expected: /40[04]/ });
    await page.getByText("A login is set.").waitFor();
    await page.getByLabel("Name", { exact: true }).fill("Cellar");
    await page.getByLabel("Group").selectOption({ label: "Hall / Row 1" });
    await page.getByLabel("Tags").fill("quiet, winter");
    await page.getByLabel("Password", { exact: true }).fill("another-secret");
    await page.getByLabel("Type").selectOption("shelly");
    await page.getByLabel("Address", { exact: true }).last().fill("not an address");
    await page.getByRole("button", { name: "Save" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: /address/i })
      .first()
      .waitFor();
    expect((await miner(id)).name).toBe("Attic");
    await page.getByLabel("Type").selectOption("");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Cellar" }).waitFor();
    expect(await miner(id)).toMatchObject({ name: "Cellar", tags: ["quiet", "winter"] });
    expect(await page.content()).not.toContain("secret");
    await page.getByRole("button", { name: "Delete this rig" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await until(async () => (await miner(id).catch(() => null)) === null, "the rig to be gone");
    await close();
  });

  test("an interval can be emptied again, and a login removed", async () => {
    const { id } = await dashboard.service.addMiner(
      { address: "127.0.0.1:18", name: "set", username: "u", interval: 7 },
      caller,
    );
    const { page, close } = await visit(`rigs/${id}?tab=settings`);
    await page.getByRole("spinbutton", { name: /read/i }).fill("");
    await page.getByRole("checkbox", { name: "Remove the login" }).check();
    await page.getByRole("button", { name: "Save" }).click();
    await until(async () => {
      const { interval, hasLogin } = await dashboard.service.getMinerSettings({ id }, caller);
      return interval === null && !hasLogin;
    }, "the interval and the login to be unset");
    await close();
    await dashboard.service.deleteMiner({ id }, caller);
  });

  test("a rig takes a login that the settings hold, and a nameplate, and can be without both again", async () => {
    await dashboard.service.saveSettings({ section: "logins", value: [{ name: "shed", password: "hush" }] }, caller);
    const { id } = await dashboard.service.addMiner({ address: "127.0.0.1:20", name: "kept", username: "u" }, caller);
    const { page, close } = await visit(`rigs/${id}?tab=settings`);
    const saved = page.getByRole("combobox", { name: "Saved login" });
    const nameplate = page.getByRole("spinbutton", { name: "Power by its nameplate, W" });
    const save = async (wanted: object) => {
      await page.getByRole("button", { name: "Save" }).click();
      await until(async () => {
        const { login, powerNameplate, hasLogin } = await dashboard.service.getMinerSettings({ id }, caller);
        return JSON.stringify({ login, powerNameplate, hasLogin }) === JSON.stringify(wanted);
      }, "the settings to be saved");
    };
    await saved.selectOption("shed");
    await nameplate.fill("3250");
    await save({ login: "shed", powerNameplate: 3250, hasLogin: true });
    // The form starts again with what was saved.
    await page.getByText("A login is set.", { exact: false }).waitFor({ state: "detached" });
    expect([await saved.inputValue(), await nameplate.inputValue()]).toEqual(["shed", "3250"]);
    await saved.selectOption("none");
    await nameplate.fill("");
    await save({ login: null, powerNameplate: null, hasLogin: false });
    await close();
    await dashboard.service.deleteMiner({ id }, caller);
    await dashboard.service.resetSettings({ section: "logins" }, caller);
  });

  test("what is set of a rig is read without secrets", async () => {
    const supply = {
      type: "shelly",
      address: "10.0.0.9",
      channel: 1,
      cutPower: true,
      delay: 5,
      password: "hush",
    } as const;
    const { id } = await dashboard.service.addMiner(
      { address: "127.0.0.1:19", username: "u", supply, interval: 7 },
      caller,
    );
    const settings = await dashboard.service.getMinerSettings({ id }, caller);
    const { password: _, ...shown } = supply;
    expect(settings).toEqual({
      declaredBy: "api",
      address: "127.0.0.1:19",
      driver: null,
      login: null,
      interval: 7,
      powerNameplate: null,
      offlineExpected: false,
      hasLogin: true,
      supply: shown,
    });
    expect((await dashboard.service.getMinerSettings({ id: bitaxe }, caller)).declaredBy).toBe("file");
    await dashboard.service.deleteMiner({ id }, caller);
  });
});

test("a managed miner has its program and its host; without an agent nothing pretends to run", async () => {
  const { service } = dashboard;
  const host = await service.saveHost({ id: 0, description: "Cellar PC", hostname: "cellar" }, caller);
  const [pool] = (await service.listPools({}, caller)).list;
  const fields = { workerName: "", softwarePath: "", dualAlgorithm: "", commandLineParams: "--password hush-hush" };
  const { id } = await service.saveManagedMiner(
    {
      id: 0,
      description: "Cellar",
      hostId: host.id,
      isPoolGroup: false,
      poolId: pool?.id ?? 0,
      ...fields,
      softwareAutoDownload: true,
      softwareType: "XmrigMiner",
      algorithm: "randomx",
    },
    caller,
  );
  const { page, close } = await visit(`rigs/${id}?tab=software`, { expected: /40\d|50\d/ });
  await page.getByRole("heading", { name: "Host Cellar PC" }).waitFor();
  await page.getByText("This host has no agent.").waitFor();
  await page.getByText("XMRig", { exact: true }).waitFor();
  expect(await page.getByRole("main").getByRole("link", { name: "Settings" }).count()).toBe(0);
  expect(await page.content()).not.toContain("hush-hush");
  await close();
});

test("a rig that does not exist has a page that says so", async () => {
  const { page, close } = await visit("rigs/4242", { expected: /404/ });
  await page.getByRole("heading", { name: "There is no such rig" }).waitFor();
  await close();
});

test("on a phone, how it is and its controls come first, without scrolling", async () => {
  const { page, close } = await visit(`rigs/${bitaxe}`, { width: 375, height: 812 });
  const bottomOf = async (locator: Locator) => {
    const box = await locator.boundingBox();
    return (box?.y ?? Number.NaN) + (box?.height ?? 0);
  };
  const bar = await page.locator("nav.menu").boundingBox();
  const mining = control(page, "Mining").getByRole("button").first();
  await mining.waitFor();
  for (const name of ["Hash rate", "Power", "Temperature"]) {
    const tile = page.locator(".tile").filter({ hasText: name }).first();
    expect(await bottomOf(tile)).toBeLessThan(await bottomOf(mining));
  }
  expect(await bottomOf(mining)).toBeLessThan(bar?.y ?? 0);
  const about = page.getByRole("heading", { name: "About this rig" });
  expect(await bottomOf(about)).toBeGreaterThan(await bottomOf(mining));
  await close();
});

test("a hostile name is text and breaks nothing, from 320 px on", async () => {
  const { page, close } = await visit(`rigs/${evil}`, { width: 320 });
  await page.getByRole("heading", { level: 1, name: hostile }).waitFor();
  for (const tab of ["", "devices", "pools", "history", "activity", "settings"]) {
    await follow(page, `rigs/${evil}?tab=${tab}`);
    expect([tab, await overflow(page)]).toEqual([tab, 0]);
  }
  expect(await page.locator("img").count()).toBe(0);
  await close();
});

test("right to left, in Persian", async () => {
  const { page, close } = await visit(`rigs/${bitaxe}`, { locale: "fa-IR", width: 375 });
  await page.getByRole("heading", { name: "کنترل‌ها" }).waitFor();
  expect(await page.evaluate(() => document.dir)).toBe("rtl");
  expect(await overflow(page)).toBe(0);
  await close();
});

test("every section is accessible in light and dark", async () => {
  const { page, close } = await visit(`rigs/${bitaxe}`);
  for (const tab of ["", "devices", "pools", "history", "activity", "settings"]) {
    await follow(page, `rigs/${bitaxe}?tab=${tab}`);
    expect([tab, await axe(page)]).toEqual([tab, []]);
  }
  await follow(page, `rigs/${gpus}?tab=devices`);
  await page.getByRole("region", { name: "Graphics cards" }).waitFor();
  expect(await axe(page)).toEqual([]);
  await close();
});
