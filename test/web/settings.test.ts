import { mkdtemp, readFile, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { installDouble, processesIn } from "../agent/host.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { type Running, running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { type Mosquitto, startMosquitto } from "../mqtt/mosquitto.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard, visitOf } from "./dashboard.ts";

// depends on: src/**, test/agent/mining-double.ts, mosquitto

const ready = /is ready at (http:\/\/127\.0\.0\.1:\d+)/;

const owner = "the-key-of-the-owner";
const anna = "the-key-of-anna-1234";
const hostile = `<img src=x onerror="document.title='run'"> ${"long".repeat(30)}`;
const caller = { actor: "test" };
const topic = "a-secret-topic-1";
/** What a browser notes of a request that the service refuses with a reason. */
const expected = /Failed to load resource: the server responded with a status of (400|409|422|502)/;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [{ rig: { kind: "axeos", warm: true }, name: "lamp", settings: { group: "Study" } }],
    config: {
      http: { key: owner },
      groups: [{ name: "Study", room: true }, { name: "Hall" }],
      users: [{ name: "anna", key: anna, privilege: "control", groups: ["Study"] }],
      pools: [{ name: "monero", url: "stratum+tcp://xmr.example.com:3333", coin: "XMR", wallet: "4Invented" }],
      channels: [{ key: "phone", type: "ntfy", topic, url: "http://127.0.0.1:9" }],
    },
  });
});

afterAll(async () => {
  await dashboard.close();
  await closeContexts();
});

describe("users", () => {
  testInBrowser("are added with a key that is shown once and opens the page; revoked, it no longer does", async () => {
    const { page, close } = await dashboard.visit("settings", { key: owner, expected });
    const list = page.getByRole("main");
    await list.getByText("configuration file").waitFor();
    expect(await page.getByRole("button", { name: /^Change ?: anna/ }).count()).toBe(0);
    await page.getByRole("button", { name: "Add user" }).click();
    const form = page.getByRole("dialog", { name: "Add user" });
    await form.getByRole("textbox", { name: "Name" }).fill("anna");
    await form.getByRole("button", { name: "Save" }).click();
    await form.getByText("is the name of another user").first().waitFor();
    await form.getByRole("textbox", { name: "Name" }).fill(hostile);
    await form.getByRole("radio", { name: "only these groups" }).check();
    await form.getByRole("checkbox", { name: "Study" }).check();
    expect(await axe(page)).toEqual([]);
    await form.getByRole("button", { name: "Save" }).click();

    const dialog = page.getByRole("dialog", { name: "Key of" });
    await dialog.getByRole("button", { name: "Make a key" }).click();
    const key = await dialog.getByRole("textbox", { name: "Key" }).inputValue();
    expect(key).toMatch(/^[\w-]{43}$/);
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    const kept = () => page.evaluate(() => document.documentElement.outerHTML + JSON.stringify({ ...localStorage }));
    expect(await kept()).not.toContain(key);

    const theirs = await dashboard.visit("settings", { key, width: 375 });
    await theirs.page.getByRole("heading", { name: "Settings" }).waitFor();
    expect(await theirs.page.getByRole("link", { name: "Users" }).count()).toBe(0);
    await theirs.page.getByRole("link", { name: "Groups" }).first().click();
    await theirs.page.getByRole("link", { name: "1 rig" }).waitFor();
    expect(await theirs.page.getByText("Hall").count()).toBe(0);
    expect(await overflow(theirs.page)).toBe(0);
    await theirs.close();

    await page.getByRole("button", { name: "Revoke key" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke key" }).click();
    await page.getByText("no key: cannot sign in").waitFor();
    await expect(dashboard.visit("settings", { key })).rejects.toThrow("Sign-in answered 401");
    expect(await axe(page)).toEqual([]);
    expect(await page.title()).toBe("Settings · Rigbridge");
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await until(async () => (await dashboard.service.listUsers({}, caller)).length === 1, "the user to be gone");
    await close();
  });
});

describe("rights", () => {
  testInBrowser("of a user follow their change, and a new key ends the sessions of the one before", async () => {
    const before = "the-key-of-berta-before";
    const { id } = await dashboard.service.saveUser(
      { id: 0, name: "berta", key: before, privilege: "view", pools: [], groups: [] },
      caller,
    );
    const hers = await dashboard.visit("rigs", { key: before, expected: /status of 401/ });
    await hers.page.getByRole("heading", { name: "No rigs" }).first().waitFor();
    expect(await hers.page.getByText("lamp").count()).toBe(0);

    const { page, close } = await dashboard.visit("settings", { key: owner, expected });
    await page.getByText("no group: sees no rigs").waitFor();
    await page.getByRole("button", { name: /^Change ?: berta/ }).click();
    const dialog = page.getByRole("dialog", { name: "Change berta" });
    expect(await dialog.getByRole("textbox", { name: "Name" }).inputValue()).toBe("berta");
    expect(await dialog.getByRole("radio", { name: /^Look/ }).isChecked()).toBe(true);
    await dialog.getByRole("radio", { name: /^Control rigs/ }).check();
    await dialog.getByRole("checkbox", { name: "Study" }).check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    const users = await dashboard.service.listUsers({}, caller);
    expect(users.find((user) => user.id === id)).toMatchObject({ privilege: "control", pools: [], hasKey: true });
    await hers.page.reload();
    await hers.page.getByText("lamp").first().waitFor();
    await hers.page.getByRole("checkbox", { name: "Select lamp" }).waitFor();

    await page.getByRole("button", { name: /^New key ?: berta/ }).click();
    const keys = page.getByRole("dialog", { name: "Key of berta" });
    await keys.getByRole("button", { name: "Make a key" }).click();
    await keys.getByRole("textbox", { name: "Key" }).waitFor();
    await keys.getByRole("button", { name: "Done" }).click();
    await hers.page.reload();
    await hers.page.getByRole("button", { name: "Sign in" }).waitFor();
    await hers.close();
    await close();
    await dashboard.service.deleteUser({ id }, caller);
  });
});

describe("groups", () => {
  testInBrowser("are added, moved and deleted; those inside move to the parent, and the file's own stay", async () => {
    const { page, close } = await dashboard.visit("settings?tab=groups", { key: owner, expected });
    await page.getByRole("link", { name: "1 rig" }).waitFor();
    expect(await page.getByRole("button", { name: /^(Change|Delete) ?: Study/ }).count()).toBe(0);
    const add = async (name: string, button: string) => {
      await page.getByRole("button", { name: button }).click();
      const dialog = page.getByRole("dialog", { name: "Add group" });
      await dialog.getByRole("textbox", { name: "Name" }).fill(name);
      await dialog.getByRole("button", { name: "Save" }).click();
      await page.getByRole("button", { name: `Delete: ${name}` }).waitFor();
    };
    await add("Attic", "Add group");
    await add("Shelf", "Add a group inside: Attic");
    expect(await axe(page)).toEqual([]);

    await page.getByRole("button", { name: "Change: Attic" }).click();
    const inside = page.getByRole("dialog").getByRole("combobox", { name: "Inside" });
    await inside.waitFor();
    // Neither itself nor what is inside it.
    expect(await inside.getByRole("option").allTextContents()).toEqual(["At the top level", "Hall", "Study"]);
    await inside.selectOption("Hall");
    await page.getByRole("dialog").getByRole("button", { name: "Save" }).click();
    const groups = async () =>
      new Map((await dashboard.service.listGroups({}, caller)).map((group) => [group.name, group]));
    await until(async () => {
      const now = await groups();
      return now.get("Attic")?.parentId === now.get("Hall")?.id;
    }, "the attic to be in the hall");

    await page.getByRole("button", { name: "Delete: Attic" }).click();
    await page.getByRole("dialog").getByText("1 group. No rig is removed.").waitFor();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await until(async () => !(await groups()).has("Attic"), "the attic to be gone");
    const after = await groups();
    expect(after.get("Shelf")?.parentId).toBe(after.get("Hall")?.id);
    expect([after.get("Hall")?.owner, after.get("Shelf")?.owner]).toEqual(["file", undefined]);
    await close();
  });
});

describe("the service", () => {
  testInBrowser("is set by forms by topic; a save takes effect at once, and is undone", async () => {
    const { page, close } = await dashboard.visit("settings?tab=service", { key: owner, expected, width: 375 });
    await page.getByRole("link", { name: /Change.*Reading/ }).click();
    const interval = page.getByRole("textbox", { name: "Seconds between two reads" });
    await interval.fill("0");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Seconds between two reads: must be at least 1").waitFor();
    await interval.fill("1800");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("Rigs without an interval of their own are read every 1800 s").waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    const poll = async () =>
      (await dashboard.service.listSettings({}, caller)).sections.find(({ key }) => key === "poll");
    expect(await poll()).toMatchObject({ owner: "store", value: { interval: 1800 }, effective: { interval: 1800 } });
    await page.getByRole("button", { name: "Undo the last save" }).click();
    await until(async () => (await poll())?.owner === "default", "the defaults to be back");
    await page.getByText("The former settings are back").waitFor();
    await page.getByRole("button", { name: "Save it again after all" }).waitFor();
    await close();
  });

  testInBrowser(
    "a secret is not shown and stays; what somebody else has saved meanwhile is not overwritten",
    async () => {
      const secret = "a-secret-of-the-broker";
      const mqtt = { url: "mqtt://127.0.0.1:1", username: "rigs", password: secret };
      await dashboard.service.saveSettings({ section: "mqtt", value: mqtt }, caller);
      const { page, close } = await dashboard.visit("settings/service/mqtt", { key: owner, expected, width: 375 });
      const username = page.getByRole("textbox", { name: "User name" });
      expect(await username.inputValue()).toBe("rigs");
      expect(await page.content()).not.toContain(secret);
      await username.fill("others");
      await dashboard.service.saveSettings({ section: "mqtt", value: { ...mqtt, clientId: "elsewhere" } }, caller);
      await page.getByRole("button", { name: "Save", exact: true }).click();
      // Both values are shown, and either can be chosen.
      await page
        .getByText(/was saved by another user in the meantime.*"rigs" → "others"/)
        .first()
        .waitFor();
      expect(await axe(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      const saved = () => dashboard.store.settings.all().find(({ section }) => section === "mqtt")?.value;
      await page.getByRole("button", { name: "Drop mine and show what was saved" }).click();
      await until(async () => (await username.inputValue()) === "rigs", "what was saved");
      await username.fill("others");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await until(async () => JSON.stringify(saved()).includes('"others"'), "the name to be saved");
      expect(saved()).toMatchObject({ username: "others", password: secret, clientId: "elsewhere" });

      await page.reload();
      await username.waitFor();
      await dashboard.service.saveSettings({ section: "mqtt", value: { ...mqtt, clientId: "away" } }, caller);
      await username.fill("mine");
      await page.getByRole("button", { name: "Save", exact: true }).click();
      await page.getByRole("button", { name: "Save mine anyway" }).click();
      await until(async () => JSON.stringify(saved()).includes('"mine"'), "mine to be saved");
      expect(saved()).toMatchObject({ username: "mine", password: secret, clientId: "elsewhere" });
      await dashboard.service.resetSettings({ section: "mqtt" }, caller);
      await close();
    },
  );
});

describe("a broker", () => {
  let folder: string;
  let broker: Mosquitto;
  let service: Running;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "rigbridge-first-"));
    broker = await startMosquitto({ users: { rigs: "the-right-word" } });
    service = await running(["serve", "--data", folder, "--port", "0"], ready, { cwd: folder });
  });
  afterAll(async () => {
    service.signal("SIGKILL");
    await service.ended;
    await broker.stop();
    await rm(folder, { recursive: true });
  });

  testInBrowser("is tried with a wrong password, and the right one; its state is said, as is what waits", async () => {
    const url = ready.exec(service.said())?.[1] ?? "";
    const { page, close } = await visitOf(url, "settings/service/mqtt", { width: 375, expected });
    await page.getByText("No broker is set.").waitFor();
    await page.getByRole("textbox", { name: "Address" }).fill(broker.url);
    await page.getByRole("textbox", { name: "User name" }).fill("rigs");
    await page.getByLabel("Password", { exact: true }).fill("a-wrong-word");
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText("refuses the username and password").waitFor();
    await page.getByText("Nothing was saved by it.").waitFor();
    await page.getByLabel("Password", { exact: true }).fill("the-right-word");
    await page.getByRole("button", { name: "Test" }).click();
    await page.getByText(/accepts this login with MQTT 5/).waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("The MQTT bridge starts").waitFor();
    await page.getByText("MQTT: connected").waitFor();
    expect(await page.content()).not.toContain("-right-word");
    expect(await overflow(page)).toBe(0);

    await page.goto(`${url}/settings/service/http`);
    await page.getByRole("textbox", { name: "Address" }).fill("127.0.0.2");
    await page.getByRole("button", { name: "Save", exact: true }).click();
    await page.getByText("What was saved last waits for a restart of the service.").waitFor();
    await close();
  });
});

testInBrowser(
  "the form of a section appears together with what stands above it, so that it does not move",
  async () => {
    const { page, close } = await dashboard.visit("settings?tab=service", { key: owner });
    const { promise: held, resolve: release } = Promise.withResolvers<void>();
    await page.route("**/api/rooms", async (route) => {
      await held;
      await route.continue();
    });
    const others = page.waitForResponse(/\/api\/groups$/);
    await page.getByRole("link", { name: /Change.*Heating/ }).click();
    await (await others).finished();
    await page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));
    expect(await page.getByRole("button", { name: "Add one" }).count()).toBe(0);
    release();
    await page.getByRole("button", { name: "Add one" }).waitFor();
    expect(await page.getByText("There is none yet.").count()).toBe(1);
    await close();
  },
);

testInBrowser("a section of the file is not saved here: a draft of it is shown as YAML", async () => {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-owned-"));
  onTestFinished(() => rm(folder, { recursive: true }));
  const file = join(folder, "rigbridge.yaml");
  const written = "http:\n  port: 0\npoll:\n  interval: 20\n";
  await writeFile(file, written);
  const service = await running(["serve", "--config", file], ready, { cwd: folder });
  onTestFinished(async () => {
    service.signal("SIGKILL");
    await service.ended;
  });
  const { page, close } = await visitOf(ready.exec(service.said())?.[1] ?? "", "settings/service/poll", { width: 375 });
  await page.getByText("The configuration file has it, in line 3.").waitFor();
  expect(await page.getByRole("button", { name: "Save", exact: true }).count()).toBe(0);
  await page.getByRole("textbox", { name: "Seconds between two reads" }).fill("30");
  await page.getByRole("button", { name: "Show as YAML" }).click();
  expect(await page.getByLabel(/^YAML/).inputValue()).toBe("poll:\n  interval: 30\n");
  expect(await axe(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  expect(await readFile(file, "utf8")).toBe(written);
  await close();
});

describe("channels", () => {
  testInBrowser(
    "are added by a form of their type; a test says what the channel answers; no secret is shown",
    async () => {
      const { page, close } = await dashboard.visit("settings?tab=notifications", { key: owner, expected });
      await page.getByRole("button", { name: /^Send a test ?: phone/ }).click();
      await page.getByRole("status").filter({ hasText: "127.0.0.1:9" }).waitFor();
      expect(await axe(page)).toEqual([]);
      await page.getByRole("link", { name: "Add channel" }).click();
      await page.getByRole("combobox", { name: "Type" }).selectOption("discord");
      await page.getByRole("textbox", { name: "Key" }).fill("team");
      const address = page.getByLabel("Address");
      await address.fill("no address");
      expect(await axe(page)).toEqual([]);
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("must be a web address").first().waitFor();
      await address.fill("http://127.0.0.1:9/hidden-part");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByRole("link", { name: /^Change ?: team/ }).click();
      await page.getByRole("heading", { name: "team" }).waitFor();
      expect(await page.getByLabel("Address").inputValue()).toBe("");
      expect(await page.content()).not.toMatch(/hidden-part|a-secret-topic/);
      await page.getByRole("combobox", { name: "From" }).selectOption("critical");
      await page.getByRole("button", { name: "Save" }).click();
      await page.getByText("from Critical").waitFor();
      // The address, which the page never had, is as before.
      expect((await dashboard.service.listChannels({}, caller)).find(({ key }) => key === "team")?.host).toBe(
        "127.0.0.1:9",
      );
      await close();
    },
  );
});

describe("this browser, and about", () => {
  testInBrowser("the language is chosen and kept, right-to-left too; what is kept can be forgotten", async () => {
    const { page, close } = await dashboard.visit("settings?tab=display", {
      key: anna,
      width: 375,
      height: 800,
      // After signing out the page begins anew, and asks who this is.
      expected: /status of 401/,
    });
    expect(await page.getByRole("link", { name: "Notifications" }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("main").getByLabel("Language").selectOption("fa");
    await page.locator("html[dir=rtl]").waitFor();
    await page.getByRole("heading", { level: 1 }).waitFor();
    expect(await overflow(page)).toBe(0);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("main").getByRole("button").last().click();
    await page.getByRole("heading", { name: "Settings" }).waitFor();
    await page.getByRole("link", { name: "About" }).click();
    await page.getByText("answers").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("link", { name: "This browser" }).click();
    await page.getByRole("main").getByRole("button", { name: "Sign out" }).click();
    await page.getByRole("button", { name: "Sign in" }).waitFor();
    await close();
  });
});

describe("hosts", () => {
  testInBrowser("from an empty page to a program that runs on a host, is stopped, and is deleted", async () => {
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-web-hosts-"));
    onTestFinished(async () => {
      for (const pid of await processesIn(folder)) process.kill(pid, "SIGKILL");
      await rm(folder, { recursive: true, maxRetries: 5 });
    });
    const { page, close } = await dashboard.visit("hosts", { key: owner, expected });
    await page.getByText("npm install --global rigbridge").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Add host" }).click();
    const form = page.getByRole("dialog", { name: "Add host" });
    await form.getByRole("textbox", { name: "Host name or address" }).fill("rig-3");
    await form.getByRole("button", { name: "Save" }).click();
    const dialog = page.getByRole("dialog", { name: "Token of rig-3" });
    await dialog.getByRole("button", { name: "Make a token" }).click();
    const command = await dialog.getByRole("textbox", { name: "Command on the host" }).inputValue();
    const [, token = "", service = ""] =
      /^RIGBRIDGE_AGENT_TOKEN=(\S+) rigbridge agent --service (\S+)$/.exec(command) ?? [];
    expect(service).toBe(dashboard.url);
    expect(await axe(page)).toEqual([]);
    await dialog.getByRole("button", { name: "Done" }).click();
    expect(await page.content()).not.toContain(token);

    const agent = await running(["agent", "--service", service, "--data", folder], /agent of this host is ready/, {
      cwd: folder,
      env: { RIGBRIDGE_AGENT_TOKEN: token },
    });
    onTestFinished(() => agent.signal("SIGKILL"));
    const host = page.getByRole("region", { name: "rig-3" });
    await host.getByText("Agent connected").waitFor();
    await host.getByText("no downloads").waitFor();
    const path = await installDouble(join(folder, "programs"));

    await host.getByRole("link", { name: /^Add managed miner/ }).click();
    await page.getByRole("textbox", { name: "Name" }).fill(hostile);
    await page.getByRole("combobox", { name: "Program", exact: true }).selectOption("XMRig");
    await page.getByRole("combobox", { name: "Algorithm" }).selectOption("RandomX");
    await page.getByRole("combobox", { name: "Pool or pool group" }).selectOption("monero");
    await page.getByText("this host allows no downloads").waitFor({ state: "attached" });
    expect(await page.getByRole("combobox", { name: "Where the program" }).inputValue()).toBe("path");
    await page.getByRole("textbox", { name: "Path on the host" }).fill(path);
    await page.getByLabel("Further parameters").fill("--threads 1");
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Add managed miner" }).click();
    await page.getByRole("heading", { name: "Command line" }).waitFor();
    await page.getByText("--threads 1").waitFor();
    expect(await page.getByLabel("Further parameters").inputValue()).toBe("");
    expect(await axe(page)).toEqual([]);

    await page.getByRole("navigation", { name: "Pages" }).getByRole("link", { name: "Hosts" }).click();
    await host.getByRole("button", { name: /^Start/ }).click();
    await host.getByText("running", { exact: true }).waitFor();
    expect((await processesIn(folder)).length).toBe(1);
    await page.setViewportSize({ width: 375, height: 800 });
    expect(await overflow(page)).toBe(0);
    expect(await axe(page)).toEqual([]);
    await host.getByRole("button", { name: /^Stop/ }).click();
    await host.getByText("stopped", { exact: true }).waitFor();
    await until(async () => (await processesIn(folder)).length === 0, "the program to end");

    const hers = await dashboard.visit("hosts", { key: anna });
    await hers.page.getByRole("heading", { name: "No hosts yet" }).waitFor();
    expect(await hers.page.getByRole("button", { name: "Add host" }).count()).toBe(0);
    await hers.close();

    await host.getByRole("link", { name: "<img" }).click();
    await page.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await host.getByRole("button", { name: /^Revoke token/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Revoke token" }).click();
    await host.getByText("No agent").waitFor();
    await host.getByRole("button", { name: /^Delete/ }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No hosts yet" }).waitFor();
    await close();
  });
});
