import { readdirSync } from "node:fs";
import { basename, join } from "node:path";
import { childEnvironment, inPlace, nodeFile, root } from "./run.mjs";
import { setUp } from "./setup.mjs";

/**
 * `npm run torture [-- name ...]`: the stress tests, one program after another. Each prints its actions and
 * measurements, and fails if a guarantee is broken; it prints and skips parts that this machine does not allow (root, a
 * tmpfs). Numbers are passed to the programs: `npm run soak -- 2` runs for two minutes.
 */
async function main() {
  if (!(await setUp({ frontEnds: true }))) return 1;
  const given = process.argv.slice(2);
  const numbers = given.filter((word) => /^[0-9.]+$/.test(word));
  const wanted = given.filter((word) => !numbers.includes(word));
  const folder = join(root, "test", "torture");
  const programs = readdirSync(folder).filter((file) => file.endsWith(".torture.ts"));
  const named = programs.filter((file) => wanted.length === 0 || wanted.includes(basename(file, ".torture.ts")));
  const failed = [];
  for (const [index, file] of named.entries()) {
    const name = basename(file, ".torture.ts");
    const start = performance.now();
    console.log(`\n== ${index + 1}/${named.length} ${name}`);
    const code = await inPlace(nodeFile, ["--disable-warning=ExperimentalWarning", join(folder, file), ...numbers], {
      cwd: root,
      env: childEnvironment({ RIGBRIDGE_BUILT: "true" }),
    });
    if (code !== 0) failed.push(name);
    const seconds = Math.round((performance.now() - start) / 1000);
    console.log(`== ${name}: ${code === 0 ? "ok" : "FAILED"}, ${seconds} s`);
    if (code > 128) return code;
  }
  if (named.length === 0) console.log(`Programs: ${programs.map((file) => basename(file, ".torture.ts")).join(", ")}`);
  else console.log(failed.length === 0 ? "\nAll passed." : `\nFAILED: ${failed.join(", ")}.`);
  return named.length > 0 && failed.length === 0 ? 0 : 1;
}

process.exitCode = await main();
