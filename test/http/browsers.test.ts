import { hostname } from "node:os";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve({
    origins: ["https://panel.example"],
    hosts: ["mining.example"],
    trustedProxies: ["127.0.0.2"],
  });
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.calls.length = 0;
});

const act = "/api/miners/1?action=reboot";
const ownLocal = `${hostname().split(".", 1)[0]}.local`;
const evil = { origin: "http://evil.example" };

test("an action with another server's absolute target is refused", async () => {
  for (const [target, host] of [
    ["http://evil.example", "evil.example"],
    ["http://evil.example", "127.0.0.1"],
    ["http://127.0.0.1", "192.168.0.1"],
  ]) {
    const answer = await served.raw(`POST ${target}${act} HTTP/1.1\r\nHost: ${host}\r\nConnection: close\r\n\r\n`);
    expect(answer).toMatch(/^HTTP\/1.1 421 /);
  }
  expect(served.calls).toEqual([]);
});

describe("an action", () => {
  test.each<[string, Record<string, string>]>([
    ["of a client that is no browser", {}],
    ["of curl -d", { "content-type": "application/x-www-form-urlencoded" }],
    ["typed into a browser", { "sec-fetch-site": "none" }],
    ["of a listed origin", { origin: "https://panel.example", "sec-fetch-site": "cross-site" }],
    ["under a listed name", { host: "mining.example:80" }],
    ["under localhost", { host: "localhost" }],
    ["under the machine's own name", { host: hostname() }],
    ["under the machine's own .local name", { host: ownLocal }],
    ["under an IPv6 address", { host: "[::1]:17790" }],
    ["of our own page", { host: ownLocal, origin: `http://${ownLocal}`, "sec-fetch-site": "same-origin" }],
  ])("%s is done", async (_what, headers) => {
    expect((await served.ask("POST", act, { headers })).status).toBe(200);
    expect(served.calls).toHaveLength(1);
  });

  test("with this server's absolute target is executed", async () => {
    const answer = await served.raw(
      `POST http://localhost${act} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`,
    );
    expect(answer).toMatch(/^HTTP\/1.1 200 /);
  });

  test("of our own page behind a trusted proxy with TLS is done", async () => {
    const headers = {
      "x-forwarded-for": "127.0.0.1",
      "x-forwarded-proto": "https",
      "x-forwarded-host": "mining.example",
      origin: "https://mining.example",
    };
    expect((await served.ask("POST", act, { headers, from: "127.0.0.2" })).status).toBe(200);
    expect((await served.ask("POST", act, { headers, from: "127.0.0.3" })).status).toBe(403);
  });
});

describe("CORS", () => {
  const origin = "https://panel.example";

  test("lets a listed origin read, errors too", async () => {
    for (const target of ["/api/summary", "/api/miners/x"]) {
      const { headers } = await served.ask("GET", target, { headers: { origin } });
      expect(headers["access-control-allow-origin"]).toBe(origin);
      expect(headers.vary).toBe("Origin, accept-encoding");
    }
  });

  test("answers the preflight of a listed origin", async () => {
    const { status, headers } = await served.ask("OPTIONS", "/api/miners/1", {
      headers: { origin, "access-control-request-method": "DELETE", "access-control-request-headers": "x-api-key" },
    });
    expect(status).toBe(204);
    expect(headers).toMatchObject({
      "access-control-allow-origin": origin,
      "access-control-allow-methods": "GET, HEAD, POST, PUT, PATCH, DELETE",
      "access-control-allow-headers": "Content-Type, X-API-Key, If-None-Match, Last-Event-ID, Idempotency-Key",
    });
  });

  test("sends no headers to other origins", async () => {
    const read = await served.ask("GET", "/api/summary", { headers: evil });
    const preflight = await served.ask("OPTIONS", act, {
      headers: { ...evil, "access-control-request-method": "POST" },
    });
    expect(preflight.status).toBe(403);
    for (const { headers } of [read, preflight])
      expect(Object.keys(headers).filter((name) => name.startsWith("access-control"))).toEqual([]);
  });

  test("is not there when no origin is listed", async () => {
    const plain = await serve();
    const { headers } = await plain.ask("GET", "/api/summary", { headers: { origin } });
    expect(headers["access-control-allow-origin"]).toBeUndefined();
    expect(headers.vary).toBe("accept-encoding");
    await plain.server.close();
  });
});

test("every answer forbids browsers to sniff types and to send referrers", async () => {
  for (const target of ["/api/summary", "/api/nix", "/api/user/%zz"]) {
    const { headers } = await served.ask("GET", target);
    expect(headers).toMatchObject({ "x-content-type-options": "nosniff", "referrer-policy": "no-referrer" });
  }
});
