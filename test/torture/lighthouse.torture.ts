import { execFile } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { promisify } from "node:util";
import { chromium as playwright } from "playwright-core";
import { z } from "zod";
import { chromiumPrograms } from "../chromium.ts";
import type { Dashboard } from "../web/dashboard.ts";
import { startShowcase } from "../web/showcase.ts";
import { Verdict } from "./measure.ts";
import { say } from "./say.ts";

/**
 * Lighthouse on the built dashboard over a real service, as it rates a phone in a slow mobile network. Lighthouse is
 * fetched from npm into a cache folder once, since it weighs 176 MB.
 */
const version = "13.5.0";
const least = { performance: 95, accessibility: 100 } as const;
/** Of JavaScript until a page is loaded, gzipped. */
const mostScript = 120_000;
/** Lighthouse advises the median of several runs: one varies by 5 points and more with what else the machine does. */
const runs = 3;
const paths = ["", "rigs", "rigs/1000000001", "family"];

/**
 * Lighthouse makes the CPU 4 times slower, which turns a desktop in the middle of its fast class (a benchmark index of 1,500
 * to 2,000) into the phone it means; its authors advise another factor for another machine.
 */
const slowdown = { factor: 4, ofIndex: 1_750, benchmarks: 9 } as const;

const run = promisify(execFile);
const web = new URL("../../dist/web/", import.meta.url);

const Report = z.object({
  categories: z.record(z.string(), z.object({ score: z.number().nullable() })),
  audits: z.record(
    z.string(),
    z.object({
      title: z.string(),
      score: z.number().nullish(),
      displayValue: z.string().optional(),
      details: z.unknown().optional(),
    }),
  ),
});
const Requests = z.object({ items: z.array(z.object({ url: z.string(), resourceType: z.string().optional() })) });

const PageFunctions = z.object({
  pageFunctions: z.object({ computeBenchmarkIndex: z.custom<() => number>((value) => typeof value === "function") }),
});

/** By how much this machine is to be made slower: the median of its benchmark indexes, as Lighthouse measures them. */
async function slowdownHere(program: string, executablePath: string): Promise<number> {
  const functions = new URL("../core/lib/page-functions.js", pathToFileURL(program));
  const { pageFunctions } = PageFunctions.parse(await import(functions.href));
  const browser = await playwright.launch({ executablePath, chromiumSandbox: process.getuid?.() !== 0 });
  const page = await browser.newPage();
  const indexes: number[] = [];
  while (indexes.length < slowdown.benchmarks)
    indexes.push(z.number().parse(await page.evaluate(`(${String(pageFunctions.computeBenchmarkIndex)})()`)));
  await browser.close();
  indexes.sort((one, other) => one - other);
  const index = indexes[Math.floor(indexes.length / 2)] as number;
  const factor = (slowdown.factor * index) / slowdown.ofIndex;
  say(
    `The benchmark index of this machine is ${index.toFixed(0)} (${indexes.map((each) => each.toFixed(0)).join(", ")}): ` +
      `its CPU is made ${factor.toFixed(2)} times slower`,
  );
  return factor;
}

/** The program of Lighthouse. */
async function installed(): Promise<string> {
  const folder = join(process.env.XDG_CACHE_HOME ?? join(homedir(), ".cache"), "rigbridge", `lighthouse-${version}`);
  const program = join(folder, "node_modules", "lighthouse", "cli", "index.js");
  const stamp = join(folder, "complete");
  if (existsSync(stamp)) return program;
  say(`Installing Lighthouse ${version} in ${folder}`);
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), "{}");
  await run("npm", ["install", "--no-audit", "--no-fund", "--ignore-scripts", `lighthouse@${version}`], {
    cwd: folder,
  });
  writeFileSync(stamp, "");
  return program;
}

type Report = z.infer<typeof Report>;

const scoreOf = ({ categories }: Report, name: string): number => Math.round(100 * (categories[name]?.score ?? 0));

/** The run whose performance is the median. */
async function medianOf(measureOnce: () => Promise<Report>): Promise<Report> {
  const reports: Report[] = [];
  while (reports.length < runs) reports.push(await measureOnce());
  reports.sort((one, other) => scoreOf(one, "performance") - scoreOf(other, "performance"));
  say(`        performance in ${runs} runs: ${reports.map((each) => scoreOf(each, "performance")).join(", ")}`);
  return reports[Math.floor(runs / 2)] as Report;
}

/** Chromium sometimes starts its trace too late (NO_NAVSTART); Lighthouse then measures nothing and asks to be run again. */
async function rate(...options: Parameters<typeof rateOnce>): Promise<Report> {
  try {
    return await rateOnce(...options);
  } catch (error) {
    if (!String(error).includes("NO_NAVSTART")) throw error;
    say("        Lighthouse could not record the page (NO_NAVSTART); run again");
    return rateOnce(...options);
  }
}

async function rateOnce(
  program: string,
  chromium: string,
  url: string,
  folder: string,
  factor: number,
): Promise<Report> {
  const file = join(folder, "report.json");
  const sandbox = process.getuid?.() === 0 ? " --no-sandbox" : "";
  const options = [
    ...[`--chrome-flags=--headless=new${sandbox}`, "--only-categories=performance,accessibility", "--quiet"],
    `--throttling.cpuSlowdownMultiplier=${factor}`,
    // The stream of events never ends, so there is no end of loading to wait for.
    ...["--max-wait-for-load=15000", "--no-enable-error-reporting", "--output=json", `--output-path=${file}`],
  ];
  await run(process.execPath, [program, url, ...options], {
    env: { ...process.env, CHROME_PATH: chromium },
    maxBuffer: 1e8,
  });
  return Report.parse(JSON.parse(readFileSync(file, "utf8")));
}

/** Bytes of what the browser fetched, as gzipped by the build. */
function scriptBytes({ audits }: Report, base: string): number {
  const { items } = Requests.parse(audits["network-requests"]?.details);
  return items
    .filter(({ resourceType }) => resourceType === "Script")
    .reduce((sum, { url }) => sum + statSync(new URL(`${url.slice(base.length + 1)}.gz`, web)).size, 0);
}

async function measure(dashboard: Dashboard, browser: string): Promise<Verdict> {
  const program = await installed();
  const factor = await slowdownHere(program, browser);
  const verdict = new Verdict();
  const folder = mkdtempSync(join(tmpdir(), "rigbridge-lighthouse-"));
  for (const path of paths) {
    const report = await medianOf(() => rate(program, browser, `${dashboard.url}/${path}`, folder, factor));
    const performance = scoreOf(report, "performance");
    const accessibility = scoreOf(report, "accessibility");
    const script = scriptBytes(report, dashboard.url);
    const shown = (audit: string): string => report.audits[audit]?.displayValue ?? "unknown";
    verdict.check(
      `/${path}: performance ${performance} (at least ${least.performance}; first paint ${shown("first-contentful-paint")}, ` +
        `largest ${shown("largest-contentful-paint")}, blocked ${shown("total-blocking-time")}, layout shift ` +
        `${shown("cumulative-layout-shift")}), accessibility ` +
        `${accessibility} (at least ${least.accessibility}), ${(script / 1000).toFixed(1)} kB of JavaScript (at most ${mostScript / 1000})`,
      performance >= least.performance && accessibility >= least.accessibility && script > 0 && script <= mostScript,
    );
    for (const { title, score, displayValue = "" } of Object.values(report.audits))
      if (score != null && score < 0.9) say(`        ${title} ${displayValue}`);
  }
  rmSync(folder, { recursive: true });
  return verdict;
}

const chromium = chromiumPrograms.find((each) => !each.endsWith("headless-shell") && existsSync(each));
if (chromium === undefined) say("skipped: Lighthouse needs Chromium; its headless shell does not suffice");
else {
  const dashboard = await startShowcase();
  const verdict = await measure(dashboard, chromium);
  await dashboard.close();
  verdict.end();
}
