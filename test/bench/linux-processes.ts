import { readdirSync, readFileSync } from "node:fs";

/** Fields of a process from its parent's id on, as proc(5) lists them; none if it has ended. */
const fieldsOf = (pid: number | string): readonly number[] => {
  try {
    return (readFileSync(`/proc/${pid}/stat`, "utf8").split(") ")[1]?.split(" ") ?? []).slice(1).map(Number);
  } catch {
    return [];
  }
};

/** Of user and system time, Linux counts 100 ticks a second. */
const seconds = (...ticks: readonly (number | undefined)[]): number =>
  ticks.reduce<number>((sum, each) => sum + (each ?? 0), 0) / 100;

/** Seconds of user and system time. */
export function cpuOf(pid = 0): number {
  const fields = fieldsOf(pid);
  return seconds(fields[10], fields[11]);
}

/** The same with its children, also those that have ended. */
export function cpuWithChildren(pid: number): number {
  const children = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && fieldsOf(name)[0] === pid);
  return children.reduce((sum, child) => sum + cpuOf(Number(child)), seconds(...fieldsOf(pid).slice(10, 14)));
}

/** Bytes. */
export const residentOf = (pid = 0): number =>
  Number(/^VmRSS:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, "utf8"))?.[1]) * 1024;
