import { afterEach, expect, test } from "@jest/globals";
import { pino } from "pino";
import { stoppedClock } from "../clock.ts";
import { refusal } from "../errors.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** A log, and what was written to it. */
function kept() {
  const lines: Record<string, unknown>[] = [];
  const log = pino({ level: "info", base: null, timestamp: false }, { write: (line) => lines.push(JSON.parse(line)) });
  return { log, lines };
}

test("the log names miners that are added, unreachable, back and removed", async () => {
  const { log, lines } = kept();
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true, name: "desk" }], log });
  const { address } = bench.rig(0);
  const id = await bench.add(address, { driver: "axeos" });
  const of = { level: 30, miner: id, address };
  expect(lines).toEqual([{ ...of, name: address, msg: "a miner was added" }]);
  bench.rig(0).fault = "off";
  for (let misses = 0; misses < 5; misses += 1) await bench.poll(id);
  bench.rig(0).fault = null;
  await bench.poll(id);
  await bench.poll(id);
  expect(lines.slice(1)).toEqual([
    { ...of, name: "desk", reason: expect.stringContaining(address), msg: "a miner cannot be reached" },
    { ...of, name: "desk", msg: "a miner is back" },
  ]);
  await bench.service.deleteMiner({ id }, caller);
  expect(lines.slice(3)).toEqual([{ ...of, name: "desk", msg: "a miner was removed" }]);
});

test("the log shows which commands ended, and how", async () => {
  const { log, lines } = kept();
  const clock = stoppedClock();
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true, name: "desk" }], log, clock: clock.now });
  const id = await bench.add(bench.rig(0).address, { driver: "axeos" });
  lines.length = 0;
  await bench.act(id, { action: "set", property: "frequency", value: "500" });
  expect(await refusal(bench.act(id, { action: "set", property: "frequency", value: "9000" }))).not.toBe("done");
  const [done, not] = (await bench.commands(id)).toReversed();
  const of = { miner: id, name: "desk", action: "set", actor: "test" };
  expect(lines).toEqual([
    { level: 30, command: done?.id, ...of, state: "done", message: done?.message, msg: "a command is done" },
    { level: 40, command: not?.id, ...of, state: "failed", message: not?.message, msg: "a command is not done" },
  ]);
});
