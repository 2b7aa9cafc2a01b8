import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { type Served, serve } from "./wire.ts";

/** Bytes as no well-meaning client would send them, on a connection of their own. */
let served: Served;
beforeAll(async () => {
  served = await serve({}, { keepAliveTimeout: 100 });
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.calls.length = 0;
});

const host = "Host: localhost\r\n";
const end = "Connection: close\r\n\r\n";
const get = (headers: string, target = "/api/summary", version = "HTTP/1.1") =>
  `GET ${target} ${version}\r\n${headers}${end}`;
const post = (headers: string, body: string, version = "HTTP/1.1") =>
  `POST /api/pools ${version}\r\n${host}Content-Type: application/json\r\n${headers}\r\n${body}`;
const chunked = "Transfer-Encoding: chunked\r\n";
const emptyChunks = "2\r\n{}\r\n0\r\n\r\n";
const many = (count: number, text: (index: number) => string) => Array.from({ length: count }, (_, i) => text(i));

interface Seen {
  readonly statuses: readonly number[];
  readonly text: string;
}

async function send(bytes: string): Promise<Seen> {
  const text = await served.raw(bytes);
  return { text, statuses: [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => Number(status)) };
}

describe("is refused before it reaches the service:", () => {
  test.each<[string, string, number]>([
    ["two hosts", get(`${host}Host: evil.example\r\n`), 400],
    ["two hosts that are the same", get(host + host), 400],
    ["a host of nothing", get("Host:\r\n"), 400],
    ["two origins", get(`${host}Origin: http://localhost\r\nOrigin: http://evil.example\r\n`), 400],
    ["two sites", get(`${host}Sec-Fetch-Site: none\r\nSec-Fetch-Site: cross-site\r\n`), 400],
    ["two keys", get(`${host}X-API-Key: a\r\nX-API-Key: b\r\n`), 400],
    ["two types", post(`Content-Type: text/plain\r\nContent-Length: 2\r\n`, "{}"), 400],
    ["a length and chunks", post(`Content-Length: 6\r\n${chunked}`, "0\r\n\r\nG"), 400],
    ["chunks and a length", post(`${chunked}Content-Length: 6\r\n`, "0\r\n\r\nG"), 400],
    ["two lengths", post("Content-Length: 2\r\nContent-Length: 3\r\n", "{}x"), 400],
    ["two lengths that are the same", post("Content-Length: 2\r\nContent-Length: 2\r\n", "{}"), 400],
    ["a list of lengths", post("Content-Length: 2, 2\r\n", "{}"), 400],
    ["a signed length", post("Content-Length: +2\r\n", "{}"), 400],
    ["a negative length", post("Content-Length: -2\r\n", "{}"), 400],
    ["a length in hex", post("Content-Length: 0x2\r\n", "{}"), 400],
    ["a length beyond all numbers", post("Content-Length: 99999999999999999999999\r\n", "{}"), 400],
    ["chunks in another coding", post(`Transfer-Encoding: gzip, chunked\r\n`, emptyChunks), 400],
    ["another coding of chunks", post(`Transfer-Encoding: chunked, gzip\r\n`, emptyChunks), 400],
    ["a coding that is none", post("Transfer-Encoding: xchunked\r\nContent-Length: 2\r\n", "{}"), 400],
    ["the coding identity", post("Transfer-Encoding: identity\r\n", "{}"), 400],
    ["a blank before the colon", post("Transfer-Encoding : chunked\r\n", emptyChunks), 400],
    ["chunks twice", post(chunked + chunked, emptyChunks), 400],
    ["chunks in HTTP/1.0", post(chunked, emptyChunks, "HTTP/1.0"), 400],
    ["a chunk of a negative size", post(chunked, "-2\r\n{}\r\n"), 400],
    ["a chunk beyond all numbers", post(chunked, "FFFFFFFFFFFFFFFFFFFF\r\n{}"), 400],
    ["a chunk with a huge extension", post(chunked, `2;${"x".repeat(40_000)}\r\n{}\r\n0\r\n\r\n`), 413],
    ["a folded header", get(`${host}X-Folded: a\r\n b\r\n`), 400],
    ["a header that begins with a blank", get(`${host} X-Blank: a\r\n`), 400],
    ["a bare CR in a header", get(`${host}X-CR: a\rb\r\n`), 400],
    ["bare LFs", "GET /api/summary HTTP/1.1\nHost: localhost\n\n", 400],
    ["NUL in a header", get(`${host}X-NUL: a\0b\r\n`), 400],
    ["NUL in a header's name", get(`${host}X-\0: a\r\n`), 400],
    ["NUL in the path", get(host, "/api/summary\0"), 400],
    ["a byte of no ASCII in the path", get(host, "/api/summary\u00ff"), 400],
    ["backslashes", get(host, "\\api\\summary"), 400],
    ["HTTP/0.9", "GET /api/summary\r\n\r\n", 400],
    ["HTTP/0.9 that says so", get(host, "/api/summary", "HTTP/0.9"), 400],
    ["HTTP/1.2", get(host, "/api/summary", "HTTP/1.2"), 400],
    ["HTTP/2.0 in the form of 1.1", get(host, "/api/summary", "HTTP/2.0"), 400],
    ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["the hello of TLS", "\x16\x03\x01\0\xf8\x01\0\0\xf4\x03\x03", 400],
    ["a method that there is not", `REBOOT /api/summary HTTP/1.1\r\n${host}${end}`, 400],
    ["TRACE", `TRACE /api/summary HTTP/1.1\r\n${host}${end}`, 405],
    ["QUERY", `QUERY /api/summary HTTP/1.1\r\n${host}${end}`, 405],
    ["PUT", `PUT /api/summary HTTP/1.1\r\n${host}${end}`, 405],
    [
      "a POST that says it is a DELETE",
      `POST /api/pools/1 HTTP/1.1\r\n${host}X-HTTP-Method-Override: DELETE\r\n${end}`,
      405,
    ],
    ["* as target", `OPTIONS * HTTP/1.1\r\n${host}${end}`, 404],
    ["a target of another host", get(host, "http://evil.example/api/summary"), 421],
    ["a target of another host after @", get(host, "http://localhost@evil.example/api/summary"), 421],
    ["a file as target", get(host, "file:///etc/passwd"), 421],
    ["a target that begins with //", get(host, "//localhost/api/summary"), 404],
    ["an escaped slash", get(host, "/api%2fsummary"), 404],
    ["a path above", get(host, "/health/../api/summary"), 404],
    ["an escaped path above", get(host, "/%2e%2e/api/summary"), 404],
    ["a query of 64 KB", get(host, `/api/summary?x=${"y".repeat(65_536)}`), 431],
    ["3,000 headers", get(host + many(3_000, (i) => `h${i}:\r\n`).join("")), 431],
    [
      "a body that a client asks leave for and that is too large",
      post("Content-Length: 1000000000\r\nExpect: 100-continue\r\n", ""),
      413,
    ],
  ])("%s", async (_what, bytes, status) => {
    const { statuses, text } = await send(bytes);
    expect(statuses).toEqual([status]);
    expect(text).toMatch(/referrer-policy: no-referrer/i);
    expect(text).toMatch(/content-type: application\/problem\+json/i);
    expect(served.calls).toEqual([]);
  });

  test("CONNECT, by a closed connection", async () => {
    expect((await send(`CONNECT localhost:22 HTTP/1.1\r\n${host}\r\n`)).text).toBe("");
  });
});

describe("is answered:", () => {
  test.each<[string, string, readonly number[]]>([
    [
      "a request for a WebSocket, as if it had not been one",
      get(`${host}Connection: Upgrade\r\nUpgrade: websocket\r\n`),
      [200],
    ],
    ["a request for HTTP/2, likewise", get(`${host}Connection: Upgrade\r\nUpgrade: h2c\r\n`), [200]],
    ["a request for a range, with all of it", get(`${host}Range: bytes=0-3\r\n`), [200]],
    ["a request for a thousand ranges", get(`${host}Range: bytes=${many(1_000, (i) => `${i}-`).join(",")}\r\n`), [200]],
    [
      "an odd wish for encodings",
      get(`${host}Accept-Encoding: ${many(1_000, (i) => `x${i};q=0.${i}`).join(",")}\r\n`),
      [200],
    ],
    ["a wish for no encoding at all", get(`${host}Accept-Encoding: identity;q=0, *;q=0\r\n`), [200]],
    ["a target with our own host", get(host, "http://localhost/api/summary"), [200]],
    [
      "a body that a client asks leave for",
      post("Content-Length: 2\r\nExpect: 100-continue\r\nConnection: close\r\n", "{}"),
      [100, 200],
    ],
    [
      "an expectation that is none",
      post("Content-Length: 2\r\nExpect: miracles\r\nConnection: close\r\n", "{}"),
      [200],
    ],
    [
      "a trailer that says it is the host",
      post(`${chunked}Connection: close\r\n`, "2\r\n{}\r\n0\r\nHost: evil.example\r\n\r\n"),
      [200],
    ],
  ])("%s", async (_what, bytes, statuses) => {
    expect((await send(bytes)).statuses).toEqual(statuses);
  });

  test("a GET with a body, whose bytes are never taken for a request", async () => {
    const smuggled = `DELETE /api/pools/1 HTTP/1.1\r\n${host}\r\n`;
    const { statuses } = await send(
      `GET /api/summary HTTP/1.1\r\n${host}Content-Length: ${smuggled.length}\r\n\r\n${smuggled}`,
    );
    expect([statuses, served.calls.map(({ name }) => name)]).toEqual([[200], ["getSummary"]]);
  });

  test("1,000 requests on one connection, each in its turn", async () => {
    const targets = ["/api/summary", "/api/nix", "/api/pools", "/api/miners/x"];
    const line = (_: unknown, index: number) => `GET ${targets[index % 4]} HTTP/1.1\r\n${host}`;
    const last = `GET /health HTTP/1.1\r\n${host}${end}`;
    const { statuses } = await send(`${Array.from({ length: 1_000 }, line).join("\r\n")}\r\n${last}`);
    expect(statuses).toEqual([...Array.from({ length: 1_000 }, (_, i) => [200, 404, 200, 400][i % 4]), 200]);
  });
});

test("none of it was a fault of the service", () => {
  expect(served.logged.filter((line) => line.includes("a fault of the service"))).toEqual([]);
});
