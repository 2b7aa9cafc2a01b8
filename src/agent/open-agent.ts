import { machine, type } from "node:os";
import { join } from "node:path";
import { downloadTargetFor } from "../catalogue/mining-program.ts";
import { Agent, type AgentOptions } from "./agent.ts";
import { Downloads } from "./downloads/index.ts";
import { ProgramDownloads } from "./downloads/program-downloads.ts";
import type { ForeignCommands } from "./foreign-programs.ts";
import { GpuReader } from "./gpus/gpu-reader.ts";
import { GpuTuner } from "./gpus/gpu-tuner.ts";
import { platformOf } from "./platform/index.ts";

const toolTimeoutMs = 6_000;

export interface HostSettings extends Pick<AgentOptions, "folder" | "version" | "own" | "log"> {
  readonly allow: {
    /** Absent: `programs` in the agent's own folder. */
    readonly folders?: readonly string[] | undefined;
    readonly downloads: boolean;
    readonly reboot: boolean;
    readonly gpuSettings: boolean;
  };
  readonly foreignPrograms: readonly ForeignCommands[];
  /** Absent: the system's command. */
  readonly rebootCommand?: readonly string[] | undefined;
  /** A mirror of the publishers' sites that programs are downloaded from; null for the sites themselves. */
  readonly mirror: string | null;
}

/** The agent of this machine, with the machine's own GPUs and downloads. */
export function openAgent({ allow, rebootCommand, foreignPrograms, mirror, ...options }: HostSettings): Agent {
  const { folder, log } = options;
  const platform = platformOf();
  const common = { env: process.env, root: "/", timeoutMs: toolTimeoutMs, log: (text: string) => log.warn(text) };
  const gpuReader = new GpuReader(common);
  const { folders = [join(folder, "programs")], ...allowed } = allow;
  return new Agent({
    ...options,
    platform,
    gpuReader,
    gpuTuner: new GpuTuner({ ...common, reader: gpuReader, journal: join(folder, "gpu-settings.json") }),
    downloads: new ProgramDownloads(new Downloads({ folder, mirror }), downloadTargetFor(`${type()} (${machine()})`)),
    permissions: { folders: [...folders], ...allowed },
    foreign: foreignPrograms,
    rebootCommand: rebootCommand ?? platform.rebootCommand,
  });
}
