import { randomUUID } from "node:crypto";
import { mkdir } from "node:fs/promises";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { programEnvironment } from "./environment.ts";
import type { LogFile } from "./log-file.ts";
import type { Platform } from "./platform/index.ts";
import {
  adoptProcess,
  endTree,
  isAlive,
  type ProcessTree,
  type RunningProcess,
  remains,
  type StopLimits,
  startProcess,
} from "./process.ts";
import { connects, quitRequest } from "./program-api.ts";
import type { SavedLaunch, SavedRun } from "./state-file.ts";

/** What a program is started with. */
export interface Launch extends SavedLaunch {
  readonly argv: readonly [string, ...string[]];
  /** Like `argv`, for display: without secrets. */
  readonly shown: readonly string[];
  /** Added to the variables that programs get from the agent's environment. */
  readonly environment: Readonly<Record<string, string>>;
}

export interface RunLimits {
  readonly stop: StopLimits;
  /**
   * How long a program may take until its API answers. A program without an API counts as started after running that
   * long.
   */
  readonly startMs: number;
  readonly settleMs: number;
  /** Interval of checks of a process that an earlier agent started. */
  readonly adoptedMs: number;
}

interface Place {
  readonly platform: Platform;
  readonly limits: RunLimits;
  /** The agent's folder. */
  readonly folder: string;
  readonly logFile: LogFile;
  readonly now: () => number;
}

/** A running program, with everything that it was started with. */
export class ProgramRun {
  readonly process: RunningProcess;
  readonly #saved: Omit<SavedRun, "process">;
  readonly #place: Pick<Place, "platform" | "limits">;

  constructor(saved: Omit<SavedRun, "process">, process: RunningProcess, place: Pick<Place, "platform" | "limits">) {
    this.#saved = saved;
    this.process = process;
    this.#place = place;
  }

  get saved(): SavedRun {
    return { ...this.#saved, process: this.process.identity };
  }

  get launch(): SavedLaunch {
    return this.#saved.launch;
  }

  get startedAt(): number {
    return this.#saved.startedAt;
  }

  get #tree(): ProcessTree {
    return { process: this.process, mark: this.#saved.mark };
  }

  remains(): Promise<boolean> {
    return remains(this.#tree, this.#place.platform);
  }

  /** False if it survives every signal. */
  end(): Promise<boolean> {
    const { limits, platform } = this.#place;
    return endTree(this.#tree, quitRequest(this.launch), limits.stop, platform);
  }

  /**
   * Waits until the program's API accepts connections, but not forever: a program runs without it, too. `taken`: another
   * process listens at its port.
   */
  async ready(isCurrent: () => boolean): Promise<"runs" | "taken"> {
    const { limits, platform } = this.#place;
    const { apiPort } = this.launch;
    if (apiPort === null) {
      await sleep(limits.settleMs, undefined, { ref: false });
      return "runs";
    }
    for (const end = performance.now() + limits.startMs; isCurrent() && performance.now() < end; )
      if (await connects(apiPort)) {
        const groups = (await platform.listeningGroups(apiPort)) ?? [];
        const own = [this.process.identity.pid, ...(await platform.marked(this.#saved.mark)).map(({ pid }) => pid)];
        return groups.length === 0 || groups.some((group) => own.includes(group)) ? "runs" : "taken";
      } else await sleep(100, undefined, { ref: false });
    return "runs";
  }
}

/** `record` is called before the program is started; if it throws, the program is not started. */
export async function startRun(
  launch: Launch,
  id: number,
  place: Place,
  record: (run: SavedRun) => void,
): Promise<ProgramRun> {
  const { folder, logFile, platform, now } = place;
  const cwd = join(folder, "runs", String(id));
  await mkdir(cwd, { recursive: true, mode: 0o700 });
  await logFile.rotate();
  await logFile.note(now(), launch.shown.join(" "));
  const { argv, shown: _, environment, ...kept } = launch;
  const saved = { launch: kept, mark: `RIGBRIDGE_RUN=${randomUUID()}`, startedAt: now() };
  const env = { ...programEnvironment(process.env, saved.mark), ...environment };
  const output = await logFile.open();
  try {
    record({ ...saved, process: null });
    return new ProgramRun(saved, await startProcess({ argv, cwd, env, output: output.fd }, platform), place);
  } finally {
    await output.close();
  }
}

/**
 * A program that an earlier agent started; null if it has ended. `isWhole` is false if only its child processes are
 * left.
 */
export async function adoptRun(
  saved: SavedRun,
  place: Pick<Place, "platform" | "limits">,
): Promise<{ readonly run: ProgramRun; readonly isWhole: boolean } | null> {
  const { platform, limits } = place;
  if (!platform.programsOutliveAgent) return null;
  const known = saved.process;
  if (known !== null && (await isAlive(known, platform)))
    return { run: new ProgramRun(saved, adoptProcess(known, platform, limits.adoptedMs), place), isWhole: true };
  // The agent died before it stored the process, or the program ended and left child processes running.
  const marked = await platform.marked(saved.mark);
  const leader = marked.find(({ leads }) => leads);
  if (leader !== undefined) {
    const { leads: _, ...identity } = leader;
    return { run: new ProgramRun(saved, adoptProcess(identity, platform, limits.adoptedMs), place), isWhole: true };
  }
  if (marked.length === 0) return null;
  const ended = Promise.resolve({ code: null, signal: null });
  const gone = { identity: known ?? noProcess, ended, release: () => undefined };
  return { run: new ProgramRun(saved, gone, place), isWhole: false };
}

const noProcess = { pid: 0, startTime: "", command: null };
