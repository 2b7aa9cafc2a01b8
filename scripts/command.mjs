import { join } from "node:path";
import { inPlace, nodeFile, root } from "./run.mjs";
import { setUp } from "./setup.mjs";

/** Runs the rigbridge command of what stands in this folder, installed and built first; gives its exit code. */
export async function rigbridge(args) {
  if (!(await setUp({ frontEnds: false }))) return 1;
  return inPlace(nodeFile, ["--disable-warning=ExperimentalWarning", join(root, "dist", "cli", "main.js"), ...args]);
}
