import { join } from "node:path";
import { inPlace, memoryOptions, nodeFile, root } from "./run.mjs";
import { setUp } from "./setup.mjs";

/** Installs and builds this repository if necessary, then runs its rigbridge command. Resolves with the exit code. */
export async function rigbridge(args) {
  if (!(await setUp({ frontEnds: false }))) return 1;
  const options = ["--disable-warning=ExperimentalWarning", ...memoryOptions];
  return inPlace(nodeFile, [...options, join(root, "dist", "cli", "main.js"), ...args]);
}
