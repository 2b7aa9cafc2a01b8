import { existsSync } from "node:fs";
import { type Browser, chromium, type Page } from "playwright-core";
import { test } from "vitest";

/** The headless shell is the same browser with half the work. */
const programs = [
  "/usr/bin/chromium-headless-shell",
  "/usr/bin/chromium",
  "/usr/bin/chromium-browser",
  "/usr/bin/google-chrome",
];
const program = programs.find((each) => existsSync(each));
if (program === undefined)
  process.stderr.write(`Pages are not tried in a browser: there is none of ${programs.join(", ")}\n`);

/** A test that needs a browser; skipped where there is none, which has been said then. */
export const testInBrowser = program === undefined ? test.skip : test;

/** Waits so long for what is expected, on machines that are several times slower. */
export const patience = 60_000;

let browser: Browser | null = null;

/** A page of the one browser that these tests share, which starts with the first. */
export async function newPage(width: number, height: number): Promise<Page> {
  browser ??= await chromium.launch({
    ...(program === undefined ? {} : { executablePath: program }),
    // Chromium as root has no sandbox; it shows nothing but what is in this repository and what it is tested with.
    args: [...(process.getuid?.() === 0 ? ["--no-sandbox"] : [])],
  });
  const page = await browser.newPage({ viewport: { width, height } });
  page.setDefaultTimeout(patience);
  return page;
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
