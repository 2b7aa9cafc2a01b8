import { describe, expect, test } from "@jest/globals";
import { settledSeconds } from "../../src/contract/efficiency.ts";
import type { Control } from "../../src/contract/readings.ts";
import { unknownReadings } from "../../src/contract/readings.ts";
import type { Reading } from "../../src/link/driver.ts";
import { LearnedRungs } from "../../src/service/power/learned-rungs.ts";
import { PowerTargets } from "../../src/service/power/power-targets.ts";
import type { PowerMemory } from "../../src/store/index.ts";
import { stoppedClock } from "../clock.ts";

const control = (key: Control["key"], fields: Partial<Control>): Control => ({
  key,
  kind: "switch",
  unit: null,
  min: null,
  max: null,
  step: null,
  options: null,
  value: true,
  lasting: false,
  restartsMining: false,
  seconds: 0,
  ...fields,
});

/** A rig with a power limit of 1,000 to 3,500 W, and its figures at one of them. */
function reading(
  watts: number,
  figures: { hashrate: number; power: number; uptime?: number; algorithm?: string },
): Reading {
  const limit = { kind: "range", unit: "W", min: 1000, max: 3500, step: 100, value: watts, lasting: true } as const;
  const readings = { ...unknownReadings(), mining: true, algorithm: "sha256", uptime: 100_000, ...figures };
  return { readings, controls: [control("mining", {}), control("power_limit", limit)] } as unknown as Reading;
}

function openRig() {
  const clock = stoppedClock();
  let memory: PowerMemory | undefined;
  const memories = {
    get: () => memory,
    save: (_: number, next: PowerMemory) => {
      memory = next;
    },
    forget: async () => undefined,
    flush: async () => undefined,
  };
  const open = () =>
    new PowerTargets({
      memoriesOf: () => memories,
      now: clock.now,
      nameplateOf: () => null,
      rulesOf: () => ({ minOn: 0, minOff: 0, changesPerHour: 6 }),
    });
  let power = open();
  /** Reads for so long, every 10 s. */
  const run = (seconds: number, each: Reading) => {
    for (let passed = 0; passed <= seconds; passed += 10) {
      power.observe(1, each);
      clock.pass(10);
    }
  };
  const rungs = (now: Reading) => power.rungs(1, { controls: now.controls, reading: now });
  return {
    clock,
    run,
    rungs,
    restart: () => {
      power = open();
    },
  };
}

const low = reading(2000, { hashrate: 80e12, power: 2010 });
const high = reading(3000, { hashrate: 100e12, power: 3020 });

describe("what a rig hashes at a setting", () => {
  test("is learnt once it has settled there, and kept over restarts; a stop is always known", () => {
    const { run, rungs, restart } = openRig();
    run(settledSeconds - 60, low);
    expect(rungs(low)).toEqual({ rungs: [{ watts: 0, draw: 0, hashrate: 0 }], present: 2000 });
    run(100, low);
    run(settledSeconds + 60, high);
    restart();
    expect(rungs(high)).toMatchObject({
      present: 3000,
      rungs: [
        { watts: 0 },
        { watts: 2000, draw: 2010, hashrate: 80e12 },
        { watts: 3000, draw: 3020, hashrate: 100e12 },
      ],
    });
  });

  test("is not learnt while the rig starts, tunes or does not hash, and begins anew at another setting", () => {
    const { run, rungs } = openRig();
    run(2 * settledSeconds, reading(2000, { hashrate: 80e12, power: 2000, uptime: 60 }));
    run(2 * settledSeconds, reading(2000, { hashrate: 0, power: 2000 }));
    for (let turn = 0; turn < 10; turn += 1) {
      run(settledSeconds / 2, low);
      run(settledSeconds / 2, high);
    }
    expect(rungs(low)?.rungs).toEqual([{ watts: 0, draw: 0, hashrate: 0 }]);
  });

  test("follows the rig, is forgotten for another algorithm, and left out beyond the rig's range", () => {
    const { run, rungs } = openRig();
    run(2 * settledSeconds, low);
    run(6 * settledSeconds, reading(2000, { hashrate: 70e12, power: 2010 }));
    expect(rungs(low)?.rungs[1]?.hashrate).toBeLessThan(73e12);
    expect(rungs(reading(2000, { hashrate: 1, power: 1, algorithm: "scrypt" }))?.rungs).toHaveLength(1);
    const narrow = reading(1200, { hashrate: 1, power: 1 });
    const limits = narrow.controls.map((each) => (each.key === "power_limit" ? { ...each, max: 1500 } : each));
    expect(rungs({ ...narrow, controls: limits })?.rungs).toHaveLength(1);
  });

  test("is stored only when it has moved", () => {
    const learned = new LearnedRungs();
    const known = [{ watts: 2000, draw: 2000, hashrate: 80e12, algorithm: "sha256" }];
    const taken = (hashrate: number, now: number) =>
      learned.after(1, reading(2000, { hashrate, power: 2000 }), 2000, known, now);
    taken(81e12, 0);
    expect(taken(81e12, settledSeconds * 1000)).toBe(known);
    expect(taken(200e12, settledSeconds * 1000)).not.toBe(known);
  });
});
