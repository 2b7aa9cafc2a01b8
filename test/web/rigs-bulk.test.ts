import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { minersIn } from "../../src/contract/miners-in.ts";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, shows, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const caller = { actor: "test" };

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      http: { key },
      groups: [{ name: "Hall", groups: [{ name: "Row 1" }, { name: "Row 2" }] }],
      pools: [{ name: "Spare", url: "stratum+tcp://spare.example.com:3333", worker: "a.b" }],
      templates: [{ name: "Quiet", do: [{ set: "fan", value: 55 }] }],
    },
    rigs: [
      ...Array.from({ length: 10 }, (_, index) => ({
        name: `Rig ${index + 1}`,
        rig: { kind: index % 5 === 4 ? "luxos" : "axeos", warm: true, restartSeconds: 0.1 } as const,
        settings: { group: "Row 1", tags: index < 3 ? ["loud"] : [] },
      })),
      ...Array.from({ length: 20 }, (_, index) => ({
        name: `Lux ${index + 1}`,
        rig: { kind: "luxos", warm: true, restartSeconds: 0.1 } as const,
        settings: { tags: ["hall"] },
      })),
      ...Array.from({ length: 4 }, (_, index) => ({
        name: `Own ${index + 1}`,
        rig: { kind: "axeos", warm: true } as const,
        isAdded: true as const,
      })),
    ],
  });
  dashboard.rigs[5]?.powerOff();
  for (let read = 0; read < 3; read += 1) await dashboard.readAll();
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const row = (page: Page, name: string): Locator =>
  page
    .getByRole("grid", { name: "List of rigs" })
    .getByRole("row")
    .filter({ has: page.getByRole("link", { name, exact: true }) });
const select = (page: Page, name: string): Promise<void> =>
  page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
const bar = (page: Page): Locator => page.getByRole("region", { name: "Actions for the selected rigs" });

/** One of the actions behind the button. */
async function choose(page: Page, action: string): Promise<void> {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("button", { name: action, exact: true }).click();
}

async function rigOf(name: string) {
  const { groupList } = await dashboard.service.listMiners({}, caller);
  const found = [...minersIn(groupList)].find((miner) => miner.name === name);
  if (found === undefined) throw new Error(`There is no rig ${name}`);
  return found;
}
const tagsOf = async (name: string) => (await rigOf(name)).tags;
const commandsOf = async (wanted: string) =>
  (await dashboard.service.listCommands({}, caller)).commandList.filter(({ action }) => action === wanted).length;

describe("acting on many rigs", () => {
  test("a preview says what is not possible, not that it failed: nothing was tried", async () => {
    const { page, close } = await visit("rigs?status=Disconnected");
    await page.getByRole("checkbox", { name: "Select all rigs in this list" }).check();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Stop" });
    await dialog.getByRole("button", { name: "Preview" }).click();
    await shows(dialog.getByRole("row", { name: /Rig 6/ }), /^Rig 6 Not possible /);
    expect(await dialog.innerText()).not.toContain("Failed");
    await page.goto(`${dashboard.url}/activity?tab=bulk`);
    await page.getByText("not possible on 1 rig").waitFor();
    expect(await page.locator("main").innerText()).not.toMatch(/failed/i);
    await close();
  });

  test("a reboot says what would happen, for how many, and shows each rig's answer", async () => {
    const { page, close } = await visit("rigs?tag=loud");
    await page.getByRole("checkbox", { name: "Select all rigs in this list" }).check();
    await page.getByRole("button", { name: "Reboot", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Reboot" });
    await dialog.getByRole("button", { name: "Preview" }).click();
    await dialog.getByText("3 rigs would accept it").waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Reboot 3 rigs" }).click();
    const job = page.getByRole("article", { name: "Reboot: 3 rigs" });
    await shows(job, /^Reboot: 3 rigs Ended · 3 done/);
    await job.getByRole("button", { name: "Results" }).click();
    await shows(
      page.getByRole("dialog").getByRole("row", { name: /Rig 2/ }),
      /^Rig 2 Done System will restart shortly/,
    );
    expect(await axe(page)).toEqual([]);
    await close();
  });

  test("a slow job is found again after a reload, and cancelled", async () => {
    const { page, close } = await visit("rigs?q=rig");
    for (const name of ["Rig 7", "Rig 8", "Rig 9"]) await select(page, name);
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Stop" });
    await dialog.getByText("Pace", { exact: true }).click();
    // Both before the page is drawn again.
    await dialog.evaluate((element) => {
      for (const [index, input] of element.querySelectorAll<HTMLInputElement>("input[type=number]").entries()) {
        input.select();
        document.execCommand("insertText", false, ["1", "600"][index]);
      }
    });
    const typed = ["Rigs at once", "Seconds between two rigs"].map((name) => dialog.getByRole("spinbutton", { name }));
    await dialog.getByRole("button", { name: "Stop 3 rigs" }).focus();
    expect(await Promise.all(typed.map((field) => field.inputValue()))).toEqual(["1", "600"]);
    await dialog.getByRole("button", { name: "Stop 3 rigs" }).click();
    const job = page.getByRole("article", { name: "Stop: 3 rigs" });
    await shows(job, /Running · 1 done · 2 to go/);
    expect(dashboard.rigs[6]?.model.mining).toBe(false);
    await page.reload();
    await shows(job, /Running · 1 done · 2 to go/);
    await job.getByRole("button", { name: "Cancel what is not sent yet" }).click();
    await shows(job, /Cancelled · 1 done · 2 cancelled/);
    expect(dashboard.rigs[7]?.model.mining).toBe(true);
    // The rig's own report, not the click, changes its row.
    await dashboard.readAll();
    await shows(row(page, "Rig 7"), /Stopped/);
    await close();
  });

  test("a tag is added to those that can have it; the others are named with the service's words, and tried again", async () => {
    const { page, close } = await visit("rigs", { height: 2500, expected: /409 \(Conflict\)/ });
    for (const name of ["Own 1", "Rig 1"]) await select(page, name);
    await choose(page, "Add tag");
    const dialog = page.getByRole("dialog", { name: "Add tag" });
    const add = dialog.getByRole("button", { name: "Add to 2 rigs" });
    expect(await add.isDisabled()).toBe(true);
    await dialog.getByRole("textbox", { name: "Tag" }).fill("roof");
    await add.click();
    const job = page.getByRole("article", { name: "Add tag roof: 2 rigs" });
    await shows(job, /Ended · 1 done · 1 failed/);
    expect(await tagsOf("Own 1")).toEqual(["roof"]);
    expect(await tagsOf("Rig 1")).toEqual(["loud"]);
    await job.getByRole("button", { name: "Results" }).click();
    const results = page.getByRole("dialog");
    await shows(results.getByRole("row", { name: /Rig 1/ }), /Failed .*configuration file/);
    await shows(results.getByRole("row", { name: /Own 1/ }), "Own 1 Done has the tag roof");
    await results.getByRole("button", { name: "Select those that failed" }).click();
    await shows(bar(page), /^1 rig selected/);
    await job.getByRole("button", { name: "Run again for 1 rig that failed" }).click();
    await shows(page.getByRole("article", { name: "Add tag roof: 1 rig" }), /Ended · 1 failed/);
    await close();
  });

  test("several are moved into a group, and back", async () => {
    const { page, close } = await visit("rigs?q=own&columns=name,group");
    for (const name of ["Own 1", "Own 2"]) await select(page, name);
    await choose(page, "Move to group");
    const dialog = page.getByRole("dialog", { name: "Move to group" });
    await dialog.getByRole("combobox", { name: "Group" }).selectOption({ label: "Hall / Row 2" });
    await dialog.getByRole("button", { name: "Move 2 rigs" }).click();
    await shows(page.getByRole("article", { name: "Move to group Hall / Row 2: 2 rigs" }), /Ended · 2 done/);
    await shows(row(page, "Own 2"), "Own 2 Hall / Row 2");
    await shows(row(page, "Own 3"), "Own 3 –");
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo on 2 rigs" }).click();
    await shows(page.getByRole("article", { name: "Undo: 2 rigs" }), /Ended · 2 done/);
    await shows(row(page, "Own 2"), "Own 2 –");
    await close();
  });

  test("a template is applied", async () => {
    const { page, close } = await visit("rigs?tag=loud");
    await page.getByRole("checkbox", { name: "Select all rigs in this list" }).check();
    await choose(page, "Apply template");
    const dialog = page.getByRole("dialog", { name: "Apply template" });
    await dialog.getByRole("combobox", { name: "Template" }).selectOption({ label: "Quiet" });
    await dialog.getByRole("button", { name: "Apply to 3 rigs" }).click();
    await shows(page.getByRole("article", { name: "Apply template: 3 rigs" }), /Ended · 3 done/);
    await dashboard.readAll();
    for (const name of ["Rig 1", "Rig 2", "Rig 3"])
      expect([name, (await rigOf(name)).controls.find(({ key }) => key === "fan")?.value]).toEqual([name, 55]);
    await close();
  });

  test("twenty are restarted after a question, and the progress is shown", async () => {
    const { page, close } = await visit("rigs?tag=hall");
    await page.getByRole("checkbox", { name: "Select all rigs in this list" }).check();
    await page.getByRole("button", { name: "Restart mining", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Restart mining" });
    await dialog.getByRole("button", { name: "Cancel" }).click();
    expect(await commandsOf("restart")).toBe(0);
    const restart = page.getByRole("button", { name: "Restart mining", exact: true });
    const isFocused = () => restart.evaluate((element) => element === document.activeElement);
    await until(isFocused, "the focus on the button");
    await restart.press("Enter");
    await dialog.getByText("Pace", { exact: true }).click();
    // The page reads the progress once in a while; it runs for five seconds, so that this is seen.
    await dialog.getByRole("spinbutton", { name: "Seconds between two rigs" }).fill("0.25");
    await dialog.getByRole("button", { name: "Restart 20 rigs" }).click();
    const job = page.getByRole("article", { name: "Restart mining: 20 rigs" });
    await shows(job, /Running · [1-9]\d? done · \d+ to go/);
    await shows(job, /Ended · 20 done/);
    expect(await job.getByRole("progressbar").evaluate((bar: HTMLProgressElement) => [bar.value, bar.max])).toEqual([
      20, 20,
    ]);
    expect(await commandsOf("restart")).toBe(20);
    await close();
  });

  test("one is deleted, with its words and a question", async () => {
    const { page, close } = await visit("rigs?q=own");
    await select(page, "Own 4");
    await choose(page, "Delete");
    const dialog = page.getByRole("dialog", { name: "Delete" });
    await dialog.getByText("This cannot be undone.", { exact: false }).waitFor();
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Delete 1 rig" }).click();
    const job = page.getByRole("article", { name: "Delete: 1 rig" });
    await shows(job, /Ended · 1 done/);
    await row(page, "Own 4").waitFor({ state: "detached" });
    await bar(page).waitFor({ state: "detached" });
    await job.getByRole("button", { name: "Results" }).click();
    await page.getByRole("dialog").getByText("Own 4 removed with its history").waitFor();
    await close();
  });

  test("a setting is offered with the range of those that have it, and set on them", async () => {
    const { page, close } = await visit("rigs?q=rig");
    for (const name of ["Rig 5", "Rig 10"]) await select(page, name);
    await choose(page, "Change a setting");
    const dialog = page.getByRole("dialog", { name: "Change a setting" });
    const setting = dialog.getByRole("combobox", { name: "Setting" });
    await setting.waitFor();
    const options = await setting.getByRole("option").allInnerTexts();
    expect(options).toContain("Fan");
    await setting.selectOption({ label: "Fan" });
    await dialog
      .getByRole("textbox", { name: "New value" })
      .or(dialog.getByRole("spinbutton", { name: "New value" }))
      .fill("70");
    await dialog.getByRole("button", { name: "Set on 2 rigs" }).click();
    await shows(page.getByRole("article", { name: "Fan 70: 2 rigs" }), /Ended · 2 done/);
    await close();
  });

  test("a setting is undone: each rig gets its own former value back, also from the activity", async () => {
    const names = ["Lux 3", "Lux 4", "Lux 5"];
    const ids = await Promise.all(names.map(async (name) => (await rigOf(name)).id));
    const set = (id: number, value: string) =>
      dashboard.service.minerAction({ id, action: "set", property: "fan", value }, caller);
    for (const [index, id] of ids.entries()) await set(id, index === 1 ? "45" : "55");
    const fans = () =>
      Promise.all(
        ids.map(async (id) => {
          const { controls } = await dashboard.service.pollMiner({ id }, caller);
          return controls.find(({ key: each }) => each === "fan")?.value;
        }),
      );
    expect(await fans()).toEqual([55, 45, 55]);
    const { page, close } = await visit("rigs?q=lux");
    for (const name of names) await select(page, name);
    await choose(page, "Change a setting");
    const dialog = page.getByRole("dialog", { name: "Change a setting" });
    await dialog.getByRole("combobox", { name: "Setting" }).selectOption({ label: "Fan" });
    await dialog
      .getByRole("textbox", { name: "New value" })
      .or(dialog.getByRole("spinbutton", { name: "New value" }))
      .fill("80");
    await dialog.getByRole("button", { name: "Set on 3 rigs" }).click();
    const job = page.getByRole("article", { name: "Fan 80: 3 rigs" });
    await shows(job, /Ended · 3 done/);
    await job.getByRole("button", { name: "Undo" }).click();
    const question = page.getByRole("dialog", { name: "Undo" });
    await question.getByText("3 rigs get back what they had before").waitFor();
    expect(await axe(page)).toEqual([]);
    await question.getByRole("button", { name: "Undo on 3 rigs" }).click();
    await shows(page.getByRole("article", { name: "Fan 55: 2 rigs" }), /Ended · 2 done/);
    await shows(page.getByRole("article", { name: "Fan 45: 1 rig" }), /Ended · 1 done/);
    expect(await fans()).toEqual([55, 45, 55]);
    // The undo is an action itself, and can be undone.
    await page.goto(`${dashboard.url}/activity?tab=bulk`);
    await page.getByRole("link", { name: "Set fan to 45" }).click();
    await page.getByRole("button", { name: "Undo" }).click();
    await page.getByRole("button", { name: "Undo on 1 rig" }).click();
    await shows(page.getByRole("article", { name: "Fan 80: 1 rig" }), /Ended · 1 done/);
    expect(await fans()).toEqual([55, 80, 55]);
    await close();
  });

  test("a pool is changed", async () => {
    const { page, close } = await visit("rigs?q=rig");
    await select(page, "Rig 3");
    await choose(page, "Change pool");
    const dialog = page.getByRole("dialog", { name: "Change pool" });
    await dialog
      .getByRole("combobox", { name: "Pool" })
      .selectOption({ label: "Spare (stratum+tcp://spare.example.com:3333)" });
    await dialog.getByRole("button", { name: "Change the pool of 1 rig" }).click();
    await shows(page.getByRole("article", { name: "Change pool: 1 rig" }), /Ended · 1 done/);
    expect(dashboard.rigs[2]?.model.pools.some(({ url }) => url.includes("spare.example.com"))).toBe(true);
    await close();
  });

  test("alarms are acknowledged", async () => {
    const { page, close } = await visit("rigs?q=rig%206");
    const posts: string[] = [];
    page.on("request", (request) => {
      const { pathname } = new URL(request.url());
      if (request.method() === "POST" && pathname.includes("/notifications")) posts.push(pathname);
    });
    await select(page, "Rig 6");
    await choose(page, "Acknowledge alarms");
    await page.getByRole("button", { name: /^Acknowledge \d+ alarm/ }).click();
    await page.getByText(/\d+ alarms? acknowledged/).waitFor();
    expect(posts).toHaveLength(1);
    const { notificationList } = await dashboard.service.listNotifications({}, { actor: "test" });
    const own = notificationList.filter(({ minerId }) => minerId === 1_000_000_006);
    expect(own.length).toBeGreaterThan(0);
    expect(own.every(({ isAcknowledged }) => isAcknowledged)).toBe(true);
    await close();
  });
});
