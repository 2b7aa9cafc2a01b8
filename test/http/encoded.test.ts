import { once } from "node:events";
import { brotliDecompressSync, gunzipSync, inflateSync, zstdDecompressSync } from "node:zlib";
import { afterAll, afterEach, beforeAll, describe, expect, test } from "@jest/globals";
import type { Encoded } from "../../src/contract/service.ts";
import { onTestFinished } from "../finished.ts";
import { until, within } from "../until.ts";
import { type Answer, open, type Served, serve } from "./wire.ts";

const mineCount = 10_000;

/** A list as the service keeps it: one chunk for each miner. */
function list(miners: number, etag = "v1"): Encoded {
  const chunks = [
    Buffer.from('{"list":['),
    ...Array.from({ length: miners }, (_, id) =>
      Buffer.from(`${id === 0 ? "" : ","}${JSON.stringify({ id, name: `miner ${id}`, pad: "x".repeat(id % 500) })}`),
    ),
    Buffer.from("]}"),
  ];
  return { etag, chunks, length: chunks.reduce((sum, chunk) => sum + chunk.length, 0) };
}
const textOf = (encoded: Encoded) => Buffer.concat(encoded.chunks).toString();

const decoders = { br: brotliDecompressSync, gzip: gunzipSync, deflate: inflateSync, zstd: zstdDecompressSync };
const summary = {
  coinList: Array.from({ length: 100 }, (_, i) => ({ name: `coin ${i}` })),
  metaData: { updated: "now" },
};

let served: Served;
beforeAll(async () => {
  served = await serve();
});
afterAll(() => served.server.close());
afterEach(() => {
  served.encoded.clear();
  served.answers.clear();
});

describe("ready-made bytes", () => {
  test.each([0, 3, mineCount])("of %i miners arrive as they are, with their length", async (miners) => {
    const encoded = list(miners);
    served.encoded.set("listMiners", encoded);
    const answer = await served.ask("GET", "/api/miners");
    expect(answer.status).toBe(200);
    expect(answer.headers).toMatchObject({
      "content-type": "application/json; charset=utf-8",
      "content-length": String(encoded.length),
      "cache-control": "private, no-cache",
      etag: 'W/"v1"',
      vary: "accept-encoding",
    });
    expect(answer.text === textOf(encoded)).toBe(true);
    expect(served.calls).toEqual([]);
  });

  test("are taken once they are prepared, if the service has to prepare them", async () => {
    const encoded = list(3);
    const prepare = async (operation: string): Promise<void> => {
      await new Promise((resolve) => setImmediate(resolve));
      if (operation === "listMiners") served.encoded.set("listMiners", encoded);
    };
    Object.assign(served.service, { prepare });
    onTestFinished(() => void Object.assign(served.service, { prepare: undefined }));
    const answer = await served.ask("GET", "/api/miners");
    expect([answer.status, answer.text]).toEqual([200, textOf(encoded)]);
  });

  test("arrive in order whatever the sizes of their pieces are", async () => {
    const chunks = [10, 300_000, 1, 262_144, 262_143, 2, 0, 600_000].map((size, i) => Buffer.alloc(size, 97 + i));
    const length = chunks.reduce((sum, chunk) => sum + chunk.length, 0);
    served.encoded.set("listMiners", { etag: "v2", chunks, length });
    for (const headers of [{}, { "accept-encoding": "identity" }]) {
      const answer = await served.ask("GET", "/api/miners", { headers: { ...headers } });
      expect(answer.bytes.equals(Buffer.concat(chunks))).toBe(true);
    }
  });

  test.each(Object.entries(decoders))("are compressed with %s where the client takes it", async (encoding, decode) => {
    const encoded = list(2_000);
    served.encoded.set("listMiners", encoded);
    const answer = await served.ask("GET", "/api/miners", { headers: { "accept-encoding": encoding } });
    expect(answer.headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding", etag: 'W/"v1"' });
    expect(answer.headers["content-length"]).toBeUndefined();
    expect(decode(answer.bytes).toString() === textOf(encoded)).toBe(true);
    expect(answer.bytes.length).toBeLessThan(encoded.length / 4);
  });

  test("are not sent to a client that has them", async () => {
    served.encoded.set("listMiners", list(10));
    for (const held of ['W/"v1"', '"v0", "v1"', "*"]) {
      const answer = await served.ask("GET", "/api/miners", { headers: { "if-none-match": held } });
      expect([answer.status, answer.text, answer.headers.etag]).toEqual([304, "", 'W/"v1"']);
    }
    expect((await served.ask("GET", "/api/miners", { headers: { "if-none-match": '"v0"' } })).status).toBe(200);
  });

  test("are left out of the answer to HEAD", async () => {
    const encoded = list(10);
    served.encoded.set("listMiners", encoded);
    const answer = await served.ask("HEAD", "/api/miners");
    expect([answer.status, answer.text, answer.headers["content-length"]]).toEqual([200, "", String(encoded.length)]);
    const held = await served.ask("HEAD", "/api/miners", { headers: { "if-none-match": '"v1"' } });
    expect(held.status).toBe(304);
  });
});

describe("a plain reply", () => {
  test("has a tag that stands while only metaData changes", async () => {
    served.answers.set("getSummary", summary);
    const first = await served.ask("GET", "/api/summary");
    served.answers.set("getSummary", { ...summary, metaData: { updated: "later" } });
    const headers = { "if-none-match": first.headers.etag ?? "" };
    expect((await served.ask("GET", "/api/summary", { headers })).status).toBe(304);
    expect((await served.ask("HEAD", "/api/summary", { headers })).status).toBe(304);
    served.answers.set("getSummary", { ...summary, coinList: [] });
    expect((await served.ask("GET", "/api/summary", { headers })).status).toBe(200);
  });

  test.each(Object.entries(decoders))("is compressed with %s where the client takes it", async (encoding, decode) => {
    served.answers.set("getSummary", summary);
    const answer = await served.ask("GET", "/api/summary", { headers: { "accept-encoding": `${encoding};q=0.5` } });
    expect(answer.headers).toMatchObject({ "content-encoding": encoding, vary: "accept-encoding" });
    expect(JSON.parse(decode(answer.bytes).toString())).toEqual(summary);
  });

  test.each(["identity", "nonsense", "gzip;q=0", "identity;q=0"])(
    "stays as it is for Accept-Encoding %s",
    async (accepted) => {
      served.answers.set("getSummary", summary);
      const answer = await served.ask("GET", "/api/summary", { headers: { "accept-encoding": accepted } });
      expect([answer.headers["content-encoding"], answer.json]).toEqual([undefined, summary]);
    },
  );

  test("that is short is not compressed", async () => {
    const answer = await served.ask("GET", "/api/summary", { headers: { "accept-encoding": "gzip" } });
    expect([answer.headers["content-encoding"], answer.headers.vary]).toEqual([undefined, "accept-encoding"]);
  });

  test("has the head of the body it would have", async () => {
    served.answers.set("getSummary", summary);
    const head = await served.ask("HEAD", "/api/summary");
    const get = await served.ask("GET", "/api/summary");
    for (const name of ["content-length", "content-type", "etag"]) expect(head.headers[name]).toBe(get.headers[name]);
    expect(head.text).toBe("");
  });

  test("of an action is not to be kept", async () => {
    const { headers } = await served.ask("POST", "/api/miners/1?action=stop");
    expect([headers["cache-control"], headers.etag]).toEqual(["no-store", undefined]);
  });
});

describe("big answers", () => {
  /** Longer than what sockets take by themselves, so that it stays under way while nobody reads. */
  const chunk = Buffer.alloc(65_536, 120);
  const big: Encoded = { etag: "big", chunks: Array(400).fill(chunk), length: 400 * chunk.length };
  const request = "GET /api/miners HTTP/1.1\r\nHost: localhost\r\n\r\n";

  /** A client that asks, sees the beginning of the answer and then does not read on. */
  const slowReader = async (port: number) => {
    const socket = open(port);
    socket.write(request);
    await within(once(socket, "data"), "the beginning of the big answer");
    return socket.pause();
  };

  test("wait for one another, and beyond the queue are refused for now", async () => {
    const narrow = await serve({}, { bigAnswers: big.length, bigAnswersWaiting: 1 });
    narrow.encoded.set("listMiners", big);
    const first = await slowReader(narrow.port);
    const left = open(narrow.port);
    left.write(request);
    let answer: Answer | undefined;
    const isRefused = async (): Promise<boolean> => {
      const come = await Promise.race([narrow.ask("GET", "/api/miners", { from: "127.0.0.2" }), once(first, "close")]);
      answer = "status" in come ? come : undefined;
      return answer?.status === 503;
    };
    await until(isRefused, "a big answer to be refused");
    expect([answer?.json.code, answer?.headers["retry-after"]]).toEqual(["service.not-ready", "1"]);
    const own = await narrow.ask("GET", "/api/miners");
    expect([own.status, own.json.code, own.headers["retry-after"]]).toEqual([429, "too.many", "1"]);
    expect((await narrow.ask("GET", "/api/summary")).status).toBe(200);
    left.destroy();
    first.destroy();
    const next = await narrow.ask("GET", "/api/miners");
    expect([next.status, next.bytes.length, next.headers["retry-after"]]).toEqual([200, big.length, undefined]);
    await narrow.server.close();
  });

  test("are cut off when their reader takes too long", async () => {
    const hasty = await serve({}, { bigAnswers: big.length, bigAnswerTimeout: 50 });
    hasty.encoded.set("listMiners", big);
    const first = await slowReader(hasty.port);
    // The only lane is free again when the next reader gets anything.
    const next = await slowReader(hasty.port);
    const closed = new Promise((resolve) => first.on("close", resolve));
    first.resume();
    await within(closed, "the reader that takes too long to be cut");
    expect(first.bytesRead).toBeLessThan(big.length);
    next.destroy();
    await hasty.server.close();
  });
});
