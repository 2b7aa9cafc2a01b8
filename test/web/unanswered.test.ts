import { afterAll, beforeAll, describe, expect } from "@jest/globals";
import type { Page, Request } from "playwright-core";
import en from "../../src/messages/en.json" with { type: "json" };
import { closeContexts, testInBrowser as test } from "../chromium.ts";
import { until } from "../until.ts";
import { type Dashboard, follow, followUnanswered, startDashboard } from "./dashboard.ts";
import { everyPage } from "./every-page.ts";

let dashboard: Dashboard;

beforeAll(async () => {
  dashboard = await startDashboard({
    rigs: [
      { name: "Desk", rig: { kind: "axeos", warm: true }, settings: { group: "Hall", location: { site: "Farm" } } },
    ],
    config: {
      groups: [{ name: "Hall", room: true }],
      pools: [{ name: "Main", url: "stratum+tcp://pool.example.com:3333" }],
      rules: [
        { key: "gone", name: "Gone", when: { all: [{ offline: true }] }, do: [{ notify: "critical", text: "Gone" }] },
      ],
      schedules: [{ key: "night", name: "Night", cron: "0 3 * * *", do: [{ action: "start" }] }],
      templates: [{ name: "Quiet", do: [{ set: "fan", value: 60 }] }],
      channels: [{ key: "desk", type: "webhook", url: "http://127.0.0.1:9/", secret: "a-secret-of-a-web-hook" }],
    },
  });
  dashboard.service.setWarning?.("The disk is nearly full", "12 MB are left.");
});

afterAll(async () => {
  await dashboard?.close();
  await closeContexts();
});

/** Texts that say that there is none of something; what a form offers to leave empty is none of them. */
function sentencesOfNone(): string[] {
  const found = new Set<string>();
  const collect = (texts: object): void => {
    for (const [key, value] of Object.entries(texts)) {
      if (typeof value === "object" && value !== null) collect(value);
      else if (typeof value === "string" && /^(no|none|nothing|empty|gone)([A-Z].*)?$|Gone$/.test(key))
        found.add(value);
    }
  };
  collect(en);
  for (const text of found) if (text.length < 12) found.delete(text);
  // The dashboard's own word for a service that is silent, a link of a form, and what is so without any answer.
  for (const text of [en.shell.noAnswer, en.pools.noPassword, en.hosts.noParameters, en.settings.noSession])
    found.delete(text);
  return [...found, en.alarms.allFine, en.overview.noAlarms, en.alarms.noRigs];
}

/** The sections of a page, each of which has lists of its own. */
const sectionsOf = (page: Page): Promise<string[]> =>
  page.locator("nav.tabs a").evaluateAll((links) => links.map((each) => each.getAttribute("href") ?? ""));

/** Waits until the page has been drawn and has asked for what it shows. */
const drawn = (page: Page): Promise<unknown> =>
  page.evaluate(() => new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve))));

/** What the page says of what it cannot know. */
async function untrue(page: Page, sentences: readonly string[]): Promise<string[]> {
  const text = (await page.locator("body").innerText()).replace(/\s+/g, " ");
  return [...sentences.filter((each) => text.includes(each)), ...(text.match(/\b0 (open )?(alarm|rig)s?\b/g) ?? [])];
}

const isLists = ({ pathname }: URL): boolean => pathname.startsWith("/api/") && pathname !== "/api/session";
const isRows = ({ pathname }: URL): boolean => pathname === "/api/miners" || pathname === "/api/events";

/** What the service answers with an error, or not at all. */
const silences = {
  "while the API answers 500": { holds: isLists, fails: true },
  "while no answer has come": { holds: isLists, fails: false },
  "while only the rigs have come": { holds: (url: URL) => isLists(url) && !isRows(url), fails: false },
} as const;

describe("no page says that there is nothing", () => {
  let addresses: readonly string[] = [];

  test("there are pages, and sentences to look for", async () => {
    expect(sentencesOfNone().length).toBeGreaterThan(40);
    expect(sentencesOfNone()).toContain("No open alarms");
    const { page, close } = await dashboard.visit("");
    const found: string[] = [];
    for (const { at } of await everyPage(dashboard.service)) {
      await follow(page, at);
      await page.locator("main h1").first().waitFor();
      found.push(`/${at}`, ...(await sectionsOf(page)));
    }
    addresses = [...new Set(found)];
    expect(addresses.length).toBeGreaterThan(30);
    await close();
  });

  /** Opens pages while some answers are held; collects what they say all the same. */
  async function saidOn(
    some: readonly string[],
    holds: (url: URL) => boolean,
    fails: boolean,
    none: readonly string[],
  ) {
    const { page, close } = await dashboard.visit("", { expected: /500|ERR_|Failed to load/ });
    const asked = new Set<Request>();
    page.on("request", (request) => holds(new URL(request.url())) && asked.add(request));
    page.on("requestfinished", (request) => asked.delete(request));
    page.on("requestfailed", (request) => asked.delete(request));
    await page.route(holds, async (route) => {
      if (fails) await route.fulfill({ status: 500, json: { code: "store.unavailable", detail: "The store failed." } });
    });
    const found: string[] = [];
    const asking = page.waitForRequest((request) => holds(new URL(request.url())));
    await page.reload();
    await asking;
    for (const address of some) {
      asked.clear();
      await followUnanswered(page, address);
      await drawn(page);
      if (fails) {
        await until(() => asked.size === 0, `every answer to ${address}`);
        await page.locator(".banner.bad, .empty").first().waitFor();
        await drawn(page);
      }
      found.push(...(await untrue(page, none)).map((each) => `${address}: ${each}`));
      const counts = holds === isRows ? 0 : await page.getByRole("link", { name: /open alarm/ }).count();
      if (counts > 0) found.push(`${address}: a count of alarms`);
    }
    await page.unrouteAll({ behavior: "ignoreErrors" });
    await close();
    return found;
  }

  test.each(Object.entries(silences))("%s", async (_, { holds, fails }) => {
    expect(await saidOn(addresses, holds, fails, sentencesOfNone())).toEqual([]);
  });

  test("of rigs, while all but these has come", async () => {
    const some = ["/", "/rigs", "/alarms", "/settings?tab=groups"];
    const none = [en.alarms.noRigs, en.overview.noRigs, en.rigs.empty];
    expect(await saidOn(some, isRows, false, none)).toEqual([]);
  });
});
