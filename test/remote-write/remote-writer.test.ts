import { rm } from "node:fs/promises";
import { join } from "node:path";
import { afterEach, beforeEach, expect, test } from "@jest/globals";
import { startHttpServer } from "../../src/http/index.ts";
import { closedPort } from "../link/servers.ts";
import { until } from "../until.ts";
import { type Received, type Receiver, startReceiver } from "./receiver.ts";
import { openWriterBench } from "./writer-bench.ts";

let bench: Awaited<ReturnType<typeof openWriterBench>>;
let receiver: Receiver;

beforeEach(async () => {
  [bench, receiver] = await Promise.all([openWriterBench(), startReceiver()]);
});
afterEach(async () => {
  await bench.close();
  await receiver.close();
});

const of = (samples: readonly Received[], name: string, miner?: string): readonly Received[] =>
  samples.filter(({ labels }) => labels.__name__ === name && (miner === undefined || labels.name === miner));
const lineOf = ({ labels: { __name__ = "", site: _, ...labels }, value }: Received): string =>
  `${__name__} ${JSON.stringify(Object.entries(labels).sort())} ${value}`;

test("a round has the samples of /metrics, with the labels of the settings", async () => {
  const writer = await bench.writer(receiver.url, { headers: { Authorization: "Bearer a-long-token" } });
  const { service, settings, log } = bench;
  const server = await startHttpServer({ service, settings, log, version: "test" });
  const text = await (await fetch(`${server.url}/metrics`)).text();
  await writer.round();
  await writer.settled();
  await server.close();
  const shown = text
    .split("\n")
    .filter((line) => /^rigbridge_(miner|energy|group_energy)/.test(line))
    .map((line) => {
      const [, name = "", labels = "", value] = /^(\w+)(?:\{(.*)\})? (\S+)$/.exec(line) ?? [];
      const pairs = [...labels.matchAll(/(\w+)="([^"]*)"/g)].map(([, key, word]) => [key, word]);
      return `${name} ${JSON.stringify(pairs.filter(([, word]) => word !== "").sort())} ${value}`;
    });
  const [samples = []] = receiver.taken;
  expect(shown.length).toBeGreaterThan(50);
  expect(samples.map(lineOf).sort()).toEqual(shown.sort());
  expect(samples.every(({ labels: { site } }) => site === "cabin")).toBe(true);
  expect(new Set(samples.map(({ at }) => at)).size).toBe(1);
  expect(receiver.headers[0]).toMatchObject({
    authorization: "Bearer a-long-token",
    "content-encoding": "snappy",
    "content-type": "application/x-protobuf",
    "x-prometheus-remote-write-version": "0.1.0",
  });
  expect(writer.status).toEqual({ sent: samples.length, dropped: 0, waiting: 0 });
});

test("the series of a rig that is off, renamed or removed end at once", async () => {
  const writer = await bench.writer(receiver.url);
  await writer.round();
  bench.farm.rigs[0]?.powerOff();
  for (let reads = 0; reads < 3; reads += 1) await bench.poll();
  await bench.service.changeMiner({ id: bench.idOf("garage"), name: "loft" }, { actor: "test" });
  await bench.service.deleteMiner({ id: bench.idOf("den") }, { actor: "test" });
  await writer.round();
  await writer.round();
  await writer.settled();
  const [first = [], second = [], third = []] = receiver.taken;
  const power = "rigbridge_miner_power_watts";
  expect(of(first, power)).toHaveLength(3);
  expect(of(second, "rigbridge_miner_up", "attic").map(({ value }) => value)).toEqual([0]);
  expect(of(second, power, "attic").map(({ value }) => value)).toEqual([null]);
  expect(of(second, power, "garage").map(({ value }) => value)).toEqual([null]);
  expect(of(second, power, "loft").map(({ value }) => typeof value)).toEqual(["number"]);
  expect(of(second, power, "den").map(({ value }) => value)).toEqual([null]);
  expect(third.filter(({ value }) => value === null)).toEqual([]);
});

test("what a receiver does not take waits on disk, and is sent in order by the next start", async () => {
  const away = await bench.writer(`http://127.0.0.1:${await closedPort()}/write`);
  for (let round = 0; round < 3; round += 1) await away.round();
  await until(async () => (await bench.waiting()).length === 3, "three requests to wait");
  await away.close();
  expect(away.status.sent).toBe(0);
  const writer = await bench.writer(receiver.url);
  await writer.round();
  await writer.settled();
  const times = receiver.taken.map(([sample]) => sample?.at ?? 0);
  expect(times).toHaveLength(4);
  expect(times).toEqual([...times].sort());
  expect(await bench.waiting()).toEqual([]);
  expect(writer.status).toMatchObject({ dropped: 0, waiting: 0 });
});

test("a receiver that is busy gets the same again; what it refuses is dropped and said without its secrets", async () => {
  const token = "Bearer a-long-token";
  const writer = await bench.writer(receiver.url, { headers: { Authorization: token } });
  receiver.answers.push({ status: 503 }, { status: 429, headers: { "retry-after": "0" } });
  await writer.round();
  await writer.settled();
  expect(receiver.headers).toHaveLength(3);
  expect(receiver.taken).toHaveLength(1);
  expect(await bench.warnings()).toEqual([]);
  receiver.answers.push({ status: 400, body: "out of order sample\nmore" }, { status: 401, body: `no such ${token}` });
  await writer.round();
  await writer.settled();
  const { host } = new URL(receiver.url);
  const message = `The receiver refuses samples, which are lost: ${host} answers with status 400: out of order sample`;
  expect(await bench.warnings()).toEqual([{ message, isOpen: true }]);
  await writer.round();
  await writer.settled();
  expect(writer.status.dropped).toBe(2 * writer.status.sent);
  await writer.round();
  await writer.settled();
  await until(async () => (await bench.warnings()).every(({ isOpen }) => !isOpen), "the warning to close");
  expect(bench.lines.join("")).toContain("answers with status 401");
  expect(bench.lines.join("")).not.toContain("a-long-token");
});

test("the oldest are dropped when there is no room, or the disk takes nothing", async () => {
  const url = `http://127.0.0.1:${await closedPort()}/write`;
  const writer = await bench.writer(url, { mostWaiting: 1 });
  await writer.round();
  expect(writer.status).toEqual({ sent: 0, dropped: expect.any(Number), waiting: 0 });
  expect(writer.status.dropped).toBeGreaterThan(50);
  expect((await bench.warnings())[0]?.message).toMatch(/^More samples wait than there is room for/);
  await writer.close();
  const other = await bench.writer(url);
  await rm(join(bench.folder, "queue"), { recursive: true });
  await other.round();
  // What is being sent may still arrive; at the end, it cannot be kept.
  await other.close();
  expect(other.status).toEqual({ sent: 0, dropped: writer.status.dropped, waiting: 0 });
});
