import type { CurtailmentTarget } from "../../contract/curtailment.ts";
import { targetWatts } from "../../contract/target-watts.ts";
import type { StoredCurtailment, StoredCurtailmentSample } from "../../store/index.ts";

type Aim = Pick<StoredCurtailment, "started" | "reached" | "baseline" | "target" | "targets">;

/** Earlier targets that are kept, the newest: those of a day with one in five minutes. Older ones no longer count. */
const mostTargets = 300;
const hourMs = 3_600_000;

/** What changes with a new target, from `now` on, epoch ms: it has not been reached. One of the same power changes nothing else. Pure. */
export function withTarget(
  row: Aim,
  target: CurtailmentTarget,
  now: number,
): Pick<StoredCurtailment, "target" | "reached" | "targets"> {
  const { baseline, reached, targets = [] } = row;
  const watts = targetWatts(row.target, baseline);
  if (watts === targetWatts(target, baseline)) return { target, reached, targets };
  const before = { from: dueFrom(row), until: now, watts: watts ?? 0 };
  return { target, reached: null, targets: [...targets, before].slice(-mostTargets) };
}

/**
 * Wh that the rigs took above the target in force, until `until`, epoch ms. Each target counts from when it was first reached;
 * one that was not reached, from when it was set. Each sample lasts until the next. Pure.
 */
export function shortfallOf(row: Aim, samples: readonly StoredCurtailmentSample[], until: number): number {
  const present = { from: dueFrom(row), until, watts: targetWatts(row.target, row.baseline) ?? 0 };
  let sum = 0;
  for (const target of [...(row.targets ?? []), present])
    for (const [index, { time, rigs }] of samples.entries()) {
      const next = Math.min(samples[index + 1]?.time ?? until, target.until);
      sum += Math.max(0, rigs - target.watts) * Math.max(0, next - Math.max(target.from, time));
    }
  return sum / hourMs;
}

/** Epoch ms from which the present target counts. */
const dueFrom = ({ started, reached, targets }: Aim): number => reached ?? targets?.at(-1)?.until ?? started;
