import { createHash } from "node:crypto";
import { afterAll, beforeAll, describe, expect, test } from "@jest/globals";
import type { HttpSettings } from "../../src/config/schema.ts";
import { keyCheck, keyDigest } from "../../src/http/keys.ts";
import { type Ask, type Served, serve } from "./wire.ts";

const key = "correct-horse-battery";
const wrong = "staple-staple-staple!";
const digests = { right: keyDigest(key), wrong: keyDigest(wrong) };

describe("a key", () => {
  test("is right, wrong or missing", () => {
    const check = keyCheck(key);
    expect([key, wrong, `${key} `, key.toUpperCase()].map((each) => check.verdict(keyDigest(each), "a"))).toEqual([
      "right",
      "wrong",
      "wrong",
      "wrong",
    ]);
    expect(check.verdict(undefined, "a")).toBe("missing");
  });

  test("that is wrong more than ten times in ten seconds is limited for that address, and the right one never", () => {
    let now = 0;
    const check = keyCheck(key, () => now);
    const tries = Array.from({ length: 12 }, () => check.verdict(digests.wrong, "a"));
    expect(tries).toEqual([...Array(10).fill("wrong"), "limited", "limited"]);
    expect(check.verdict(digests.right, "a")).toBe("right");
    expect(check.verdict(digests.wrong, "b")).toBe("wrong");
    now = 9_999;
    expect(check.verdict(digests.wrong, "a")).toBe("limited");
    now = 10_000;
    expect(check.verdict(digests.wrong, "a")).toBe("wrong");
  });

  test("that is missing counts as no try", () => {
    const check = keyCheck(key);
    for (let i = 0; i < 20; i += 1) check.verdict(undefined, "a");
    expect(check.verdict(digests.wrong, "a")).toBe("wrong");
  });

  test("tried from very many addresses leaves only the last of them remembered", () => {
    const check = keyCheck(key, () => 0);
    for (let i = 0; i < 11; i += 1) check.verdict(digests.wrong, "first");
    expect(check.verdict(digests.wrong, "first")).toBe("limited");
    for (let i = 0; i < 10_000; i += 1) check.verdict(digests.wrong, `address ${i}`);
    expect(check.verdict(digests.wrong, "first")).toBe("wrong");
  });
});

describe("a server with a key", () => {
  let served: Served;
  beforeAll(async () => {
    served = await serve({ key });
  });
  afterAll(() => served.server.close());

  const header = { headers: { "x-api-key": key } };
  test.each<[string, string, Ask, number, string | undefined]>([
    ["no key", "/api/summary", {}, 401, "key.missing"],
    ["an empty key", "/api/summary?key=", {}, 401, "key.missing"],
    ["a wrong key", `/api/summary?key=${wrong}`, {}, 401, "key.wrong"],
    ["a wrong header", "/api/summary", { headers: { "x-api-key": wrong } }, 401, "key.wrong"],
    ["the key", `/api/summary?key=${key}`, {}, 200, undefined],
    ["the key in the middle", `/api/summary?a=1&key=${key}&user_id=2`, {}, 200, undefined],
    ["the key as header", "/api/summary", header, 200, undefined],
    ["the key twice", `/api/summary?key=${key}&key=${key}`, {}, 400, "input.invalid"],
    ["a broken key", `/api/summary?key=${key}%zz`, {}, 400, "input.invalid"],
    ["the key as Authorization", "/api/summary", { headers: { authorization: `Bearer ${key}` } }, 401, "key.missing"],
    ["no key for a path that is not there", "/api/nix", {}, 401, "key.missing"],
    ["no key for the health page", "/health", {}, 200, undefined],
    [
      "no key from this machine by a proxy",
      "/api/summary",
      { headers: { "x-forwarded-for": "10.0.0.1" } },
      401,
      "key.missing",
    ],
  ])("given %s", async (_what, target, what, status, code) => {
    const answer = await served.ask("GET", target, what);
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(answer.text + JSON.stringify(answer.headers)).not.toMatch(/correct-horse|staple/);
  });

  test("ignores a stray Authorization header", async () => {
    const headers = { authorization: "Basic bm9uZTpub25l", "x-api-key": key };
    expect((await served.ask("GET", "/api/summary", { headers })).status).toBe(200);
  });

  test("answers 429 to an address that goes on guessing, while the right key passes", async () => {
    const from = "127.0.0.9";
    for (let i = 0; i < 10; i += 1) await served.ask("GET", `/api/summary?key=${wrong}`, { from });
    const limited = await served.ask("GET", `/api/summary?key=${wrong}`, { from });
    expect([limited.status, limited.json.code, limited.headers["retry-after"]]).toEqual([429, "too.many", "10"]);
    expect((await served.ask("GET", `/api/summary?key=${key}`, { from })).status).toBe(200);
  });

  test("never logs a key", async () => {
    served.answers.set("getSummary", new Error("inner"));
    await served.ask("GET", `/api/summary?key=${key}`);
    for (const mistake of [`/api/nix?key=${key}`, `/api/summary&key=${key}`, `/api/summary%3Fkey=${key}`])
      await served.ask("GET", mistake, header);
    await served.raw(`GET /api/user/%zz?key=${key} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`);
    await served.raw(`GARBAGE ?key=${key}\r\n\r\n`);
    expect(served.logged.length).toBeGreaterThan(4);
    expect(served.logged.join("")).not.toMatch(/correct-horse|staple/);
  });

  /** Open paths are recognised before the router reads the target, so both must find the same path in it. */
  test.each(["?/api/miners", "#/api/miners", "?x=/api/summary", "#/api/hooks/x", "?/api/hooks/x"])(
    "opens nothing for a target whose path begins after %s",
    async (rest) => {
      served.calls.length = 0;
      for (const method of ["GET", "POST"]) {
        const head = `${method} http://127.0.0.1${rest} HTTP/1.1\r\nHost: 127.0.0.1\r\nConnection: close\r\n\r\n`;
        expect(await served.raw(head)).toMatch(/^HTTP\/1\.1 (302|4\d\d) /);
      }
      expect(served.calls).toEqual([]);
    },
  );
});

describe("a user's own key", () => {
  const own = "a-key-of-anna-1234";
  const anna = { id: 3, name: "anna" };

  /** A server over a stub that knows anna's key. */
  async function servedWithAnna(settings: Partial<HttpSettings>): Promise<Served> {
    const served = await serve(settings);
    const digest = createHash("sha256").update(own).digest("hex");
    Object.assign(served.service, { keyHolder: (of: string) => (of === digest ? anna : undefined) });
    return served;
  }
  const http = { actor: "http", userId: undefined };
  /** Somebody without a key may look and no more, whoever's eyes it is through. */
  const guest = { ...http, privilege: "view" };
  const byAnna = { actor: "anna", userId: 3 };

  test.each<[string, Partial<HttpSettings>, string, Ask, object]>([
    ["anna with her key in the query", { key }, `?key=${own}`, {}, byAnna],
    ["anna with her key as header", { key }, "", { headers: { "x-api-key": own } }, byAnna],
    ["anna who names herself", { key }, `?key=${own}&user_id=3`, {}, byAnna],
    ["whoever has the service's key", { key }, `?key=${key}`, {}, http],
    ["whoever looks through anna's eyes", { key }, `?key=${key}&user_id=3`, {}, { ...http, userId: 3 }],
    ["anna where no key is needed", {}, `?key=${own}`, {}, byAnna],
    ["anybody where no key is needed", {}, "", {}, http],
    ["anybody with a wrong key where none is needed", {}, `?key=${wrong}`, {}, http],
    ["anna where reads need no key", { key, keylessRead: true }, `?key=${own}`, {}, byAnna],
    ["anybody where reads need no key", { key, keylessRead: true }, "", {}, guest],
    ["anybody for anna where reads need no key", { key, keylessRead: true }, "?user_id=3", {}, { ...guest, userId: 3 }],
    ["whoever has the key where reads need none", { key, keylessRead: true }, `?key=${key}`, {}, http],
    ["this machine where there is no key", { keylessRead: true }, "", {}, http],
    ["anna whose key is the service's too", { key: own }, `?key=${own}`, {}, byAnna],
  ])("makes the request hers: %s", async (_who, settings, query, what, caller) => {
    const served = await servedWithAnna(settings);
    expect((await served.ask("GET", `/api/summary${query}`, what)).status).toBe(200);
    expect(served.calls.at(-1)?.caller).toEqual(caller);
    await served.server.close();
  });

  test("with another user's id is answered as for an unknown id", async () => {
    const served = await servedWithAnna({ key });
    for (const method of ["GET", "POST"]) {
      const target = method === "GET" ? "/api/summary" : "/api/miners/1";
      const answer = await served.ask(method, `${target}?action=stop&key=${own}&user_id=4`);
      expect([answer.status, answer.json.code, answer.json.detail]).toEqual([404, "not.found", "There is no user 4"]);
    }
    expect(served.calls).toEqual([]);
    await served.server.close();
  });

  test("passes from an address that goes on guessing, and is never logged", async () => {
    const served = await servedWithAnna({ key });
    for (let i = 0; i < 11; i += 1) await served.ask("GET", `/api/summary?key=${wrong}`);
    expect((await served.ask("GET", `/api/summary?key=${wrong}`)).status).toBe(429);
    expect((await served.ask("GET", `/api/summary?key=${own}`)).status).toBe(200);
    await served.ask("GET", `/api/nix?key=${own}`);
    expect(served.logged.length).toBeGreaterThan(0);
    expect(served.logged.join("")).not.toContain("a-key-of-anna");
    await served.server.close();
  });
});

/** Trusted proxies listen on 127.0.0.2 in these tests. */
const proxy = "127.0.0.2";
const via = (client: string, from = proxy): Ask => ({ from, headers: { "x-forwarded-for": client } });

describe.each<[string, Partial<HttpSettings>, [string, string, Ask, number][]]>([
  [
    "without a key",
    { trustedProxies: [proxy] },
    [
      ["this machine", "GET", {}, 200],
      ["this machine by the proxy", "GET", via("127.0.0.1"), 200],
      ["another machine by the proxy", "GET", via("10.0.0.8"), 403],
      ["whoever claims to be this machine", "GET", via("127.0.0.1", "127.0.0.3"), 403],
      ["whoever stands behind an unknown proxy", "GET", { headers: { forwarded: "for=10.0.0.8" } }, 403],
      [
        "whom the proxy names in a way that is not read",
        "GET",
        { from: proxy, headers: { forwarded: "for=::1" } },
        403,
      ],
      ["who put an address before the proxy's", "GET", via("127.0.0.1, 10.0.0.8"), 403],
    ],
  ],
  [
    "that is open",
    { open: true, trustedProxies: [proxy] },
    [
      ["another machine by the proxy", "GET", via("8.8.8.8"), 200],
      ["whoever stands behind an unknown proxy", "POST", { headers: { forwarded: "for=10.0.0.8" } }, 200],
    ],
  ],
  [
    "with keylessRead",
    { key, keylessRead: true, trustedProxies: [proxy] },
    [
      ["this machine that reads", "GET", {}, 200],
      ["a private address that reads", "GET", via("192.168.1.5"), 200],
      ["a private address that asks for the head", "HEAD", via("192.168.1.5"), 200],
      ["a private address that acts", "POST", via("192.168.1.5"), 401],
      ["a public address that reads", "GET", via("8.8.8.8"), 401],
      ["whoever claims to be private", "GET", via("192.168.1.5", "127.0.0.3"), 401],
      ["a private address with a wrong key", "GET", { headers: { "x-api-key": wrong } }, 401],
      ["a private address that acts with the key", "POST", { headers: { "x-api-key": key } }, 200],
    ],
  ],
])("a server %s", (_name, settings, cases) => {
  let served: Served;
  beforeAll(async () => {
    served = await serve(settings);
  });
  afterAll(() => served.server.close());

  test.each(cases)("answers %s (%s)", async (_who, method, what, status) => {
    const target = method === "POST" ? "/api/miners/1?action=stop" : "/api/summary";
    expect((await served.ask(method, target, what)).status).toBe(status);
  });
});

describe("a server that other machines could reach", () => {
  test("does not start without a key, and the error says how to set one", async () => {
    await expect(serve({}, {}, "0.0.0.0")).rejects.toMatchObject({
      code: "config.invalid",
      message: expect.stringMatching(/http\.key.*http\.open: true/),
    });
  });

  test.each([{ key }, { open: true }])("starts with %j and returns its address", async (settings) => {
    const { server } = await serve(settings, {}, "0.0.0.0");
    expect(server.url).toBe(`http://127.0.0.1:${server.address.port}`);
    await server.close();
  });
});

test("a port that is taken stops the start with a sentence", async () => {
  const first = await serve();
  await expect(serve({ port: first.port })).rejects.toMatchObject({
    code: "config.invalid",
    message: expect.stringContaining("another program listens there"),
  });
  await first.server.close();
});
