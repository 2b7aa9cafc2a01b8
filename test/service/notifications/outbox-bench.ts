import type { NoticesContext } from "../../../src/service/notifications/notices.ts";
import { openStore } from "../../any-store.ts";
import { onTestFinished } from "../../finished.ts";
import { openOutboxRun, start } from "./outbox-run.ts";

export { offline, start } from "./outbox-run.ts";

/** A run of the outbox over a store in memory, which ends with the test. */
export async function openOutboxBench(
  channels: readonly Record<string, unknown>[],
  isCovered?: NoticesContext["isCovered"],
) {
  const clock = { now: start };
  const store = await openStore({ file: ":memory:", now: () => clock.now });
  const run = await openOutboxRun(channels, store, clock, isCovered);
  onTestFinished(async () => {
    await run.outbox.close();
    await store.close();
  });
  return run;
}
