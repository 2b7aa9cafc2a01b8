import { bodies } from "./bodies.ts";
import { killChildren } from "./child.ts";
import { type Choice, choiceOf, usage } from "./choice.ts";
import { curtailment } from "./curtailment.ts";
import { dashboard } from "./dashboard.ts";
import { events } from "./events.ts";
import { figures, type PartName, shown } from "./figures.ts";
import { dead, fleet, large } from "./fleets.ts";
import { idleList } from "./idle.ts";
import { memory, start, store } from "./keeping.ts";
import { largePair } from "./large-pair.ts";
import { LeftOut } from "./left-out.ts";
import { mcp } from "./mcp.ts";
import { mqtt } from "./mqtt.ts";
import { pair } from "./pair.ts";
import { httpPoll, poll } from "./polling.ts";
import { json, machine, markdown, table } from "./report.ts";
import { rows } from "./rows.ts";
import { rules } from "./rules.ts";
import { scans } from "./scan.ts";
import { list, summary } from "./serving.ts";
import { settings } from "./settings.ts";
import { sites } from "./sites.ts";
import type { Measured } from "./statistics.ts";

/** `npm run bench`: docs/performance.md says what is measured and how. */

const parts: Readonly<Record<PartName, (quick: boolean) => Promise<Measured[]>>> = {
  poll,
  http: httpPoll,
  fleet,
  dead,
  large,
  list,
  summary,
  web: async (quick) => [...(await rows(quick)), ...(await dashboard(quick)), ...(await idleList(quick))],
  bodies,
  memory,
  start,
  store,
  events,
  mqtt,
  rules,
  settings,
  mcp,
  sites,
  scan: scans,
  curtailment,
  pair,
  "large-pair": largePair,
};

async function main(args: string[]): Promise<number> {
  let choice: Choice;
  try {
    choice = choiceOf(args);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n\n${usage}`);
    return 2;
  }
  if (choice.help) {
    process.stdout.write(usage);
    return 0;
  }
  const { results, failures } = await measuredParts(choice);
  for (const failure of failures) process.stderr.write(`${failure}\n`);
  if (choice.output === "json") console.log(json(choice.parts, results));
  else if (choice.output === "markdown") console.log(markdown(results, ["npm run bench --", ...args].join(" ")));
  else console.log(`\n${machine()}${choice.quick ? "; quick, so the figures mean little" : ""}\n\n${table(results)}`);
  return failures.length === 0 ? 0 : 1;
}

/** One after the other; a part that fails leaves the others be. */
async function measuredParts({ parts: names, quick }: Choice): Promise<{ results: Measured[]; failures: string[] }> {
  const results: Measured[] = [];
  const failures: string[] = [];
  for (const [index, name] of names.entries()) {
    const done = progress(`${index + 1}/${names.length} ${name}`);
    try {
      const found = await parts[name](quick);
      results.push(...found);
      done(found.map((figure) => `${figure.name} ${shown(figure.value)}`).join(", "));
    } catch (error) {
      if (error instanceof LeftOut) {
        done(`${namesOf(name)} left out: ${error.message}`);
        continue;
      }
      done("failed");
      failures.push(`${name}: ${error instanceof Error ? error.stack : error}`);
      killChildren();
    }
  }
  return { results, failures };
}

const namesOf = (part: PartName): string =>
  figures
    .filter((figure) => figure.part === part)
    .map(({ name }) => name)
    .join(", ");

/**
 * On stderr, so that stdout holds the figures alone. At a terminal the seconds count up in place; elsewhere a line says
 * that it began and one that it ended.
 */
function progress(words: string): (outcome: string) => void {
  const { stderr } = process;
  const began = performance.now();
  const line = (): string => `${words}  ${Math.round((performance.now() - began) / 1000)} s`;
  const timer = stderr.isTTY ? setInterval(() => stderr.write(`\r${line()}`), 1000) : undefined;
  stderr.write(stderr.isTTY ? words : `${words} ...\n`);
  return (outcome) => {
    clearInterval(timer);
    stderr.write(`${stderr.isTTY ? "\r" : ""}${line()}, ${outcome}\n`);
  };
}

// So that what must be cleaned up at the end is.
for (const signal of ["SIGINT", "SIGTERM"] as const) process.once(signal, () => process.exit(1));
process.exit(await main(process.argv.slice(2)));
