import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";

/**
 * Files that take long although they are short. Without the times of an earlier run, Vitest begins with the largest files;
 * at the end one process would still be busy with these while the others have nothing left to do.
 */
const slow: ReadonlySet<string> = new Set([
  ...["start", "kill", "bulk-kill", "examples-4", "examples-5", "editor", "editor-forms", "real", "second-bridge"],
  ...["matter", "matter-changes", "matter-heater", "lifetime", "switching", "blocked-events", "pending-answers"],
  ...["every-page", "family-faults", "faults", "worker-ends", "quoting", "agreement", "identity", "solar", "unpack"],
  ...["group-energy", "notification-in", "notification-in-real", "miner-in", "page", "package", "serve", "mqtt"],
  ...["commands", "slow-commands", "reading", "bulk", "fleet", "miners", "moved-miner"],
]);

const isSlow = ({ moduleId }: TestSpecification): boolean => slow.has(basename(moduleId, ".test.ts"));
/** Files of one project stay together, since they share processes. */
const isSameProject = (one: TestSpecification, other: TestSpecification): boolean => one.project === other.project;

export class LongestFirst extends BaseSequencer {
  override async sort(files: TestSpecification[]): Promise<TestSpecification[]> {
    const sorted = await super.sort(files);
    return sorted
      .map((file, index) => ({ file, index }))
      .sort((one, other) =>
        isSameProject(one.file, other.file)
          ? Number(isSlow(other.file)) - Number(isSlow(one.file)) || one.index - other.index
          : one.index - other.index,
      )
      .map(({ file }) => file);
  }
}
