import { setTimeout as pause } from "node:timers/promises";

/** Resolves when it has become true; rejects after a minute, on a machine that may be several times slower. */
export async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  const end = performance.now() + 60_000;
  while (!(await condition())) {
    if (performance.now() > end) throw new Error(`did not become true: ${condition}`);
    await pause(50);
  }
}
