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

  testInBrowser("a list is previewed whole: mistakes by line and column, then what it adds and changes", async () => {
    const { page, close } = await dashboard.visit("add?by=list", { width: 375, height: 800 });
    const file = [
      "address,name,interval,site",
      `${addressOf(1)},Second,30,Farm`,
      `${addressOf(1)},Again,,`,
      `${addressOf(0)},Renamed,soon,`,
      `192.0.2.3:99999,"<img src=x onerror=""document.title='run'"">",,`,
    ];
    await page.getByLabel("Or a file").setInputFiles({
      name: "rigs.csv",
      mimeType: "text/csv",
      buffer: Buffer.from(`\uFEFF${file.join("\r\n")}`),
    });
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1 new, 0 changed, 0 unchanged, 3 with mistakes").waitFor();
    const rowsOf = async (name: string) => {
      const rows = await page.getByRole("region", { name, exact: true }).getByRole("row").allInnerTexts();
      return rows.slice(1).map((row) => row.replace(/\s+/g, " ").trim());
    };
    expect(await rowsOf("Mistakes")).toEqual([
      "3 1 address is the rig of line 2 again",
      expect.stringMatching(/^4 3 interval must be a number/),
      expect.stringMatching(/^5 1 address "192.0.2.3:99999"/),
    ]);
    expect(await page.getByRole("button", { name: /^Import/ }).count()).toBe(0);
    expect(await axe(page)).toEqual([]);
    expect(await overflow(page)).toBe(0);
    const corrected = [file[0], file[1], `${addressOf(0)},Renamed,20,`].join("\n");
    await page.getByRole("textbox", { name: "Addresses or a table" }).fill(corrected);
    await page.getByRole("button", { name: "Preview" }).click();
    await page.getByText("1 new, 1 changed, 0 unchanged, 0 with mistakes").waitFor();
    expect(await rowsOf("What the import does")).toEqual([
      // The place comes after the columns that are settings themselves.
      `2 Second new address ${addressOf(1)} interval 30 site Farm`,
      "3 Renamed changed name: First → Renamed interval: not set → 20",
    ]);
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Import 2 rigs" }).click();
    await page.getByText("Imported: 1 new, 1 changed").waitFor();
    const { list } = await dashboard.service.exportMiners({}, { actor: "test" });
    expect(list.map(({ name, interval, site }) => [name, interval, site])).toEqual([
      ["Renamed", 20, null],
      ["Second", 30, "Farm"],
    ]);
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
