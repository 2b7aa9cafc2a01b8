import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { startFarm } from "../../src/simulator/index.ts";
import { closeContexts, testInBrowser } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

let dashboard: Dashboard;
let others: Awaited<ReturnType<typeof startFarm>>;

beforeAll(async () => {
  dashboard = await startDashboard({ rigs: [], config: { groups: [{ name: "Barn" }] } });
  others = await startFarm({
    rigs: [
      { kind: "axeos", warm: true, host: ownHost() },
      { kind: "axeos", warm: true, host: ownHost() },
      { kind: "cgminer", warm: true, host: ownHost() },
      { kind: "axeos", warm: true, host: ownHost() },
    ],
  });
});

afterAll(async () => {
  await dashboard.close();
  await others.close();
  await closeContexts();
});

const addressOf = (index: number): string => others.rigs[index]?.address ?? "";

describe("the first rigs", () => {
  testInBrowser("an empty farm leads to them; a wrong address is named at its field", async () => {
    const { page, close } = await dashboard.visit("", { expected: /400/ });
    await page.getByRole("heading", { name: "No rigs yet" }).waitFor();
    await page.getByRole("main").getByRole("link", { name: "Add your rigs" }).click();
    await page.getByRole("link", { name: "By address" }).click();
    await page.getByRole("textbox", { name: "Address" }).fill("not an address");
    await page.getByRole("button", { name: "Add this rig" }).click();
    await page
      .getByRole("alert")
      .filter({ hasText: /address/ })
      .first()
      .waitFor();
    expect(await page.getByRole("textbox", { name: "Address" }).getAttribute("aria-invalid")).toBe("true");
    expect(await axe(page)).toEqual([]);
    await page.getByRole("textbox", { name: "Address" }).fill(addressOf(0));
    await page.getByRole("textbox", { name: "Name", exact: true }).fill("First");
    await page.getByRole("combobox", { name: "Group" }).selectOption("Barn");
    await page.getByRole("button", { name: "Add this rig" }).click();
    await page.getByRole("heading", { level: 1, name: "First" }).waitFor();
    await close();
  });

  testInBrowser("a list: a preview says what is added and changed, and then it is imported", async () => {
    const { page, close } = await dashboard.visit("add?by=list", { width: 375, height: 800 });
    const list = [
      "address;name;tags;site",
      `${addressOf(1)};Second;barn; Farm`,
      `${addressOf(0)};<img src=x onerror="document.title='run'">;;`,
    ].join("\n");
    await page.getByRole("textbox", { name: "Addresses or a table" }).fill(list);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1 new, 1 changed, 0 unchanged, 0 with mistakes").waitFor();
    const rows = page.getByRole("region", { name: "What the import does" }).getByRole("row");
    expect((await rows.allInnerTexts()).map((row) => row.replace(/\s+/g, " ").trim())).toEqual([
      "Line Rig What happens",
      "2 Second new",
      `3 <img src=x onerror="document.title='run'"> name: First → <img src=x onerror="document.title='run'">`,
    ]);
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.getByRole("button", { name: "Import 2 rigs" }).click();
    await page.getByText("Imported: 1 new, 1 changed").waitFor();
    const { groupList } = await dashboard.service.listMiners({}, { actor: "test" });
    const added = groupList.flatMap(({ minerList }) => minerList).find(({ name }) => name === "Second");
    expect(added).toMatchObject({ tags: ["barn"], location: { site: "Farm" } });
    await close();
  });

  testInBrowser("every mistake of a file is shown with its line, and then nothing can be imported", async () => {
    const { page, close } = await dashboard.visit("add?by=list", { width: 375, height: 800 });
    const file = [
      "address,name,interval,password",
      "192.0.2.1,One,,",
      ",Nobody,,",
      "192.0.2.1,Twice,,",
      "192.0.2.2,Slow,soon,",
    ].join("\n");
    const choose = (buffer: Buffer) =>
      page.getByLabel("Or a file").setInputFiles({ name: "rigs.csv", mimeType: "text/csv", buffer });
    await choose(Buffer.from([0x61, 0xff, 0xfe]));
    await page.getByText("The file is not UTF-8").waitFor();
    await choose(Buffer.from(`\uFEFF${file}`));
    await page.getByRole("button", { name: "Preview" }).click();
    const mistakes = page.getByRole("region", { name: "Mistakes" }).getByRole("row");
    await mistakes.first().waitFor();
    expect((await mistakes.allInnerTexts()).map((row) => row.replace(/\s+/g, " ").trim())).toEqual([
      "Line Column Mistake",
      expect.stringMatching(/^1 password .*login/),
      expect.stringMatching(/^3 address is required/),
      expect.stringMatching(/^4 address .*line 2/),
      expect.stringMatching(/^5 interval /),
    ]);
    expect(await page.getByRole("button", { name: /^Import/ }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await close();
  });

  testInBrowser("networks that cannot be searched are named at once, all of them", async () => {
    const { page, close } = await dashboard.visit("add", { expected: /400/ });
    const networks = page.getByRole("textbox", { name: "Networks" });
    await networks.fill("nonsense, 10.0.0.0/99, 127.0.0.1/32");
    await page.getByRole("button", { name: "Search" }).click();
    const problem = page.getByRole("alert").filter({ hasText: "nonsense" });
    await problem.waitFor();
    expect(await problem.innerText()).toContain("10.0.0.0/99");
    expect(await networks.getAttribute("aria-invalid")).toBe("true");
    expect(await axe(page)).toEqual([]);
    await close();
  });

  testInBrowser("a search shows what it finds; only what is chosen is added", async () => {
    const { page, close } = await dashboard.visit("add", { width: 375, height: 800 });
    const networks = [2, 3].map((index) => {
      const [host, port] = addressOf(index).split(":");
      return `${host}/32:${port}`;
    });
    await page.getByRole("textbox", { name: "Networks" }).fill(networks.join(", "));
    await page.getByRole("button", { name: "Search" }).click();
    await page.getByRole("row", { name: new RegExp(addressOf(2)) }).waitFor();
    await page.getByRole("row", { name: new RegExp(addressOf(3)) }).waitFor();
    await page.getByText("2 rigs found", { exact: false }).waitFor();
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    await page.getByRole("checkbox", { name: `Add ${addressOf(2)}` }).uncheck();
    await page.getByRole("button", { name: "Add 1 rig" }).click();
    await page.getByRole("heading", { name: "1 of 1 rigs added" }).waitFor();
    const rows = await dashboard.service.listMiners({}, { actor: "test" });
    expect(JSON.stringify(rows)).toContain(addressOf(3));
    expect(JSON.stringify(rows)).not.toContain(addressOf(2));
    await close();
  });
});
