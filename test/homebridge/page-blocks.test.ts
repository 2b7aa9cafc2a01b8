import { afterAll, afterEach, describe, expect } from "@jest/globals";
import { testInBrowser } from "../chromium.ts";
import { until } from "../until.ts";
import { block, closeAll, closePages, mistakesAt, openPage, saved } from "./page-browser.ts";

afterEach(closePages);
afterAll(closeAll);

describe("the settings page with several setups", () => {
  testInBrowser("changes only the edited one", async () => {
    const first = block({ rigs: [{ address: "192.168.1.9" }], _bridge: { port: 1 } });
    const second = block({ name: "Hall", service: { url: "http://127.0.0.1:9", key: "invented" } });
    const opened = await openPage({ blocks: [first, second] });
    const { inside } = opened;
    const name = inside.locator('[data-path="name"] input');
    await inside.getByLabel("Setup", { exact: true }).selectOption("1");
    // The first one is kept and shown until it has been checked.
    await until(async () => (await name.inputValue()) === "Hall", "the second setup to be shown");
    await inside.getByText("More", { exact: true }).last().click();
    await name.fill("Yard");
    await inside.getByText("The settings are valid").waitFor();
    expect(await saved(opened)).toMatchObject([first, { ...second, name: "Yard" }]);
    await inside.getByRole("button", { name: "Remove this setup" }).click();
    await inside.getByLabel("Setup", { exact: true }).waitFor({ state: "detached" });
    expect(await saved(opened)).toEqual([first]);
  });

  testInBrowser("requires a different name for each, and says that Homebridge requires a child bridge", async () => {
    const _bridge = { username: "0E:00:00:00:00:01" };
    const opened = await openPage({ blocks: [block({ _bridge }), block({ name: "Hall" })] });
    const { inside } = opened;
    expect(await inside.getByText("needs a child bridge").count()).toBe(0);
    await inside.getByText("More", { exact: true }).last().click();
    await inside.locator('[data-path="name"] input').fill("Hall");
    await mistakesAt(opened, "name").getByText("is already used by another setup").waitFor();
    await inside.locator('[data-path="name"] input').fill("Rigbridge 2");
    await inside.getByText("Nothing is set up").waitFor();
    await inside.getByRole("button", { name: "Add another setup" }).click();
    await inside.getByText("needs a child bridge").waitFor();
    expect(await saved(opened)).toMatchObject([
      { name: "Rigbridge 2", _bridge },
      { name: "Hall" },
      { name: "Rigbridge 3" },
    ]);
  });

  testInBrowser("does not switch to another setup while there is a mistake, and loses no recent input", async () => {
    const blocks = [block({ rigs: [{ address: "192.168.1.9" }] }), block({ name: "Hall" })];
    const opened = await openPage({ blocks });
    const { inside } = opened;
    const chosen = inside.getByLabel("Setup", { exact: true });
    const address = inside.locator('[data-path="rigs[0].address"] input');
    await inside.locator(".rb-rig > summary").click();
    await address.fill("a b");
    await chosen.selectOption("1");
    await mistakesAt(opened, "rigs[0].address").getByText("whitespace").waitFor();
    // The mistake may have been shown before the choice was refused.
    await until(async () => (await chosen.inputValue()) === "0", "the choice to return to the first setup");
    await address.fill("192.168.1.10");
    await chosen.selectOption("1");
    await inside.locator(".rb-rig").waitFor({ state: "detached" });
    expect(await saved(opened)).toMatchObject([{ rigs: [{ address: "192.168.1.10" }] }, { name: "Hall" }]);
  });
});
