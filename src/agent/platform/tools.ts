import { execFile } from "node:child_process";
import { cpus } from "node:os";
import { type ProcessorTime, processName } from "./platform.ts";

/** The output of a system tool; null if it fails or takes longer than 5 s. */
export function outputOf(tool: string, args: readonly string[]): Promise<string | null> {
  const options = { timeout: 5_000, maxBuffer: 4_000_000, env: { ...process.env, LC_ALL: "C" }, windowsHide: true };
  return new Promise((resolve) => {
    execFile(tool, [...args], options, (error, stdout) => resolve(error === null ? stdout : null));
  });
}

export const namesIn = (lines: string): ReadonlySet<string> =>
  new Set(lines.split(/\r?\n/).flatMap((line) => (line.trim() === "" ? [] : [processName(line.trim())])));

export function allProcessors(): Pick<ProcessorTime, "total" | "busy"> {
  const times = cpus().map((each) => each.times);
  const sum = (pick: (each: (typeof times)[number]) => number) => times.reduce((all, each) => all + pick(each), 0);
  const busy = sum(({ user, nice, sys, irq }) => user + nice + sys + irq) / 1000;
  return { busy, total: busy + sum(({ idle }) => idle) / 1000 };
}
