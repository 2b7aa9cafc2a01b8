import { readFileSync } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { isatty } from "node:tty";
import type { SimulatedRig } from "../simulator/index.ts";
import { counted } from "./config.ts";
import { chosenRigs, faultNamed, faultNames } from "./fault-choice.ts";
import { indented, pairs, printable, table } from "./table.ts";

/** What is typed while virtual rigs run. */
const words: readonly (readonly [string, string])[] = [
  ["fault cgminer-3 silent", "makes rigs ill; with none they are well again"],
  ["off cgminer-3,axeos-4", "switches rigs off"],
  ["on all", "switches rigs on, and makes them well"],
  ["list", "says how the rigs are"],
  ["faults", "lists the faults"],
  ["help", "shows this"],
];

export const linesHelp = [
  indented(pairs(words)),
  "",
  indented("Rigs are named, with commas between them, or meant by a share as 30%, or by all."),
].join("\n");

/** As many rigs are named in an answer, or listed. */
const named = 20;
const longestLine = 1_000;

/**
 * Answers every line that is typed, until the input ends or this is closed; without an input it answers none. null in
 * the background of a terminal, where who reads what is typed is stopped by the system.
 */
export function answerLines(rigs: readonly SimulatedRig[], say: (text: string) => void): Interface | null {
  if (isatty(0) && inBackground()) return null;
  const lines = createInterface({ input: process.stdin });
  process.stdin.on("error", () => lines.close());
  let before: Promise<void> = Promise.resolve();
  lines.on("line", (line) => {
    before = before.then(async () => {
      const answer = await answerTo(line, rigs);
      if (answer !== "") say(answer);
    });
  });
  return lines;
}

/** Whether the terminal belongs to others: to read from it then stops the process. As proc(5) tells it, and only there. */
function inBackground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , terminalsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group !== terminalsGroup;
  } catch {
    return false;
  }
}

/** Does what a line says, and what came of it in words; never rejects. */
export async function answerTo(line: string, rigs: readonly SimulatedRig[]): Promise<string> {
  const [verb = "", ...rest] = line.slice(0, longestLine).trim().split(/\s+/);
  switch (verb) {
    case "":
      return "";
    case "help":
      return linesHelp;
    case "faults":
      return faultNames.join(" ");
    case "list":
      return listOf(rigs);
    case "fault":
    case "on":
    case "off":
      return await change(verb, rest, rigs);
    default:
      return `"${printable(verb)}" is not understood; type help`;
  }
}

type Verb = "fault" | "on" | "off";

async function change(verb: Verb, [which, name, ...more]: string[], rigs: readonly SimulatedRig[]): Promise<string> {
  const usage = verb === "fault" ? "fault <rigs> <fault>, as in: fault 30% slow" : `${verb} <rigs>, as in: ${verb} all`;
  const complete = which !== undefined && (verb === "fault") === (name !== undefined) && more.length === 0;
  if (!complete) return `say: ${usage}`;
  const picked = chosenRigs(which, rigs);
  if ("mistake" in picked) return printable(picked.mistake);
  const { chosen } = picked;
  if (verb === "fault") return makeIll(chosen, name ?? "");
  if (verb === "on") return await switchOn(chosen);
  for (const rig of chosen) rig.powerOff();
  return said(chosen, "off");
}

function makeIll(rigs: readonly SimulatedRig[], name: string): string {
  const known = faultNamed(name);
  if ("mistake" in known) return printable(known.mistake);
  for (const rig of rigs) rig.fault = known.fault;
  return said(rigs, known.fault ?? "well");
}

async function switchOn(rigs: readonly SimulatedRig[]): Promise<string> {
  const failed: string[] = [];
  for (const rig of rigs) {
    rig.fault = null;
    await rig.powerOn().catch((error: unknown) => failed.push(error instanceof Error ? error.message : String(error)));
  }
  return [said(rigs, "on"), ...failed.slice(0, named)].join("\n");
}

/** "2 rigs: silent (cgminer-3, axeos-4)". */
function said(rigs: readonly SimulatedRig[], what: string): string {
  const names = rigs.slice(0, named).map(({ name }) => name);
  const more = rigs.length > named ? ", …" : "";
  return `${counted(rigs.length, "rig")} ${what}${names.length === 0 ? "" : `: ${names.join(", ")}${more}`}`;
}

function healthOf({ powered, fault }: SimulatedRig): string {
  if (!powered) return "off";
  if (fault === null) return "well";
  return typeof fault === "string" ? fault : `${fault.name} (${fault.ms} ms)`;
}

function listOf(rigs: readonly SimulatedRig[]): string {
  const counts = new Map<string, number>();
  for (const rig of rigs) counts.set(healthOf(rig), (counts.get(healthOf(rig)) ?? 0) + 1);
  const sum = [...counts].map(([health, count]) => `${count.toLocaleString("en-US")} ${health}`).join(", ");
  const ill = rigs.filter((rig) => healthOf(rig) !== "well");
  const rows = ill.slice(0, named).map((rig) => [rig.name, rig.address, healthOf(rig), `${rig.requests.count}`]);
  const rest = ill.length > named ? `\n… and ${(ill.length - named).toLocaleString("en-US")} more` : "";
  const shown = rows.length === 0 ? [] : [indented(table(["Name", "Address", "Health", "Requests"], rows) + rest)];
  return [`${counted(rigs.length, "rig")}: ${sum}`, ...shown].join("\n");
}
