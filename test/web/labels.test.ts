import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, expect } from "@jest/globals";
import type { Locator } from "playwright-core";
import { encode } from "uqr";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { hasProgram } from "../has-program.ts";
import { axe, type Dashboard, overflow, startDashboard } from "./dashboard.ts";

const caller = { actor: "test" };
const first = 1_000_000_001;
const hasZbar = hasProgram("zbarimg", spawnSync("zbarimg", ["--version"]).status === 0, "reading printed codes");

let dashboard: Dashboard;
let rack: number;
const folder = mkdtempSync(join(tmpdir(), "rigbridge-labels-"));

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: Array.from({ length: 3 }, (_, index) => ({
      name: `Rig ${index + 1}`,
      rig: { kind: "axeos", warm: true } as const,
      isAdded: true as const,
    })),
  });
  const site = await dashboard.service.addPlace({ kind: "site", name: "Texas", parentId: null, order: 0 }, caller);
  const made = { kind: "rack", name: "R01", parentId: site.id, order: 0, rows: 2, columns: 2 } as const;
  rack = (await dashboard.service.addPlace(made, caller)).id;
  await dashboard.service.changeMiner({ id: first, placeId: rack, position: { row: 2, column: 1 } }, caller);
  await dashboard.service.changeMiner({ id: first + 1, placeId: rack }, caller);
});

afterAll(async () => {
  rmSync(folder, { recursive: true });
  await dashboard?.close();
  await closeContexts();
});

/** What a camera reads from a code on the page; without the program, what the page has drawn is compared instead. */
async function expectCode(code: Locator, text: string): Promise<void> {
  const drawn = await code.locator("path").getAttribute("d");
  const { data, size } = encode(text, { ecc: "M", border: 2 });
  const dark = data.flat().filter(Boolean).length;
  const runs = [...(drawn ?? "").matchAll(/M\d+ \d+h(\d+)/g)].map(([, length]) => Number(length));
  expect([await code.getAttribute("viewBox"), runs.reduce((sum, each) => sum + each, 0)]).toEqual([
    `0 0 ${size} ${size}`,
    dark,
  ]);
  if (!hasZbar) return;
  const file = join(folder, "code.png");
  await code.screenshot({ path: file });
  expect(spawnSync("zbarimg", ["--quiet", "--raw", file], { encoding: "utf8" }).stdout.trim()).toBe(text);
}

test("a label has the code of its rig's page, its name, place and position, model and MAC", async () => {
  const { page, close } = await dashboard.visit(`places/${rack}?view=labels`);
  const labels = page.getByRole("list", { name: "A label for each rig" }).getByRole("listitem");
  await labels.nth(1).waitFor();
  const { identity, uid } = await dashboard.service.getMiner({ id: first }, caller);
  const { list } = await dashboard.service.exportPlaces({}, caller);
  const mac = list.find((each) => each.uid === uid)?.mac;
  expect(mac).toMatch(/^[0-9A-F:]{17}$/i);
  const lines = (await labels.first().innerText()).split("\n").filter((line) => line !== "");
  expect(lines.slice(0, 3)).toEqual(["Rig 1", "Texas/R01", "row 2, column 1"]);
  expect(lines.at(-1)).toBe(mac);
  expect(lines[3]).toContain(identity?.model ?? "no model");
  await expectCode(labels.first().getByRole("img"), `${dashboard.url}/rigs/${first}`.replace(/([^:])\/\//, "$1/"));
  expect(await axe(page)).toEqual([]);
  await close();
});

test("codes have the address that is typed, which must be one of the web", async () => {
  const { page, close } = await dashboard.visit("places?view=labels", { width: 390, height: 844 });
  const labels = page.getByRole("list", { name: "A label for each rig" }).getByRole("listitem");
  await labels.nth(2).waitFor();
  await page.getByText("This address works on this machine only: phones need one of the network.").waitFor();
  await page.getByLabel("Address in the codes").fill("https://farm.example.com/rigs");
  await expectCode(labels.first().getByRole("img"), `https://farm.example.com/rigs/rigs/${first}`);
  await page.getByLabel("Address in the codes").fill("javascript:alert(1)");
  await page.getByText(/^Must be an address of the web/).waitFor();
  expect(await labels.count()).toBe(0);
  expect(await page.getByRole("button", { name: "Print" }).isDisabled()).toBe(true);
  expect(await overflow(page)).toBe(0);
  await close();
});

test("a rack's sheet has its rigs where they stand, and is a page of its own on paper", async () => {
  const { page, close } = await dashboard.visit(`places/${rack}?view=labels`);
  await page.getByLabel("Print", { exact: true }).selectOption("A sheet for each rack");
  const cells = page.locator(".label-grid tbody td");
  await cells.nth(3).waitFor();
  expect(await cells.allInnerTexts()).toEqual(["", "", "Rig 1", ""]);
  await page.getByText("Rig 2", { exact: true }).waitFor();
  await expectCode(page.getByRole("img"), new URL(`places/${rack}`, dashboard.url).href);
  expect(await axe(page, ["dark"])).toEqual([]);
  await page.emulateMedia({ media: "print" });
  for (const part of ["Print", "Map"])
    expect(await page.getByText(part, { exact: true }).first().isVisible()).toBe(false);
  expect(await page.getByRole("heading", { level: 1 }).isVisible()).toBe(false);
  await page.emulateMedia({ media: "screen" });
  await close();
});
