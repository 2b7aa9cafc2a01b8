import { readFileSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, afterEach, describe, expect } from "@jest/globals";
import { folderIn, StatusFile } from "../../homebridge/src/status-file.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { testInBrowser } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { farmKinds } from "./farms.ts";
import { miner } from "./miners.ts";
import {
  block,
  closeAll,
  closePages,
  isFocused,
  mistakes,
  mistakesAt,
  type OpenedPage,
  openPage,
  saved,
} from "./page-browser.ts";

let ending: (() => Promise<unknown>)[] = [];
afterEach(async () => {
  await closePages();
  for (const end of ending.toReversed()) await end();
  ending = [];
});
afterAll(closeAll);

describe("the settings page", () => {
  testInBrowser("finds rigs, adds one with a click, and saves what the plugin then reads", async () => {
    const farm = await startFarm({ rigs: [{ kind: "axeos", host: ownHost() }] });
    ending.push(() => farm.close());
    const address = farm.rigs[0]?.address ?? "";
    const opened = await openPage();
    const { inside } = opened;
    expect(await inside.locator(".rb-summary").textContent()).toMatch(/Nothing is set up/);
    await inside.getByLabel("Search for rigs").fill(address);
    await inside.getByRole("button", { name: "Search" }).click();
    await inside.getByText("1 rig found at 1 address").waitFor();
    await inside.getByRole("button", { name: /^Add .*Bitaxe/ }).click();
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toMatchObject([block({ rigs: [{ address }] })]);
    await inside.getByText("1 rig found at 1 address, all of them added").waitFor();
  });

  testInBrowser("allows adding rigs by keyboard while it is still searching", async () => {
    const farm = await startFarm({ rigs: [1, 2].map(() => ({ kind: "axeos", host: ownHost() })) });
    ending.push(() => farm.close());
    const opened = await openPage();
    const { inside, page } = opened;
    // The rigs come first: networks are searched in the order of their addresses.
    await inside
      .getByLabel("Search for rigs")
      .fill(`${farm.rigs.map(({ address }) => address).join(" ")} 127.240.0.0/17`);
    await page.keyboard.press("Enter");
    const adds = inside.locator(".rb-found button");
    await adds.nth(1).waitFor();
    await adds.evaluateAll((all) => {
      for (const each of all) each.setAttribute("data-here", "");
    });
    const scanned = () => inside.getByText(/ of \d+ addresses/).textContent();
    const before = await scanned();
    await until(async () => (await scanned()) !== before, "the search to go on to further addresses");
    expect(await inside.locator("[data-here]").count()).toBe(2);
    await adds.first().focus();
    await page.keyboard.press("Enter");
    await page.keyboard.press("Enter");
    await inside.locator(".rb-rig").nth(1).waitFor();
    expect(await inside.locator(".rb-rig:last-of-type > summary").evaluate(isFocused)).toBe(true);
    await inside.getByRole("button", { name: "Stop" }).click();
    await inside.getByText(/2 rigs found .* stopped before the end, all of them added/).waitFor();
  });

  testInBrowser("searches private networks only, and says so", async () => {
    const { inside } = await openPage();
    await inside.getByLabel("Search for rigs").fill("8.8.8.0/24");
    await inside.getByRole("button", { name: "Search" }).click();
    await inside.getByText(/is not private|not all private/).waitFor();
  });

  testInBrowser("shows all mistakes at their fields, and saves nothing until there are none", async () => {
    const rigs = [
      {
        address: "192.168.1.9/x",
        heating: { name: "Bath", target: 99, roomTemperature: { url: "http://192.168.1.2/t" } },
      },
      { adress: "192.168.1.10", address: "192.168.1.11" },
    ];
    const opened = await openPage({ blocks: [block({ rigs })] });
    const { inside, page } = opened;
    expect(await mistakes(opened)).toEqual(["rigs[0].address", "rigs[0].heating.target", "rigs[1].adress"]);
    expect(await mistakesAt(opened, "rigs[0].heating.target").textContent()).toBe("must be at most 35");
    expect(await mistakesAt(opened, "rigs[0].address").textContent()).toMatch(/has a path/);
    expect(await page.locator("#save").isDisabled()).toBe(true);

    await inside.getByRole("button", { name: /Target: must be at most 35/ }).click();
    const target = inside.getByLabel("Target");
    expect(await target.evaluate(isFocused)).toBe(true);
    expect(await target.getAttribute("aria-invalid")).toBe("true");
    await target.fill("21");
    await inside.getByRole("button", { name: /has a path/ }).click();
    await inside.locator('[data-path="rigs[0].address"] input').fill("192.168.1.9");
    await inside.locator(".rb-rig").nth(1).locator("summary").first().click();
    await inside.getByRole("button", { name: "Remove rigs[1].adress" }).click();
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toMatchObject([
      { rigs: [{ address: "192.168.1.9", heating: { target: 21 } }, { address: "192.168.1.11" }] },
    ]);
    expect(JSON.stringify(opened.host.saved)).not.toContain("adress");
  });

  testInBrowser("shows invalid settings, which can be removed or replaced", async () => {
    const rigs = await openPage({ blocks: [block({ rigs: ["192.168.1.8", { address: "192.168.1.9" }] })] });
    expect(await mistakes(rigs)).toEqual(["rigs[0]"]);
    await rigs.inside.getByRole("button", { name: "Remove rigs[0]" }).click();
    await rigs.inside.getByText("The settings are valid").waitFor();
    expect(await saved(rigs)).toMatchObject([{ rigs: [{ address: "192.168.1.9" }] }]);

    const list = await openPage({ blocks: [block({ rigs: "192.168.1.8" })] });
    await list.inside.getByRole("button", { name: "Remove rigs" }).click();
    await list.inside.getByRole("button", { name: "Add a rig" }).click();
    await list.inside.locator('[data-path="rigs[0].address"] input').fill("192.168.1.9");
    await list.inside.getByText("The settings are valid").waitFor();
    expect(await saved(list)).toMatchObject([{ rigs: [{ address: "192.168.1.9" }] }]);

    const service = await openPage({ blocks: [block({ service: "http://127.0.0.1:9" })] });
    await service.inside.locator('[data-path="service.url"] input').fill("http://127.0.0.1:9");
    await service.inside.getByText("The settings are valid").waitFor();
    expect(await saved(service)).toMatchObject([{ service: { url: "http://127.0.0.1:9" } }]);
  });

  testInBrowser("points at the right rig while another one is still empty", async () => {
    const opened = await openPage({ blocks: [block({ rigs: [{ address: "192.168.1.9" }] })] });
    const { inside } = opened;
    await inside.getByRole("button", { name: "Add a rig" }).click();
    await inside.getByRole("button", { name: "Add a rig" }).click();
    await inside.locator('[data-path="rigs[2].address"] input').fill("192.168.1.9");
    await mistakesAt(opened, "rigs[2].address").getByText("is also the address of rigs[0]").waitFor();
  });

  testInBrowser("sets up a rig: heater with a room, plug, sensors and settings of its own", async () => {
    const opened = await openPage({ blocks: [block({ rigs: [{ address: "192.168.1.9" }] })] });
    const { inside } = opened;
    await inside.locator(".rb-rig > summary").click();
    const at = (key: string) => inside.locator(`[data-path="rigs[0].${key}"]`);
    await at("as").locator("select").selectOption("heater");
    await mistakesAt(opened, "rigs[0].heating.name").getByText("is missing").waitFor();
    await at("heating.name").locator("input").fill("Bath");
    await at("heating.target").locator("input").fill("21,5");
    await at("heating.roomTemperature.url").locator("input").fill("http://192.168.1.2/t");
    await inside.getByRole("button", { name: "Add a header" }).click();
    await inside.getByLabel("Header name").fill("Authorization");
    await inside.getByLabel("Header value").fill("Bearer invented");
    await inside.getByLabel("Has a smart plug").check();
    await at("supply.type").locator("select").selectOption("shelly");
    await at("supply.address").locator("input").fill("192.168.1.60");
    await at("supply.cutPower").locator("input").check();
    await at("sensors").getByLabel("Same as all rigs").uncheck();
    await at("sensors").getByLabel("Hottest part").check();
    await at("alarm").locator("select").selectOption("true");
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toEqual([
      block({
        rigs: [
          {
            address: "192.168.1.9",
            as: "heater",
            heating: {
              name: "Bath",
              target: 21.5,
              roomTemperature: { url: "http://192.168.1.2/t", headers: { Authorization: "Bearer invented" } },
            },
            supply: { type: "shelly", address: "192.168.1.60", cutPower: true },
            sensors: ["temperature"],
            alarm: true,
          },
        ],
      }),
    ]);
  });

  testInBrowser("keeps open what was opened just before a redraw", async () => {
    const opened = await openPage({ blocks: [block({ rigs: [{ address: "192.168.1.9" }] })] });
    await opened.inside.locator(".rb-rig").evaluate((rig) => {
      rig.querySelector("summary")?.click();
      const select = rig.querySelector<HTMLSelectElement>('[data-path="rigs[0].as"] select');
      if (select === null) throw new Error("there is no choice of how it is shown");
      select.value = "heater";
      select.dispatchEvent(new Event("change"));
    });
    await mistakesAt(opened, "rigs[0].heating.name").getByText("is missing").waitFor();
  });

  testInBrowser("offers services that were found, and uses one", async () => {
    const services = [{ url: "http://127.0.0.1:17790", name: "pi", version: "1.2.3", kind: "rigbridge" }];
    const opened = await openPage({ answers: { "/services": services } });
    const { inside } = opened;
    await inside.getByText("Rigbridge 1.2.3 on pi").waitFor();
    await inside.getByRole("button", { name: "Use http://127.0.0.1:17790" }).click();
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toEqual([block({ service: { url: "http://127.0.0.1:17790" } })]);
  });

  testInBrowser("removes the service when switched to reading rigs, and the other way round", async () => {
    // It belongs to Homebridge, whatever it contains.
    const _bridge = { port: 1, name: "", env: {} };
    const opened = await openPage({ blocks: [block({ service: { url: "http://127.0.0.1:9" }, _bridge })] });
    const { inside } = opened;
    await inside.getByLabel("Rigs by address").check();
    await inside.getByRole("button", { name: "Add a rig" }).click();
    await inside.locator('[data-path="rigs[0].address"] input').fill("192.168.1.9");
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toEqual([block({ _bridge, rigs: [{ address: "192.168.1.9" }] })]);
    await inside.getByLabel("An existing service").check();
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toEqual([block({ _bridge, service: { url: "http://127.0.0.1:9" } })]);
  });

  testInBrowser("shows at a rig why it has no switch, and what it is in Home", async () => {
    const storage = await mkdtemp(join(tmpdir(), "rigbridge-page-"));
    ending.push(() => rm(storage, { recursive: true, force: true }));
    const warnings: string[] = [];
    const note = "Attic 2 has no switch: it cannot be stopped";
    const status = new StatusFile(folderIn(storage, "Rigbridge"), (message) => warnings.push(message));
    const plan = { key: `rig:${miner().uid}`, name: "Attic 2", host: "192.168.1.9:80" };
    const information = { manufacturer: "M", model: "M", serial: "S", firmware: "0" };
    const sensor = { type: "TemperatureSensor" as const, subtype: "in", name: "In", characteristics: [] };
    const fan = { ...sensor, type: "Fanv2" as const };
    status.shown({ accessories: [{ ...plan, information, services: [sensor, fan] }], notes: [note] });
    await status.written();
    const rigs = [
      { address: "192.168.1.8", name: "Attic" },
      { address: "192.168.1.9", name: "Attic 2" },
    ];
    // Without a name, the default one applies.
    const { inside } = await openPage({ storage, blocks: [{ platform: "Rigbridge", rigs }] });
    const second = inside.locator(".rb-rig").nth(1);
    expect(await inside.locator(".rb-shown").allTextContents()).toEqual(["", "in Home: temperature sensor, fan"]);
    await second.locator("summary").first().click();
    expect(await second.locator(".rb-note").textContent()).toBe(note);
    expect(await inside.locator(".rb-note").count()).toBe(1);
    expect(warnings).toEqual([]);
  });

  testInBrowser("names the fields of a room that was ticked and not filled in", async () => {
    const opened = await openPage({ blocks: [block({ rigs: [{ address: "192.168.1.9" }] })] });
    const { inside } = opened;
    await inside.locator(".rb-rig > summary").click();
    await inside.getByLabel("Heats a room").check();
    await inside.getByText("3 mistakes. Correct them").waitFor();
    const fields = ["name", "target", "roomTemperature"].map((key) => `rigs[0].heating.${key}`);
    expect(await mistakes(opened)).toEqual(fields);
    expect(await mistakesAt(opened, fields[0] ?? "").textContent()).toBe("is missing");
    await inside.getByLabel("Heats a room").uncheck();
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toEqual([block({ rigs: [{ address: "192.168.1.9" }] })]);
  });

  testInBrowser("has dark fields in the dark theme, which Bootstrap's own rules leave white", async () => {
    const storage = await mkdtemp(join(tmpdir(), "rigbridge-page-"));
    ending.push(() => rm(storage, { recursive: true, force: true }));
    const bootstrap = join(storage, "bootstrap.css");
    await writeFile(bootstrap, ".form-control, .form-select { color: #212529; background-color: #fff; }");
    const blocks = [block({ rigs: [{ address: "192.168.1.9" }] })];
    const { inside } = await openPage({ isDark: true, styles: [bootstrap], blocks });
    await inside.locator(".rb-rig > summary").click();
    for (const control of await inside.locator(".rb-rig .form-control:visible, .rb-rig .form-select:visible").all()) {
      const style = await control.evaluate((each) => {
        const { color, backgroundColor } = getComputedStyle(each);
        return { color, backgroundColor, around: getComputedStyle(document.body).color };
      });
      expect(style.color).toBe(style.around);
      expect(style.backgroundColor).not.toBe("rgb(255, 255, 255)");
    }
  });

  testInBrowser("has a field for every setting", async () => {
    const { schema } = JSON.parse(
      readFileSync(join(import.meta.dirname, "../../homebridge/config.schema.json"), "utf8"),
    );
    const rig = { address: "192.168.1.9", supply: {}, heating: {} };
    const paths = async ({ inside }: OpenedPage): Promise<string[]> =>
      inside.locator("[data-path]").evaluateAll((all) => all.map((each) => each.getAttribute("data-path") ?? ""));
    const own = await paths(await openPage({ blocks: [block({ rigs: [rig] })] }));
    const foreign = await paths(
      await openPage({ blocks: [block({ service: { url: "http://127.0.0.1:9" }, rigs: [{ miner: "a" }] })] }),
    );
    expect(leaves(schema, "").filter((path) => !own.includes(path) && !foreign.includes(path))).toEqual([]);
    expect(foreign.filter((path) => /^rigs\[0\]\.(address|heating|supply|interval|token)/.test(path))).toEqual([]);
    expect(own).not.toContain("rigs[0].miner");
  });
});

interface SchemaNode {
  readonly properties?: Readonly<Record<string, SchemaNode>>;
  readonly items?: SchemaNode;
}

/** `rigs[0].address` of each setting that contains no others. */
function leaves({ properties, items }: SchemaNode, path: string): string[] {
  if (properties !== undefined)
    return Object.entries(properties).flatMap(([key, node]) => leaves(node, path === "" ? key : `${path}.${key}`));
  return items?.properties === undefined ? [path] : leaves(items, `${path}[0]`);
}

describe("the test of a service", () => {
  const elsewhere = farmKinds.filter(({ name }) => name !== "rigs by address");
  for (const kind of elsewhere)
    testInBrowser(`shows what ${kind.name} has and what is wrong with its key, without printing the key`, async () => {
      const farm = await kind.open();
      ending.push(() => farm.close());
      const opened = await openPage({ blocks: [farm.platform] });
      const { inside, host } = opened;
      await inside.getByRole("button", { name: "Test", exact: true }).click();
      await inside.getByText(/^The service answers: \d+ rig/).waitFor();
      const wrong = "invented-wrong-key";
      const field = inside.locator('[data-path="service.key"] input');
      expect(await field.getAttribute("type")).toBe("password");
      await field.fill(wrong);
      await inside.getByRole("button", { name: "Test", exact: true }).click();
      await inside.locator(".rb-result .rb-wrong").waitFor();
      expect(await inside.locator(".rb-result").textContent()).not.toContain(wrong);
      expect(host.printed()).toContain("/try");
      expect(host.printed()).not.toMatch(/invented/);
    });
});

describe.each([
  { width: 320, isDark: false },
  { width: 320, isDark: true },
  { width: 1200, isDark: true },
])("the settings page, $width pixels wide, dark: $isDark", (looks) => {
  testInBrowser("fits, labels every control, works by keyboard and loads nothing from other hosts", async () => {
    const rigs = [{ address: "192.168.1.9", supply: { type: "shelly", address: "192.168.1.60" } }];
    const opened = await openPage({ ...looks, blocks: [block({ rigs })] });
    const { inside, page, host, requested, faults } = opened;
    await inside.locator(".rb-rig > summary").focus();
    await page.keyboard.press("Enter");
    await inside.locator('[data-path="rigs[0].address"] input').waitFor();
    await page.keyboard.press("Tab");
    await page.keyboard.type("1");
    expect(await inside.locator('[data-path="rigs[0].address"] input').inputValue()).toMatch(/1/);
    const widths = await inside.locator("body").evaluate((body) => [body.scrollWidth, body.clientWidth]);
    expect(widths[0]).toBeLessThanOrEqual(widths[1] ?? 0);
    const controls = inside.locator("input, select, button");
    const unnamed = await controls.evaluateAll((all) =>
      all
        .filter(({ tagName, textContent }) => tagName !== "BUTTON" || textContent === "")
        .filter((each) => !each.hasAttribute("aria-label"))
        .filter(({ id, ownerDocument }) => ownerDocument.querySelector(`label[for="${id}"]`) === null)
        .map(({ outerHTML }) => outerHTML),
    );
    expect(unnamed).toEqual([]);
    const ids = await inside.locator("[id]").evaluateAll((all) => all.map(({ id }) => id));
    expect(ids.filter((id, index) => ids.indexOf(id) !== index)).toEqual([]);
    expect(faults).toEqual([]);
    expect(requested.filter((url) => !url.startsWith(host.url))).toEqual([]);
  });
});
