/** Identifies a process, even if its pid is reused later. */
export interface ProcessIdentity {
  readonly pid: number;
  /** When it started, in the system's own form; only ever compared. */
  readonly startTime: string;
  /**
   * Its executable; null where the system does not show it, and while it is exiting. Its arguments are not compared, since
   * some programs blank their passwords there.
   */
  readonly command: string | null;
}

export interface MarkedProcess extends ProcessIdentity {
  /** It is the leader of its group. */
  readonly leads: boolean;
}

/** Seconds of processor time since the system started. */
export interface ProcessorTime {
  readonly total: number;
  readonly busy: number;
  /** Of these process groups; null where the system does not show it. */
  readonly own: number | null;
}

/**
 * The differences between operating systems. Tested on Linux only. macOS: written from the manual of ps. Windows:
 * programs end with the agent, because Node puts them into one job with it.
 */
export interface Platform {
  /** Whether programs outlive the agent, and can be adopted by the next one. */
  readonly programsOutliveAgent: boolean;
  /** Null if there is no such process, or it has ended and only waits to be collected. */
  identify(pid: number): Promise<ProcessIdentity | null>;
  /**
   * Processes with this variable in the environment that they were started with; none where the system does not show it.
   */
  marked(mark: string): Promise<readonly MarkedProcess[]>;
  /**
   * Whether a process of the group is exiting. It no longer shows its mark, but may still hold a port or a GPU, and for
   * a long time if a driver hangs. False where the system does not show it.
   */
  exiting(group: number): Promise<boolean>;
  /** Names of all processes, in lower case and without ".exe". */
  processNames(): Promise<ReadonlySet<string>>;
  processorTime(groups: readonly number[]): Promise<ProcessorTime>;
  /** The groups of the processes that listen at the loopback port; null where the system does not show it. */
  listeningGroups(port: number): Promise<readonly number[] | null>;
  /** Sends a signal to a process group. */
  signalGroup(pid: number, signal: GroupSignal): Promise<void>;
  /** Signals in the order in which a program is asked to end. */
  readonly stopSignals: readonly GroupSignal[];
  readonly rebootCommand: readonly string[];
}

export type GroupSignal = "SIGINT" | "SIGTERM" | "SIGKILL";

export const isSameProcess = (one: ProcessIdentity, other: ProcessIdentity): boolean =>
  one.pid === other.pid &&
  one.startTime === other.startTime &&
  (one.command === other.command || one.command === null || other.command === null);

/** POSIX. A group that has already exited is not an error. */
export async function signalProcessGroup(pid: number, signal: GroupSignal): Promise<void> {
  // -1 would be every process of the user, and 0 the agent's own group.
  if (!Number.isSafeInteger(pid) || pid <= 1) return;
  try {
    process.kill(-pid, signal);
  } catch {
    // It has just exited.
  }
}

export const posixSignals: readonly GroupSignal[] = ["SIGINT", "SIGTERM", "SIGKILL"];

/** "C:\Games\Game.exe" is the process "game". */
export const processName = (path: string): string =>
  (path.split(/[\\/]/).at(-1) ?? path).toLowerCase().replace(/\.exe$/, "");
