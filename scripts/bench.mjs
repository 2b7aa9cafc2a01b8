import { join } from "node:path";
import { inPlace, nodeFile, root } from "./run.mjs";
import { setUp } from "./setup.mjs";

/**
 * `npm run bench`, `npm run bench -- --json`; `-- --help` lists the parts. The dashboard is measured in the browser driver of
 * the front ends' tests, which are installed first.
 */
process.exitCode = (await setUp({ frontEnds: true }))
  ? await inPlace(nodeFile, [
      "--disable-warning=ExperimentalWarning",
      join(root, "test", "bench", "bench.ts"),
      ...process.argv.slice(2),
    ])
  : 1;
