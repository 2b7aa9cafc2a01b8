import { afterAll, beforeAll, expect } from "@jest/globals";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { type Dashboard, startDashboard } from "./dashboard.ts";

/** More than a page follows each of. */
const count = 240;
const firstId = 1_000_000_001;
const lastId = firstId + count - 1;

/** As the page rounds: 13.45 is 13.5 there, while `toPrecision` says 13.4 of its binary fraction. */
const shortNumber = new Intl.NumberFormat("en-US", { maximumSignificantDigits: 3 });

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: Array.from({ length: count }, (_, index) => ({
      name: `Rig ${String(index + 1).padStart(3, "0")}`,
      rig: { kind: "cgminer", warm: true },
    })),
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

test("a long list gets every change of the rigs on the screen, also after scrolling, and of others what matters", async () => {
  const { page, close } = await dashboard.visit("settings");
  const shown: number[][] = [];
  page.on("request", (asked) => {
    const url = new URL(asked.url());
    const ids = url.pathname === "/api/events" ? url.searchParams.get("shown") : null;
    if (ids !== null) shown.push(ids.split(",").map(Number));
  });
  await page.getByRole("link", { name: "Rigs", exact: true }).click();
  const row = (index: number) => page.locator(`tr[data-id="${firstId + index}"]`);
  await row(0).waitFor();
  await until(() => shown.at(-1)?.includes(firstId) === true, "the first rigs to be followed");
  expect(shown.at(-1)).not.toContain(lastId);
  // One further down is lost, which is told although nobody sees its row.
  const lost = page.getByRole("button", { name: /Disconnected/ });
  dashboard.rigs[count - 2]?.powerOff();
  for (let read = 0; read < 3; read += 1) await dashboard.service.pollMiner({ id: lastId - 1 }, { actor: "test" });
  await lost.waitFor();
  // Its figures are as they are now once it is scrolled to, and change at once from then on.
  const last = row(count - 1);
  const change = async () => {
    const boards = dashboard.rigs[count - 1]?.model.boardsOff;
    if (boards?.delete(0) === false) boards.add(0);
    await dashboard.service.pollMiner({ id: lastId }, { actor: "test" });
    const { miners } = await dashboard.service.listMinerRows({ view: "list" }, { actor: "test" });
    const hashrate = miners.find(({ id }) => id === lastId)?.hashrate ?? 0;
    return shortNumber.format(hashrate / 1e12);
  };
  const now = await change();
  await page.locator(".rigs-scroll").evaluate((element) => element.scrollTo(0, element.scrollHeight));
  await last.getByText(now, { exact: false }).waitFor();
  await until(() => shown.at(-1)?.includes(lastId) === true, "the last rigs to be followed");
  const next = await change();
  expect(next).not.toBe(now);
  await last.getByText(next, { exact: false }).waitFor();
  await close();
});
