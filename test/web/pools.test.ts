import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, follow, overflow, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const viewer = "key-of-a-viewer-1234";
const password = "hush-hush-of-the-pool";
const caller = { actor: "test" };

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      http: { key },
      users: [{ name: "Vera", key: viewer, privilege: "view" }],
      rates: { btc: 100_000 },
    },
    rigs: [{ name: "Desk", rig: { kind: "axeos", warm: true } }],
  });
  const { service } = dashboard;
  const fields = { coinClass: undefined, coinAlgorithm: "", workerName: "", walletAddress: "bc1qexample" } as const;
  for (const name of ["First", "Second", `<b>${"X".repeat(150)}`])
    await service.savePool(
      {
        id: 0,
        description: name,
        url: "stratum+tcp://pool.example.com:3333",
        coinShortName: "BTC",
        ...fields,
        plainWorkerPassword: password,
      },
      caller,
    );
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const pools = async () => (await dashboard.service.listPools({}, caller)).list;

describe("pools", () => {
  test("one is added; mistakes are said at their fields, and nothing is stored then", async () => {
    const { page, close } = await visit("pools", { expected: /400/ });
    await page.getByRole("button", { name: "Add pool" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Third");
    await dialog.getByLabel("Address").fill("ftp://pool.example.com");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByRole("alert").filter({ hasText: "stratum+tcp://" }).first().waitFor();
    expect((await pools()).map(({ description }) => description)).not.toContain("Third");
    await dialog.getByLabel("Address").fill("stratum+tcp://third.example.com:3333");
    await dialog.getByLabel("Coin").fill("BTC");
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("rowheader", { name: /Third/ }).waitFor();
    await close();
  });

  test("editing one leaves its password as it is, which is never on the page", async () => {
    const { page, close } = await visit("pools");
    await page.getByRole("button", { name: "Edit: First" }).click();
    const dialog = page.getByRole("dialog");
    expect(await dialog.getByLabel("Password", { exact: true }).inputValue()).toBe("");
    await dialog.getByLabel("Wallet or account").fill("bc1qother");
    expect(await page.content()).not.toContain(password);
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByText("bc1qother").waitFor();
    const first = (await pools()).find(({ description }) => description === "First");
    expect(first).toMatchObject({ walletAddress: "bc1qother", plainWorkerPassword: password });
    await page.getByRole("button", { name: "Edit: First" }).click();
    await dialog.getByLabel("Remove the password").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.waitFor({ state: "detached" });
    expect((await pools()).find(({ description }) => description === "First")?.plainWorkerPassword).toBe("");
    await close();
  });

  test("a group is put in order; a pool in it cannot be deleted before the group", async () => {
    const { page, close } = await visit("pools?tab=groups", { expected: /409/ });
    await page.getByRole("button", { name: "Add pool group" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("Both");
    const choice = dialog.getByRole("combobox", { name: "Add to the group" });
    await choice.selectOption({ label: "First" });
    await choice.selectOption({ label: "Second" });
    await dialog.getByRole("button", { name: "Move Second up from place 2" }).click();
    await dialog.getByRole("button", { name: "Save" }).click();
    await page.getByRole("heading", { name: "Both" }).waitFor();
    const byId = new Map((await pools()).map(({ id, description }) => [id, description]));
    const [group] = await dashboard.service.listPoolGroups({}, caller);
    expect(group?.pools.map((id) => byId.get(id))).toEqual(["Second", "First"]);

    await page.getByRole("link", { name: "Pools", exact: true }).last().click();
    await page.getByRole("button", { name: "Delete: Second" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await dialog.getByText(/still used by/).waitFor();
    await dialog.getByRole("button", { name: "Cancel" }).click();
    await page.getByRole("link", { name: "Pool groups" }).click();
    await page.getByRole("button", { name: "Delete: Both" }).click();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await page.getByRole("heading", { name: "No pool groups yet" }).waitFor();
    await close();
  });

  test("who may only look sees them, without passwords and buttons", async () => {
    const { page, close } = await visit("pools", { key: viewer });
    await page.getByRole("rowheader", { name: /First/ }).waitFor();
    expect(await page.getByRole("button", { name: /Add|Edit|Delete/ }).count()).toBe(0);
    await close();
  });
});

test("coins: one of one's own is added, changed and deleted; its revenue says where it is from", async () => {
  const { page, close } = await visit("pools?tab=coins", { expected: /400/ });
  await page.getByRole("button", { name: "Add coin" }).click();
  const dialog = page.getByRole("dialog");
  await dialog.getByLabel("Short name").fill("HOME");
  await dialog.getByLabel("Name", { exact: true }).fill("Home coin");
  await dialog.getByLabel("Algorithm").fill("no-such-algorithm");
  await dialog.getByLabel("Revenue in BTC").fill("0,00000045");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog
    .getByText(/not among/)
    .first()
    .waitFor();
  await dialog.getByLabel("Algorithm").fill("sha256");
  await dialog.getByRole("button", { name: "Save" }).click();
  const row = page.getByRole("row", { name: /Home coin/ });
  await row.getByText("0.00000045 BTC per TH/s and day").waitFor();
  await row.getByText("set by hand").waitFor();
  await page.getByLabel("Search").fill("home");
  await page.waitForURL(/search=home/);
  await row.getByRole("button", { name: "Set the revenue: Home coin" }).click();
  await dialog.getByLabel("From its network").check();
  await dialog.getByLabel("Network difficulty").fill("1000");
  await dialog.getByLabel("Coins per block").fill("5");
  await dialog.getByRole("button", { name: "Save" }).click();
  await dialog
    .getByText(/exactly one of btc and usd/)
    .first()
    .waitFor();
  await dialog.getByRole("button", { name: "Cancel" }).click();
  await row.getByRole("button", { name: "Delete: Home coin" }).click();
  await dialog.getByRole("button", { name: "Delete" }).click();
  await until(
    async () => !(await dashboard.service.getMarket({}, caller)).coins.some(({ shortName }) => shortName === "HOME"),
    "the coin to be gone",
  );
  await close();
});

test("every section is accessible in light and dark, and fits 320 px, with a hostile name", async () => {
  const { page, close } = await visit("pools", { width: 320 });
  for (const tab of ["", "groups", "coins"]) {
    await follow(page, `pools?tab=${tab}`);
    expect([tab, await overflow(page)]).toEqual([tab, 0]);
    expect([tab, await axe(page)]).toEqual([tab, []]);
  }
  await follow(page, "pools");
  await page.getByRole("button", { name: "Add pool" }).click();
  expect(await axe(page)).toEqual([]);
  await close();
});
