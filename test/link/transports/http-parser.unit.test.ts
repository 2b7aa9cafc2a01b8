import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { HttpParser } from "../../../src/link/transports/http-parser.ts";

interface Parsed {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
}

/** The reply, null while it is incomplete, or the error; each piece is overwritten after it was taken. */
function parsed(pieces: readonly Buffer[]): Parsed | string | null {
  const parser = new HttpParser("rig:80");
  const result = (): Parsed => ({
    status: parser.status,
    headers: { ...parser.headers },
    body: parser.body().toString("latin1"),
  });
  try {
    for (const piece of pieces) {
      const bytes = Buffer.from(piece);
      if (parser.take(bytes)) return result();
      bytes.fill("!");
    }
    return parser.end() ? result() : null;
  } catch (error) {
    if (error instanceof RigbridgeError && error.code === "rig.garbled") return error.message;
    throw error;
  }
}

const whole = (text: string): Parsed | string | null => parsed([Buffer.from(text, "latin1")]);

/** The bytes cut at these places, of which some may be equal. */
function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const at = [0, ...places.map((place) => place % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
  return at.slice(1).map((end, index) => bytes.subarray(at[index], end));
}

const lines = (...all: readonly string[]): string => all.join("\r\n");
const samples: Readonly<Record<string, string>> = {
  length: lines("HTTP/1.1 200 OK", "Content-Length: 7", "Server: x", "", '{"a":1}'),
  chunked: lines(
    "HTTP/1.1 200 OK",
    "Transfer-Encoding: chunked",
    "",
    "3;x=y",
    '{"a',
    "4 ",
    '":1}',
    "0",
    "T: t",
    "",
    "",
  ),
  "until the end": lines("HTTP/1.0 200", "", '{"a":1}'),
  "no body": lines("HTTP/1.1 204 No Content", "Content-Length: 7", "", ""),
  interim: lines("HTTP/1.1 100 Continue", "X: y", "", "HTTP/1.1 200 OK", "Content-Length: 2", "", "{}"),
  twice: lines("HTTP/1.1 200 OK", "Content-Length: 2", "", "{}HTTP/1.1 500 No", "Content-Length: 0", "", ""),
  "line feeds alone": 'HTTP/1.1 200 OK\nContent-Length: 7\n\n{"a":1}',
  "empty lines first": lines("", "", "HTTP/1.1 200 OK", "Content-Length: 2", "", "{}"),
  folded: lines("HTTP/1.1 401 No", 'WWW-Authenticate: Digest realm="a",', ' nonce="b"', "Content-Length: 0", "", ""),
  "two framings": lines("HTTP/1.1 200 OK", "Content-Length: 7", "Transfer-Encoding: chunked", "", "0", "", ""),
  "two lengths": lines("HTTP/1.1 200 OK", "Content-Length: 7", "Content-Length: 8", "", "12345678"),
  upgrade: lines("HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "", ""),
  "a wrong chunk": lines("HTTP/1.1 200 OK", "Transfer-Encoding: chunked", "", "3", "abcd", "0", "", ""),
  "a header without a colon": lines("HTTP/1.1 200 OK", "Content-Length", "", ""),
  "other protocols": "SSH-2.0-OpenSSH_9.2\r\n",
  truncated: lines("HTTP/1.1 200 OK", "Content-Length: 7", "", '{"a"'),
};

describe("one reply gives one result, however its bytes are cut", () => {
  test.each(Object.entries(samples))("%s", (_, text) => {
    const bytes = Buffer.from(text, "latin1");
    const expected = whole(text);
    for (let place = 0; place <= bytes.length; place += 1) expect(parsed(cut(bytes, [place]))).toEqual(expected);
    expect(parsed(Array.from(bytes, (byte) => Buffer.of(byte)))).toEqual(expected);
    fc.assert(
      fc.property(fc.array(fc.nat()), (places) => {
        expect(parsed(cut(bytes, places))).toEqual(expected);
      }),
    );
  });

  test("also with bytes changed, lost or added", () => {
    const change = fc.record({ at: fc.nat(), lost: fc.nat(3), added: fc.uint8Array({ maxLength: 3 }) });
    const damaged = fc.tuple(fc.constantFrom(...Object.values(samples)), fc.array(change, { maxLength: 4 }));
    const cuts = fc.array(fc.nat(), { maxLength: 8 });
    fc.assert(
      fc.property(damaged, cuts, ([text, changes], places) => {
        let bytes = Buffer.from(text, "latin1");
        for (const { at, lost, added } of changes) {
          const start = at % (bytes.length + 1);
          bytes = Buffer.concat([bytes.subarray(0, start), added, bytes.subarray(start + lost)]);
        }
        expect(parsed(cut(bytes, places))).toEqual(parsed([bytes]));
      }),
      { numRuns: 3_000 },
    );
  });
});

describe("the result", () => {
  const body = '{"a":1}';

  test.each<[string, Partial<Parsed>]>([
    ["length", { status: 200, headers: { "content-length": "7", server: "x" }, body }],
    ["chunked", { status: 200, body }],
    ["until the end", { status: 200, headers: {}, body }],
    ["no body", { status: 204, body: "" }],
    ["interim", { status: 200, headers: { "content-length": "2" }, body: "{}" }],
    ["twice", { status: 200, body: "{}" }],
    ["line feeds alone", { status: 200, body }],
    ["empty lines first", { status: 200, body: "{}" }],
    ["folded", { status: 401, headers: { "content-length": "0", "www-authenticate": 'Digest realm="a", nonce="b"' } }],
  ])("of %s", (name, expected) => {
    expect(whole(samples[name] ?? "")).toMatchObject(expected);
  });

  test.each([
    ["two framings", "with a length and in chunks"],
    ["two lengths", "with two lengths"],
    ["upgrade", "switches to a protocol other than HTTP"],
    ["a wrong chunk", "not HTTP"],
    ["a header without a colon", "not HTTP"],
    ["other protocols", "not HTTP"],
  ])("of %s is one sentence", (name, sentence) => {
    expect(whole(samples[name] ?? "")).toMatch(new RegExp(`^rig:80: .*${sentence}$`));
  });

  test("of a reply that broke off is none", () => {
    expect(whole(samples.truncated ?? "")).toBeNull();
  });

  test("has repeated headers joined, and names as on any object", () => {
    const text = lines(
      "HTTP/1.1 200 OK",
      "A: 1",
      "a : 2",
      "__proto__: x",
      "constructor: y",
      "Content-Length: 0",
      "",
      "",
    );
    const reply = whole(text);
    expect(reply).toMatchObject({ headers: { a: "1, 2", constructor: "y" } });
    expect(Object.getPrototypeOf(reply)).toBe(Object.prototype);
  });

  test("takes a length that is repeated", () => {
    const text = lines("HTTP/1.1 200 OK", "Content-Length: 2", "Content-Length: 2", "", "{}");
    expect(whole(text)).toMatchObject({ body: "{}" });
  });
});

describe("a reply is bounded", () => {
  const megabyte = 1_048_576;
  const head = "HTTP/1.1 200 OK\r\n";
  const chunked = `${head}Transfer-Encoding: chunked\r\n\r\n`;

  test.each<[string, string, string]>([
    ["by the length that it announces", `${head}Content-Length: ${megabyte + 1}\r\n\r\n`, ""],
    ["by its bytes", `${head}\r\n`, "x".repeat(1000)],
    ["by its chunks", chunked, `3e8\r\n${"x".repeat(1000)}\r\n`],
    ["by the chunk that it announces", `${chunked}ffffffff\r\n`, ""],
    ["by its headers", head, `X-More: ${"x".repeat(1000)}\r\n`],
    ["by one header", `${head}X: `, "x".repeat(1000)],
    ["by its interim answers", "", "HTTP/1.1 100 Continue\r\n\r\n"],
    ["by its empty lines", "", "\r\n".repeat(100)],
    ["by what is around its chunks", chunked, `1;${"x".repeat(1000)}\r\nx\r\n`],
    ["by its trailers", `${chunked}0\r\n`, `X-More: ${"x".repeat(1000)}\r\n`],
  ])("%s", (_, start, more) => {
    const parser = new HttpParser("rig:80");
    let taken = 0;
    const feed = (): void => {
      for (let text = start; taken <= 2 * megabyte; text = more) {
        taken += text.length;
        expect(parser.take(Buffer.from(text))).toBe(false);
      }
    };
    expect(feed).toThrow(/^rig:80: /);
    expect(taken).toBeLessThan(1.01 * megabyte);
  });
});

test("whatever bytes come, the result is a reply, an error of the link, or none", () => {
  const start = fc.constantFrom("", "HTTP/1.1 200 OK\r\n", "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n");
  fc.assert(
    fc.property(start, fc.uint8Array({ maxLength: 200 }), (text, bytes) => {
      expect(() => parsed([Buffer.concat([Buffer.from(text), bytes])])).not.toThrow();
    }),
    { numRuns: 2_000 },
  );
});
