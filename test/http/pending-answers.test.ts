import { randomBytes } from "node:crypto";
import { once } from "node:events";
import { brotliDecompressSync, gunzipSync } from "node:zlib";
import { afterEach, describe, expect, test } from "@jest/globals";
import { type Operation, type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import { metricsPath } from "../../src/http/paths.ts";
import { until, within } from "../until.ts";
import { open, type Served, serve } from "./wire.ts";

const closers: (() => Promise<void> | void)[] = [];
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close();
});

async function serving(...how: Parameters<typeof serve>): Promise<Served> {
  const served = await serve(...how);
  closers.push(() => served.server.close());
  return served;
}

/** A client that asks, sees the beginning of the answer and reads no further. */
async function stuckAt(port: number, target: string, headers = "") {
  const socket = open(port);
  closers.push(() => {
    socket.destroy();
  });
  socket.write(`GET ${target} HTTP/1.1\r\nHost: localhost\r\n${headers}\r\n`);
  await within(once(socket, "data"), "the beginning of a long answer");
  return socket.pause();
}

/** More than sockets take by themselves. */
const long = "x".repeat(12_000_000);

/** What each operation that is read is asked for with. */
const targets: readonly (readonly [OperationName, string])[] = operationNames.flatMap((name) => {
  const { method, path, kind, view }: Operation = operations[name];
  const target = `${path.replaceAll(/:\w+/g, "1")}${view === undefined ? "" : `?view=${view}`}`;
  return method === "GET" && kind !== "stream" ? [[name, target] as const] : [];
});

describe("answers that are under way", () => {
  test("are bounded for one address, and others still get theirs", async () => {
    const served = await serving({}, { bigAnswers: 5 * long.length });
    const [name, target] = ["getSummary", "/api/summary"] as const;
    served.answers.set(name, [long]);
    const first = await stuckAt(served.port, target);
    const second = await stuckAt(served.port, target);
    const refused = await served.ask("GET", target);
    expect([refused.status, refused.json.code, refused.headers["retry-after"]]).toEqual([429, "too.many", "1"]);
    expect((await served.ask("GET", "/health")).status).toBe(200);
    const elsewhere = await served.ask("GET", target, { from: "127.0.0.2" });
    expect([elsewhere.status, elsewhere.bytes.length]).toEqual([200, JSON.stringify([long]).length]);
    first.destroy();
    second.destroy();
    await until(async () => (await served.ask("GET", target)).status === 200, "the room to be free again");
  });

  test.each(targets)("of %s are counted", async (name, target) => {
    const served = await serving({}, { bigAnswers: 1_000 });
    served.answers.set(name, [long]);
    await stuckAt(served.port, target);
    const refused = await served.ask("GET", target, { from: "127.0.0.2" });
    expect([refused.status, refused.json.code]).toEqual([503, "service.not-ready"]);
  });

  test("are bounded for all together, and one alone fits whatever its size is", async () => {
    const served = await serving({}, { bigAnswers: 1_000 });
    served.answers.set("getSummary", [long]);
    const first = await stuckAt(served.port, "/api/summary");
    const refused = await served.ask("GET", "/api/summary", { from: "127.0.0.2" });
    expect([refused.status, refused.json.code, refused.headers["retry-after"]]).toEqual([
      503,
      "service.not-ready",
      "1",
    ]);
    first.destroy();
    await until(async () => (await served.ask("GET", "/api/summary")).status === 200, "the room to be free again");
  });

  test("of a user are bounded wherever they ask from, and never keep the service's own key waiting", async () => {
    const served = await serving({ key: "correct-horse-battery" }, { bigAnswers: 3 * long.length });
    Object.assign(served.service, { keyHolder: () => ({ id: 7, name: "anna" }) });
    served.answers.set("getSummary", [long]);
    await stuckAt(served.port, "/api/summary", "X-API-Key: anna\r\n");
    const from = "127.0.0.2";
    const again = await served.ask("GET", "/api/summary?key=anna", { from });
    expect([again.status, again.json.code]).toEqual([429, "too.many"]);
    Object.assign(served.service, { keyHolder: () => undefined });
    const owner = await served.ask("GET", "/api/summary?key=correct-horse-battery");
    expect(owner.status).toBe(200);
  });

  test("of /metrics are counted, too", async () => {
    const served = await serving({}, { bigAnswers: 1_000, bigAnswersWaiting: 1 });
    served.answers.set("listMiners", { groupList: [] });
    served.encoded.set("listMiners", { etag: "x", chunks: [Buffer.from(long)], length: long.length });
    const first = await stuckAt(served.port, "/api/miners");
    const waiting = served.ask("GET", metricsPath, { from: "127.0.0.2" });
    await until(
      async () => (await served.ask("GET", metricsPath, { from: "127.0.0.3" })).status === 503,
      "metrics to be refused while others wait for them",
    );
    first.destroy();
    expect((await waiting).status).toBe(200);
  });

  test("are cut off when nothing of them is taken for long", async () => {
    const served = await serving({}, { stallTimeout: 200, checkInterval: 10, bigAnswers: 1_000 });
    const longer = long + long;
    served.encoded.set("listMiners", { etag: "x", chunks: [Buffer.from(longer)], length: longer.length });
    for (const [target, headers] of [
      ["/api/summary", ""],
      ["/api/summary", "Accept-Encoding: gzip\r\n"],
      ["/api/miners", ""],
    ] as const) {
      served.answers.set("getSummary", [headers === "" ? longer : randomBytes(18_000_000).toString("base64")]);
      const stuck = await stuckAt(served.port, target, headers);
      await until(
        async () => (await served.ask("GET", "/api/miners")).status === 200,
        "the stuck reader to be cut off",
      );
      const closed = once(stuck, "close");
      stuck.resume();
      await within(closed, "the end of its connection");
      expect(stuck.bytesRead).toBeLessThan(15_000_000);
    }
  });
});

describe("files that never change", () => {
  const script = "/docs/static/swagger-ui-bundle.js";

  test("are the same in every encoding, with their length, and for concurrent requests", async () => {
    const served = await serving();
    for (const target of [script, "/openapi.json"]) {
      const plain = await served.ask("GET", target);
      expect([plain.headers["content-encoding"], plain.headers["content-length"]]).toEqual([
        undefined,
        String(plain.bytes.length),
      ]);
      const asked = ["gzip", "br", "gzip, br", "deflate, gzip;q=0.5"].map((encoding) =>
        served.ask("GET", target, { headers: { "accept-encoding": encoding } }),
      );
      for (const { headers, bytes } of await Promise.all(asked)) {
        const decoded = headers["content-encoding"] === "br" ? brotliDecompressSync(bytes) : gunzipSync(bytes);
        expect(headers["content-length"]).toBe(String(bytes.length));
        expect(decoded.equals(plain.bytes)).toBe(true);
        expect(bytes.length).toBeLessThan(plain.bytes.length / 2);
      }
      for (const encoding of ["zstd", "identity", "gzip;q=0"]) {
        const { headers, bytes } = await served.ask("GET", target, { headers: { "accept-encoding": encoding } });
        expect([encoding, headers["content-encoding"], bytes.equals(plain.bytes)]).toEqual([encoding, undefined, true]);
      }
      const head = await served.ask("HEAD", target, { headers: { "accept-encoding": "gzip" } });
      expect([head.status, head.headers["content-encoding"], head.bytes.length]).toEqual([200, "gzip", 0]);
    }
  });

  test("are found in any case and with a last slash, as every path is", async () => {
    const served = await serving();
    const { bytes } = await served.ask("GET", script);
    for (const target of [`${script}/`, script.toUpperCase()]) {
      const other = await served.ask("GET", target);
      expect([target, other.status, other.bytes.equals(bytes)]).toEqual([target, 200, true]);
    }
  });
});
