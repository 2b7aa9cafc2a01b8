import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { SourceSettings } from "../../src/config/loops.ts";
import { numberIn } from "../../src/link/quantity.ts";
import { readSource, roomTemperature, surplus } from "../../src/service/power/source.ts";
import { problem } from "../errors.ts";
import { closeLoopBenches, openValueServer, type ValueServer } from "./loop-bench.ts";

afterEach(closeLoopBenches);

const never = new AbortController().signal;

async function served(answer: ValueServer["answer"], settings: Record<string, unknown> = {}, signal = never) {
  const server = await openValueServer(answer);
  const read = () =>
    readSource({ ...SourceSettings.parse({ url: server.url, ...settings }), url: server.url }, roomTemperature, signal);
  return { server, read };
}

describe("the number of an answer", () => {
  test.each([
    ["21.5", undefined, 21.5],
    [" -3 ", undefined, -3],
    ["21.5 °C\n", undefined, 21.5],
    ['"21.5"', undefined, 21.5],
    ["2.15e1", undefined, 21.5],
    ['{"state":"21.5"}', "state", 21.5],
    ['{"a":{"b":[{"c":19}]}}', "a.b.0.c", 19],
    ["[18,19]", "1", 19],
  ])("of %j at %j is found", (text, path, value) => {
    expect(numberIn(text, path, roomTemperature)).toBe(value);
  });

  test.each([
    ["", undefined, "something other than a number"],
    ["NaN", undefined, "something other than a number"],
    ["Infinity", undefined, "something other than a number"],
    ["21,5", undefined, "something other than a number"],
    ["21.5 °F", undefined, "something other than a number"],
    ["0x15", undefined, "something other than a number"],
    ["<html>21.5</html>", undefined, "something other than a number"],
    ["null", undefined, "something other than a number"],
    ["true", undefined, "something other than a number"],
    ['{"state":21.5}', undefined, "set path"],
    ['{"state":"unavailable"}', "state", "something other than a number"],
    ['{"state":null}', "state", "something other than a number"],
    ['{"state":21.5', "state", "something other than JSON"],
    ['{"state":21.5}', "stat", 'nothing at "stat"'],
    ['{"state":21.5}', "constructor.name", "nothing at"],
    ['{"state":21.5}', "__proto__", "nothing at"],
    ["[1]", "length", "nothing at"],
    ["1000", undefined, "not a room temperature"],
    ["1e400", undefined, "something other than a number"],
  ])("of %j at %j is none", (text, path, words) => {
    expect(numberIn(text, path, roomTemperature)).toEqual(expect.stringContaining(words));
  });

  test("is within its bounds or words, whatever the answer is", () => {
    const path = fc.option(fc.constantFrom("a", "a.b", "0", "toString.length"), { nil: undefined });
    fc.assert(
      fc.property(fc.oneof(fc.string(), fc.json()), path, (text, at) => {
        const found = numberIn(text, at, surplus);
        return typeof found === "string" || (found >= surplus.min && found <= surplus.max);
      }),
    );
  });
});

describe("an address", () => {
  test("is requested once, with its headers", async () => {
    const { server, read } = await served("20.5", { headers: { Authorization: "Bearer sesame-in-secret" } });
    expect(await read()).toBe(20.5);
    expect(server.asked).toHaveLength(1);
    expect(server.asked[0]?.headers.authorization).toBe("Bearer sesame-in-secret");
  });

  test.each<[string, ValueServer["answer"], string]>([
    ["a page", "<!doctype html><p>sesame", "service.garbled"],
    ["half JSON", '{"a": 2', "service.garbled"],
    ["an error", (response) => response.writeHead(500).end("sesame"), "service.refused"],
    ["a redirect", (response) => response.writeHead(302, { location: "/other" }).end(), "service.refused"],
    ["nothing", (response) => response.destroy(), "service.unreachable"],
    [
      "half an answer",
      (response) => response.writeHead(200, { "content-length": "90" }).write("20", () => response.destroy()),
      "service.unreachable",
    ],
    ["without end", (response) => response.end("1".repeat(300_000)), "service.garbled"],
  ])("that answers with %s is an error without what was sent or said", async (_, answer, code) => {
    const { server, read } = await served(answer, { headers: { "X-Key": "sesame" }, path: "a" });
    const error = await problem(read());
    expect(error.code).toBe(code);
    expect([error.message, String(error.cause)].join()).not.toContain("sesame");
    expect(error.message).toContain(new URL(server.url).host);
    expect(server.asked).toHaveLength(1);
  });

  test("that is slow is given up when the service closes", async () => {
    const closing = new AbortController();
    const { read } = await served(() => closing.abort(), {}, closing.signal);
    expect((await problem(read())).code).toBe("service.unreachable");
  });
});
