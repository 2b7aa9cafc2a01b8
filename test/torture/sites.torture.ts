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
/** Says what is wrong; ends all that was started, also after an error. */
async function judged(part: () => Promise<readonly string[]>): Promise<void> {
  try {
    const wrong = await part();
    for (const sentence of wrong) say(`  ${sentence}`);
    if (wrong.length > 0) process.exitCode = 1;
  } finally {
    for (const end of ends.splice(0).reverse()) await end();
    await closeBenches();
  }
}

for (let round = 1; round <= rounds; round += 1)
  await judged(async () => {
    const { commands, done, refused, unclear, cuts, wrong } = await commandsOverCutLines(6, 200, 3_000);
    say(
      `${round}: ${commands} commands, ${cuts} cuts: ${done} done, ${refused} not sent, ${unclear} without an answer`,
    );
    return wrong;
  });
await judged(async () => {
  const wrong = await longCut(seconds, say);
  say(`lost, done twice, not shown as it was, or too late: ${wrong.length}`);
  return wrong;
});
process.exit();
