import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Page } from "playwright-core";
import { closeContexts, newPage, testInBrowser as test } from "../chromium.ts";
import { reverseProxy } from "../http/reverse-proxy.ts";
import { isWhole } from "../whole.ts";
import { axe, type Dashboard, follow, loaded, overflow, type Scheme, startDashboard, visitOf } from "./dashboard.ts";
import { everyPage } from "./every-page.ts";

/** Markup that would run, from right to left, and no place to break: 200 characters. */
const hostile = (max = 200): string =>
  `<img src=x onerror=window.ran=1>\u200f\u061c"'&lt;${"w".repeat(max)}`.slice(0, max);
const rig = { kind: "axeos", warm: true } as const;

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      {
        name: hostile(),
        rig,
        settings: {
          group: hostile(),
          tags: [hostile(64), "quiet"],
          location: { site: hostile(64), rack: hostile(64) },
        },
      },
      // Its own words: model, firmware, worker and pools.
      { name: "Words", rig: { kind: "cgminer", warm: true, fault: "names" }, settings: { group: "Hall" } },
      { name: "Long words", rig: { kind: "axeos", warm: true, fault: "long-texts" }, settings: { group: "Hall" } },
      { name: "Page", rig: { ...rig, fault: "http-page" }, settings: { group: "Hall" } },
      { name: "Heater", rig: { kind: "whatsminer", warm: true }, settings: { group: "Hall" } },
    ],
    config: {
      display: { currency: "EUR" },
      electricity: { price: 0.3 },
      groups: [{ name: hostile(), room: true }, { name: "Hall" }],
      pools: [{ name: hostile(), url: "stratum+tcp://pool.example.com:3333", worker: hostile() }],
      rules: [
        {
          key: "hostile",
          name: hostile(),
          when: { all: [{ offline: true }] },
          do: [{ notify: "critical", text: hostile() }],
        },
      ],
      schedules: [{ key: "night", name: hostile(), cron: "0 3 * * *", do: [{ action: "start" }] }],
      templates: [{ name: hostile(), do: [{ set: "fan", value: 60 }] }],
      channels: [{ key: "desk", type: "webhook", url: "http://127.0.0.1:9/", secret: "a-secret-of-a-web-hook" }],
      users: [{ name: hostile(), key: "the-key-of-a-user-1", privilege: "view" }],
    },
  });
  for (let read = 0; read < 3; read += 1) await dashboard.readAll();
  dashboard.service.setWarning?.(hostile(), hostile());
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

/** What stands out of the window and is not cut off or scrolled by what it is in. */
const widest = (page: Page): Promise<string> =>
  page.evaluate(() => {
    const isHeld = (each: Element): boolean => {
      const around = each.parentElement;
      return around !== null && (getComputedStyle(around).overflowX !== "visible" || isHeld(around));
    };
    const wide = [...document.querySelectorAll("body *")].filter((each) => {
      const { left, right } = each.getBoundingClientRect();
      return (right > innerWidth + 1 || left < -1) && !isHeld(each);
    });
    return wide
      .slice(0, 6)
      .map(({ outerHTML }) => outerHTML.slice(0, 160))
      .join("\n");
  });

/** Figures that are cut off, and tiles and rooms of one row that begin or end at different heights. */
const uneven = (page: Page): Promise<string[]> =>
  page.evaluate(() => {
    const found: string[] = [];
    for (const each of document.querySelectorAll(".tile-value, .tile dt, .room-today dd"))
      if (each.scrollWidth > each.clientWidth + 1) found.push(`cut off: ${each.textContent}`);
    for (const row of document.querySelectorAll(".tiles, .rooms")) {
      const ends = new Map<number, number>();
      for (const { top, bottom } of [...row.children].map((child) => child.getBoundingClientRect())) {
        const before = ends.get(Math.round(top));
        ends.set(Math.round(top), bottom);
        if (before !== undefined && Math.abs(before - bottom) > 1) found.push(`ends at ${bottom}, not ${before}`);
      }
      const values = [...row.querySelectorAll(".tile dd")].map((value) => value.getBoundingClientRect().top);
      if (new Set(values.map(Math.round)).size > ends.size) found.push("values of one row at different heights");
    }
    return found;
  });

test("without JavaScript there is only a notice", async () => {
  const page = await newPage(375, 800, { javaScriptEnabled: false });
  await page.goto(dashboard.url);
  await page.locator("noscript p").waitFor();
  expect(await page.getByText("Rigbridge…").isVisible()).toBe(false);
  await page.context().close();
});

describe("every page, with hostile names and hostile rigs,", () => {
  test("is accessible in light and dark, wide and narrow; nothing of the names runs or widens it", async () => {
    const { page, close } = await dashboard.visit("");
    const found: string[] = [];
    for (const [index, { at }] of (await everyPage(dashboard.service)).entries()) {
      await page.setViewportSize({ width: 1440, height: 900 });
      await follow(page, `${dashboard.url}/${at}`);
      for (const width of [1440, 375, 320]) {
        await page.setViewportSize({ width, height: 800 });
        const more = await overflow(page);
        if (more > 0) found.push(`/${at} at ${width} px: ${more} px too wide: ${await widest(page)}`);
        found.push(...(await uneven(page)).map((each) => `/${at} at ${width} px: ${each}`));
        // By turns: what is only narrow, or in one scheme, has the same style on all pages.
        const isTurn = width === (index % 4 < 2 ? 1440 : 375);
        const schemes: Scheme[] = isWhole ? ["light", "dark"] : [index % 2 === 0 ? "dark" : "light"];
        if (width > 320 && (isWhole || isTurn))
          found.push(...(await axe(page, schemes)).map((each) => `/${at} at ${width} px: ${each}`));
      }
      if (await page.evaluate("'ran' in window")) found.push(`/${at}: a name ran`);
    }
    expect(found).toEqual([]);
    await close();
  });

  test("is in order from right to left", async () => {
    const { page, close } = await dashboard.visit("", { locale: "fa-IR", width: 375, height: 800 });
    const found: string[] = [];
    for (const { at } of await everyPage(dashboard.service)) {
      await follow(page, `${dashboard.url}/${at}`);
      expect(await page.evaluate(() => document.documentElement.dir)).toBe("rtl");
      // From right to left, what is too wide stands out on the left.
      const more = await page.evaluate(
        () => document.documentElement.scrollWidth - document.documentElement.clientWidth,
      );
      if (more > 0) found.push(`/${at}: ${more} px too wide: ${await widest(page)}`);
    }
    expect(found).toEqual([]);
    await close();
  });

  test("opens below a prefix by its address and by its link, and asks nothing from elsewhere", async () => {
    const proxy = await reverseProxy(Number(new URL(dashboard.url).port), "/a/b/");
    const { page, close } = await visitOf(proxy.url, "");
    const elsewhere: string[] = [];
    page.on("request", (request) => {
      if (!request.url().startsWith(proxy.url)) elsewhere.push(request.url());
    });
    const all = await everyPage(dashboard.service);
    // One of every four: the addresses of all are made in the same way.
    const some = all.filter((_, index) => isWhole || index % 4 === 0);
    for (const { at, menu } of some) {
      await page.goto(proxy.url + at);
      await loaded(page);
      const title = await page.getByRole("heading", { level: 1 }).first().innerText();
      expect([at, title]).not.toEqual([at, expect.stringContaining("does not exist")]);
      await follow(page, `${proxy.url}rigs`);
      // A service without other sites has no place for them in its menu.
      if (menu === undefined || menu.onlyWithSites === true) await follow(page, proxy.url + at);
      else {
        const path = new URL(proxy.url + at).pathname;
        await page.getByRole("navigation").locator(`a[href="${path}"]`).first().click();
        await loaded(page);
      }
      await page.getByRole("heading", { level: 1, name: title, exact: true }).first().waitFor();
      expect(page.url()).toBe(proxy.url + at);
    }
    expect(elsewhere).toEqual([]);
    await close();
    proxy.close();
  });
});
