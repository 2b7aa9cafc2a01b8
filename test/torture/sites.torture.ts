import { endBy } from "../centre/centre-bench.ts";
import { commandsOverCutLines } from "../centre/cut-lines.ts";
import { closeBenches } from "../service/bench.ts";
import { say } from "./say.ts";

/** Commands through a centre while the lines to its sites are cut: none is lost, none is done twice. */
const rounds = Number(process.argv[2] ?? 5);

const ends: (() => unknown)[] = [];
endBy((end) => ends.push(end));
for (let round = 1; round <= rounds; round += 1) {
  const { commands, done, refused, unclear, cuts, wrong } = await commandsOverCutLines(6, 200, 3_000);
  say(`${round}: ${commands} commands, ${cuts} cuts: ${done} done, ${refused} not sent, ${unclear} without an answer`);
  for (const sentence of wrong) say(`  ${sentence}`);
  if (wrong.length > 0) process.exitCode = 1;
  for (const end of ends.splice(0).reverse()) await end();
  await closeBenches();
}
process.exit();
