import { createRequire } from "node:module";
import { basename } from "node:path";
import type { Test } from "@jest/test-result";

type CommonJs = typeof import("@jest/test-sequencer", { with: { "resolution-mode": "require" }});
const { default: Sequencer }: CommonJs = createRequire(import.meta.url)("@jest/test-sequencer");

/** Files that take long although they are short: first if Jest has no record of an earlier run. */
const slow: ReadonlySet<string> = new Set([
  ...["start", "kill", "bulk-kill", "examples-4", "examples-5", "editor", "editor-forms", "real", "second-bridge"],
  ...["matter", "matter-changes", "matter-heater", "lifetime", "switching", "blocked-events", "pending-answers"],
  ...["every-page", "family-faults", "faults", "worker-ends", "quoting", "agreement", "identity", "solar", "unpack"],
  ...["group-energy", "notification-in", "notification-in-real", "miner-in", "page", "package", "serve", "mqtt"],
  ...["commands", "slow-commands", "reading", "bulk", "fleet", "miners", "moved-miner"],
]);

const isSlow = ({ path }: Test): boolean => slow.has(basename(path, ".test.ts"));

/**
 * Jest begins with the files that failed, then those that took longest in the last run, then the largest. At the end, one
 * process would still be busy with a slow file while the others have nothing left to do.
 */
export default class LongestFirst extends Sequencer {
  override async sort(tests: Test[]): Promise<Test[]> {
    const sorted = await super.sort(tests);
    const projects = [...new Set(tests.map(({ context }) => context.config.id))];
    // Files of one project stay together, since they share processes.
    const project = ({ context }: Test): number => projects.indexOf(context.config.id);
    const unknownAndSlow = (test: Test): number => Number(test.duration === undefined && isSlow(test));
    return sorted.sort((one, other) => project(one) - project(other) || unknownAndSlow(other) - unknownAndSlow(one));
  }
}
