import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Locator, Page } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, overflow, startDashboard, type VisitOptions } from "./dashboard.ts";

const key = "key-of-the-service";
const viewer = "key-of-a-viewer-1234";
const caller = { actor: "test" };
const first = 1_000_000_001;
/** What the browser says of a mistake in a form. */
const refused = /status of 400/;

let dashboard: Dashboard;
let rack: number;

const add = async (kind: "site" | "building" | "row" | "rack", name: string, parentId: number | null, more = {}) =>
  (await dashboard.service.addPlace({ kind, name, parentId, order: 0, ...more }, caller)).id;
const put = (id: number, placeId: number | null, row?: number, column = 1) =>
  dashboard.service.changeMiner({ id, placeId, ...(row === undefined ? {} : { position: { row, column } }) }, caller);
const places = async () => (await dashboard.service.listPlaces({}, caller)).map(({ path, rigs }) => `${path} ${rigs}`);

beforeAll(async () => {
  dashboard = await startDashboard({
    config: { http: { key }, users: [{ name: "Vera", key: viewer, privilege: "view" }] },
    rigs: Array.from({ length: 6 }, (_, index) => ({
      name: `Rig ${index + 1}`,
      rig: { kind: "axeos", warm: true } as const,
      isAdded: true as const,
    })),
  });
  const hall = await add("building", "B1", await add("site", "Texas", null));
  rack = await add("rack", "R01", hall, { rows: 2, columns: 3 });
  await add("rack", "R02", hall);
  for (const [index, [row, column]] of [[1, 1] as const, [1, 3] as const].entries())
    await put(first + index, rack, row, column);
  await put(first + 2, rack);
  for (let read = 0; read < 3; read += 1) await dashboard.readAll();
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const line = (page: Page, name: string): Locator =>
  page.getByRole("row").filter({ has: page.getByRole("link", { name, exact: true }) });
/** The cells of a place in the tree, without those of its buttons. */
const figures = async (page: Page, name: string) =>
  (await line(page, name).getByRole("cell").allInnerTexts()).slice(0, 2);

describe("the tree of places", () => {
  test("shows what the rigs of each do, as they do it, and leads to its rigs", async () => {
    const { page, close } = await visit("places");
    await until(async () => (await figures(page, "Texas")).join() === "3,3", "three rigs that mine in Texas");
    expect(await figures(page, "R02")).toEqual(["0", "0"]);
    await dashboard.service.minerAction({ id: first, action: "stop" }, caller);
    await until(async () => (await figures(page, "R01")).join() === "3,2", "one rig to stop");
    await dashboard.service.minerAction({ id: first, action: "start" }, caller);
    await line(page, "R01").getByRole("link", { name: "3", exact: true }).click();
    await page.getByRole("heading", { name: "Rigs", exact: true }).waitFor();
    await page.getByText("3 of 6 rigs", { exact: true }).waitFor();
    await page.getByText("Place: Texas/B1/R01", { exact: true }).waitFor();
    await close();
  });

  test("adds, changes, reorders and deletes places; a mistake stands at its field", async () => {
    const { page, close } = await visit("places", { expected: refused });
    await page.getByRole("button", { name: "Add place", exact: true }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Name").fill("texas");
    await dialog.getByLabel("Rows").fill("0");
    await dialog.getByLabel("Columns").fill("1001");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText(/1000/).waitFor();
    expect(await dialog.locator('[aria-invalid="true"]').count()).toBe(2);
    for (const name of ["Rows", "Columns"]) await dialog.getByLabel(name).fill("");
    await dialog.getByRole("button", { name: "Save" }).click();
    await dialog.getByText("there is a place texas there already").waitFor();
    await dialog.getByLabel("Name").fill("Ohio");
    await dialog.getByRole("button", { name: "Save" }).click();
    await line(page, "Ohio").waitFor();

    await line(page, "Ohio").getByRole("button", { name: "Add a place inside" }).click();
    await dialog.getByLabel("Name").fill("H1");
    expect(await dialog.getByLabel("Kind").inputValue()).toBe("building");
    await dialog.getByRole("button", { name: "Save" }).click();
    await line(page, "H1").waitFor();

    await line(page, "R02").getByRole("button", { name: "Move up" }).click();
    await until(
      async () => (await places()).join() === "Ohio 0,Ohio/H1 0,Texas 3,Texas/B1 3,Texas/B1/R02 0,Texas/B1/R01 3",
      "R02 to be first",
    );

    await line(page, "R02").getByRole("button", { name: "Change" }).click();
    await dialog.getByLabel("Inside").selectOption("Ohio/H1");
    await dialog.getByLabel("Maximum power, W").fill("12000");
    await dialog.getByLabel("Leave its rigs out of curtailment").check();
    await dialog.getByRole("button", { name: "Save" }).click();
    await until(async () => (await places()).includes("Ohio/H1/R02 0"), "R02 to be in Ohio");
    const moved = (await dashboard.service.listPlaces({}, caller)).find(({ name }) => name === "R02");
    expect(moved).toMatchObject({ maxPower: 12_000, exempt: true });

    await line(page, "H1").getByRole("button", { name: "Delete" }).click();
    await dialog.getByText("Moves to \u2068Ohio\u2069: 1 place.", { exact: true }).waitFor();
    await dialog.getByRole("button", { name: "Delete" }).click();
    await until(async () => (await places()).includes("Ohio/R02 0"), "R02 to move to Ohio itself");
    await close();
  });

  test("says what becomes of the rigs of a place that is deleted", async () => {
    const { page, close } = await visit("places");
    await line(page, "R01").getByRole("button", { name: "Delete" }).click();
    const text = "Moves to \u2068Texas/B1\u2069, without a position: 3 rigs.";
    await page.getByRole("dialog").getByText(text, { exact: true }).waitFor();
    await close();
  });

  test("is only shown to those who may not change it, and fits a phone", async () => {
    const { page, close } = await visit("places", { key: viewer, width: 390, height: 800 });
    await line(page, "Texas").waitFor();
    expect(await page.getByRole("button", { name: /Add|Change|Delete|Move/ }).count()).toBe(0);
    expect(await overflow(page)).toBe(0);
    expect(await axe(page)).toEqual([]);
    await close();
  });
});

describe("a rig's place", () => {
  test("is chosen on its page, with its position, and leads to the place", async () => {
    const { page, close } = await visit(`rigs/${first + 3}?tab=settings`, { expected: refused });
    await page.getByLabel("Place", { exact: true }).selectOption("Texas/B1/R01");
    await page.getByLabel("Position: row").fill("1");
    await page.getByLabel("Position: column").fill("3");
    await page.getByLabel("Slot").fill("left");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText(/row 1, column 3 is taken by .*Rig 2/).waitFor();
    await page.getByLabel("Position: column").fill("4");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("must be at most 3, the limit of its place").waitFor();
    await page.getByLabel("Position: column").fill("2");
    await page.getByRole("button", { name: "Save" }).click();
    await page.getByText("Saved", { exact: true }).waitFor();
    const { placeId, position, location } = await dashboard.service.getMiner({ id: first + 3 }, caller);
    expect({ placeId, position, slot: location.slot }).toEqual({
      placeId: rack,
      position: { row: 1, column: 2 },
      slot: "left",
    });
    await page.getByRole("link", { name: "Overview", exact: true }).last().click();
    const where = page.getByRole("link", { name: "Texas · B1 · R01 · left · row 1, column 2" });
    expect(await where.getAttribute("href")).toBe(`/places/${rack}`);
    await close();
  });

  test("is given to many at once, and back with their positions", async () => {
    const { page, close } = await visit("rigs?q=Rig");
    for (const name of ["Rig 1", "Rig 5"])
      await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("button", { name: "Move to place" }).click();
    const dialog = page.getByRole("dialog");
    await dialog.getByLabel("Place").selectOption("Ohio");
    await dialog.getByRole("button", { name: "Move 2 rigs" }).click();
    const job = page.getByRole("article", { name: /Move to place Ohio: 2 rigs/ });
    await job.getByText(/2 done/).waitFor();
    expect((await places()).find((each) => each.startsWith("Ohio "))).toBe("Ohio 2");
    await job.getByRole("button", { name: "Undo" }).click();
    await dialog.getByRole("button", { name: "Undo on 2 rigs" }).click();
    await until(async () => (await places()).includes("Ohio 0"), "both rigs to leave Ohio");
    expect((await dashboard.service.getMiner({ id: first }, caller)).position).toEqual({ row: 1, column: 1 });
    await close();
  });
});

describe("the map of a place", () => {
  const map = (page: Page): Locator => page.getByRole("application", { name: "Map" });
  /** The point of the first cell of a rack that the map shows alone. */
  const firstCell = { position: { x: 20, y: 20 } };
  /** Red, green, blue at that point. */
  const colour = (page: Page): Promise<string> =>
    map(page)
      .locator("canvas")
      .evaluate((canvas) => {
        if (!(canvas instanceof HTMLCanvasElement)) return "";
        const scale = canvas.width / canvas.clientWidth;
        return String(
          canvas
            .getContext("2d")
            ?.getImageData(8 * scale, 8 * scale, 1, 1)
            .data.slice(0, 3),
        );
      });

  test("shows each rig where it stands, as it changes, and leads to it", async () => {
    const { page, close } = await visit(`places/${rack}`);
    await map(page).hover(firstCell);
    const details = page.locator(".place-details");
    await details.getByRole("link", { name: "Rig 1", exact: true }).waitFor();
    await details.getByText("Texas/B1/R01 · row 1, column 1", { exact: true }).waitFor();
    const mines = await colour(page);
    await dashboard.service.minerAction({ id: first, action: "stop" }, caller);
    await until(async () => (await colour(page)) !== mines, "the colour of a rig that is stopped");
    await details.getByText("Stopped", { exact: false }).waitFor();
    await dashboard.service.minerAction({ id: first, action: "start" }, caller);
    await until(async () => (await colour(page)) === mines, "the colour of a rig that mines");
    await map(page).click(firstCell);
    await page.getByRole("heading", { name: "Rig 1", exact: true }).waitFor();
    expect(new URL(page.url()).pathname).toBe(`/rigs/${first}`);
    await close();
  });

  test("is used by keys: each rig is announced, and Enter opens it", async () => {
    const { page, close } = await visit(`places/${rack}?colour=state`);
    await map(page).focus();
    const spoken = page.getByRole("status").filter({ hasText: "Texas" });
    await spoken.getByText(/^Rig 1, Texas\/B1\/R01, row 1, column 1, Mining, /).waitFor();
    await map(page).press("ArrowRight");
    await spoken.getByText(/^Rig 4, .*row 1, column 2/).waitFor();
    await map(page).press("ArrowDown");
    await spoken.getByText(/^Rig 3, Texas\/B1\/R01, Mining/).waitFor();
    await map(page).press("Enter");
    await page.getByRole("heading", { name: "Rig 3", exact: true }).waitFor();
    await close();
  });

  test("of a site leads to those of its racks, and shows its rigs as a table", async () => {
    const { page, close } = await visit("places");
    await page.getByRole("link", { name: "Texas", exact: true }).click();
    await page.getByRole("link", { name: "B1", exact: true }).waitFor();
    await page.getByRole("link", { name: "R01", exact: true }).click();
    await page.getByRole("heading", { name: "R01", exact: true }).waitFor();
    await page.getByRole("link", { name: "Table", exact: true }).click();
    const names = page.getByRole("grid", { name: "List of rigs" }).getByRole("rowheader");
    await until(async () => (await names.count()) === 4, "the rigs of the rack");
    expect(new URL(page.url()).pathname).toBe(`/places/${rack}`);
    await close();
  });

  test("has its rigs signal where they are for those who may, and stop again", async () => {
    const { page, close } = await visit(`places/${rack}`);
    await page.getByRole("button", { name: "Signal location" }).click();
    await page.getByText("Rigs here that can signal where they are do so for 5 min.").waitFor();
    await page.getByRole("button", { name: "Signal location", pressed: true }).click();
    await page.getByText("The rigs here stop signalling.").waitFor();
    const sent = (await dashboard.service.listBulkActions({}, caller)).map(({ action }) => action);
    expect(sent.filter((action) => action === "locate").length).toBe(2);
    await close();
  });

  test("fits a phone, where the first tap shows a rig and the second opens it", async () => {
    const { page, close } = await visit(`places/${rack}`, { key: viewer, width: 390, height: 844 });
    await map(page).waitFor();
    expect(await page.getByRole("button", { name: /Signal|Change|Delete/ }).count()).toBe(0);
    expect(await overflow(page)).toBe(0);
    expect(await axe(page)).toEqual([]);
    const tap = () =>
      map(page).evaluate((element) => {
        const { left, top } = element.getBoundingClientRect();
        const at = { clientX: left + 20, clientY: top + 20, pointerType: "touch", bubbles: true };
        element.dispatchEvent(new PointerEvent("click", at));
      });
    await tap();
    await page.locator(".place-details").getByText("Rig 1", { exact: true }).waitFor();
    await tap();
    await page.getByRole("heading", { name: "Rig 1", exact: true }).waitFor();
    await close();
  });

  test("says that a place is gone", async () => {
    const { page, close } = await visit("places/999");
    await page.getByRole("heading", { name: "There is no such place" }).waitFor();
    await page.getByRole("link", { name: "All places" }).click();
    await line(page, "Texas").waitFor();
    await close();
  });
});
