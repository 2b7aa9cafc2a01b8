import { afterAll, beforeAll, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, follow, overflow, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const anna = { actor: "anna" };
const hostile = `<img src=x onerror="alert(1)">${"W".repeat(150)}`;
const [desk, shelf, evil] = [1_000_000_001, 1_000_000_002, 1_000_000_003];

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      http: { key },
      electricity: { price: 0.2 },
      templates: [{ name: "Summer", do: [{ set: "fan", value: 60 }] }],
    },
    rigs: ["Desk", "Shelf", hostile].map((name) => ({ name, rig: { kind: "axeos", warm: true } })),
  });
  const { service } = dashboard;
  await service.minerAction({ id: desk, action: "set", property: "fan", value: "50" }, anna);
  await service.minerAction({ id: evil, action: "set", property: "fan", value: "auto" }, { actor: "bert" });
  await service.minerAction({ id: shelf, action: "set", property: "fan", value: "700" }, anna).catch(() => undefined);
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const rows = (page: Page) => page.locator("tbody").getByRole("row");
const has = (page: Page, count: number): Promise<void> =>
  until(async () => (await rows(page).count()) === count, `${count} rows`);

test("commands are filtered by rig and sender, in the address; new ones appear by themselves", async () => {
  const { page, close } = await visit("activity");
  await page.getByRole("link", { name: "bert" }).click();
  await page.waitForURL(/actor=bert/);
  await has(page, 1);
  await page.getByRole("link", { name: "Clear the filters" }).click();
  // A rig is found by its name as soon as the page has the names.
  await page.locator('#activity-rigs option[value="Desk"]').waitFor({ state: "attached" });
  await page.getByLabel("Rig", { exact: true }).fill("desk");
  await page.getByLabel("Rig", { exact: true }).press("Tab");
  await page.waitForURL(new RegExp(`miner=${desk}`));
  await has(page, 1);
  await page.getByText("Set fan to 50").waitFor();
  await dashboard.service.minerAction({ id: desk, action: "set", property: "fan", value: "55" }, anna);
  await dashboard.service.minerAction({ id: shelf, action: "set", property: "fan", value: "56" }, anna);
  await page.getByText("Set fan to 55").waitFor();
  await has(page, 2);
  await page.getByLabel("Rig", { exact: true }).fill("nothing like it");
  await page.getByLabel("Rig", { exact: true }).press("Tab");
  await page.getByText("No rig has this name").waitFor();
  await page.getByLabel("Period").selectOption("1h");
  await page.waitForURL(/since=1h/);
  await close();
});

test("a bulk action shows each rig's result, and its commands lead to it", async () => {
  const { id } = await dashboard.service.startBulkAction(
    {
      action: "set",
      parameters: { property: "fan", value: "65" },
      miners: [desk, shelf],
      parallel: 2,
      delay: 0,
      dryRun: false,
    },
    anna,
  );
  await until(
    async () => (await dashboard.service.getBulkAction({ id }, anna)).state === "done",
    "the bulk action to be done",
  );
  const { page, close } = await visit(`activity?miner=${shelf}`);
  await page.getByText("Bulk action").first().waitFor();
  await page.getByRole("link", { name: "set", exact: true }).first().click();
  await page.waitForURL(new RegExp(`job=${id}`));
  await page.getByText("2 of 2 done").waitFor();
  await page.getByRole("region", { name: "Results by rig" }).getByRole("link", { name: "Shelf" }).click();
  await page.getByRole("heading", { level: 1, name: "Shelf" }).waitFor();
  await close();
});

test("a bulk action that failed says so, and is nowhere called done", async () => {
  const { id } = await dashboard.service.startBulkAction(
    { action: "set_mode", parameters: { mode: "low" }, miners: [desk, shelf], parallel: 2, delay: 0, dryRun: false },
    anna,
  );
  await until(
    async () => (await dashboard.service.getBulkAction({ id }, anna)).state === "done",
    "the bulk action to end",
  );
  const { failed } = await dashboard.service.getBulkAction({ id }, anna);
  expect(failed).toBe(2);
  const { page, close } = await visit("activity?what=bulk");
  await page.getByRole("row", { name: "mode" }).getByText("Ended · 2 failed", { exact: true }).waitFor();
  await page.getByRole("link", { name: "mode" }).click();
  await page.waitForURL(new RegExp(`job=${id}`));
  await page.getByText("0 of 2 done").waitFor();
  const results = page.getByRole("region", { name: "Results by rig" });
  expect(await results.getByText("Failed", { exact: true }).count()).toBe(2);
  expect(await page.getByText("Done", { exact: true }).count()).toBe(0);
  await close();
});

test("what a rule, a schedule and a template did leads to it, to the very run, and is filtered", async () => {
  const { service } = dashboard;
  const scope = { miners: ["Shelf"] };
  const { id: rule } = await service.addRule(
    {
      key: "cool",
      name: `Cool ${hostile}`,
      scope,
      guard: false,
      when: { all: [{ reading: "temperature", above: 1 }] },
      do: [{ set: "fan", value: 71 }],
    },
    anna,
  );
  const { id: schedule } = await service.addSchedule(
    { key: "cheap", name: "Cheap hours", scope, price: { above: 0.1 }, do: [{ set: "fan", value: 72 }] },
    anna,
  );
  await service.minerAction({ id: shelf, action: "apply_template", template_id: 1 }, anna);
  const sent = async () => (await service.listCommands({ miner: shelf }, anna)).commandList;
  await until(async () => {
    const causes = (await sent()).flatMap(({ cause, state }) => (state === "done" ? [cause?.kind] : []));
    return ["rule", "schedule", "template"].every((kind) => causes.some((each) => each === kind));
  }, "the commands of all three to be done");

  const { page, close } = await visit(`activity?miner=${shelf}&what=command`);
  await page.getByRole("link", { name: "cool", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: /^Cool/ }).waitFor();
  const run = page.locator('[aria-current="true"]').filter({ hasText: "Shelf" });
  await run
    .getByRole("cell", { name: /confirmed|done/i })
    .first()
    .waitFor();
  expect(page.url()).toContain(`/rules/${rule}?run=`);
  await page.goBack();
  await page.getByRole("link", { name: "cheap", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Cheap hours" }).waitFor();
  await page.locator('.run[aria-current="true"]').getByRole("link", { name: "Shelf" }).waitFor();
  await page.goBack();
  await page.getByRole("link", { name: "Summer", exact: true }).click();
  await page.getByRole("heading", { level: 1, name: "Summer" }).waitFor();
  expect(page.url()).toContain("/rules/templates/1");

  await page.goto(`${dashboard.url}/activity?what=run`);
  await has(page, 2);
  await page.getByLabel("Rule or schedule").selectOption("Cheap hours");
  await page.waitForURL(/owner=schedule/);
  await has(page, 1);
  expect(decodeURIComponent(page.url()).replace("+", " ")).toContain(`owner=schedule ${schedule}`);
  await page.getByRole("link", { name: "Cheap hours" }).click();
  await page.locator('.run[aria-current="true"]').waitFor();
  expect(page.url()).toContain(`/rules/schedules/${schedule}?trace=`);

  // The feed has the command of the rule as well, and what a rule does next appears by itself.
  await page.goto(`${dashboard.url}/activity?owner=rule+${rule}`);
  await has(page, 2);
  await service.changeRule({ id: "cool", when: { all: [{ reading: "temperature", above: 2 }] } }, anna);
  await has(page, 4);
  await page.getByLabel("Result").selectOption("Failed or unknown");
  await page.getByText("Nothing fits these filters").waitFor();
  await page.goto(`${dashboard.url}/rules/${rule}?run=999999`);
  await page.getByText("This run is no longer listed.").waitFor();
  expect(await axe(page)).toEqual([]);
  await close();
});

test("both sections are accessible in light and dark, and fit 320 px, with a hostile name", async () => {
  const { page, close } = await visit("activity", { width: 320 });
  const [job] = await dashboard.service.listBulkActions({}, anna);
  for (const path of ["activity", "activity?what=run", `activity?tab=bulk&job=${job?.id}`, "activity?actor=nobody"]) {
    await follow(page, path);
    expect([path, await overflow(page)]).toEqual([path, 0]);
    expect([path, await axe(page)]).toEqual([path, []]);
  }
  expect(await page.locator("img").count()).toBe(0);
  await close();
});
