import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { startTwin } from "../../src/simulator/index.ts";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { running } from "../cli/command.ts";
import { onTestFinished } from "../finished.ts";
import { freePort } from "../free-port.ts";
import { reverseProxy } from "../http/reverse-proxy.ts";
import { until } from "../until.ts";
import { axe, type Dashboard, follow, overflow, startDashboard, stopBy, visitOf } from "./dashboard.ts";
import { everyPage } from "./every-page.ts";

interface Manifest {
  readonly icons: readonly { readonly src: string; readonly sizes: string }[];
}

const rows = 24;
let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: Array.from({ length: rows }, (_, index) => ({
      name: `Rig ${index + 1}`,
      rig: { kind: "axeos", warm: true },
      settings: { group: index < 20 ? "Hall" : "Study", location: { site: "Farm" } },
    })),
    config: {
      display: { currency: "EUR" },
      electricity: { price: 0.3 },
      groups: [{ name: "Hall" }, { name: "Study", room: true }],
      rules: [{ key: "light", name: "Light", do: [{ action: "locate", on: true }] }],
      schedules: [{ key: "night", name: "Night", cron: "0 3 * * *", do: [{ action: "start" }] }],
      templates: [{ name: "Summer", do: [{ set: "fan", value: 60 }] }],
      channels: [{ key: "desk", type: "webhook", url: "http://127.0.0.1:9/", secret: "a-secret-of-a-web-hook" }],
    },
  });
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const isMining = (from: number, to: number): boolean[] =>
  dashboard.rigs.slice(from, to).map(({ model }) => model.mining);

/** Presses Tab until an element of that role and name has the focus; it must be seen each time. */
async function tabTo(page: Page, role: "link" | "button" | "row", name: RegExp): Promise<void> {
  const wanted = page.getByRole(role, { name });
  for (let press = 0; press < 150; press += 1) {
    await page.keyboard.press("Tab");
    const unseen = await page.evaluate(() => {
      const at = document.activeElement;
      if (at === null || at === document.body) return null;
      const { outlineStyle, outlineWidth } = getComputedStyle(at);
      const { top, bottom, right, left } = at.getBoundingClientRect();
      const isInView = bottom > 0 && right > 0 && top < innerHeight && left < innerWidth;
      return isInView && outlineStyle !== "none" && outlineWidth !== "0px" ? null : at.outerHTML.slice(0, 200);
    });
    expect({ focusedButUnseen: unseen }).toEqual({ focusedButUnseen: null });
    const all = await wanted.evaluateAll((found) => found.some((each) => each === document.activeElement));
    if (all) return;
  }
  throw new Error(`no ${role} ${name} within 150 presses of Tab`);
}

describe("journeys", () => {
  test("twenty rigs of a group are stopped from the list, and the others mine on", async () => {
    const { page, close } = await dashboard.visit("");
    await page
      .getByRole("row", { name: /^Hall 20 of 20/ })
      .getByRole("link", { name: "Hall" })
      .click();
    await page.getByText("20 of 24 rigs", { exact: true }).waitFor();
    await page.getByRole("checkbox", { name: "Select all rigs in this list" }).check();
    await page.getByRole("button", { name: "Stop", exact: true }).click();
    const dialog = page.getByRole("dialog", { name: "Stop" });
    expect(isMining(0, rows)).not.toContain(false);
    await dialog.getByRole("button", { name: "Stop 20 rigs" }).click();
    const job = page.getByRole("article", { name: "Stop: 20 rigs" });
    await job.getByText("20 done", { exact: false }).waitFor();
    expect(isMining(0, 20)).not.toContain(true);
    expect(isMining(20, rows)).not.toContain(false);
    await dashboard.readAll();
    await page.getByRole("link", { name: "Not mining 20" }).waitFor();
    await page.getByRole("navigation").getByRole("link", { name: "Overview" }).first().click();
    await page.getByText("4 of 24 rigs mining", { exact: false }).waitFor();
    await close();
  });

  test("from the overview to a rig and its stop button by keyboard alone, the focus always in sight", async () => {
    const { page, close } = await dashboard.visit("", { clock: true });
    await page.getByRole("row", { name: /^Study/ }).waitFor();
    await tabTo(page, "link", /^Rigs$/);
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: "Rigs" }).waitFor();
    await page
      .getByRole("row", { name: /Rig 1\b/ })
      .first()
      .waitFor();
    await tabTo(page, "row", /Rig /);
    await page.keyboard.press("End");
    await page.keyboard.press("Enter");
    await page.getByRole("heading", { level: 1, name: /^Rig \d+$/ }).waitFor();
    // A new page takes the focus to its beginning.
    await until(() => page.evaluate(() => document.activeElement?.id === "main"), "the focus at the page's beginning");
    const number = Number(/(\d+)$/.exec(page.url())?.[1]) - 1_000_000_001;
    if (dashboard.rigs[number]?.model.mining === false) {
      await tabTo(page, "button", /^Start/);
      await page.keyboard.press("Enter");
      await until(() => dashboard.rigs[number]?.model.mining === true, "the rig to mine");
      await page.getByRole("button", { name: /^Stop/ }).waitFor();
      await page.locator("main").focus();
    }
    await tabTo(page, "button", /^Stop/);
    await page.keyboard.press("Enter");
    await page.locator(".undo-bar").waitFor();
    await page.clock.fastForward(10_000);
    await until(() => dashboard.rigs[number]?.model.mining === false, "the rig to stop");
    await close();
  });
});

test("rigs are compared in one chart, chosen in the list; the address says which, and what is wrong with it is said", async () => {
  const { page, close } = await dashboard.visit("rigs");
  for (const name of ["Rig 1", "Rig 2"])
    await page.getByRole("checkbox", { name: `Select ${name}`, exact: true }).check();
  await page.getByRole("link", { name: "Compare" }).click();
  await page.getByRole("heading", { level: 1, name: "Compare rigs" }).waitFor();
  await page.getByText("Rig 1", { exact: false }).first().waitFor();
  await page.getByRole("link", { name: "Temperature" }).click();
  await until(() => page.url().includes("metric=temperature"), "the address to say what is compared");
  expect(await axe(page)).toEqual([]);
  expect(await overflow(page)).toBe(0);
  await page.goto(`${dashboard.url}/compare?rigs=1000000021,x,7`);
  await page.getByText("Two rigs at least are needed").waitFor();
  await close();
});

test("who comes back the next day is told what has happened since, also after a reload", async () => {
  const { page, close } = await dashboard.visit("");
  await page.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  expect(await page.getByText("Since your last visit").count()).toBe(0);
  await page.evaluate((last) => localStorage.setItem("rigbridge.visit", String(last)), Date.now() - 86_400_000);
  await dashboard.service.minerAction({ id: 1_000_000_024, action: "locate", on: true }, { actor: "anna" });
  await page.reload();
  const line = page.getByText("Since your last visit on");
  await line.getByRole("link", { name: /commands?/ }).waitFor();
  await page.reload();
  await line.getByRole("link", { name: /commands?/ }).waitFor();
  await close();
});

test("behind a proxy that holds back events, the page reads again and again instead, and calls nothing away", async () => {
  let held = 0;
  const proxy = await reverseProxy(Number(new URL(dashboard.url).port), "/", {}, (path) => {
    const isHeld = path.startsWith("/api/events");
    if (isHeld) held += 1;
    return isHeld;
  });
  onTestFinished(() => proxy.close());
  const { page, close } = await visitOf(proxy.url, "settings", { fresh: true });
  const unanswered = new Set<unknown>();
  page.on("request", (asked) => !asked.url().includes("/api/events") && unanswered.add(asked));
  page.on("requestfinished", (asked) => unanswered.delete(asked));
  page.on("requestfailed", (asked) => unanswered.delete(asked));
  await page.clock.install({ time: Date.now() });
  const before = held;
  await page.goto(`${proxy.url}rigs?group=2`);
  const row = page.getByRole("row", { name: /Rig 22/ }).first();
  await row.getByText("Mining", { exact: true }).waitFor();
  await page.evaluate(() => {
    const note = () => document.querySelector(".shell.away") !== null && Object.assign(window, { wasAway: true });
    new MutationObserver(note).observe(document.body, { attributes: true, childList: true, subtree: true });
  });
  await until(() => held > before, "the page to ask for events");
  await dashboard.service.minerAction({ id: 1_000_000_022, action: "stop" }, { actor: "test" });
  const isShown = async () => {
    // A request is given up after 30 s of the page's clock, which must not run away from the real answers.
    if (unanswered.size === 0) await page.clock.fastForward(10_000);
    return row.getByText("Stopped", { exact: true }).isVisible();
  };
  await until(isShown, "the row to show it");
  expect(await page.evaluate(() => Reflect.get(window, "wasAway"))).not.toBe(true);
  await dashboard.service.minerAction({ id: 1_000_000_022, action: "start" }, { actor: "test" });
  await close();
});

test("on paper there are no menu and buttons, and black on white, from the dark scheme too", async () => {
  const { page, close } = await dashboard.visit("", { scheme: "dark" });
  for (const path of ["", "money"]) {
    await page.goto(`${dashboard.url}/${path}`);
    await page.locator("main .card").first().waitFor();
    await page.locator(".loading").first().waitFor({ state: "detached" });
    await page.emulateMedia({ media: "print", colorScheme: "dark" });
    for (const gone of [page.getByRole("navigation", { name: "Pages" }), page.getByRole("banner")])
      expect(await gone.isVisible()).toBe(false);
    expect([path, await page.locator("main :not(th) > button.button:visible").count()]).toEqual([path, 0]);
    // The period of the report.
    expect(await page.locator("main a.button:visible").allInnerTexts()).toEqual(path === "money" ? ["30 days"] : []);
    const colours = await page.evaluate(() =>
      [document.body, ...document.querySelectorAll(".card, .tile, h1, h2, td")].map((each) => {
        const { color, backgroundColor } = getComputedStyle(each);
        return [color, backgroundColor].map((text) => (text.match(/[\d.]+/g) ?? []).map(Number));
      }),
    );
    expect(colours.length).toBeGreaterThan(5);
    for (const [ink = [], ground = []] of colours) {
      expect([path, Math.max(...ink.slice(0, 3)) < 185, ink]).toEqual([path, true, ink]);
      if (ground[3] !== 0) expect([path, Math.min(...ground.slice(0, 3)) > 200, ground]).toEqual([path, true, ground]);
    }
    await page.emulateMedia({ media: "screen", colorScheme: "dark" });
  }
  await close();
});

test("the list of rigs is as wide as the paper", async () => {
  // A4 at 96 px an inch.
  const { page, close } = await dashboard.visit("rigs", { width: 794, height: 1123 });
  await page
    .getByRole("row", { name: /Rig 1 / })
    .first()
    .waitFor();
  await page.emulateMedia({ media: "print" });
  expect(await overflow(page)).toBe(0);
  expect(await page.locator("main").evaluate((main) => main.getBoundingClientRect().left)).toBe(0);
  await close();
});

test("the chosen colours are those of the page and of the browser's bars, whatever the system's are", async () => {
  const { page, close } = await dashboard.visit("", { scheme: "light" });
  const colours = () =>
    page.evaluate(() => [
      getComputedStyle(document.documentElement).backgroundColor,
      ...[...document.querySelectorAll<HTMLMetaElement>('meta[name="theme-color"]')]
        .filter(({ media }) => matchMedia(media).matches)
        .map(({ content }) => content),
    ]);
  expect(await colours()).toEqual(["rgb(245, 244, 241)", "#ffffff"]);
  await page.getByRole("button", { name: /^Account/ }).click();
  await page.getByRole("combobox", { name: "Colours" }).selectOption("dark");
  expect(await colours()).toEqual(["rgb(21, 22, 26)", "#1d1f24"]);
  await page.getByRole("combobox", { name: "Colours" }).selectOption("auto");
  await page.emulateMedia({ colorScheme: "dark" });
  expect(await colours()).toEqual(["rgb(21, 22, 26)", "#1d1f24"]);
  await close();
});

test("on a phone the current tab and the current page of the menu are in sight", async () => {
  const { page, close } = await dashboard.visit("rigs/1000000001?tab=settings", { width: 375, height: 800 });
  const isInSight = (name: string) =>
    page
      .getByRole("navigation", { name })
      .locator("[aria-current]")
      // A page that is not in the bar is behind "More", which is marked for it.
      .filter({ visible: true })
      .evaluate((link) => {
        const { left, right } = link.getBoundingClientRect();
        return left >= 0 && right <= innerWidth;
      });
  expect(await isInSight("Sections of this rig")).toBe(true);
  await page.goto(`${dashboard.url}/settings`);
  await page.getByRole("heading", { level: 1 }).waitFor();
  expect(await isInSight("Pages")).toBe(true);
  await close();
});

test("a phone can put it on its home screen", async () => {
  const { page, close } = await dashboard.visit("rigs");
  const cdp = await page.context().newCDPSession(page);
  const { url, errors, data } = await cdp.send("Page.getAppManifest");
  expect([url, errors]).toEqual([`${dashboard.url}/manifest.webmanifest`, []]);
  const manifest: Manifest = JSON.parse(data ?? "");
  // What Chromium asks for before it offers to install a page.
  expect(manifest).toMatchObject({ name: "Rigbridge", start_url: "./", scope: "./", display: "standalone" });
  expect(manifest.icons.map(({ sizes }) => sizes)).toEqual(expect.arrayContaining(["192x192", "512x512"]));
  for (const { src, sizes } of manifest.icons) {
    const size = await page.evaluate(async (from) => {
      const image = new Image();
      image.src = from;
      await image.decode();
      return `${image.naturalWidth}x${image.naturalHeight}`;
    }, src);
    if (sizes !== "any") expect(size).toBe(sizes);
  }
  await close();
});

test("of another product, what it can do works, and what it cannot do is not there", async () => {
  const key = "invented-key-of-a-test";
  const twin = await startTwin({ miners: 3, key });
  onTestFinished(() => twin.close());
  const mining = twin.miners.find(({ status }) => status === "Mining");
  const port = await freePort();
  const web = await running(["web", "--service", twin.url, "--port", String(port)], /serves the dashboard/, {
    env: { RIGBRIDGE_KEY: key },
  });
  onTestFinished(async () => {
    web.signal("SIGTERM");
    await web.ended;
  });
  // One that is stopped is refused another stop.
  const { page, close } = await visitOf(`http://127.0.0.1:${port}`, "", { clock: true, expected: /status of 409/ });
  await page.getByText("of 3 rigs", { exact: false }).waitFor();
  const session = await page.evaluate(async () => (await fetch("api/session")).json());
  const operations: readonly string[] = session.operations;
  expect(operations).toContain("listPools");
  expect(operations).not.toContain("listRules");
  const menu = page.getByRole("navigation", { name: "Pages" });
  for (const { at, needs, path } of await everyPage(dashboard.service)) {
    const entry = menu.locator(`a[href="/${path}"]`);
    if (!operations.includes(needs)) {
      expect([path, await entry.count()]).toEqual([path, 0]);
      continue;
    }
    await follow(page, path === "rigs/:id" ? `rigs/${mining?.id}` : at);
    expect([path, await page.getByRole("alert").filter({ hasText: /\S/ }).allInnerTexts()]).toEqual([path, []]);
    expect([path, await axe(page)]).toEqual([path, []]);
    expect([path, await overflow(page)]).toEqual([path, 0]);
  }
  await page.goto(`http://127.0.0.1:${port}/rigs/${mining?.id}`);
  await stopBy(page.getByRole("button", { name: /^Stop/ }).first());
  await until(() => mining?.status !== "Mining", "the miner to stop");

  // It has no bulk actions: the page asks for each of them.
  expect(operations).not.toContain("startBulkAction");
  await page.goto(`http://127.0.0.1:${port}/rigs`);
  await page.getByRole("checkbox", { name: /^Select all/ }).click();
  await page
    .getByRole("region", { name: "Actions for the selected rigs" })
    .getByRole("button", { name: "Stop" })
    .click();
  const dialog = page.getByRole("dialog", { name: "Stop" });
  // A pace and a dry run are the service's.
  expect(await dialog.getByRole("button", { name: "Preview" }).count()).toBe(0);
  await dialog.getByRole("button", { name: "Stop 3 rigs" }).click();
  await until(() => twin.miners.every(({ status }) => status !== "Mining"), "all miners to stop");
  await close();
});
