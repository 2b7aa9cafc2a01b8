import { z } from "zod";
import { Child } from "./child.ts";
import { Service, startFarm } from "./rigs.ts";
import { type Measured, measured, median } from "./statistics.ts";
import { twentyRules } from "./twenty-rules.ts";

const States = z.object({ bytes: z.number(), ms: z.number(), states: z.int() });

export async function rules(quick: boolean): Promise<Measured[]> {
  const cpu = new Child("rule-engine.ts");
  const times = await cpu.ask(z.array(z.number()), "cpu", { miners: 1_000, batches: quick ? 8 : 80 });
  await cpu.end();
  const keeping = new Child("rule-engine.ts", ["--expose-gc"]);
  const miners = quick ? 1_000 : 10_000;
  const { bytes, ms, states } = await keeping.ask(States, "states", miners);
  await keeping.end();
  const note = `${states.toLocaleString("en-US")} states`;
  return [
    measured("rules.1000.cpu.ms", times, `the slowest ${Math.max(...times).toFixed(1)} ms`),
    measured("rules.reads.ratio", await readRatios(quick), "two services over the same rigs, in turn"),
    measured("rules.10000.bytes", [bytes], note),
    measured("rules.start.ms", [ms], note),
  ];
}

/** CPU of a service with 20 rules against that of one without, window by window. */
async function readRatios(quick: boolean): Promise<number[]> {
  const rigs = quick ? 100 : 1_000;
  const farm = await startFarm(rigs);
  const [without, withRules] = [new Service(), new Service()];
  await without.start(farm.rigs, { interval: 1 });
  await withRules.start(farm.rigs, { interval: 1, rules: [...twentyRules] });
  for (const service of [without, withRules]) await service.readBy(rigs, quick ? 1 : 10);
  const found: number[] = [];
  for (let run = 0; run < (quick ? 1 : 5); run += 1) {
    const cpuOf = async (service: Service): Promise<number> => {
      const { cpu, seconds } = await service.watched(quick ? 2 : 8);
      return cpu / seconds;
    };
    const [before, between, after] = [await cpuOf(without), await cpuOf(withRules), await cpuOf(without)];
    found.push(between / median([before, after]));
  }
  await Promise.all([without.end(), withRules.end(), farm.end()]);
  return found;
}
