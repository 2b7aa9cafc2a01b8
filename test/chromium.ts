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

/**
 * A page with a context of its own in the one browser of this process, which starts with the first page and ends with the
 * process.
 */
export async function newPage(width: number, height: number, options: BrowserContextOptions = {}): Promise<Page> {
  // Another if it has crashed, which failed the tests of the file before.
  if (browser?.isConnected() !== true)
    browser = await chromium.launch({
      ...(program === undefined ? {} : { executablePath: program }),
      // Chromium as root has no sandbox; it shows nothing but this repository's own pages and test data.
      args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
    });
  const page = await browser.newPage({ ...options, viewport: { width, height } });
  page.setDefaultTimeout(limits.waitMs);
  return page;
}

/** Closes every page that the tests of a file have left open. */
export async function closeContexts(): Promise<void> {
  await Promise.all(browser?.contexts().map((context) => context.close()) ?? []);
}

/** For programs that end by themselves once it is closed. */
export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
