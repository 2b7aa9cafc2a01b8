import { existsSync, readFileSync } from "node:fs";
import { fileURLToPath } from "node:url";
import { jestExpect as expect } from "@jest/expect";
import { pino } from "pino";
import type { Locator, Page } from "playwright-core";
import { z } from "zod";
import { Config } from "../../src/config/index.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import type { MiningService } from "../../src/contract/service.ts";
import { type HttpServer, startHttpServer } from "../../src/http/index.ts";
import { startService } from "../../src/service/index.ts";
import { type Farm, type RigSpec, type SimulatedRig, startFarm } from "../../src/simulator/index.ts";
import { openStore, type Store } from "../../src/store/index.ts";
import { borrowPage, giveBack, newPage } from "../chromium.ts";
import { ownHost } from "../own-host.ts";
import { until } from "../until.ts";

// depends on: src/web/**

/** A simulated rig, and what the configuration says of it beside its address. */
export interface DashboardRig {
  readonly rig: RigSpec;
  readonly name: string;
  readonly settings?: Readonly<Record<string, unknown>>;
  /** Added through the API instead, so that it can be changed and deleted there; after those of the configuration. */
  readonly isAdded?: true;
}

export interface DashboardOptions {
  readonly rigs: readonly DashboardRig[];
  /** Further keys of the configuration; `http.key` makes every visit sign in. */
  readonly config?: Readonly<Record<string, unknown>>;
}

export type Scheme = "light" | "dark";

export interface VisitOptions {
  /** px; 1440 by default. */
  readonly width?: number;
  readonly height?: number;
  readonly scheme?: Scheme;
  /** Of the browser, such as "de-DE"; "en-US" by default. */
  readonly locale?: string;
  /** Signs in with it before the page opens. */
  readonly key?: string;
  readonly reducedMotion?: boolean;
  /** Lets the test move the page's clock (`page.clock`), which runs by itself until then. */
  readonly clock?: boolean;
  /** In a browser that has loaded nothing yet, for tests of what it loads and those that change more than the page. */
  readonly fresh?: boolean;
  /** Errors on the browser's console that the test brings about. */
  readonly expected?: RegExp;
}

/** The dashboard in a browser. */
export interface Visit {
  readonly page: Page;
  /** Errors of scripts and on the console, what the content security policy refused, and keys that the API ignored. */
  readonly problems: readonly string[];
  /** Closes the page. Fails if there were problems. */
  close(): Promise<void>;
}

/** A real service over simulated rigs in this process, with the built dashboard. */
export interface Dashboard {
  readonly url: string;
  readonly service: MiningService;
  readonly store: Store;
  /** In the order of the options; the first has the id 1000000001. */
  readonly rigs: readonly SimulatedRig[];
  /** Opens a page by its path, such as "rigs?status=Mining". */
  visit(path: string, options?: VisitOptions): Promise<Visit>;
  /** Reads every rig, so that what has changed there is on the page. */
  readAll(): Promise<void>;
  /** A code that signs in once; null without a key. */
  loginCode(): string | null;
  /** The service no longer answers. */
  goAway(): Promise<void>;
  /** The service answers again at the same address. */
  comeBack(): Promise<void>;
  /** Closes everything. Fails if an open visit had problems. */
  close(): Promise<void>;
}

const caller = { actor: "test" };
const log = pino({ level: "silent" });
const built = fileURLToPath(new URL("../../dist/web/index.html", import.meta.url));

/** Starts it with every rig read once. Throws if the dashboard is not built. */
export async function startDashboard({ rigs, config = {} }: DashboardOptions): Promise<Dashboard> {
  if (!existsSync(built)) throw new Error("dist/web is missing: build the dashboard with `npm run build`");
  const farm = await startFarm({ rigs: rigs.map(({ rig }) => ({ host: ownHost(), ...rig })) });
  const { http, ...others } = config;
  const settings = Config.parse({
    // Read when a test says so.
    poll: { interval: 3600 },
    power: { minOn: 0, minOff: 0, changesPerHour: 3600 },
    ...others,
    http: { host: "127.0.0.1", port: 0, ...z.record(z.string(), z.unknown()).default({}).parse(http) },
    miners: rigs.flatMap(({ name, settings, isAdded }, index) =>
      isAdded ? [] : [{ name, ...settings, address: farm.rigs[index]?.address }],
    ),
  });
  const store = await openStore({ file: ":memory:", now: Date.now });
  const service = await startService({ config: settings, store, log });
  for (const [index, { name, isAdded }] of rigs.entries())
    if (isAdded) await service.addMiner({ name, address: farm.rigs[index]?.address ?? "" }, caller);
  const server = await startHttpServer({
    service,
    settings: settings.http,
    log,
    version: "test",
    sessions: store.sessions,
  });
  const dashboard = new Running(farm, store, service, server, settings);
  await dashboard.readAll();
  return dashboard;
}

class Running implements Dashboard {
  readonly url: string;
  readonly store: Store;
  readonly service: MiningService;
  readonly #farm: Farm;
  readonly #settings: Config;
  readonly #visits = new Set<Visit>();
  #server: HttpServer;

  constructor(farm: Farm, store: Store, service: MiningService, server: HttpServer, settings: Config) {
    this.#farm = farm;
    this.store = store;
    this.service = service;
    this.#server = server;
    this.#settings = settings;
    this.url = server.url;
  }

  get rigs(): readonly SimulatedRig[] {
    return this.#farm.rigs;
  }

  async visit(path: string, options: VisitOptions = {}): Promise<Visit> {
    const visit = await visitOf(this.url, path, options, () => this.#visits.delete(visit));
    this.#visits.add(visit);
    return visit;
  }

  async readAll(): Promise<void> {
    const { groupList } = await this.service.listMiners({}, caller);
    const enabled = [...minersIn(groupList)].filter(({ statusInfo }) => statusInfo.statusDisplay !== "Disabled");
    await Promise.all(enabled.map(({ id }) => this.service.pollMiner({ id }, caller)));
  }

  loginCode(): string | null {
    return this.#server.loginCode();
  }

  goAway(): Promise<void> {
    return this.#server.close();
  }

  async comeBack(): Promise<void> {
    const settings = { ...this.#settings.http, port: Number(new URL(this.url).port) };
    const { service, store } = this;
    this.#server = await startHttpServer({ service, settings, log, version: "test", sessions: store.sessions });
  }

  async close(): Promise<void> {
    const problems: string[] = [];
    for (const visit of this.#visits) {
      await visit.page.context().close();
      problems.push(...visit.problems);
    }
    await this.#server.close();
    await this.service.close();
    await this.store.close();
    await this.#farm.close();
    expect(problems).toEqual([]);
  }
}

/** Opens a page of any dashboard, such as one below a path or of `rigbridge web`. */
export async function visitOf(
  url: string,
  path: string,
  options: VisitOptions = {},
  closed: () => void = () => undefined,
): Promise<Visit> {
  const { width = 1440, height = 900, scheme = "light", locale = "en-US", key, expected } = options;
  const look = {
    locale,
    colorScheme: scheme,
    reducedMotion: options.reducedMotion === true ? "reduce" : "no-preference",
  } as const;
  // A page keeps its clock.
  const isOwn = options.fresh === true || options.clock === true;
  const page = isOwn ? await newPage(width, height, look) : await borrowPage(width, height, look);
  const problems: string[] = [];
  const add = (text: string): void => {
    if (expected?.test(text) !== true) problems.push(text);
  };
  page.on("pageerror", (error) => add(String(error.stack ?? error)));
  page.on("console", (message) => {
    if (message.type() === "error") add(`${message.text()} (${message.location().url})`);
  });
  page.on("response", (response) => {
    const keys = response.headers()["x-ignored-keys"];
    if (keys !== undefined) add(`${response.request().method()} ${response.url()} sent keys that are ignored: ${keys}`);
  });
  const base = url.endsWith("/") ? url : `${url}/`;
  if (key !== undefined) {
    const answer = await page.context().request.post(new URL("api/session", base).href, { data: { key } });
    if (!answer.ok()) throw new Error(`Sign-in answered ${answer.status()}: ${await answer.text()}`);
  }
  // Not in an open page, for which it would be 1970 for some milliseconds.
  if (options.clock === true) await page.clock.install({ time: Date.now() });
  await page.goto(new URL(path, base).href);
  await page.getByRole("heading", { level: 1 }).first().waitFor();
  // Also before a test holds the page's clock, by which its parts appear one after another.
  await page.locator("html[data-ready]").waitFor();
  return {
    page,
    problems,
    async close() {
      await (isOwn ? page.context().close() : giveBack(page, look));
      closed();
      expect(problems).toEqual([]);
    },
  };
}

/** Opens the page anew in a browser that is never idle, so that it loads the files of no other page ahead. */
export async function withoutLoadingAhead(page: Page): Promise<void> {
  await page.addInitScript(() => Object.assign(window, { requestIdleCallback: () => 0 }));
  await page.reload();
  await page.getByRole("heading", { level: 1 }).first().waitFor();
}

/** Waits until the page has loaded what it shows. */
export async function loaded(page: Page): Promise<void> {
  await page.locator("h1:not([data-left])").first().waitFor();
  await page.locator(".loading, .starting").first().waitFor({ state: "detached" });
  await page.locator("html[data-ready]").waitFor();
}

/** Opens an address as by a link, and waits until the page has loaded what it shows. */
export async function follow(page: Page, href: string): Promise<void> {
  await followUnanswered(page, href);
  await loaded(page);
}

/**
 * Opens an address as by a link, which takes a fifth of what loading the dashboard again does. By way of a page that does not
 * exist, so that nothing of the page before stays; and what each page shows is marked, because it stays until the next has
 * loaded.
 */
export async function followUnanswered(page: Page, href: string): Promise<void> {
  for (const to of ["no-such-page", href]) {
    await page.evaluate((address) => {
      for (const each of document.querySelectorAll("h1, main > *")) each.toggleAttribute("data-left", true);
      const anchor = document.createElement("a");
      anchor.href = new URL(address, document.baseURI).href;
      document.body.append(anchor);
      anchor.click();
      anchor.remove();
    }, to);
    await page.locator("main > :not([data-left])").first().waitFor();
  }
}

const axeSource = readFileSync(fileURLToPath(import.meta.resolve("axe-core/axe.min.js")), "utf8");
const AxeResults = z.object({
  violations: z.array(
    z.object({
      id: z.string(),
      help: z.string(),
      nodes: z.array(z.object({ html: z.string(), target: z.unknown(), failureSummary: z.string().optional() })),
    }),
  ),
});

/** Of axe's rules, those that depend on colours: the others find the same in both schemes. */
const ofColours = { runOnly: { type: "rule", values: ["color-contrast", "link-in-text-block"] } };

/** What axe finds on the page, in light and dark; nothing is as it should be. */
export async function axe(page: Page, schemes: readonly Scheme[] = ["light", "dark"]): Promise<string[]> {
  const found: string[] = [];
  const [before, isThere] = await page.evaluate(() => [
    matchMedia("(prefers-color-scheme: dark)").matches,
    "axe" in window,
  ]);
  if (!isThere) await page.evaluate(`(() => { ${axeSource} })()`);
  for (const [index, colorScheme] of schemes.entries()) {
    await page.emulateMedia({ colorScheme });
    // Without the sheets that are being loaded, which axe would copy into the page against its policy; no rule here needs them.
    const options = { resultTypes: ["violations"], preload: false, ...(index > 0 && ofColours) };
    const { violations } = AxeResults.parse(await page.evaluate(`window.axe.run(${JSON.stringify(options)})`));
    for (const { id, help, nodes } of violations)
      for (const { html, target, failureSummary } of nodes)
        found.push(`${colorScheme}: ${id}: ${help}: ${JSON.stringify(target)} ${html.slice(0, 200)} ${failureSummary}`);
  }
  await page.emulateMedia({ colorScheme: before ? "dark" : "light" });
  return found;
}

/** Waits until the text, with single spaces, is so or matches. */
export async function shows(locator: Locator, wanted: string | RegExp): Promise<void> {
  let text = "";
  await until(
    async () => {
      text = (await locator.innerText()).replace(/\s+/g, " ").trim();
      return typeof wanted === "string" ? text === wanted : wanted.test(text);
    },
    `the text ${wanted}`,
    { details: () => text },
  );
}

/** Presses what stops rigs in a page whose clock is the test's, and lets the time pass in which it could be taken back. */
export async function stopBy(button: Locator): Promise<void> {
  const page = button.page();
  await button.click();
  await page.locator(".undo-bar").waitFor();
  await page.clock.fastForward(10_000);
}

/** px by which the page is wider than its window. */
export const overflow = (page: Page): Promise<number> =>
  page.evaluate(() => Math.max(0, document.documentElement.scrollWidth - innerWidth));
