import { statfs } from "node:fs/promises";
import { cpus, freemem, hostname, machine, release, totalmem, type, uptime } from "node:os";
import type { HostGpu, HostReport } from "../contract/agent.ts";

interface Sample {
  readonly at: number;
  readonly busy: number;
  readonly total: number;
}

const loadWindowMs = 60_000;

/** Reports the host's hardware and state. */
export class HostReporter {
  readonly #folder: string;
  readonly #readGpus: () => Promise<HostGpu[]>;
  readonly #samples: Sample[] = [];

  /** `folder`: the folder of the programs. */
  constructor(folder: string, readGpus: () => Promise<HostGpu[]>) {
    this.#folder = folder;
    this.#readGpus = readGpus;
    this.#samples.push(sample());
  }

  async report(): Promise<HostReport> {
    const [gpus, disk] = await Promise.all([this.#readGpus().catch(() => []), statfs(this.#folder).catch(() => null)]);
    const processors = cpus();
    return {
      name: hostname().slice(0, 500),
      system: `${type()} ${release()} (${machine()})`.slice(0, 500),
      cpu: (processors[0]?.model.trim() ?? "").slice(0, 500),
      cores: processors.length,
      uptime: Math.round(uptime()),
      load: this.#load(),
      memory: totalmem(),
      memoryFree: freemem(),
      diskFree: disk === null ? null : disk.bavail * disk.bsize,
      gpus,
    };
  }

  /** Load of the last minute, or since the agent's start. */
  #load(): number | null {
    const now = sample();
    this.#samples.push(now);
    while ((this.#samples[1]?.at ?? now.at) < now.at - loadWindowMs) this.#samples.shift();
    const first = this.#samples[0] ?? now;
    if (now.total <= first.total) return null;
    return Math.round((1000 * (now.busy - first.busy)) / (now.total - first.total)) / 10;
  }
}

function sample(): Sample {
  const times = cpus().map((each) => each.times);
  const idle = times.reduce((sum, each) => sum + each.idle, 0);
  const total = times.reduce((sum, { user, nice, sys, irq, idle: each }) => sum + user + nice + sys + irq + each, 0);
  return { at: performance.now(), busy: total - idle, total };
}
