import { existsSync } from "node:fs";
import { test } from "@jest/globals";
import { type Browser, chromium, type FrameLocator, type Page } from "playwright-core";
import { type HostOptions, type PageHost, startPageHost } from "./page-host.ts";

const programs = ["/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];
const program = programs.find((each) => existsSync(each));
if (program === undefined)
  process.stderr.write(`The settings page is not tried in a browser: there is none of ${programs.join(", ")}\n`);

/** A test that needs a browser; skipped where there is none, which has been said then. */
export const testInBrowser = program === undefined ? test.skip : test;

let browser: Browser | null = null;

export interface OpenedPage {
  readonly host: PageHost;
  readonly page: Page;
  /** The plugin's page within it. */
  readonly inside: FrameLocator;
  /** Addresses that were asked for. */
  readonly requested: readonly string[];
  /** What the browser found wrong. */
  readonly faults: readonly string[];
  close(): Promise<void>;
}

export interface PageOptions extends HostOptions {
  readonly width?: number;
}

/** Waits so long for what is expected, on machines that are several times slower. */
export const patience = 60_000;

/** The settings page in a real Chromium, once it has been checked for the first time. No services are looked for. */
export async function openPage({ width = 900, answers = {}, ...options }: PageOptions = {}): Promise<OpenedPage> {
  const host = await startPageHost({ ...options, answers: { "/services": [], ...answers } });
  browser ??= await chromium.launch({
    ...(program === undefined ? {} : { executablePath: program }),
    // Chromium as root has no sandbox; it shows nothing but what is in this repository.
    args: process.getuid?.() === 0 ? ["--no-sandbox"] : [],
  });
  const page = await browser.newPage({ viewport: { width, height: 900 } });
  page.setDefaultTimeout(patience);
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
  return {
    host,
    page,
    inside,
    requested,
    faults,
    close: async () => {
      await page.close();
      await host.close();
    },
  };
}

export async function closeBrowser(): Promise<void> {
  await browser?.close();
  browser = null;
}
