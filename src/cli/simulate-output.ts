import { readFileSync } from "node:fs";
import { createInterface, type Interface } from "node:readline";
import { isatty } from "node:tty";
import type { SimulatedRig } from "../simulator/index.ts";
import { chosenRigs, faultNamed, faultNames } from "./fault-choice.ts";
import { counted, indented, pairs, printable, table } from "./table.ts";

/** The lines that can be typed while virtual rigs run. */
const examples: readonly (readonly [string, string])[] = [
  ["fault cgminer-3 silent", "gives rigs a fault; the fault none clears it"],
  ["off cgminer-3,axeos-4", "powers rigs off"],
  ["on all", "powers rigs on and clears their faults"],
  ["list", "shows the state of the rigs"],
  ["faults", "lists the faults"],
  ["help", "shows this"],
];

export const linesHelp = [
  indented(pairs(examples)),
  "",
  indented("Choose rigs by names separated by commas, by a share such as 30%, or by all."),
].join("\n");

/** Beyond this number, rigs are only counted. */
const named = 20;
const maxLineLength = 1_000;

/**
 * Answers every line of stdin, until stdin ends or the returned interface is closed. Null in the background of a
 * terminal, where the system would stop a process that reads from it.
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

/** Whether another process group has the terminal, so that a read from it stops this process. Source: proc(5). */
function inBackground(): boolean {
  try {
    const stat = readFileSync("/proc/self/stat", "utf8");
    const [, , group, , , terminalsGroup] = stat.slice(stat.lastIndexOf(")") + 2).split(" ");
    return group !== terminalsGroup;
  } catch {
    return false;
  }
}

/** Executes a line and returns the result as text; never rejects. */
export async function answerTo(line: string, rigs: readonly SimulatedRig[]): Promise<string> {
  const [verb = "", ...rest] = line.slice(0, maxLineLength).trim().split(/\s+/);
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
      return `"${printable(verb)}" is not a command; type help`;
  }
}

type Verb = "fault" | "on" | "off";

async function change(verb: Verb, [which, name, ...more]: string[], rigs: readonly SimulatedRig[]): Promise<string> {
  const usage = verb === "fault" ? "fault <rigs> <fault>, as in: fault 30% slow" : `${verb} <rigs>, as in: ${verb} all`;
  const complete = which !== undefined && (verb === "fault") === (name !== undefined) && more.length === 0;
  if (!complete) return `Usage: ${usage}`;
  const picked = chosenRigs(which, rigs);
  if ("mistake" in picked) return printable(picked.mistake);
  const { chosen } = picked;
  if (verb === "fault") return setFault(chosen, name ?? "");
  if (verb === "on") return await switchOn(chosen);
  for (const rig of chosen) rig.powerOff();
  return summary(chosen, "off");
}

function setFault(rigs: readonly SimulatedRig[], name: string): string {
  const known = faultNamed(name);
  if ("mistake" in known) return printable(known.mistake);
  for (const rig of rigs) rig.fault = known.fault;
  return summary(rigs, known.fault ?? "healthy");
}

async function switchOn(rigs: readonly SimulatedRig[]): Promise<string> {
  const failed: string[] = [];
  for (const rig of rigs) {
    rig.fault = null;
    await rig.powerOn().catch((error: unknown) => failed.push(error instanceof Error ? error.message : String(error)));
  }
  return [summary(rigs, "on"), ...failed.slice(0, named)].join("\n");
}

/** "2 rigs: silent (cgminer-3, axeos-4)". */
function summary(rigs: readonly SimulatedRig[], what: string): string {
  const names = rigs.slice(0, named).map(({ name }) => name);
  const more = rigs.length > named ? ", …" : "";
  return `${counted(rigs.length, "rig")} ${what}${names.length === 0 ? "" : `: ${names.join(", ")}${more}`}`;
}

function healthOf({ powered, fault }: SimulatedRig): string {
  if (!powered) return "off";
  if (fault === null) return "healthy";
  return typeof fault === "string" ? fault : `${fault.name} (${fault.ms} ms)`;
}

function listOf(rigs: readonly SimulatedRig[]): string {
  const counts = new Map<string, number>();
  for (const rig of rigs) counts.set(healthOf(rig), (counts.get(healthOf(rig)) ?? 0) + 1);
  const sum = [...counts].map(([health, count]) => `${count.toLocaleString("en-US")} ${health}`).join(", ");
  const unhealthy = rigs.filter((rig) => healthOf(rig) !== "healthy");
  const rows = unhealthy.slice(0, named).map((rig) => [rig.name, rig.address, healthOf(rig), `${rig.requests.count}`]);
  const rest = unhealthy.length > named ? `\n… and ${(unhealthy.length - named).toLocaleString("en-US")} more` : "";
  const shown = rows.length === 0 ? [] : [indented(table(["Name", "Address", "Health", "Requests"], rows) + rest)];
  return [`${counted(rigs.length, "rig")}: ${sum}`, ...shown].join("\n");
}
