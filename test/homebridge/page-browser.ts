import type { FrameLocator, Page } from "playwright-core";
import { newPage } from "../chromium.ts";
import { type HostOptions, type PageHost, startPageHost } from "./page-host.ts";

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

/** The settings page in a real Chromium, once it has been checked for the first time. No services are looked for. */
export async function openPage({ width = 900, answers = {}, ...options }: PageOptions = {}): Promise<OpenedPage> {
  const host = await startPageHost({ ...options, answers: { "/services": [], ...answers } });
  const page = await newPage(width, 900);
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
