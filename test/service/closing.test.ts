import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import type { Repeat } from "../../src/service/repeat.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

test("a service closes from the outside in: first all that begins work by itself, then its rigs, then what it keeps", async () => {
  const happened: string[] = [];
  const byMs: Readonly<Record<number, string>> = { 1000: "outbox", 5000: "loops" };
  const stops =
    (name?: string): Repeat =>
    (_work, ms) =>
    () =>
      void happened.push(name ?? byMs[ms] ?? String(ms));
  const bench = await openBench({
    rigs: [{ kind: "axeos", warm: true }],
    repeat: stops(),
    ruleTurns: stops("rules"),
    switchingTurns: stops("profit switching"),
    historyTurns: stops("history of the farm"),
    log: pino({ level: "info" }, { write: (line) => void noted(JSON.parse(line)) }),
  });
  const noted = ({ action, state }: { action?: string; state?: string }): void => {
    if (action !== undefined) happened.push(`${action} ${state}`);
  };
  const id = await bench.add(bench.rig(0).address);
  const events = bench.service.watchEvents({}, caller, new AbortController().signal)[Symbol.asyncIterator]();
  const ended = (async () => {
    while ((await events.next()).done !== true);
    happened.push("events");
  })();
  // It never answers, so the command is still under way.
  bench.rig(0).fault = "silent";
  const restarting = bench.act(id, { action: "restart" }).catch(() => undefined);
  await new Promise((resolve) => setImmediate(resolve));
  await bench.service.close();
  await Promise.all([ended, restarting]);
  expect(happened.filter((each) => each !== "events")).toEqual([
    ...["history of the farm", "profit switching", "rules", "loops", "outbox"],
    "restart failed",
  ]);
  expect(happened).toContain("events");
});
