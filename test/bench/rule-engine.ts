import { z } from "zod";
import { openStore } from "../../src/store/index.ts";
import { openRuleBench, RecordedRuns, twoClocks } from "../service/automation/rule-bench.ts";
import { answering } from "./child.ts";
import { twentyRules } from "./twenty-rules.ts";

/** The rules alone, in a process of their own: over virtual states of rigs. */

const heap = (): number => {
  for (let turn = 0; turn < 3; turn += 1) globalThis.gc?.();
  return process.memoryUsage().heapUsed;
};

const figuresOf = (id: number, turn: number) => ({
  hashrate: 1e14 + id + turn * 1e9,
  hashrateExpected: 1e14,
  power: 3000 + (turn % 7),
  uptime: 10_000 + turn * 10,
  temperature: 60 + ((id + turn) % 9),
  temperatureIn: 20 + (turn % 3),
  shares: { accepted: turn * 10, rejected: turn, hardwareErrors: 0 },
});

answering({
  /** ms of CPU for each batch of 1,000 changed miners. */
  cpu: async (input) => {
    const { miners, batches } = z.object({ miners: z.int(), batches: z.int() }).parse(input);
    const bench = await openRuleBench({ rules: twentyRules, miners });
    const times: number[] = [];
    for (let turn = 0; turn < batches; turn += 1) {
      const changes = Array.from({ length: miners }, (_, index) => bench.change(index + 1, figuresOf(index + 1, turn)));
      const before = process.cpuUsage();
      bench.batch(changes);
      const { user, system } = process.cpuUsage(before);
      times.push((user + system) / 1000);
      bench.clocks.pass(10_000);
      await bench.automation.turn();
    }
    // The first ones are those of a program that is not warm yet.
    return times.slice(Math.floor(batches / 4));
  },
  /** Bytes of the heap, and ms of a start, with all rules firing at all miners. */
  states: async (input) => {
    const miners = z.int().parse(input);
    const firing = twentyRules.map(({ key }) => ({
      key,
      guard: false,
      when: { all: [{ offline: true }] },
      do: [{ wait: 1 }],
      limit: { repeat: "1h" },
    }));
    const clocks = twoClocks();
    const store = await openStore({ file: ":memory:", now: clocks.now });
    const quiet = new RecordedRuns();
    quiet.begin = async () => "seen";
    const first = await openRuleBench({ rules: firing, miners, clocks, store, runs: quiet });
    const before = heap();
    first.batch(Array.from({ length: miners }, (_, index) => first.change(index + 1, null)));
    await first.pass(40, 10);
    await first.close();
    const bytes = heap() - before;
    const began = performance.now();
    const second = await openRuleBench({ rules: firing, miners, clocks, store, runs: quiet });
    const ms = performance.now() - began;
    const states = second.automation.engine.rules.reduce((sum, { cells }) => sum + cells.size, 0);
    return { bytes, ms, states };
  },
});
