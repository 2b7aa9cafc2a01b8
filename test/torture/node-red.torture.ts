import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { startNodeRed, type Version } from "../nodes/real-node-red.ts";
import { run } from "../package/packed.ts";
import { until } from "../until.ts";

/**
 * The nodes in Node-RED on the oldest Node.js that each way of using them is promised for, and on an older one, which
 * they name in one sentence.
 */
const trials: readonly {
  readonly node: string;
  readonly red: Version;
  /** The status of a node whose service elsewhere does not answer, and of one whose service is inside. */
  readonly elsewhere: RegExp;
  readonly inside: RegExp;
}[] = [
  {
    node: "20",
    red: 4,
    elsewhere: /@rigbridge\/node-red needs Node\.js 22/,
    inside: /@rigbridge\/node-red needs Node\.js 22/,
  },
  { node: "22.9.0", red: 5, elsewhere: /: no answer$/, inside: /A service inside Node-RED needs Node/ },
  { node: "22.12.0", red: 4, elsewhere: /: no answer$/, inside: /A service inside Node-RED needs Node/ },
  { node: "22.13.0", red: 4, elsewhere: /: no answer$/, inside: /^connected$/ },
  { node: "26", red: 5, elsewhere: /: no answer$/, inside: /^connected$/ },
];

const home = await mkdtemp(join(tmpdir(), "rigbridge-node-red-"));
try {
  for (const trial of trials) {
    const node = await nodeOf(trial.node);
    if (node === undefined) say(`Node ${trial.node} is left out, npm could not install it`);
    else await tryOn(node, trial);
  }
} finally {
  await rm(home, { recursive: true, force: true });
}

async function tryOn(node: string, { node: version, red: redVersion, elsewhere, inside }: (typeof trials)[number]) {
  const red = await startNodeRed(redVersion, { node });
  try {
    const service = { type: "rigbridge-service", version: 1 };
    const user = { type: "rigbridge-miner-get", z: "tab", version: 1, scope: "all", wires: [[]] };
    await red.deploy([
      { id: "tab", type: "tab", label: "Test" },
      { ...service, id: "one", mode: "elsewhere", url: "http://127.0.0.1:9" },
      { ...service, id: "other", mode: "inside", rigs: [] },
      { ...user, id: "of elsewhere", service: "one" },
      { ...user, id: "of inside", service: "other" },
    ]);
    const shows = (id: string, wanted: RegExp) =>
      until(() => wanted.test(red.status(id)?.text ?? ""), `the node "${id}" to show ${wanted}`, { details: red.log });
    await shows("of elsewhere", elsewhere);
    await shows("of inside", inside);
    if (/is not a function|ERR_|SyntaxError/.test(red.log())) throw new Error(`Node ${version}:\n${red.log()}`);
    say(`Node-RED ${redVersion} on Node ${version}: as promised`);
  } finally {
    await red.close();
  }
}

/** The program of a Node from the npm registry. */
async function nodeOf(version: string): Promise<string | undefined> {
  const folder = join(home, `node-${version}`);
  await mkdir(folder);
  await writeFile(join(folder, "package.json"), JSON.stringify({ private: true, allowScripts: { node: true } }));
  const { code } = await run("npm", ["install", "--no-audit", "--no-fund", `node@${version}`], folder);
  return code === 0 ? join(folder, "node_modules", "node", "bin", "node") : undefined;
}

function say(line: string): void {
  process.stdout.write(`${line}\n`);
}
