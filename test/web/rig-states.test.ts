import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Dashboard, follow, shows, startDashboard, stopBy, type VisitOptions } from "./dashboard.ts";

const viewer = "key-of-a-viewer-1234";
const guest = "key-of-a-guest-12345";
const caller = { actor: "test" };
const [desk, off, lux, words, added] = [1_000_000_001, 1_000_000_002, 1_000_000_003, 1_000_000_004, 1_000_000_005];
const tabs = ["", "devices", "pools", "history", "activity", "software", "settings"];

let dashboard: Dashboard;

beforeAll(async () => {
  const pools = [
    { url: "stratum+tcp://pool.example.com:3333", user: "acct.rig" },
    { url: "stratum+tcp://backup.example.net:3333", user: "acct.rig" },
  ];
  dashboard = await startDashboard({
    config: {
      // It goes away and comes back: an address of its own, whose port nobody takes meanwhile.
      http: { host: ownHost() },
      groups: [{ name: "Hall" }, { name: "Study" }],
      users: [
        { name: "Vera", key: viewer, privilege: "view" },
        { name: "Gustav", key: guest, privilege: "control", groups: ["Study"] },
      ],
      pools: [{ name: "Spare", url: "stratum+tcp://spare.example.com:3333", worker: "a.b" }],
    },
    rigs: [
      { name: "Desk", rig: { kind: "axeos", warm: true }, settings: { group: "Hall" } },
      { name: "Off", rig: { kind: "axeos", warm: true }, settings: { group: "Hall" } },
      { name: "Lux", rig: { kind: "luxos", warm: true, pools }, settings: { group: "Study" } },
      { name: "Words", rig: { kind: "cgminer", warm: true, fault: "names" }, settings: { group: "Hall" } },
      { name: "Attic", rig: { kind: "axeos", warm: true }, isAdded: true },
    ],
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, options);
const control = (at: Page, name: string): Locator =>
  at.getByRole("listitem").filter({ has: at.getByRole("heading", { name, exact: true }) });
const isFocused = (at: Locator): Promise<boolean> => at.evaluate((element) => element === document.activeElement);
const fansSent = async () =>
  (await dashboard.service.listCommands({ miner: desk }, caller)).commandList
    .filter(({ parameters }) => parameters.property === "fan")
    .map(({ parameters }) => parameters.value);

test("while the service is away nothing passes for live and nothing is sent; then the page catches up", async () => {
  const { page: at, close } = await visit(`rigs/${desk}`, { expected: /net::ERR_/ });
  const fan = control(at, "Fan");
  await fan.getByText(/^Rig reports/).waitFor();
  await dashboard.goAway();
  const banner = at.getByText(/^Rigbridge does not answer\. Everything below is from/);
  await banner.waitFor();
  await fan.getByRole("textbox").fill("45");
  await fan.getByRole("textbox").press("Enter");
  await fan.getByText("Rigbridge cannot be reached. Check that it runs, and your network.").waitFor();
  await at.getByRole("button", { name: "Read now" }).click();
  await at.getByRole("alert").getByText("Rigbridge cannot be reached.", { exact: false }).waitFor();
  await dashboard.service.minerAction({ id: desk, action: "set", property: "fan", value: "72" }, caller);
  await dashboard.comeBack();
  await banner.waitFor({ state: "detached" });
  await fan.getByText("Rig reports 72 %", { exact: true }).waitFor();
  expect(await fansSent()).toEqual(["72"]);
  await fan.getByRole("textbox").fill("66");
  await fan.getByRole("textbox").press("Enter");
  await fan.getByText("Rig reports 66 %", { exact: true }).waitFor();
  // A button keeps the focus while its command is under way.
  const automatic = fan.getByRole("button", { name: "automatic" });
  // It is disabled until the command before is confirmed, and keys do not wait for that.
  await until(() => automatic.isEnabled(), "the button to be enabled");
  await automatic.press("Enter");
  await fan.getByText("Rig reports automatic", { exact: true }).waitFor();
  await until(() => isFocused(automatic), "the focus on the button");
  await close();
});

test("off is off: the page says since when and why, and shows no figure of before", async () => {
  const { page: at, close } = await visit(`rigs/${off}`);
  await control(at, "Fan").waitFor();
  dashboard.rigs[1]?.powerOff();
  for (let read = 0; read < 3; read += 1) await dashboard.service.pollMiner({ id: off }, caller);
  await shows(at.locator(".lead"), /^Disconnected · no network · .*ago · last read .*ago$/);
  const figures = ["Hash rate", "Power", "Temperature", "Efficiency", "Profit per day", "Uptime", "Accepted shares"];
  await shows(at.locator(".tiles"), figures.map((name) => `${name} –`).join(" "));
  await at.getByText("connection refused", { exact: false }).first().waitFor();
  await close();
});

test("what a rig sends as markup is text in every section", async () => {
  const { page: at, close } = await visit(`rigs/${words}`);
  for (const tab of tabs) {
    await follow(at, `rigs/${words}?tab=${tab}`);
    expect([tab, await at.locator("main :is(img, b, script, iframe, marquee)").count()]).toEqual([tab, 0]);
  }
  await at.goto(`${dashboard.url}/rigs/${words}?tab=pools`);
  await at.getByText("<", { exact: false }).first().waitFor();
  await close();
});

test("a rig that does not hash says first what helps, with the one button for it", async () => {
  await dashboard.service.minerAction({ id: added, action: "stop" }, caller);
  await until(
    async () => (await dashboard.service.getMiner({ id: added }, caller)).statusInfo.statusDisplay === "Stopped",
    "the rig to stop",
  );
  const { page: at, close } = await visit(`rigs/${added}`);
  await at.getByText("It was stopped, and stays stopped until it is started.").waitFor();
  await at.getByRole("button", { name: "Start mining", exact: true }).click();
  await at.getByText("It was stopped, and stays stopped until it is started.").waitFor({ state: "detached" });
  expect((await dashboard.service.getMiner({ id: added }, caller)).isRunning).toBe(true);
  await close();
  const { page: looks, close: leave } = await visit(`rigs/${desk}`, { key: viewer });
  await looks.getByRole("heading", { level: 1, name: "Desk" }).waitFor();
  expect(await looks.getByRole("button", { name: "Start mining", exact: true }).count()).toBe(0);
  await leave();
});

describe("a user who may only look", () => {
  test("finds no button that changes anything in any section", async () => {
    const { page: at, close } = await visit("rigs", { key: viewer });
    for (const id of [desk, lux])
      for (const tab of tabs) {
        await follow(at, `rigs/${id}?tab=${tab}`);
        const buttons = await at.getByRole("main").getByRole("button").allInnerTexts();
        expect([id, tab, buttons.filter((name) => name !== "Show" && name !== "CSV")]).toEqual([id, tab, []]);
        for (const role of ["slider", "textbox", "combobox", "checkbox", "spinbutton"] as const)
          expect([tab, role, await at.getByRole("main").getByRole(role).count()]).toEqual([tab, role, 0]);
      }
    await close();
  });
});

describe("a user with some groups", () => {
  test("sees and controls the rigs of these, and finds nothing of the others", async () => {
    const { page: at, close } = await visit("rigs", { key: guest, clock: true, expected: /404/ });
    await shows(at.locator(".lead"), "1 rig");
    await at.getByRole("checkbox", { name: "Select Lux" }).check();
    await at.getByRole("button", { name: "More actions" }).click();
    for (const name of ["Add tag", "Move to group", "Delete"])
      expect([name, await at.getByRole("button", { name, exact: true }).count()]).toEqual([name, 0]);
    await at.keyboard.press("Escape");
    await at.getByRole("link", { name: "Lux", exact: true }).click();
    await at.getByRole("link", { name: "Hall" }).waitFor({ state: "detached" });
    for (const tab of tabs) {
      await follow(at, `rigs/${lux}?tab=${tab}`);
      await at.getByRole("heading", { level: 1, name: "Lux" }).waitFor();
      expect(await at.getByRole("alert").filter({ hasText: /\S/ }).allInnerTexts()).toEqual([]);
    }
    expect(await at.getByRole("main").getByRole("link", { name: "Settings" }).count()).toBe(0);
    await at.goto(`${dashboard.url}/rigs/${lux}`);
    await stopBy(at.getByRole("button", { name: "Stop" }));
    await control(at, "Mining").getByText("Rig reports stopped", { exact: true }).waitFor();
    await at.goto(`${dashboard.url}/rigs/${desk}`);
    await at.getByRole("heading", { name: "There is no such rig" }).waitFor();
    await close();
  });
});

describe("settings", () => {
  test("what is typed stays while the rig is read, and leaving asks first", async () => {
    const { page: at, close } = await visit(`rigs/${added}?tab=settings`, { expected: /400/ });
    const name = at.getByLabel("Name", { exact: true });
    await name.fill("Attic two");
    await at.getByLabel("Tags").fill("warm");
    await dashboard.service.changeMiner(
      { id: added, location: { site: null, container: null, rack: null, slot: "Barn" } },
      caller,
    );
    await dashboard.readAll();
    await until(async () => (await at.getByLabel("Slot").inputValue()) === "Barn", "the change made elsewhere");
    expect([await name.inputValue(), await at.getByLabel("Tags").inputValue()]).toEqual(["Attic two", "warm"]);
    await at.getByRole("heading", { level: 1 }).click();
    await at.keyboard.press("j");
    const dialog = at.getByRole("dialog");
    await dialog.getByRole("heading", { name: "Leave without saving?" }).waitFor();
    await dialog.getByRole("button", { name: "Stay" }).click();
    expect(await name.inputValue()).toBe("Attic two");
    const save = at.getByRole("button", { name: "Save" });
    await at.getByLabel("Type").selectOption("shelly");
    const address = at.getByLabel("Address", { exact: true }).last();
    await address.fill("no address");
    await save.press("Enter");
    const mistake = at.getByRole("alert").filter({ hasText: /\S/ });
    await mistake.waitFor();
    // Said once, at its field, which has the focus.
    expect([await mistake.count(), await address.getAttribute("aria-invalid")]).toEqual([1, "true"]);
    await until(() => isFocused(address), "the focus in the field");
    await address.fill("10.0.0.9");
    await save.press("Enter");
    await at.getByRole("heading", { level: 1, name: "Attic two" }).waitFor();
    await until(() => isFocused(save), "the focus on the button");
    expect(await at.getByLabel("Address", { exact: true }).last().inputValue()).toBe("10.0.0.9");
    await close();
  });

  test("a rig is deleted, and the list that it was opened from appears without it", async () => {
    const { page: at, close } = await visit("rigs?q=attic&sort=power");
    await at.getByRole("link", { name: /^Attic/ }).click();
    await at.getByRole("main").getByRole("link", { name: "Settings" }).click();
    await at.getByRole("button", { name: "Delete this rig" }).click();
    await at.getByRole("dialog").getByRole("button", { name: "Cancel" }).click();
    await until(() => isFocused(at.getByRole("button", { name: "Delete this rig" })), "the focus on the button");
    await at.keyboard.press("Enter");
    await at.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await at.getByRole("heading", { name: "No rig matches these filters" }).waitFor();
    expect(new URL(at.url()).search).toBe("?q=attic&sort=power");
    await close();
  });
});
