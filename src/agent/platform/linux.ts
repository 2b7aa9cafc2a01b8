import { readFileSync } from "node:fs";
import { readdir, readFile, readlink } from "node:fs/promises";
import {
  type MarkedProcess,
  type Platform,
  type ProcessIdentity,
  posixSignals,
  processName,
  signalProcessGroup,
} from "./platform.ts";

/** Linux, through /proc. */
export const linux: Platform = {
  programsOutliveAgent: true,
  identify,
  marked,
  exiting: async (group) => {
    const stats = group > 1 ? (await pids()).map(statOf) : [];
    return stats.some((stat) => stat?.group === group && stat.isExiting && !stat.hasEnded);
  },
  processNames: async () => {
    const names = await Promise.all((await pids()).map(namesOf));
    return new Set(names.flat());
  },
  processorTime: async (groups) => {
    const [first = ""] = (await readFile("/proc/stat", "utf8")).split("\n");
    // user nice system idle iowait irq softirq steal; the guest's times are part of user and nice.
    const times = first.split(/\s+/).slice(1, 9).map(Number);
    const total = times.reduce((sum, each) => sum + each, 0);
    const [, , , idle = 0, ioWait = 0] = times;
    const own = groups.length === 0 ? 0 : await ticksOf(new Set(groups));
    return { total: total / ticksPerSecond, busy: (total - idle - ioWait) / ticksPerSecond, own: own / ticksPerSecond };
  },
  listeningGroups,
  signalGroup: signalProcessGroup,
  stopSignals: posixSignals,
  rebootCommand: ["systemctl", "reboot"],
};

/** USER_HZ is 100 on every architecture that Node supports. */
const ticksPerSecond = 100;

/** proc_pid_stat(5). The second field is a name in parentheses that may contain anything. */
interface Stat {
  /** The name that it gives itself, cut at 15 characters. */
  readonly name: string;
  /** Zombie: it waits for its parent to collect it. In a container it may stay forever. */
  readonly hasEnded: boolean;
  /** Exiting: without memory, environment and executable, but some of its files may still be open. */
  readonly isExiting: boolean;
  readonly group: number;
  /** User and system time. */
  readonly ticks: number;
  /** Ticks since boot. */
  readonly start: string;
}

/**
 * Synchronous: a hanging process delays its other files, but not this one, and awaiting would cost more than the read.
 */
function statOf(pid: number): Stat | null {
  const text = statTextOf(pid);
  if (text === null) return null;
  const nameEnd = text.lastIndexOf(")");
  const fields = text.slice(nameEnd + 2).split(" ");
  const [state = "", , group = ""] = fields;
  return {
    name: text.slice(text.indexOf("(") + 1, nameEnd),
    // It is called a zombie as soon as its first thread has ended, while others may still close a GPU.
    hasEnded: state.toUpperCase() === "X" || (state === "Z" && Number(fields[17]) <= 1),
    isExiting: (Number(fields[6]) & exitingFlag) !== 0,
    group: Number(group),
    ticks: Number(fields[11]) + Number(fields[12]),
    start: fields[19] ?? "",
  };
}

/** Null: it is gone. */
function statTextOf(pid: number): string | null {
  try {
    return readFileSync(`/proc/${pid}/stat`, "utf8");
  } catch {
    return null;
  }
}

/** PF_EXITING of Linux's sched.h. */
const exitingFlag = 4;

let boot: string | undefined;

/** Start times count from the boot, so they need its id. */
async function bootId(): Promise<string> {
  boot ??= (await readFile("/proc/sys/kernel/random/boot_id", "utf8")).trim();
  return boot;
}

async function identify(pid: number): Promise<ProcessIdentity | null> {
  const stat = statOf(pid);
  if (stat === null || stat.hasEnded) return null;
  const command = await readlink(`/proc/${pid}/exe`).catch(() => null);
  // An update may replace the file while the program runs.
  return { pid, startTime: `${await bootId()} ${stat.start}`, command: command?.replace(/ \(deleted\)$/, "") ?? null };
}

async function marked(mark: string): Promise<readonly MarkedProcess[]> {
  const found = await Promise.all(
    (await pids()).map(async (pid) => {
      // Processes of other users cannot be read, and are not ours.
      const environment = await readFile(`/proc/${pid}/environ`, "utf8").catch(() => "");
      if (!environment.split("\0").includes(mark)) return [];
      const identity = await identify(pid);
      return identity === null ? [] : [{ ...identity, leads: statOf(pid)?.group === pid }];
    }),
  );
  return found.flat();
}

async function pids(): Promise<number[]> {
  return (await readdir("/proc")).filter((name) => /^\d+$/.test(name)).map(Number);
}

/** The names of a process: its own, and that of its executable. */
async function namesOf(pid: number): Promise<string[]> {
  const stat = statOf(pid);
  if (stat === null || stat.hasEnded) return [];
  const line = await readFile(`/proc/${pid}/cmdline`, "utf8").catch(() => "");
  const [started = ""] = line.split("\0");
  return [stat.name.trim(), started].filter((name) => name !== "").map(processName);
}

async function ticksOf(groups: ReadonlySet<number>): Promise<number> {
  const stats = (await pids()).map(statOf);
  return stats.reduce((sum, stat) => sum + (stat !== null && groups.has(stat.group) ? stat.ticks : 0), 0);
}

async function listeningGroups(port: number): Promise<readonly number[] | null> {
  const tables = await Promise.all(
    ["tcp", "tcp6"].map((name) => readFile(`/proc/net/${name}`, "utf8").catch(() => "")),
  );
  const inodes = new Set(tables.flatMap((table) => listenersAt(port, table)));
  if (inodes.size === 0) return [];
  const groups = await Promise.all(
    (await pids()).map(async (pid) => {
      const names = await readdir(`/proc/${pid}/fd`).catch(() => []);
      const links = await Promise.all(names.map((name) => readlink(`/proc/${pid}/fd/${name}`).catch(() => "")));
      return links.some((link) => inodes.has(link)) ? (statOf(pid)?.group ?? null) : null;
    }),
  );
  return [...new Set(groups.flatMap((group) => (group === null ? [] : [group])))];
}

/** In the form of the links in /proc/<pid>/fd. */
function listenersAt(port: number, table: string): string[] {
  const wanted = port.toString(16).toUpperCase().padStart(4, "0");
  return table.split("\n").flatMap((line) => {
    const [, local = "", , state, , , , , , inode] = line.trim().split(/\s+/);
    // 0A: listening.
    return local.endsWith(`:${wanted}`) && state === "0A" ? [`socket:[${inode}]`] : [];
  });
}
