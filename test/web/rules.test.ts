import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, follow, overflow, startDashboard, type Visit } from "./dashboard.ts";

const caller = { actor: "test" };
const hostile = `<b onmouseover="alert(1)">x</b>${"long".repeat(40)}`;
const viewerKey = "a-key-of-somebody-who-may-only-look";
const ownerKey = "the-key-of-the-owner-of-this-farm";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      { name: "Attic", rig: { kind: "axeos", warm: true } },
      { name: "Cellar", rig: { kind: "axeos", warm: true } },
    ],
    config: {
      http: { key: ownerKey },
      users: [{ name: "Viewer", key: viewerKey, privilege: "view" }],
      groups: [{ name: hostile }, { name: "Garage" }],
      pools: [{ name: "North pool", url: "stratum+tcp://192.0.2.7:3333" }],
      rules: [
        { key: "of-file", name: hostile, when: { all: [{ offline: true }], for: "2m" }, do: [{ action: "restart" }] },
        { key: "light", name: "Show the rig", do: [{ action: "locate", on: true }] },
      ],
      schedules: [{ key: "night", name: "Night", cron: "0 3 * * *", do: [{ action: "start" }] }],
      templates: [{ name: "Summer", do: [{ set: "fan", value: 60 }] }],
    },
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: Parameters<Dashboard["visit"]>[1] = {}): Promise<Visit> =>
  dashboard.visit(path, { key: ownerKey, ...options });

/** Reads all rigs until the page shows it: rules look at what is read. */
async function readUntil(page: Page, text: string | RegExp): Promise<void> {
  await until(async () => {
    await dashboard.readAll();
    return page.getByText(text).first().isVisible();
  }, `"${text}" on the page`);
}

describe("rules in the dashboard", () => {
  testInBrowser(
    "a rule made in the editor fires on a rig, its run is shown, and its alarm leads back to it",
    async () => {
      const { page, close } = await visit("rules", { expected: /status of 400/ });
      await page.getByRole("link", { name: "New rule" }).click();
      await page.getByLabel("Name", { exact: true }).fill("Warm rig");
      // What the service refuses stands at its field, and nothing is saved.
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("This was not saved").waitFor();
      expect((await dashboard.service.listRules({}, caller)).rules).toHaveLength(2);
      await page.getByLabel("Above", { exact: false }).last().fill("1");
      await page.getByRole("button", { name: "Remove For how long" }).click();
      await page.getByLabel("Message").fill("{{ miner.name }} is warm");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("heading", { name: "Warm rig" }).waitFor();
      await readUntil(page, "Attic");
      await page.getByText("Conditions and steps").first().click();
      await page.getByRole("columnheader", { name: "Condition" }).first().waitFor();
      await page.getByRole("link", { name: /open alarm/ }).click();
      await page.getByText("Attic is warm").waitFor();
      await page.getByRole("link", { name: "Warm rig" }).first().click();
      await page.getByRole("heading", { name: "Warm rig" }).waitFor();
      await page.getByRole("link", { name: "Try", exact: true }).click();
      await page.getByRole("button", { name: "Try it" }).click();
      await page.getByText(/rigs were tried/).waitFor();
      await close();
    },
  );

  testInBrowser(
    "a rule is changed as text and as a form, which show the same; unsaved changes are not lost",
    async () => {
      const { id } = await dashboard.service.addRule(
        {
          key: "both",
          when: { all: [{ offline: true }], for: 120 },
          limit: { perDay: 3 },
          do: [{ webhook: "http://192.0.2.9/", method: "POST", headers: { authorization: "Bearer abc" } }],
        },
        caller,
      );
      const { page, close } = await visit(`rules/${id}`);
      await page.getByRole("navigation", { name: "both" }).getByRole("link", { name: "Settings" }).click();
      await page.getByRole("textbox", { name: "For how long" }).waitFor();
      expect(await page.getByRole("textbox", { name: "For how long" }).inputValue()).toBe("2");
      await page.getByRole("button", { name: "Text" }).click();
      const text = page.getByRole("textbox", { name: "Text" });
      expect(await text.inputValue()).toContain("for: 2m");
      expect(await text.inputValue()).not.toContain("Bearer");
      await text.fill("when: [");
      await page.getByText(/The text cannot be read/).waitFor();
      expect(await page.getByRole("button", { name: "Save" }).isDisabled()).toBe(true);
      await text.fill(
        'key: both\nwhen: { all: [{ offline: true }], for: 3m }\ndo:\n  - webhook: "http://192.0.2.9/"\n    method: POST\n    headers: { authorization: "" }\n    body: on fire\n',
      );
      await page.getByRole("button", { name: "Form" }).click();
      expect(await page.getByRole("textbox", { name: "For how long" }).inputValue()).toBe("3");
      // Leaving asks first.
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByRole("button", { name: "Stay" }).click();
      // What was saved is saved, although the page cannot read it again.
      const unread = /\/api\/rules(\/|\?|$)/;
      await page.route(unread, (request) => (request.request().method() === "GET" ? undefined : request.continue()));
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("Saved").waitFor();
      const [, , , saved] = (await dashboard.service.listRules({}, caller)).rules;
      expect(saved?.definition).toMatchObject({ when: { for: 180 }, do: [{ body: "on fire" }] });
      expect(saved?.definition).not.toHaveProperty("limit");
      await page.getByRole("link", { name: "Overview" }).click();
      await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
      await page.unroute(unread);
      await close();
      await dashboard.service.deleteRule({ id: String(id) }, caller);
    },
  );

  testInBrowser("the browser's back button leaves unsaved changes only once that is confirmed", async () => {
    const { id } = await dashboard.service.addRule(
      { key: "back", name: "Back", when: { all: [{ offline: true }] }, do: [{ action: "restart" }] },
      caller,
    );
    const { page, close } = await visit(`rules/${id}`);
    await page.getByRole("navigation", { name: "Back" }).getByRole("link", { name: "Settings" }).click();
    const name = page.getByLabel("Name", { exact: true });
    await name.fill("Changed");
    const settings = page.url();
    const question = page.getByRole("dialog", { name: "Leave without saving?" });
    await page.goBack();
    await question.getByRole("button", { name: "Stay" }).click();
    expect([page.url(), await name.inputValue()]).toEqual([settings, "Changed"]);
    await page.goBack();
    await question.getByRole("button", { name: "Leave" }).click();
    await page.getByText("No runs in the last 30 days").waitFor();
    expect(page.url()).toBe(settings.replace("?part=settings", ""));
    const { rules } = await dashboard.service.listRules({}, caller);
    expect(rules.find((rule) => rule.id === id)?.name).toBe("Back");
    await close();
    await dashboard.service.deleteRule({ id: String(id) }, caller);
  });

  testInBrowser("a ready-made rule is taken with a value of one's own, disabled, and deleted", async () => {
    const { page, close } = await visit("rules");
    await page.getByRole("link", { name: "Use this: Sleep when too hot" }).click();
    await page.getByLabel("Temperature", { exact: true }).fill("77");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Sleep when too hot" }).waitFor();
    const ruleOf = async () =>
      (await dashboard.service.listRules({}, caller)).rules.find(({ use }) => use === "sleep-when-too-hot");
    await until(async () => (await ruleOf()) !== undefined, "the rule");
    expect((await ruleOf())?.definition).toEqual({ use: "sleep-when-too-hot", with: { temperature: 77 } });
    await page.getByRole("checkbox", { name: "Enable Sleep when too hot" }).click();
    await page.getByText("off", { exact: true }).waitFor();
    expect((await ruleOf())?.enabled).toBe(false);
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { level: 1, name: "Rules" }).waitFor();
    expect(await ruleOf()).toBeUndefined();
    await close();
  });

  testInBrowser("a rule is made by choosing what it names, and what is gone since is shown as missing", async () => {
    await dashboard.service.addChannel(
      { key: "alerts", type: "ntfy", url: "http://192.0.2.8", topic: "a-topic-of-this-farm" },
      caller,
    );
    const { page, close } = await visit("rules/new");
    await page.getByLabel("Name", { exact: true }).fill("Chosen");
    // By keyboard, as everywhere in the form.
    const choose = async (field: string, text: string, name: string) => {
      const box = page.getByRole("combobox", { name: field, exact: true }).last();
      await box.focus();
      await box.pressSequentially(text);
      await page.getByRole("option", { name, exact: true }).waitFor();
      await box.press("Enter");
    };
    const add = (name: string) => page.locator(".add-menu[open]").getByRole("button", { name: new RegExp(`^${name}`) });
    await page.getByRole("combobox", { name: "Kind" }).first().selectOption("pool");
    await page.getByLabel("Pool", { exact: true }).first().selectOption("wrong");
    await page.locator(".form-item .add-menu > summary").first().click();
    await add("Wanted pools").click();
    await choose("Wanted pools", "north", "North pool");
    await page.getByRole("combobox", { name: "Channel" }).fill("");
    await choose("Channel", "ale", "alerts");
    await page.getByLabel("Message").fill("lost its pool");
    await page.locator(".schema-form > .add-menu > summary").click();
    await add("Which rigs").click();
    await page.locator("[data-path=scope] .add-menu > summary").click();
    await add("Groups").click();
    await choose("Groups", "gar", "Garage");
    const sentence =
      "When, on any rig in Garage, it mines at a pool other than North pool for 2 minutes: notify alerts.";
    await page.getByText(sentence).waitFor();
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Chosen" }).waitFor();
    const chosen = (await dashboard.service.listRules({}, caller)).rules.find(({ name }) => name === "Chosen");
    expect(chosen?.definition).toMatchObject({
      scope: { groups: ["Garage"] },
      when: { all: [{ pool: "wrong", wanted: ["North pool"] }] },
      do: [{ notify: "alerts" }],
    });
    await page.goto(`${dashboard.url}/rules`);
    await page.getByText(sentence).waitFor();
    await page.route(/\/api\/(channels|groups)$/, (request) => request.fulfill({ json: [] }));
    await page.goto(`${dashboard.url}/rules/${chosen?.id}?part=settings`);
    await page.getByText("alerts no longer exists").waitFor();
    await page.getByText("Garage (missing)").waitFor();
    expect(await page.getByRole("combobox", { name: "Channel" }).inputValue()).toBe("alerts");
    expect(await axe(page)).toEqual([]);
    await close();
    await dashboard.service.deleteRule({ id: String(chosen?.id) }, caller);
    await dashboard.service.deleteChannel({ key: "alerts" }, caller);
  });

  testInBrowser("a rule is run by hand on a rig that is chosen, and the rig's answer is shown", async () => {
    const { page, close } = await visit("rules");
    await page.getByRole("button", { name: "Run…" }).click();
    await page.getByRole("checkbox", { name: "Cellar" }).check();
    await page.getByRole("button", { name: "Run on 1 rig" }).click();
    await page.getByText("It has run on 1 rig").waitFor();
    await page.getByRole("button", { name: "Close" }).last().click();
    await page.getByRole("link", { name: "Show the rig" }).click();
    await page.getByRole("link", { name: "Cellar" }).first().waitFor();
    await close();
  });

  testInBrowser("maintenance is begun for a rig, shown, and ended", async () => {
    const { page, close } = await visit("rules?tab=maintenance", { expected: /status of 400/ });
    await page.getByRole("button", { name: "New maintenance" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("What is done there").fill("New fans");
    await dialog.getByLabel("For how long").fill("4");
    await dialog.getByLabel("Rigs", { exact: true }).fill("Nobody");
    await dialog.getByRole("button", { name: "New maintenance" }).click();
    await dialog.getByText('there is no miner "Nobody"', { exact: false }).first().waitFor();
    await dialog.getByLabel("Rigs", { exact: true }).click();
    await dialog.getByRole("button", { name: "Remove Nobody" }).click();
    await dialog.getByLabel("Rigs", { exact: true }).fill("Attic");
    await dialog.getByRole("button", { name: "New maintenance" }).click();
    await page.getByText("active now").waitFor();
    const [window] = await dashboard.service.listMaintenance({}, caller);
    expect(window).toMatchObject({ name: "New fans", miners: 1, active: true });
    await page.getByRole("button", { name: "End now: New fans" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "End now" }).click();
    await page.getByText("No maintenance planned").waitFor();
    await close();
  });

  testInBrowser("schedules and templates are made and changed by the same form", async () => {
    const { page, close } = await visit("rules/schedules/new");
    await page.getByLabel("Short name", { exact: true }).fill("evening");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "evening" }).waitFor();
    await page.getByRole("link", { name: "Rules", exact: true }).click();
    await page.getByRole("link", { name: "Schedules" }).click();
    await page.getByRole("heading", { name: "Next seven days" }).waitFor();
    await page.getByRole("link", { name: "Templates" }).click();
    await page.getByRole("link", { name: "New template" }).click();
    await page.getByLabel("Name", { exact: true }).fill("Winter");
    await page.getByLabel("Value", { exact: true }).fill("900");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { level: 1, name: "Winter" }).waitFor();
    const { managedTemplateList } = await dashboard.service.listManagedTemplates({}, caller);
    expect(managedTemplateList.find(({ name }) => name === "Winter")?.do).toEqual([
      { set: "power_target", value: 900 },
    ]);
    await close();
  });

  testInBrowser("a rule of the file is shown and not changed; who may only look changes nothing", async () => {
    const own = await visit("rules/1?part=settings");
    await own.page.getByText("The configuration file declares it").waitFor();
    expect(await own.page.getByRole("button", { name: "Save" }).count()).toBe(0);
    expect(await own.page.getByRole("button", { name: "Delete" }).count()).toBe(0);
    await own.close();
    const viewer = await visit("rules", { key: viewerKey });
    await viewer.page.getByText("Show the rig").first().waitFor();
    for (const name of [/New rule/, /Run/, /Enable/, /Use this/])
      expect([name, await viewer.page.getByRole("button", { name }).count()]).toEqual([name, 0]);
    expect(await viewer.page.getByRole("link", { name: "New rule" }).count()).toBe(0);
    await viewer.close();
  });

  testInBrowser("every page is readable for all, in light and dark, on a phone and from right to left", async () => {
    const paths = [
      ...["rules", "rules?tab=schedules", "rules?tab=maintenance", "rules?tab=templates", "rules/new", "rules/1"],
      ...["rules/1?part=settings", "rules/1?part=try", "rules/schedules/1", "rules/templates/1", "rules/99999"],
    ];
    const { page, close } = await visit("rules", { width: 375 });
    for (const path of paths) {
      await follow(page, path);
      expect([path, await axe(page)]).toEqual([path, []]);
      expect([path, (await overflow(page)) <= 0]).toEqual([path, true]);
    }
    await close();
    const persian = await visit("rules/new", { locale: "fa", width: 375 });
    await persian.page.getByRole("button", { name: "ذخیره" }).waitFor();
    expect(await axe(persian.page)).toEqual([]);
    expect(await overflow(persian.page)).toBeLessThanOrEqual(0);
    await persian.close();
  });
});
