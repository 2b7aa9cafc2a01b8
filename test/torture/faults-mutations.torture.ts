import fc from "fast-check";
import { type Base, bases, faultOfReading, linkTo, type Made, type Mutation, mutation } from "../link/mutations.ts";
import { Verdict } from "./measure.ts";
import { say } from "./say.ts";

/** 100,000 mutations of the replies of every dialect: what is read of them, and how long the slowest takes. */
const count = 100_000;
const longest = 5;
const seed = Number(process.argv[2] ?? Date.now() & 0x7fffffff);

/** ms of one read, the quickest of several: what the machine does beside is no part of it. */
async function timeOf(base: Base, how: Mutation, times: number): Promise<number> {
  const made: Made = new Map();
  await base.driver
    .connect(linkTo(base, how, made))
    .read(never)
    .catch(() => null);
  let best = Number.POSITIVE_INFINITY;
  for (let turn = 0; turn < times; turn += 1) {
    const start = performance.now();
    await base.driver
      .connect(linkTo(base, how, made))
      .read(never)
      .catch(() => null);
    best = Math.min(best, performance.now() - start);
  }
  return best;
}

const never = new AbortController().signal;
const verdict = new Verdict();
const all = await bases();
const slow: { how: Mutation; ms: number }[] = [];
const times: number[] = [];
const wrong: string[] = [];
let done = 0;
const start = performance.now();
for (const how of fc.sample(mutation(all.length), { numRuns: Number(process.argv[3] ?? count), seed })) {
  const base = all[how.base];
  if (base === undefined) continue;
  const fault = await faultOfReading(base, how);
  if (fault !== null) wrong.push(`${base.name}: ${fault}\n  ${JSON.stringify(how).slice(0, 2_000)}`);
  const ms = await timeOf(base, how, 1);
  times.push(ms);
  if (ms > longest) slow.push({ how, ms: await timeOf(base, how, 20) });
  done += 1;
}
times.sort((a, b) => a - b);
const at = (share: number): string => (times[Math.floor((times.length - 1) * share)] ?? 0).toFixed(2);
say(`${done} mutations of ${all.length} dialects, seed ${seed}, ${((performance.now() - start) / 1000).toFixed(0)} s`);
say(`  one whole read with all its questions: p50 ${at(0.5)} ms, p99 ${at(0.99)} ms, slowest ${at(1)} ms`);
const worst = slow.reduce((most, { ms }) => Math.max(most, ms), 0);
say(
  `  ${slow.length} took more than ${longest} ms at first; of these the slowest takes, at best of twenty, ${worst.toFixed(2)} ms`,
);
if (worst > longest) say(`  ${JSON.stringify(slow.find(({ ms }) => ms === worst)?.how).slice(0, 2_000)}`);
for (const each of wrong.slice(0, 5)) say(`  ${each}`);
verdict.check(
  "every reading fits the contract, every failure is a documented one",
  wrong.length === 0 && done === count,
);
verdict.check(`no read takes more than ${longest} ms`, worst <= longest);
verdict.end();
