import { join } from "node:path";
import { inPlace, nodeFile, packageFile, root } from "./run.mjs";
import { setUp } from "./setup.mjs";

/**
 * Installs missing parts, then runs a command of a package, or a file of this repository, on the pinned Node: `node
 * scripts/installed.mjs @biomejs/biome:biome ci .`, `node scripts/installed.mjs test/docs/write.ts --write`.
 */
async function main([program, ...args]) {
  if (!(await setUp({ frontEnds: false, building: false }))) return 1;
  const [name, command] = program.split(":");
  const file = command === undefined ? join(root, name) : packageFile(name, command);
  return inPlace(nodeFile, ["--disable-warning=ExperimentalWarning", file, ...args], { cwd: root });
}

process.exitCode = await main(process.argv.slice(2));
