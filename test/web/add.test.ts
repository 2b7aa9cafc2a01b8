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

  testInBrowser("a list: what is wrong with a line is said, the rest is added, failures are named", async () => {
    const { page, close } = await dashboard.visit("add?by=list", { expected: /409/ });
    const list = [
      "address;name;tags;site",
      `${addressOf(1)};Second;barn 2;Farm`,
      `${addressOf(1)};Again;;`,
      `${addressOf(0)};Known already;;`,
    ].join("\n");
    await page.getByRole("textbox", { name: "Addresses or a table" }).fill(list);
    await page.getByText("This address is in line 2 already.").waitFor();
    expect(await axe(page)).toEqual([]);
    await page.getByRole("button", { name: "Add 2 rigs" }).click();
    await page.getByRole("heading", { name: "1 of 2 rigs added" }).waitFor();
    await page.getByRole("row", { name: new RegExp(`^${addressOf(0)} .*already`) }).waitFor();
    const { groupList } = await dashboard.service.listMiners({}, { actor: "test" });
    const added = groupList.flatMap(({ minerList }) => minerList).find(({ name }) => name === "Second");
    expect(added).toMatchObject({ tags: ["barn", "2"], location: { site: "Farm" } });
    await close();
  });

  testInBrowser(
    "each bad line of a file has one sentence, and what the service refuses is named by address",
    async () => {
      const { page, close } = await dashboard.visit("add?by=list", { expected: /400/, width: 375, height: 800 });
      const file = [
        "address,name,interval,colour",
        "192.0.2.1,One,,red",
        ",Nobody,,",
        "192.0.2.1,Twice,,",
        "192.0.2.2,Slow,soon,",
        `192.0.2.3:99999,"<img src=x onerror=""document.title='run'"">",,`,
      ].join("\n");
      await page.getByLabel("Or a file").setInputFiles({
        name: "rigs.csv",
        mimeType: "text/csv",
        buffer: Buffer.from(`\uFEFF${file}`),
      });
      await page.getByText('The column "colour" is not known').waitFor();
      const mistakes = page.getByRole("region", { name: "Lines with mistakes" }).getByRole("row");
      expect((await mistakes.allInnerTexts()).map((row) => row.replace(/\s+/g, " ").trim())).toEqual([
        "Line 3 The address is missing.",
        "Line 4 This address is in line 2 already.",
        "Line 5 The interval is not a number of seconds.",
      ]);
      expect(await axe(page)).toEqual([]);
      expect(await overflow(page)).toBe(0);
      // Nobody wants to wait for 192.0.2.1: only the line that the service refuses is left.
      const text = page.getByRole("textbox", { name: "Addresses or a table" });
      await text.fill("address\n192.0.2.3:99999\nnot an address");
      await page.getByRole("button", { name: "Add 2 rigs" }).click();
      await page.getByRole("heading", { name: "0 of 2 rigs added" }).waitFor();
      for (const address of ["192.0.2.3:99999", "not an address"])
        expect(await page.getByRole("row", { name: address }).getByRole("cell").innerText()).toMatch(/address|port/i);
      expect(await axe(page)).toEqual([]);
      // Only a table says which column is the address.
      await text.fill("192.0.2.1,One");
      await page.getByText("No column is named address.").waitFor();
      expect(await page.getByRole("button", { name: "Add rigs", exact: true }).isDisabled()).toBe(true);
      await close();
    },
  );

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
