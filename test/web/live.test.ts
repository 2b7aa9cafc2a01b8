import { afterAll, afterEach, beforeAll, describe, expect } from "@jest/globals";
import type { Page, Route } from "playwright-core";
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";
import { type Dashboard, startDashboard, type VisitOptions, withoutLoadingAhead } from "./dashboard.ts";

const key = "key-of-the-service";
const guestKey = "key-of-a-guest-1234";

const rigOf = (group: string) => (_: unknown, index: number) => ({
  name: `${group} ${index + 1}`,
  rig: { kind: "axeos", warm: true } as const,
  settings: { group },
});

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    config: {
      // It goes away and comes back: an address of its own, whose port nobody takes meanwhile.
      http: { key, host: ownHost(), open: true },
      groups: [{ name: "Hall" }, { name: "Barn" }],
      users: [{ name: "Guest", key: guestKey, privilege: "view", groups: ["Barn"] }],
    },
    rigs: [...Array.from({ length: 2 }, rigOf("Hall")), ...Array.from({ length: 2 }, rigOf("Barn"))],
  });
});

afterEach(async () => {
  // For the tests after one that has failed.
  if (
    !(await fetch(dashboard.url).then(
      () => true,
      () => false,
    ))
  )
    await dashboard.comeBack();
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

const visit = (path: string, options: VisitOptions = {}) => dashboard.visit(path, { key, ...options });
const keyField = (page: Page) => page.getByRole("textbox", { name: "API key" });
const isEvents = (url: string): boolean => url.includes("/api/events");
const rig = (page: Page, name: string) => page.getByRole("link", { name, exact: true });

async function signOut(page: Page): Promise<void> {
  await page.getByRole("button", { name: /^Account and display/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
}

describe("signing out", () => {
  test("ends the stream of events, and the next user sees nothing of the rigs before", async () => {
    const { page, close } = await visit("rigs", { expected: /401|ERR_ABORTED/ });
    await rig(page, "Hall 1").waitFor();
    const streams: string[] = [];
    page.on("request", (asked) => isEvents(asked.url()) && streams.push("begun"));
    page.on("requestfailed", (asked) => isEvents(asked.url()) && streams.push("ended"));
    await signOut(page);
    await keyField(page).waitFor();
    // The list of the next user comes late.
    let answer: (() => Promise<void>) | undefined;
    await page.route(/\/api\/miners\?/, (route) => {
      answer = () => route.continue();
    });
    await keyField(page).fill(guestKey);
    await page.keyboard.press("Enter");
    await until(() => answer !== undefined, "the page to ask for the rigs");
    await page.getByRole("heading", { name: "Rigs", exact: true }).waitFor();
    expect(await page.getByRole("main").innerText()).not.toContain("Hall");
    expect(streams[0]).toBe("ended");
    await answer?.();
    await rig(page, "Barn 1").waitFor();
    expect(await rig(page, "Hall 1").count()).toBe(0);
    await close();
  });

  test("while the service is away shows nothing any more, says why, and is done when it is back", async () => {
    const { page, close } = await visit("rigs", { expected: /401|ERR_/ });
    await rig(page, "Hall 1").waitFor();
    await dashboard.goAway();
    await signOut(page);
    await page.getByRole("heading", { name: "You are not signed out yet" }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain("Hall");
    await dashboard.comeBack();
    await keyField(page).waitFor();
    await page.reload();
    await keyField(page).waitFor();
    await close();
  });

  test("holds for a page that is opened before the service has confirmed it", async () => {
    const { page, close } = await visit("rigs", { expected: /401|ERR_|503/ });
    await rig(page, "Hall 1").waitFor();
    const refuse = (route: Route) =>
      route.request().method() === "DELETE" ? route.fulfill({ status: 503 }) : route.continue();
    await page.route(/\/api\/session/, refuse);
    await signOut(page);
    await page.getByRole("heading", { name: "You are not signed out yet" }).waitFor();
    await page.reload();
    await page.getByRole("heading", { name: "You are not signed out yet" }).waitFor();
    expect(await page.locator("body").innerText()).not.toContain("Hall");
    await page.unroute(/\/api\/session/, refuse);
    await page.getByRole("button", { name: "Try again" }).click();
    await keyField(page).waitFor();
    await close();
  });
});

test("a page that was in the background for a while catches up without calling the service away", async () => {
  const { page, close } = await visit("settings", { fresh: true });
  await page.clock.install();
  await page.goto(new URL("rigs", dashboard.url).href);
  await rig(page, "Hall 1").waitFor();
  const streams: string[] = [];
  page.on("request", (asked) => isEvents(asked.url()) && streams.push("begun"));
  page.on("requestfailed", (asked) => isEvents(asked.url()) && streams.push("ended"));
  await page.evaluate(() => {
    const note = () => document.querySelector(".shell.away") !== null && Object.assign(window, { wasAway: true });
    new MutationObserver(note).observe(document.body, { attributes: true, childList: true, subtree: true });
  });
  const turn = (state: "hidden" | "visible") =>
    page.evaluate((now) => {
      Object.defineProperty(document, "visibilityState", { value: now, configurable: true });
      document.dispatchEvent(new Event("visibilitychange"));
    }, state);
  await turn("hidden");
  await page.clock.fastForward(35_000);
  // Something arrives, without which the stream would count as silent in the page's time.
  await dashboard.service.minerAction({ id: 1_000_000_001, action: "stop" }, { actor: "test" });
  await until(async () => {
    await page.clock.fastForward(500);
    return page
      .getByRole("row", { name: /Hall 1/ })
      .getByText("Stopped", { exact: true })
      .isVisible();
  }, "the stop on the page");
  const before = streams.length;
  await page.clock.fastForward(26_000);
  await until(() => streams.slice(before).includes("ended"), "the stream to end");
  await page.clock.fastForward(3_000);
  await turn("visible");
  await until(() => streams.at(-1) === "begun", "the stream to begin again");
  await page.clock.fastForward(3_000);
  expect(await page.evaluate(() => Reflect.get(window, "wasAway"))).not.toBe(true);
  await close();
});

describe("a page that is opened while the service is away", () => {
  test("opens, since its files were loaded ahead", async () => {
    const { page, close } = await visit("", { expected: /ERR_/, clock: true });
    const requested: string[] = [];
    page.on("requestfinished", (request) => requested.push(request.url()));
    // The schemas are the last of them.
    await until(
      async () => {
        await page.clock.fastForward(1_000);
        return requested.some((url) => url.includes("schemas"));
      },
      "the files of all pages",
      { details: () => requested.join() },
    );
    await dashboard.goAway();
    await page.getByRole("link", { name: "Rules" }).click();
    await page.getByRole("heading", { name: "Rules", level: 1 }).waitFor();
    await dashboard.comeBack();
    await page.getByText("Rigbridge does not answer").waitFor({ state: "detached" });
    await close();
  });

  test("says that the service is away if they are not there, not that it was updated, and opens when it is back", async () => {
    const { page, close } = await visit("settings", { fresh: true, expected: /ERR_|Failed to load/ });
    await withoutLoadingAhead(page);
    await dashboard.goAway();
    await page.getByRole("link", { name: "Hosts" }).click();
    await page.getByRole("heading", { name: "Rigbridge does not answer" }).waitFor();
    expect(await page.getByRole("main").innerText()).not.toMatch(/updated|preload/i);
    await dashboard.comeBack();
    await page.getByRole("heading", { name: "Hosts", level: 1 }).waitFor();
    await close();
  });
});
