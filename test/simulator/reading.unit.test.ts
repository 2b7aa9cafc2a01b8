import { PassThrough } from "node:stream";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { partsOf } from "../../src/simulator/cgminer/pools.ts";
import { JsonWriter, TextWriter } from "../../src/simulator/cgminer/writer.ts";
import { type HttpRequest, readRequests } from "../../src/simulator/http-message.ts";

/** The requests read from these pieces of a stream. */
async function requestsOf(pieces: readonly string[]): Promise<HttpRequest[]> {
  const stream = new PassThrough();
  const requests: HttpRequest[] = [];
  readRequests(stream, (request) => requests.push(request));
  for (const piece of pieces) stream.write(piece, "latin1");
  stream.end();
  await new Promise((resolve) => stream.on("end", resolve));
  return requests;
}

describe("the parsers of a virtual rig", () => {
  test("requests are the same wherever the stream is split", async () => {
    const first = "PATCH /api/system?x=1 HTTP/1.1\r\nHost: rig\r\nContent-Length: 6\r\n\r\nabcdef";
    const second = "POST /b HTTP/1.1\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n1\r\nd\r\n0\r\n\r\n";
    const text = first + second;
    await fc.assert(
      fc.asyncProperty(fc.nat(text.length), fc.nat(text.length), async (a, b) => {
        const [from, to] = [Math.min(a, b), Math.max(a, b)];
        const requests = await requestsOf([text.slice(0, from), text.slice(from, to), text.slice(to)]);
        expect(requests.map(({ method, path, body }) => `${method} ${path} ${body}`)).toEqual([
          "PATCH /api/system abcdef",
          "POST /b abcd",
        ]);
        expect(requests[0]?.headers.get("host")).toBe("rig");
      }),
      { numRuns: 60 },
    );
  });

  test("no bytes make them throw or hang", async () => {
    const piece = fc.oneof(
      fc.string({ unit: "binary-ascii" }),
      fc.constantFrom(
        "\r\n\r\n",
        "Content-Length: -7\r\n",
        "Transfer-Encoding: chunked\r\n",
        "-5\r\n",
        "GET / HTTP/1.1\r\n",
      ),
    );
    await fc.assert(fc.asyncProperty(fc.array(piece), async (pieces) => void (await requestsOf(pieces))));
  });

  test("the parts of addpool survive escaping", () => {
    const part = fc.string({ minLength: 1 });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1 }), (parts) => {
        const escaped = parts.map((text) => text.replace(/[\\,]/g, "\\$&")).join(",");
        expect(partsOf(escaped)).toEqual(parts);
      }),
    );
  });

  test("numbers are written with the given digits, in JSON and in plain text", () => {
    fc.assert(
      fc.property(fc.double({ min: -1e15, max: 1e15, noNaN: true }), fc.nat(8), (value, digits) => {
        const json = new JsonWriter();
        const text = new TextWriter("");
        for (const writer of [json, text]) {
          writer.record();
          writer.fixed("x", value, digits);
        }
        expect(json.end()).toBe(`{"x":${value.toFixed(digits)}}`);
        expect(text.end()).toBe(`x=${value.toFixed(digits)}|`);
      }),
    );
  });
});
