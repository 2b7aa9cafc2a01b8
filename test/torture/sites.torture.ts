import { endBy } from "../centre/centre-bench.ts";
import { commandsOverCutLines } from "../centre/cut-lines.ts";
import { closeBenches } from "../service/bench.ts";
import { cutWhileCommanded } from "./cut-centre.ts";
import { Verdict } from "./measure.ts";
import { say } from "./say.ts";

/**
 * Commands through a centre while the lines to its sites are cut: none is lost, none is done twice. Rounds of short cuts, and
 * then one of so many minutes, during which the centre is killed.
 */
const rounds = Number(process.argv[2] ?? 5);
const minutes = Number(process.argv[3] ?? 10);
const verdict = new Verdict();

const ends: (() => unknown)[] = [];
endBy((end) => ends.push(end));
const ended = async (): Promise<void> => {
  for (const end of ends.splice(0).reverse()) await end();
  await closeBenches();
};
for (let round = 1; round <= rounds; round += 1) {
  const { commands, done, refused, unclear, cuts, wrong } = await commandsOverCutLines(6, 200, 3_000);
  for (const sentence of wrong) say(`  ${sentence}`);
  const outcomes = `${done} done, ${refused} not sent, ${unclear} without an answer`;
  verdict.check(`${round}: ${commands} commands, ${cuts} cuts: ${outcomes}`, wrong.length === 0);
  await ended();
}
say(`All lines are cut for ${minutes} minutes.`);
await cutWhileCommanded(minutes * 60_000, verdict);
await ended();
verdict.end();
