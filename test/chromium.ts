import { existsSync } from "node:fs";
// Not @jest/globals, which is there only in a run of Jest: the bench opens pages, too.
import { test } from "jest-circus";
import { type Browser, type BrowserContextOptions, chromium, type Page } from "playwright-core";
import { hasProgram } from "./has-program.ts";
import { limits } from "./until.ts";

/** The headless shell is the same browser with less overhead. */
export const chromiumPrograms = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
export const chromiumProgram = chromiumPrograms.find((each) => existsSync(each));
const program = chromiumProgram;
const isThere = hasProgram("chromium", program !== undefined, "tests in a browser");

/** A test that needs a browser; skipped, after a note on stderr, where there is none. */
export const testInBrowser = isThere ? test : test.skip;

let browser: Browser | null = null;

/** The one browser of this process, which starts with the first page and ends with the process. */
async function theBrowser(): Promise<Browser> {
  // Another if it has crashed, which failed the tests of the file before.
  if (browser?.isConnected() !== true) {
    idle.clear();
    browser = await chromium.launch({
      ...(program === undefined ? {} : { executablePath: program }),
      args: [
        // Chromium as root has no sandbox; it shows nothing but this repository's own pages and test data.
        ...(process.getuid?.() === 0 ? ["--no-sandbox"] : []),
        // What draws and what asks servers are threads, and all pages of a server share a process: starting those for each
        // page takes as long as the page.
        ...["--disable-gpu", "--in-process-gpu", "--enable-features=NetworkServiceInProcess2"],
        ...["--process-per-site", "--disable-site-isolation-trials"],
      ],
    });
  }
  return browser;
}

/** A page with a context of its own. */
export async function newPage(width: number, height: number, options: BrowserContextOptions = {}): Promise<Page> {
  const page = await (await theBrowser()).newPage({ ...options, viewport: { width, height } });
  page.setDefaultTimeout(limits.waitMs);
  return page;
}

export interface Look {
  readonly locale: string;
  readonly colorScheme: "light" | "dark";
  readonly reducedMotion: "reduce" | "no-preference";
}

/** Pages to use again, by their locale, which a page keeps. */
const idle = new Map<string, Page[]>();

/**
 * A page that nothing is left in, but in a browser that has been used: what it has loaded from a server need not be loaded
 * and compiled again, which takes half of a visit. For `giveBack`.
 */
export async function borrowPage(width: number, height: number, { locale, ...look }: Look): Promise<Page> {
  const page = idle.get(locale)?.pop() ?? (await newPage(width, height, { locale }));
  await page.setViewportSize({ width, height });
  await page.emulateMedia({ media: null, ...look });
  return page;
}

/** Empties a page for the next who borrows one of this locale. */
export async function giveBack(page: Page, { locale }: Look): Promise<void> {
  const context = page.context();
  await page.unrouteAll({ behavior: "ignoreErrors" });
  const others = context.pages().filter((each) => each !== page);
  await Promise.all(others.map((other) => other.close()));
  for (const event of watched) page.removeAllListeners(event);
  await page.evaluate(() => {
    localStorage.clear();
    sessionStorage.clear();
  });
  await page.goto("about:blank");
  await context.clearCookies();
  idle.set(locale, [...(idle.get(locale) ?? []), page]);
}

const watched = ["request", "requestfinished", "requestfailed", "response", "console", "pageerror", "dialog"] as const;

/** Closes every page that the tests of a file have left open. */
export async function closeContexts(): Promise<void> {
  const kept = new Set([...idle.values()].flat().map((page) => page.context()));
  const left = browser?.contexts().filter((context) => !kept.has(context)) ?? [];
  await Promise.all(left.map((context) => context.close()));
}

/** For programs that end by themselves once it is closed. */
export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
