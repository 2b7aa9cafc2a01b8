import { afterAll, beforeAll, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../../src/contract/problems.ts";
import { Control, Identity, RigReadings } from "../../../src/contract/readings.ts";
import { avalon } from "../../../src/link/drivers/avalon/index.ts";
import { jsonpOf } from "../../../src/link/drivers/avalon/web.ts";
import { type Link, openLink } from "../../../src/link/link.ts";
import { replyOf } from "../../../src/link/transports/rpc.ts";
import { type Farm, startFarm } from "../../../src/simulator/index.ts";
import { ask } from "../../simulator/ask.ts";
import { deadline, linkWith } from "../rigs.ts";

const generations = ["a-series", "nano3", "nano3s", "mini3", "q"] as const;
const questions = [
  ["summary"],
  ["pools"],
  ["stats"],
  ["estats"],
  ["litestats"],
  ["version"],
  ["ascset", "0,help"],
  ["check", "switchpool"],
] as const;

/** What each generation answers in good health, byte for byte. */
const healthy = new Map<string, string>();
let farm: Farm;
beforeAll(async () => {
  farm = await startFarm({
    rigs: generations.map((generation) => ({ kind: "avalon", generation, name: generation, warm: true })),
    clock: () => 1.8e12,
  });
  for (const rig of farm.rigs) {
    for (const [command, parameter] of questions)
      healthy.set(`${rig.name} ${command}`, await ask(rig, JSON.stringify({ command, parameter })));
  }
});
afterAll(() => farm.close());

const linkTo = (generation: string, change: (command: string, reply: string) => string): Link => {
  const link = openLink({ host: "127.0.0.1", port: 1, tls: false }, {});
  const answer = async (command: string) => {
    const reply = change(command, healthy.get(`${generation} ${command}`) ?? "");
    return replyOf("rig", Buffer.from(reply, "latin1"));
  };
  return linkWith(link, {
    rpc: { at: "rig", send: answer, ask: (request) => answer(String(request.command)), close: () => {} },
    http: { ...link.http, call: () => Promise.reject(new RigbridgeError("rig.unreachable", "no page")) },
  });
};

const odd = ["", "[", "]", "{", "}", '"', ",", ":", "\0", "nan", "1e999", "-1", "9".repeat(30), "x".repeat(3_000)];

const damage = fc.record({
  command: fc.constantFrom(...questions.map(([command]) => command)),
  at: fc.double({ min: 0, max: 1, noNaN: true }),
  length: fc.nat(60),
  text: fc.constantFrom(...odd),
});

test("whatever a rig answers, a read gives a reading or an error of the link", async () => {
  const property = fc.asyncProperty(
    fc.constantFrom(...generations),
    fc.array(damage, { minLength: 1, maxLength: 4 }),
    async (generation, damages) => {
      const link = linkTo(generation, (command, reply) =>
        damages
          .filter((each) => each.command === command)
          .reduce((text, { at, length, text: put }) => {
            const from = Math.floor(at * text.length);
            return text.slice(0, from) + put + text.slice(from + length);
          }, reply),
      );
      try {
        const reading = await avalon.connect(link).read(deadline());
        RigReadings.parse(reading.readings);
        Identity.parse(reading.identity);
        for (const control of reading.controls) Control.parse(control);
      } catch (error) {
        expect(error).toBeInstanceOf(RigbridgeError);
        expect(error).toMatchObject({ code: expect.stringMatching(/^rig\.(?:garbled|refused)$/) });
      }
    },
  );
  await fc.assert(property, { numRuns: 400 });
});

test.each([
  ["", {}],
  ["summary", null],
  ["stats", { STATS: "none" }],
  ["stats", { STATS: [null, { "MM ID0": 7 }, { "MM ID0": "]][[ [" }] }],
  ["pools", { POOLS: [{ URL: 7 }, null] }],
  ["version", { STATUS: [], VERSION: [{ MODEL: [] }] }],
  ["ascset", { STATUS: [{ STATUS: "I", Msg: "ASC 0 set info: ".padEnd(100_000, "a|") }] }],
])("an odd %s costs no more than its own values", async (odder, answer) => {
  const link = linkTo("q", (command, reply) => (command === odder ? JSON.stringify(answer) : reply));
  const read = avalon.connect(link).read(deadline());
  if (odder === "summary") await expect(read).rejects.toMatchObject({ code: "rig.garbled" });
  else expect(RigReadings.safeParse((await read).readings).success).toBe(true);
});

test.each([
  ['minerinfoCallback({"mac":"a"});', { mac: "a" }],
  ['getAuthCallback ({\t"auth":"1a2b","code":"0",});\n', { auth: "1a2b", code: "0" }],
  ["<html>(login)</html>", undefined],
  ["callback(", undefined],
  ["callback([1])", undefined],
  ["", undefined],
])("the page %j reports %j", (body, expected) => {
  expect(jsonpOf(body)).toEqual(expected);
});

test("any page is read without a fault", () => {
  fc.assert(
    fc.property(fc.string({ unit: fc.constantFrom(...'abc(){}[]",:;0 \n'), maxLength: 100 }), (body) => {
      const read = jsonpOf(body);
      expect(read === undefined || typeof read === "object").toBe(true);
    }),
  );
});
