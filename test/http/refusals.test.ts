import { once } from "node:events";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "@jest/globals";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { until, within } from "../until.ts";
import { open, type Served, serve } from "./wire.ts";

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.server.close());
beforeEach(() => {
  served.calls.length = 0;
  served.answers.clear();
});

const json = { "content-type": "application/json" };
const start = "HTTP/1.1\r\nHost: localhost\r\n";

/** The problem document in a raw answer. */
function problemIn(answer: string): [number, string] {
  const [, status] = /^HTTP\/1\.1 (\d+) /.exec(answer) ?? [];
  expect(answer).toMatch(/content-type: application\/problem\+json; charset=utf-8\r\n/i);
  const document: unknown = JSON.parse(answer.slice(answer.indexOf("\r\n\r\n") + 4));
  const code = typeof document === "object" && document !== null && "code" in document ? String(document.code) : "";
  return [Number(status), code];
}

describe("a body where none is defined", () => {
  test.each<[string, Record<string, string>, string]>([
    ["a form, as curl -d sends", { "content-type": "application/x-www-form-urlencoded" }, "POST"],
    ["an empty form", { "content-type": "application/x-www-form-urlencoded", "content-length": "0" }, ""],
    ["empty JSON", { ...json, "content-length": "0" }, ""],
    ["broken JSON", json, "{"],
    ["a type that is none", { "content-type": "nonsense" }, "x"],
    ["chunks", { "transfer-encoding": "chunked" }, "abc"],
    ["no type", {}, "abc"],
  ])("is ignored: %s", async (_what, headers, body) => {
    expect((await served.ask("POST", "/api/miners/1?action=stop", { headers, body })).status).toBe(200);
    expect((await served.ask("DELETE", "/api/pools/1", { headers, body })).status).toBe(200);
    expect(served.calls.map(({ input }) => input)).toEqual([{ id: 1, action: "stop" }, { id: 1 }]);
  });

  test("is refused when it is too large", async () => {
    const body = Buffer.alloc(1_000_001);
    expect((await served.ask("POST", "/api/miners/1?action=stop", { body })).status).toBe(413);
  });
});

describe("a body of JSON", () => {
  test.each<[string, Record<string, string>, string]>([
    ["application/json", json, "{}"],
    ["JSON in UTF-8", { "content-type": 'application/json; charset="UTF-8"' }, "{}"],
    ["another JSON type", { "content-type": "application/vnd.rig+json" }, "{}"],
    ["a byte order mark", json, "\ufeff{}"],
    ["chunks", { ...json, "transfer-encoding": "chunked" }, "{}"],
  ])("is taken as %s", async (_what, headers, body) => {
    expect((await served.ask("POST", "/api/pools", { headers, body })).status).toBe(200);
  });

  test.each<[string, Record<string, string>, string | Buffer, number, string]>([
    ["text/plain", { "content-type": "text/plain" }, "{}", 415, "body.not-json"],
    ["a form", { "content-type": "application/x-www-form-urlencoded" }, "{}", 415, "body.not-json"],
    ["no type", {}, "{}", 415, "body.not-json"],
    ["a type that is none", { "content-type": "json" }, "{}", 415, "body.not-json"],
    ["another charset", { "content-type": "application/json; charset=utf-16" }, "{}", 415, "body.not-json"],
    ["compressed", { ...json, "content-encoding": "gzip" }, "{}", 415, "body.not-json"],
    ["empty", { ...json, "content-length": "0" }, "", 400, "input.invalid"],
    ["empty and without type", { "content-length": "0" }, "", 400, "input.invalid"],
    ["broken", json, '{"a":', 400, "input.invalid"],
    ["no UTF-8", json, Buffer.from([0x22, 0xff, 0x22]), 400, "input.invalid"],
    ["with __proto__", json, '{"__proto__":{"polluted":1}}', 400, "input.invalid"],
    ["with constructor.prototype", json, '{"constructor":{"prototype":{"polluted":1}}}', 400, "input.invalid"],
    ["nested 100,000 deep", json, `{"a":${"[".repeat(100_000)}${"]".repeat(100_000)}}`, 400, "input.invalid"],
    ["of 2 MB", json, `"${"x".repeat(2_000_000)}"`, 413, "body.too-large"],
  ])("is refused when it is %s", async (_what, headers, body, status, code) => {
    const answer = await served.ask("POST", "/api/pools", { headers, body });
    expect([answer.status, answer.json.code]).toEqual([status, code]);
    expect(served.calls).toEqual([]);
  });

  test("of 1 GB is refused before 2 MB of it are read", async () => {
    const announced = await served.raw(
      `POST /api/pools ${start}Content-Type: application/json\r\nContent-Length: 1000000000\r\n\r\n`,
    );
    expect(problemIn(announced)).toEqual([413, "body.too-large"]);

    const socket = open(served.port);
    socket.write(`POST /api/pools ${start}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n`);
    const chunk = `10000\r\n${"x".repeat(65_536)}\r\n`;
    let sent = 0;
    let text = "";
    socket.on("data", (bytes) => {
      text += bytes.toString();
    });
    const closed = new Promise((resolve) => socket.on("close", resolve));
    const pump = () => {
      while (sent < 1_000_000_000 && !socket.destroyed && text === "") {
        sent += chunk.length;
        if (!socket.write(chunk)) return;
      }
    };
    socket.on("drain", pump);
    pump();
    await within(closed, "the connection of the long body to be cut");
    expect(problemIn(text)).toEqual([413, "body.too-large"]);
    // What the sockets hold by themselves comes on top of what was read.
    expect(sent).toBeLessThan(20_000_000);
  });

  test("in too many pieces is refused, even if the operation takes no body", async () => {
    const pieces = `${"1\r\n \r\n".repeat(2_049)}0\r\n\r\n`;
    const chunked = "Content-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n";
    for (const path of ["/api/pools", "/api/miners/1?action=stop"])
      expect(problemIn(await served.raw(`POST ${path} ${start}${chunked}${pieces}`))).toEqual([413, "body.too-large"]);
    expect(served.calls).toEqual([]);
  });

  test("leaves no trace in Object.prototype", async () => {
    const before = Reflect.ownKeys(Object.prototype);
    for (const body of ['{"__proto__":{"polluted":1}}', '{"constructor":{"prototype":{"polluted":1}}}'])
      await served.ask("POST", "/api/pools", { headers: json, body });
    await served.ask("POST", "/api/coins/BTC?__proto__=1&constructor=2&__proto__[polluted]=1&profit=1");
    expect(Reflect.ownKeys(Object.prototype)).toEqual(before);
    expect(served.calls[0]?.input).toEqual({ shortName: "BTC", profit: 1 });
  });
});

describe("an invalid request", () => {
  const get = (headers: string, version = "1.1") => `GET /api/summary HTTP/${version}\r\n${headers}\r\n`;
  test.each<[string, string, number, string]>([
    ["not HTTP", "GARBAGE\r\n\r\n", 400, "input.invalid"],
    ["without Host", get("Connection: close\r\n"), 400, "input.invalid"],
    ["with a header of 20 KB", get(`Host: localhost\r\nX-Long: ${"x".repeat(20_000)}\r\n`), 431, "headers.too-large"],
    ["with a query of 64 KB", `GET /api/summary?x=${"y".repeat(65_536)} ${start}\r\n`, 431, "headers.too-large"],
    [
      "with two lengths of the body",
      `POST /api/pools ${start}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n`,
      400,
      "input.invalid",
    ],
    ["with a broken percent-escape", `GET /api/user/%zz ${start}Connection: close\r\n\r\n`, 400, "input.invalid"],
    ["with half a character", `GET /api/user/%c3 ${start}Connection: close\r\n\r\n`, 400, "input.invalid"],
    ["that hopes for a path above", `GET /api/../../etc/passwd ${start}Connection: close\r\n\r\n`, 404, "not.found"],
  ])("is refused with a problem document: %s", async (_what, bytes, status, code) => {
    expect(problemIn(await served.raw(bytes))).toEqual([status, code]);
  });

  test("of HTTP/1.0 without Host is answered", async () => {
    expect(await served.raw(get("", "1.0"))).toMatch(/^HTTP\/1\.1 200 /);
  });

  test("after a good one is refused without spoiling its answer", async () => {
    const answer = await served.raw(`GET /api/summary ${start}\r\nGARBAGE\r\n\r\n`);
    expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual(["200", "400"]);
  });

  test("is never repeated", async () => {
    for (const target of [
      "/api/nix?key=SECRET",
      "/SECRET",
      "/api/miners/SECRET",
      "/api/miners/1?action=SECRET",
      "/api/user/%zzSECRET",
    ])
      expect((await served.ask("POST", target)).text).not.toContain("SECRET");
  });
});

test("requests on one connection are answered in their order", async () => {
  const paths = ["summary", "nix", "pools", "miners/x", "hosts"];
  const bytes = paths.map((path) => `GET /api/${path} ${start}\r\n`).join("");
  const answer = await served.raw(`${bytes}GET /health ${start}Connection: close\r\n\r\n`);
  expect([...answer.matchAll(/HTTP\/1\.1 (\d+)/g)].map(([, status]) => status)).toEqual([
    "200",
    "404",
    "200",
    "400",
    "200",
    "200",
  ]);
});

describe("a slow client", () => {
  const hasty = { headersTimeout: 100, requestTimeout: 100, checkInterval: 20 };

  test.each([
    ["headers", "GET /api/summary HTTP/1.1\r\nHost: loc"],
    ["a body", `POST /api/pools ${start}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`],
  ])("is cut off when %s do not arrive in time", async (_what, bytes) => {
    const strict = await serve({}, hasty);
    expect(problemIn(await strict.raw(bytes))).toEqual([408, "request.timeout"]);
    await strict.server.close();
  });

  test("that leaves in the middle of its body does no harm", async () => {
    const socket = open(served.port);
    socket.write(`POST /api/pools ${start}Content-Type: application/json\r\nContent-Length: 100\r\n\r\n{`);
    await within(once(socket, "ready"), "the client to be connected");
    socket.destroy();
    expect((await served.ask("GET", "/api/summary")).status).toBe(200);
    expect(served.logged.join("")).not.toContain("a fault of the service");
  });
});

describe("close", () => {
  test("lets an answer under way end and then closes its connection", async () => {
    const stopping = await serve();
    let finish = (_value: unknown): void => {};
    stopping.answers.set("getSummary", new Promise((resolve) => (finish = resolve)));
    const answer = stopping.raw(`GET /api/summary ${start}\r\n`);
    await until(() => stopping.calls.length > 0, "the request to reach the service");
    const closed = stopping.server.close();
    finish({ done: true });
    expect(await answer).toMatch(/^HTTP\/1\.1 200 .*"done":true/s);
    await closed;
    await expect(stopping.ask("GET", "/health")).rejects.toMatchObject({ code: "ECONNREFUSED" });
  });

  test("cuts what does not end", async () => {
    const stopping = await serve({}, { closeTimeout: 50 });
    stopping.answers.set("getSummary", new Promise(() => {}));
    const answer = stopping.raw(`GET /api/summary ${start}\r\n`);
    await until(() => stopping.calls.length > 0, "the request to reach the service");
    await stopping.server.close();
    expect(await answer).toBe("");
  });

  test("does not wait for idle connections", async () => {
    const stopping = await serve();
    const idle = open(stopping.port);
    idle.write(`GET /health ${start}\r\n`);
    await within(once(idle, "data"), "the answer about the health");
    const cut = once(idle, "close");
    await stopping.server.close();
    await within(cut, "the idle connection to be cut");
  });
});

describe("a refused request is in the log", () => {
  const lines = () =>
    served.logged.map((line): Record<string, unknown> => JSON.parse(line)).filter(({ msg }) => msg === "refused");
  beforeEach(() => {
    served.logged.length = 0;
  });

  test.each<[string, string, object]>([
    ["POST", "/api/miners/1?action=explode&nothing=x", { status: 400, code: "input.invalid", reason: "bad: action" }],
    [
      "GET",
      "/nothing",
      { status: 404, code: "not.found", reason: "There is nothing at this path; see /docs for the paths of this API" },
    ],
    ["PUT", "/api/pools/1", { status: 405, code: "method.not-allowed" }],
    ["POST", "/api/miners/1?action=change_pool", { status: 400, reason: "bad: pool_id, pool_type" }],
  ])("%s %s, with the address, the code and the reason", async (method, target, expected) => {
    await served.ask(method, target, { from: "127.0.0.9" });
    await until(() => lines().length > 0, "the refusal to be logged");
    expect(lines()).toEqual([expect.objectContaining({ method, address: "127.0.0.9", ...expected })]);
  });

  test("also one that never became a request", async () => {
    await served.raw("nonsense\r\n\r\n");
    await until(() => lines().length > 0, "the refusal to be logged");
    const expected = { status: 400, address: "127.0.0.1", code: "input.invalid", reason: "This is not HTTP/1.1" };
    expect(lines()).toEqual([expect.objectContaining(expected)]);
  });

  test("without what the client wrote, and no longer than a line", async () => {
    const fields = Object.fromEntries(Array.from({ length: 90 }, (_, index) => [`field-${index}`.repeat(9), "s3cret"]));
    served.answers.set("listPools", new RigbridgeError("not.possible", "long ".repeat(1_000)));
    await served.ask("POST", "/api/miners", { headers: json, body: JSON.stringify({ address: 5, ...fields }) });
    await served.ask("GET", "/api/pools");
    await until(() => lines().length === 2, "both refusals to be logged");
    for (const { reason } of lines()) {
      expect(String(reason).length).toBeLessThanOrEqual(200);
      expect(reason).not.toContain("s3cret");
    }
  });
});
