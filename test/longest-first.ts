import { basename } from "node:path";
import { BaseSequencer, type TestSpecification } from "vitest/node";
import { slowFiles } from "./slow-files.ts";

const isSlow = ({ moduleId }: TestSpecification): boolean => slowFiles.has(basename(moduleId, ".test.ts"));
/** Files of one project stay together, since they share processes. */
const isSameProject = (one: TestSpecification, other: TestSpecification): boolean => one.project === other.project;

/** At the end, one process would still be busy with a slow file while the others have nothing left to do. */
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
