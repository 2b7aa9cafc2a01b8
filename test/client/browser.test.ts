import { readFile } from "node:fs/promises";
import { request as httpRequest } from "node:http";
import { join } from "node:path";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Page } from "playwright-core";
import { connectService } from "../../src/client/browser.ts";
import { fetchPlatform } from "../../src/client/fetch-platform.ts";
import { openWire } from "../../src/client/wire.ts";
import { closeContexts, newPage, testInBrowser } from "../chromium.ts";
import { blocksIn } from "../docs/page-blocks.ts";
import { root } from "../package/packed.ts";
import { until } from "../until.ts";
import { type Dashboard, startDashboard } from "../web/dashboard.ts";
import { answering, closeServers, connecting, type TestServer } from "./servers.ts";

// depends on: client/README.md, scripts/client.mjs

const key = "invented-key-of-the-browser-test";
const caller = { actor: "test" };
const [example = ""] = blocksIn(await readFile(join(root, "client", "README.md"), "utf8"), "html");
const file = await readFile(join(root, "client", "dist", "browser.js"));

/** An origin with the page of the README and the packaged file, in front of a service. */
const startPage = (service: () => string): Promise<TestServer> =>
  answering((request, response) => {
    const own = { "/": example, "/browser.js": file }[request.url ?? ""];
    if (own !== undefined) {
      const type = request.url === "/" ? "text/html" : "text/javascript";
      response.writeHead(200, { "content-type": type }).end(own);
      return;
    }
    const { method, headers } = request;
    const onward = httpRequest(new URL(request.url ?? "", service()), { method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on("error", () => response.destroy());
    response.on("close", () => onward.destroy());
    request.pipe(onward);
  });

afterAll(closeServers);

describe("in Chromium", () => {
  let dashboard: Dashboard;
  let page: TestServer;
  beforeAll(async () => {
    page = await startPage(() => dashboard.url);
    dashboard = await startDashboard({
      rigs: [{ rig: { kind: "axeos", warm: true }, name: "Desk" }],
      config: { http: { origins: [page.url] } },
    });
  });
  afterEach(closeContexts);
  afterAll(() => dashboard.close());

  const opened = async (url: string): Promise<Page> => {
    const tab = await newPage(800, 600);
    await tab.goto(url);
    return tab;
  };

  testInBrowser("the page of the README lists the rigs of its own origin, and shows what changes", async () => {
    const tab = await newPage(800, 600);
    // A module that cannot be loaded is no error of the page, only a failed request.
    const broken = new Promise<never>((_, reject) => {
      tab.once("pageerror", reject);
      tab.once("requestfailed", (request) => reject(new Error(`${request.url()}: ${request.failure()?.errorText}`)));
    });
    await tab.goto(page.url);
    await Promise.race([tab.getByText("Desk: Mining").waitFor(), broken]);
    await dashboard.service.minerAction({ id: 1_000_000_001, action: "stop" }, caller);
    await Promise.race([tab.getByText("Desk: Stopped").waitFor(), broken]);
  });

  /** Calls a method in a page, at a service; its error's code and message, or "done". */
  const called = (tab: Page, url: string, given?: string): Promise<string> =>
    tab.evaluate(
      async ([module, url, key]) => {
        const client: typeof import("../../src/client/browser.ts") = await import(module ?? "");
        const { connectService, RigbridgeError } = client;
        const service = connectService({ url: url ?? "", key });
        try {
          await service.minerAction({ id: 1_000_000_001, action: "start" }, { actor: "page" });
          const end = new AbortController();
          for await (const { type } of service.watchEvents({}, { actor: "page" }, end.signal)) {
            if (type === "miner") end.abort();
          }
          return "done";
        } catch (error) {
          return error instanceof RigbridgeError ? `${error.code} ${error.message}` : String(error);
        } finally {
          await service.close();
        }
      },
      ["/browser.js", url, given],
    );

  testInBrowser("a page of another origin acts and hears events if http.origins lists it", async () => {
    const tab = await opened(page.url);
    let result: string | undefined;
    void called(tab, dashboard.url)
      .catch(String)
      .then((said) => {
        result = said;
      });
    await until(async () => {
      await dashboard.readAll();
      return result !== undefined;
    }, "the page to hear an event");
    expect(result).toBe("done");
  });

  testInBrowser("a page of an origin that is not listed is told what to do", async () => {
    const stranger = await startPage(() => dashboard.url);
    const tab = await opened(stranger.url);
    expect(await called(tab, dashboard.url)).toMatch(/^service\.unreachable .*must be listed in http\.origins/);
  });

  testInBrowser("a wrong key and a redirect are clear errors", async () => {
    const locked = await startDashboard({ rigs: [], config: { http: { key } } });
    try {
      const front = await startPage(() => locked.url);
      const tab = await opened(front.url);
      expect(await called(tab, front.url, "some-other-key-than-this")).toMatch(/^key\.wrong /);
      const elsewhere = await answering((_, response) => response.writeHead(302, { location: front.url }).end());
      const moved = await startPage(() => elsewhere.url);
      expect(await called(await opened(moved.url), moved.url, key)).toMatch(/^service\.unreachable .*it redirects/);
    } finally {
      await locked.close();
    }
  });
});

describe("what a browser's HTTP reports", () => {
  const request = { method: "GET", path: "/", query: {}, timeoutMs: 200, maxBytes: 1_000 };
  const exchange = ({ url }: TestServer) => openWire(fetchPlatform, url, undefined).exchange(request);

  test("a server that does not answer in time", async () => {
    const silent = await connecting(() => undefined);
    await expect(exchange(silent)).rejects.toMatchObject({
      code: "service.unreachable",
      message: expect.stringContaining("it did not answer in time (within 0.2 s)"),
    });
  });

  test("an answer that is too long", async () => {
    const long = await answering((_, response) => response.end("x".repeat(1_001)));
    await expect(exchange(long)).rejects.toMatchObject({ code: "service.garbled" });
  });

  test("a stream of events that breaks off, once a poll has been missed", async () => {
    const dashboard = await startDashboard({ rigs: [{ rig: { kind: "axeos", warm: true }, name: "Desk" }] });
    const service = connectService({ url: dashboard.url, poll: 0.1 });
    const end = new AbortController();
    const reached: (string | null)[] = [];
    const watched = (async () => {
      for await (const _ of service.watchEvents({}, caller, end.signal, (error) => reached.push(error?.code ?? null)));
    })();
    try {
      await service.listMiners({}, caller);
      await dashboard.goAway();
      await until(() => reached.includes("service.unreachable"), "the watcher to be told that the service is lost");
      await dashboard.comeBack();
      await until(() => reached.at(-1) === null, "the watcher to be told that it is back");
    } finally {
      end.abort();
      await watched;
      await service.close();
      await dashboard.close();
    }
  });
});
