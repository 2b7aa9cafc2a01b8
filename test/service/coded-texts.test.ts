import { afterEach, expect, test } from "@jest/globals";
import type { CodedText } from "../../src/contract/coded-text.ts";
import type { Caller } from "../../src/contract/service.ts";
import { englishOf } from "../../src/messages/detail.ts";
import { problem } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** What a client makes of a code with the English texts. */
const english = (coded: CodedText | null | undefined): string | undefined =>
  coded == null ? undefined : englishOf(coded);

test("the reason of a rig has a code with the same English text, also after a restart", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const id = await bench.add(bench.rig(0).address);
  bench.rig(0).powerOff();
  for (let read = 0; read < 8; read += 1) await bench.poll(id);
  const away = (await bench.get(id)).readings.reason;
  expect(away?.text).toMatch(/connection refused/);
  expect(english(away?.coded)).toBe(away?.text);
  await bench.restart();
  const stored = (await bench.get(id)).readings.reason;
  expect(stored === null || english(stored.coded) === stored.text).toBe(true);
});

const pool = {
  id: 0,
  description: "",
  coinClass: undefined,
  coinAlgorithm: undefined,
  url: "stratum+tcp://pool.example.com:3333",
  workerName: "a.b",
  walletAddress: undefined,
  plainWorkerPassword: undefined,
};

type Ask = (bench: Bench, id: number, limited: Caller) => Promise<unknown>;

const refused: readonly (readonly [string, Ask])[] = [
  ["a control that the rig lacks", ({ act }, id) => act(id, { action: "set", property: "wings", value: "1" })],
  ["a rig that is not there", ({ service }) => service.getMiner({ id: 99 }, caller)],
  [
    "a right that the user lacks",
    ({ service }, _id, limited) => service.addGroup({ name: "Hall", parentId: 0 }, limited),
  ],
  ["an address that another rig has", ({ add, rig }) => add(rig(0).address)],
  ["a pool that the file declares", ({ service }) => service.deletePool({ id: 1 }, caller)],
  [
    "a host without an agent",
    async ({ service }) => {
      const { id } = await service.saveHost({ id: 0, description: "", hostname: "barn" }, caller);
      return service.getHostSystemInfo({ id }, caller);
    },
  ],
  ["a section that was never saved", ({ service }) => service.undoSettings({ section: "poll" }, caller)],
  ["a search that is not there", ({ service }) => service.getDiscovery({ id: 9 }, caller)],
];

test.each(refused)("the refusal of %s has a code with the same English text", async (_what, ask) => {
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    config: { pools: [{ name: "Main", url: "stratum+tcp://pool.example.com:3333", worker: "a.b" }] },
  });
  const id = await bench.add(bench.rig(0).address);
  const vera = await bench.service.saveUser(
    { id: 0, name: "Vera", key: "key-of-vera-123456", privilege: "view" },
    caller,
  );
  const { message, coded } = await problem(ask(bench, id, { ...caller, userId: vera.id }));
  expect(english(coded)).toBe(message);
});

const mistaken: readonly (readonly [string, Ask])[] = [
  ["a value outside the range", ({ act }, id) => act(id, { action: "set", property: "fan", value: "900" })],
  ["a value in another unit", ({ act }, id) => act(id, { action: "set", property: "fan", value: "2 kW" })],
  ["an address with a path", ({ add }) => add("192.168.1.5/status")],
  ["a group that is not there", ({ service }) => service.addGroup({ name: "Hall", parentId: 9 }, caller)],
  ["a coin that is not there", ({ service }) => service.savePool({ ...pool, coinShortName: "XYZ" }, caller)],
  [
    "a setting of the wrong type",
    ({ service }) => service.saveSettings({ section: "poll", value: { interval: "soon" } }, caller),
  ],
  ["a misspelt setting", ({ service }) => service.saveSettings({ section: "poll", value: { intervall: 5 } }, caller)],
];

test.each(mistaken)("a mistake like %s has a code with the same English text", async (_what, ask) => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const id = await bench.add(bench.rig(0).address);
  const { errors } = await problem(ask(bench, id, caller));
  expect(errors.length).toBeGreaterThan(0);
  expect(errors.map(({ coded }) => english(coded))).toEqual(errors.map(({ message }) => message));
});

test("what a test of settings finds, and what a trial of a rule lacks, have codes with the same English text", async () => {
  const { service } = await openBench();
  const { findings } = await service.testSettings({ section: "mqtt" }, caller);
  expect(findings.map(({ coded }) => english(coded))).toEqual(findings.map(({ message }) => message));
  const when = { all: [{ reading: "fanRpm" as const, above: 5 }], where: "reading.hashrate > 1" };
  const { id } = await service.addRule({ key: "a", when, do: [{ action: "restart" }] }, caller);
  const tried = await service.tryRule({ id: String(id) }, caller);
  expect(tried.notes.length).toBeGreaterThan(1);
  expect(tried.codedNotes?.map(english)).toEqual(tried.notes);
});

test("a run of a rule by hand has its result by code", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const id = await bench.add(bench.rig(0).address);
  const rule = await bench.service.addRule({ key: "a", manual: true, do: [{ action: "restart" }] }, caller);
  await bench.act(id, { action: "rule", rule_id: rule.id });
  await bench.idle();
  const { runs } = await bench.service.listRuleRuns({ id: String(rule.id) }, caller);
  expect(runs.map(({ coded }) => english(coded?.message))).toEqual(runs.map(({ message }) => message));
});
