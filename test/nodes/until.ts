import { setTimeout as pause } from "node:timers/promises";

/** ms: far beyond what anything takes on a machine that is slow. */
const limit = 60_000;

/** Resolves when it holds; rejects, with what `said` has to say, when it has not for a minute. */
export async function until(holds: () => boolean | Promise<boolean>, said: () => unknown = () => ""): Promise<void> {
  for (const start = Date.now(); !(await holds()); await pause(20))
    if (Date.now() - start > limit) throw new Error(`It did not come true: ${String(holds)}\n${String(said())}`);
}
