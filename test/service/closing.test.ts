import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import type { Repeat } from "../../src/service/repeat.ts";
import { until } from "../until.ts";
import { caller, closeBenches, openBench } from "./bench.ts";
import { openDouble } from "./notifications/doubles.ts";

afterEach(closeBenches);

const byMs: Readonly<Record<number, string>> = { 1000: "every second", 5000: "loops" };

test("a service closes from the outside in: first all that begins work by itself, then its rigs, then what it keeps", async () => {
  const happened: string[] = [];
  const stops =
    (name?: string): Repeat =>
    (_work, ms) =>
    () =>
      void happened.push(name ?? byMs[ms] ?? String(ms));
  const noted = ({ action, state }: { action?: string; state?: string }): void => {
    if (action !== undefined) happened.push(`${action} ${state}`);
  };
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    repeat: stops(),
    ruleTurns: stops("rules"),
    switchingTurns: stops("profit switching"),
    historyTurns: stops("history of the farm"),
    log: pino({ level: "info" }, { write: (line) => void noted(JSON.parse(line)) }),
  });
  const id = await bench.add(bench.rig(0).address);
  const events = bench.service.watchEvents({}, caller, new AbortController().signal)[Symbol.asyncIterator]();
  const ended = (async () => {
    while ((await events.next()).done !== true);
  })();
  // It never answers, so the command is still under way.
  bench.rig(0).fault = "silent";
  const restarting = bench.act(id, { action: "restart" }).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  await bench.service.close();
  await Promise.all([ended, restarting]);
  expect(happened).toEqual([
    ...["history of the farm", "profit switching"],
    // Curtailments and their median efficiencies before the rules, and the outbox last.
    ...["every second", "every second", "rules", "loops", "every second", "restart failed"],
  ]);
});

test("what a rule has begun ends in its history, although the service stops meanwhile", async () => {
  const turns: (() => Promise<void>)[] = [];
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    ruleTurns: (work) => {
      turns.push(work);
      return () => undefined;
    },
    config: {
      rules: [
        {
          key: "again",
          name: "Again",
          when: { all: [{ reading: "temperature", above: 1 }] },
          do: [{ action: "restart" }],
        },
      ],
    },
  });
  await bench.add(bench.rig(0).address);
  bench.rig(0).fault = "silent";
  for (const turn of turns) await turn();
  const commands = async () => (await bench.service.listCommands({}, caller)).commandList;
  await until(async () => (await commands()).length === 1, "the rule to begin");
  await bench.service.close();
  const traces = await bench.store.ruleLog.recentTraces({ kind: "rule", minerId: null, since: 0, limit: 10 });
  expect(traces.map(({ value }) => JSON.parse(value).outcome)).toEqual(["failed"]);
});

test("a channel hears of the end of what it was told, when the miner is no longer declared at the next start", async () => {
  const { heard, url } = await openDouble();
  const turns = new Set<() => Promise<void>>();
  const channels = [{ key: "phone", type: "ntfy", url, topic: "farm" }];
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const farm = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    clock: () => clock.now,
    repeat: (work) => {
      turns.add(work);
      return () => turns.delete(work);
    },
    config: { channels },
  });
  const declared = { channels, miners: [{ address: farm.rig(0).address, name: "Rig A" }] };
  await farm.restart(declared);
  const id = 1_000_000_001;
  await farm.poll(id);
  farm.rig(0).powerOff();
  for (let read = 0; read < 3; read += 1) await farm.poll(id);
  const pass = async (): Promise<void> => {
    clock.now += 60_000;
    for (const turn of turns) await turn();
  };
  await pass();
  expect(heard.map(({ body }) => JSON.parse(body).title)).toEqual(["Rig A: Disconnected"]);
  await farm.restart({ channels });
  await pass();
  expect(heard.map(({ body }) => JSON.parse(body).message).at(-1)).toMatch(/no longer declared/);
});
