import { execFileSync } from "node:child_process";
import { copyFileSync, globSync, readFileSync, writeFileSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { parseSync, Visitor } from "rolldown/utils";
import { nodeFile, packageFile, root, spawned } from "./run.mjs";
import { setUp } from "./setup.mjs";

const usage = `npm run mutations -- [--count 60] [--seed 1] [--under src/farm] [--only 7 | --from 7]

Makes small random changes to src, one at a time and evenly over its areas, and runs the tests that
\`npm test -- --changed\` would run, the nearest first, until one fails. Prints a table of what was caught, by which test
and after how long. The same seed and sources give the same changes. --only makes a single one of them, --from goes on at one.`;

/** What a slip of the keyboard or of thought would do; types stay as they are. */
const otherOperators = {
  "===": "!==",
  "!==": "===",
  "<": "<=",
  "<=": "<",
  ">": ">=",
  ">=": ">",
  "&&": "||",
  "||": "&&",
  "??": "&&",
  "*": "/",
  "/": "*",
  "-": "+",
};

/** Mutates nothing that only describes: texts of the contract, types, and the simulator, which is a test double. */
const isMutated = (file) => !/\.d\.ts$|^src\/simulator\/|^src\/catalogue\//.test(file);

async function main() {
  const { values } = parseArgs({
    options: {
      count: { type: "string", default: "60" },
      seed: { type: "string", default: "1" },
      under: { type: "string", default: "src" },
      only: { type: "string" },
      from: { type: "string", default: "1" },
      help: { type: "boolean", default: false },
    },
  });
  if (values.help) {
    console.log(usage);
    return 0;
  }
  if (git("status", "--porcelain", "--", "src").trim() !== "") {
    console.error("src has changes that are not committed; commit or stash them first.");
    return 1;
  }
  if (!(await setUp({ frontEnds: true }))) return 1;
  const only = values.only === undefined ? null : Number(values.only);
  const rows = [];
  let number = 0;
  for await (const mutation of chosen(values.under, Number(values.count), Number(values.seed))) {
    number += 1;
    if ((only !== null && only !== number) || number < Number(values.from)) continue;
    const start = performance.now();
    const caught = await during(mutation, () => firstFailure(mutation.file));
    const row = { number, ...mutation, caught, seconds: Math.round((performance.now() - start) / 1000) };
    rows.push(row);
    console.log(tableRow(row));
  }
  const missed = rows.filter(({ caught }) => caught === null).length;
  console.log(`\n${rows.length - missed} of ${rows.length} caught.`);
  return 0;
}

const git = (...args) => execFileSync("git", args, { cwd: root, encoding: "utf8" });

const tableRow = ({ number, file, line, before, after, caught, seconds }) =>
  `| ${number} | ${file}:${line} | \`${cell(before)}\` → \`${cell(after)}\` | ${caught ?? "**nothing**"} | ${seconds} |`;

const cell = (code) => code.replaceAll(/\s+/g, " ").replaceAll("|", "\\|").slice(0, 80);

/** The areas take turns, so that a small one counts as much as a large one. */
async function* chosen(under, count, seed) {
  const random = randomFrom(seed);
  const areas = Map.groupBy(globSync(`${under}/**/*.{ts,tsx}`, { cwd: root }).filter(isMutated).sort(), areaOf);
  const turns = shuffled([...areas.values()], random);
  await keepChecked();
  let found = 0;
  for (let turn = 0; found < count && turn < 20 * count; turn += 1) {
    const files = turns[turn % turns.length];
    const candidates = mutationsIn(files[Math.floor(random() * files.length)]);
    const candidate = candidates[Math.floor(random() * candidates.length)];
    // A change that the compiler finds needs no test.
    if (candidate === undefined || !(await during(candidate, compiles))) continue;
    found += 1;
    yield candidate;
  }
}

/** src/service and src/link are large: there, each folder is an area. */
const areaOf = (file) =>
  file
    .split("/")
    .slice(0, /^src\/(service|link|web)\//.test(file) ? 3 : 2)
    .join("/");

/** A linear congruential generator (Numerical Recipes): repeatable, and random enough to choose lines. */
function randomFrom(seed) {
  let state = seed >>> 0;
  return () => {
    state = (Math.imul(state, 1664525) + 1013904223) >>> 0;
    return state / 2 ** 32;
  };
}

function shuffled(items, random) {
  const left = [...items];
  return items.map(() => left.splice(Math.floor(random() * left.length), 1)[0]);
}

function mutationsIn(file) {
  const source = readFileSync(join(root, file), "utf8");
  const found = [];
  const add = ({ start, end }, replaced, range = { start, end }) =>
    found.push({
      file,
      line: source.slice(0, start).split("\n").length,
      before: source.slice(start, end),
      after: source.slice(start, range.start) + replaced + source.slice(range.end, end),
      source,
      start,
      end,
    });
  const onOperator = (node) => {
    const other = otherOperators[node.operator];
    const between = source.slice(node.left.end, node.right.start);
    const at = node.left.end + between.indexOf(node.operator);
    if (other !== undefined) add(node, other, { start: at, end: at + node.operator.length });
  };
  const visitor = new Visitor({
    BinaryExpression: onOperator,
    LogicalExpression: onOperator,
    IfStatement: ({ test }) => add(test, `!(${source.slice(test.start, test.end)})`),
    ConditionalExpression: ({ test }) => add(test, `!(${source.slice(test.start, test.end)})`),
    Literal(node) {
      if (typeof node.value === "boolean") add(node, String(!node.value));
      if (typeof node.value === "number") add(node, node.value === 0 ? "1" : "0");
    },
    ExpressionStatement(node) {
      if (["CallExpression", "AssignmentExpression", "AwaitExpression"].includes(node.expression.type)) add(node, ";");
    },
  });
  const lang = file.endsWith("x") ? "tsx" : "ts";
  visitor.visit(parseSync(file, source, { lang }).program);
  return found;
}

/** Runs something while a file is changed. */
async function during({ file, source, start, end, after }, run) {
  const path = join(root, file);
  const restore = () => writeFileSync(path, source);
  process.once("exit", restore);
  writeFileSync(path, source.slice(0, start) + after + source.slice(end));
  try {
    return await run();
  } finally {
    restore();
    process.off("exit", restore);
  }
}

/** Both projects, with the compiler's cache: without changes, a check takes seconds. */
const projects = [".", "src/web"];
const keptOf = (project) =>
  join(root, "node_modules", ".cache", `mutations-${project.replaceAll(/\W/g, "-")}.tsbuildinfo`);

async function keepChecked() {
  for (const project of projects) await check(project, keptOf(project));
}

async function compiles() {
  for (const project of projects) {
    const copy = `${keptOf(project)}.copy`;
    copyFileSync(keptOf(project), copy);
    if (!(await check(project, copy))) return false;
  }
  return true;
}

async function check(project, info) {
  const args = ["-p", project, "--noEmit", "--incremental", "--tsBuildInfoFile", info];
  const { code } = await spawned(nodeFile, [packageFile("typescript", "tsc"), ...args]);
  return code === 0;
}

/** The test file that fails, or null. */
async function firstFailure(file) {
  const { output } = await jest(["--listTests", "--findRelatedTests", file]);
  const related = output.split("\n").filter((line) => line.startsWith(root) && line.includes(".test.ts"));
  const nearest = [...new Set(related)].sort((one, other) => distance(file, one) - distance(file, other));
  const isUnit = (path) => path.endsWith(".unit.test.ts");
  const rest = nearest.filter((path) => !isUnit(path));
  const rounds = [
    { tests: nearest.filter(isUnit), projects: ["unit"] },
    { tests: rest.slice(0, 12), projects: ["integration", "workers"] },
    { tests: rest.slice(12), projects: ["integration", "workers"] },
  ];
  for (const { tests, projects } of rounds) {
    if (tests.length === 0) continue;
    // The front ends' tests run the built files.
    if (!projects.includes("unit") && !(await setUp({ frontEnds: true }))) return "the build";
    const { output: report } = await jest(["--bail", "--runTestsByPath", ...tests, "--selectProjects", ...projects]);
    const [, failed] = /^\S*FAIL .*?(test\/\S+)/m.exec(report.replaceAll(escapes, "")) ?? [];
    if (failed !== undefined) return failed;
  }
  return null;
}

const escapes = new RegExp(`${String.fromCharCode(27)}\\[[0-9;]*m`, "g");

const jest = (args) =>
  spawned(nodeFile, [packageFile("jest", "jest"), ...args], {
    ...process.env,
    NODE_OPTIONS: "--disable-warning=ExperimentalWarning",
  });

/** Tests are in the folder with the same name as the tested code, and often in a file with the same name. */
function distance(file, test) {
  const [source, target] = [file, test.slice(root.length)].map((path) => path.split("/").slice(1));
  const same = source.findIndex((part, at) => part !== target[at]);
  const name = (path) => basename(path).split(".")[0];
  const sharesName = name(file) === name(test) || name(dirname(file)) === name(test);
  return -same - (sharesName ? 10 : 0);
}

// The exit handlers put the changed file back.
for (const signal of ["SIGINT", "SIGTERM", "SIGHUP"]) process.on(signal, () => process.exit(1));
process.exitCode = await main();
