import { afterAll, beforeAll, expect, test } from "@jest/globals";
import { exposed } from "../../src/config/index.ts";
import type { HttpSettings } from "../../src/config/schema.ts";
import { type Ask, type Served, serve } from "./wire.ts";

/** The supervisor in these tests; 127.0.0.3 is another machine that sends the same headers. */
const supervisor = "127.0.0.2";
const impostor = "127.0.0.3";
const host = "homeassistant.example:8123";

/** As Home Assistant forwards the request of a browser that has opened it at `host`. */
const forwarded = {
  host,
  "x-ingress-path": "/api/hassio_ingress/token",
  "x-forwarded-for": "203.0.113.9, 172.30.32.1",
  "x-forwarded-host": host,
  "x-forwarded-proto": "http",
};
const from = (address: string, more: Readonly<Record<string, string>> = {}): Ask => ({
  from: address,
  headers: { ...forwarded, ...more },
});
const page = { origin: `http://${host}`, "sec-fetch-site": "same-origin" };
const action = "/api/miners/1?action=reboot";
const codeOf = async (served: Served, method: string, target: string, ask: Ask) => {
  const { status, json } = await served.ask(method, target, ask);
  return status === 200 ? 200 : [status, json.code];
};

const served: Served[] = [];
const serving = async (settings: Partial<HttpSettings>): Promise<Served> => {
  const made = await serve(settings);
  served.push(made);
  return made;
};
let trusting: Served;
beforeAll(async () => {
  trusting = await serving({ ingress: supervisor });
});
afterAll(async () => {
  for (const { server } of served) await server.close();
});

test.each<[string, string, Ask]>([
  ["a read", "GET", from(supervisor, { "sec-fetch-site": "same-origin" })],
  ["an action of the dashboard", "POST", from(supervisor, page)],
  [
    "the same behind a TLS proxy that does not say so",
    "POST",
    from(supervisor, { ...page, origin: `https://${host}` }),
  ],
])("Home Assistant's ingress is served under any host name: %s", async (_what, method, ask) => {
  expect(await codeOf(trusting, method, method === "GET" ? "/api/miners" : action, ask)).toBe(200);
});

test("another address with the same headers is refused, whatever host name it sends", async () => {
  expect(await codeOf(trusting, "POST", action, from(impostor, page))).toEqual([421, "host.unknown"]);
  const known = { host: "127.0.0.1:8123", "x-forwarded-host": "127.0.0.1:8123", origin: "http://127.0.0.1:8123" };
  expect(await codeOf(trusting, "POST", action, from(impostor, known))).toEqual([403, "address.forbidden"]);
  // Claiming to be the supervisor in a header does not help either.
  const claimed = from(impostor, { ...known, "x-forwarded-for": supervisor });
  expect(await codeOf(trusting, "POST", action, claimed)).toEqual([403, "address.forbidden"]);
});

test("requests of the supervisor's own are not the ingress's", async () => {
  const { "x-ingress-path": _, ...own } = forwarded;
  expect(await codeOf(trusting, "GET", "/api/miners", { from: supervisor, headers: own })).toEqual([
    421,
    "host.unknown",
  ]);
});

test.each([
  ["another site", { origin: "https://evil.example", "sec-fetch-site": "cross-site" }],
  ["another port of the same host", { origin: "http://homeassistant.example:80", "sec-fetch-site": "same-site" }],
  ["no site", { origin: "null" }],
])("a page of %s cannot act through the ingress", async (_site, headers) => {
  expect(await codeOf(trusting, "POST", action, from(supervisor, headers))).toEqual([403, "request.cross-site"]);
});

test("it is off by default, and a key is needed where one is set", async () => {
  const usual = await serving({});
  expect(await codeOf(usual, "POST", action, from(supervisor, page))).toEqual([421, "host.unknown"]);
  const keyed = await serving({ ingress: supervisor, key: "0123456789abcdef" });
  expect(await codeOf(keyed, "POST", action, from(supervisor, page))).toEqual([401, "key.missing"]);
});

test("it allows listening beyond loopback without a key", () => {
  expect(exposed({ host: "0.0.0.0", ingress: "172.30.32.2", open: false })).toBeNull();
  expect(exposed({ host: "0.0.0.0", open: false })).not.toBeNull();
});
