import { endBy } from "../centre/centre-bench.ts";
import { commandsOverCutLines } from "../centre/cut-lines.ts";
import { closeBenches } from "../service/bench.ts";
import { longCut } from "./cut-sites.ts";
import { say } from "./say.ts";

/**
 * Commands through a centre while the lines to its sites are cut: none is lost, none is done twice. First for seconds, again
 * and again; then once for long, with a centre that is killed meanwhile. Arguments: rounds of the first, seconds of the second.
 */
const [rounds = 5, seconds = 600] = process.argv.slice(2).map(Number);

const ends: (() => unknown)[] = [];
endBy((end) => ends.push(end));
const over = async (wrong: readonly string[]): Promise<void> => {
  for (const sentence of wrong) say(`  ${sentence}`);
  if (wrong.length > 0) process.exitCode = 1;
  for (const end of ends.splice(0).reverse()) await end();
  await closeBenches();
};
for (let round = 1; round <= rounds; round += 1) {
  const { commands, done, refused, unclear, cuts, wrong } = await commandsOverCutLines(6, 200, 3_000);
  say(`${round}: ${commands} commands, ${cuts} cuts: ${done} done, ${refused} not sent, ${unclear} without an answer`);
  await over(wrong);
}
const wrong = await longCut(seconds, say);
say(`lost, done twice, or not shown as it was: ${wrong.length}`);
await over(wrong);
process.exit();
