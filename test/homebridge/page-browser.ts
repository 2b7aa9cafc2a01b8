import type { FrameLocator, Page } from "playwright-core";
import { closeContexts, newPage } from "../chromium.ts";
import { until } from "../until.ts";
import { closeSharedProcess, type HostOptions, type PageHost, startPageHost } from "./page-host.ts";

export interface OpenedPage {
  readonly host: PageHost;
  readonly page: Page;
  /** The plugin's page within it. */
  readonly inside: FrameLocator;
  /** URLs that were requested. */
  readonly requested: readonly string[];
  /** Errors reported by the browser. */
  readonly faults: readonly string[];
}

export interface PageOptions extends HostOptions {
  readonly width?: number;
}

/** What the current test has opened. */
const closers: (() => Promise<void>)[] = [];

export async function closePages(): Promise<void> {
  for (const close of closers.splice(0).reverse()) await close();
}

/** After the tests of a file. */
export async function closeAll(): Promise<void> {
  await closeContexts();
  await closeSharedProcess();
}

/**
 * The settings page in a real Chromium, after its first check and its search for services, which finds none;
 * `closePages` closes it.
 */
export async function openPage({ width = 900, answers = {}, ...options }: PageOptions = {}): Promise<OpenedPage> {
  const host = await startPageHost({ ...options, answers: { "/services": [], ...answers } });
  closers.push(() => host.close());
  const page = await newPage(width, 900);
  closers.push(() => page.close());
  const requested: string[] = [];
  const faults: string[] = [];
  page.on("request", (request) => requested.push(request.url()));
  page.on("pageerror", (error) => faults.push(error.message));
  page.on("console", (message) => {
    if (message.type() === "error" && !message.location().url.endsWith("favicon.ico")) faults.push(message.text());
  });
  await page.goto(host.url);
  const inside = page.frameLocator("#page");
  await inside.locator(".rb-summary:not(:empty)").waitFor();
  // What is below the services moves then.
  await inside.getByText("Searching for services").waitFor({ state: "detached" });
  return { host, page, inside, requested, faults };
}

/** A block of config.json. */
export const block = (more: object = {}) => ({ platform: "Rigbridge", name: "Rigbridge", ...more });

/** Waits until the settings can be saved, saves them and returns what was saved. */
export async function saved({ page, host, inside }: OpenedPage): Promise<unknown> {
  await inside.locator(".rb-summary:not([aria-busy])").waitFor();
  const before = host.saved.length;
  await page.locator("#save:enabled").click();
  await until(() => host.saved.length > before, "the settings to be saved");
  return host.saved.at(-1);
}

/** Paths of all mistakes, in the order of the page. */
export const mistakes = ({ inside }: OpenedPage): Promise<string[]> =>
  inside.locator(".rb-summary li").evaluateAll((items) => items.map((item) => item.getAttribute("data-mistake") ?? ""));

export const isFocused = (element: Element): boolean => element === element.ownerDocument.activeElement;

/** The mistakes under a field. */
export const mistakesAt = ({ inside }: OpenedPage, path: string) =>
  inside.locator(`[data-path="${path}"] > .rb-mistake`);
