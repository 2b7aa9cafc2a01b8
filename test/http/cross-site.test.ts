import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import { type Answer, type Ask, type Served, serve } from "./wire.ts";

/** What another site could do, tried on every operation of the table that changes something, and on the streams. */
let served: Served;
beforeAll(async () => {
  served = await serve(
    { origins: ["https://panel.example"], hosts: ["mining.example"] },
    { writeBurst: Number.POSITIVE_INFINITY },
  );
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.calls.length = 0;
});

type Case = readonly [how: string, what: Ask, target?: string];
const site = { origin: "http://evil.example", "sec-fetch-site": "cross-site" };
const form = "application/x-www-form-urlencoded";

const attacks: readonly Case[] = [
  ["a script of another site", { headers: site }],
  ["an older browser, which tells the origin alone", { headers: { origin: "http://evil.example" } }],
  ["a page without an origin of its own", { headers: { origin: "null", "sec-fetch-site": "cross-site" } }],
  ["an image or link of another site", { headers: { "sec-fetch-site": "cross-site" } }],
  ["a neighbour on the same site", { headers: { "sec-fetch-site": "same-site" } }],
  ["a browser of a later day", { headers: { "sec-fetch-site": "elsewhere" } }],
  ["the same host at another port", { headers: { host: "127.0.0.1:1", origin: "http://127.0.0.1:2" } }],
  ["the same host with TLS", { headers: { host: "127.0.0.1:1", origin: "https://127.0.0.1:1" } }],
  ["a form", { headers: { ...site, "content-type": form }, body: "action=reboot" }],
  ["a form of text that is JSON", { headers: { ...site, "content-type": "text/plain" }, body: '{"id":0}' }],
  ["a script that sends nothing", { headers: { ...site, "content-length": "0" } }],
  ["a rebound name", { headers: { host: "attacker.rebind.example" } }],
  ["a rebound name, as its own origin", { headers: { host: "evil.example", origin: "http://evil.example" } }],
  ["another device's .local name, as its own origin", { headers: { host: "tv.local", origin: "http://tv.local" } }],
  ["a rebound name in an absolute target", { headers: { host: "127.0.0.1" } }, "http://evil.example"],
  ["a listed origin that is only the beginning", { headers: { origin: "https://panel.example.evil" } }],
];

const welcome: readonly Case[] = [
  ["a program", {}],
  ["curl -d ''", { headers: { "content-type": form, "content-length": "0" } }],
  ["a person at the address bar", { headers: { "sec-fetch-site": "none" } }],
  ["our own page", { headers: { host: "127.0.0.1:1", origin: "http://127.0.0.1:1", "sec-fetch-site": "same-origin" } }],
  ["a listed page", { headers: { origin: "https://panel.example", "sec-fetch-site": "cross-site" } }],
  ["a program that knows us by a listed name", { headers: { host: "mining.example" } }],
];

const changing = operationNames.filter((name) => operations[name].method !== "GET");
const streams = operationNames.filter((name) => operations[name].kind === "stream");

function send(name: OperationName, [, what, absolute = ""]: Case): Promise<Answer> {
  const { method, path } = operations[name];
  return served.ask(method, absolute + path.replaceAll(/:\w+/g, "1"), what);
}

test("the table has something to change, and a stream", () => {
  expect(changing.length).toBeGreaterThan(25);
  expect(streams).toEqual(["watchEvents", "watchMinerRows"]);
});

describe.each(attacks.map((attack) => ({ how: attack[0], attack })))("$how", ({ attack }) => {
  test("can neither write nor open a stream", async () => {
    for (const name of [...changing, ...streams]) {
      const { status, json, headers } = await send(name, attack);
      expect([name, status, json.code]).toEqual(
        status === 421 ? [name, 421, "host.unknown"] : [name, 403, "request.cross-site"],
      );
      expect(headers["access-control-allow-origin"]).toBeUndefined();
    }
    expect(served.calls).toEqual([]);
  });
});

test.each(welcome.map((ask) => ({ how: ask[0], ask })))("$how is let through to every operation", async ({ ask }) => {
  for (const operation of changing)
    expect([operation, [403, 421].includes((await send(operation, ask)).status)]).toEqual([operation, false]);
  const head = await served.ask("HEAD", operations.watchEvents.path, ask[1]);
  expect(head.status).toBe(200);
});

test.each(["/API/Events", "/api/events/", "/api/events?after=1"])("a stream is one as %s too", async (target) => {
  expect((await served.ask("GET", target, { headers: site })).status).toBe(403);
});

test("a read by another site is answered, and no page of it may read the answer", async () => {
  const { status, headers } = await served.ask("GET", "/api/summary", { headers: site });
  expect([status, headers["access-control-allow-origin"]]).toEqual([200, undefined]);
});
