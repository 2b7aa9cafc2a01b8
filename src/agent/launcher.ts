import { randomBytes } from "node:crypto";
import type { DownloadTarget, MiningProgram } from "../catalogue/mining-program.ts";
import type { AgentPermissions, HostGpu, Program, ProgramFiles } from "../contract/agent.ts";
import { invalidAll, RigbridgeError } from "../contract/problems.ts";
import { commandLine } from "./command-line.ts";
import { type DownloadRequest, type Downloads, downloadOf } from "./downloads/index.ts";
import { freePort } from "./free-port.ts";
import { splitSettings } from "./gpus/settings.ts";
import { allowedExecutable, executable, forbidden } from "./permissions.ts";
import type { Preparing, PreparedLaunch } from "./supervisor.ts";

/** A program of the agent's own configuration, with the path that is declared there. */
export interface OwnProgram {
  readonly entry: MiningProgram;
  readonly path: string;
}

export interface LauncherOptions {
  readonly permissions: AgentPermissions;
  readonly catalogue: (id: string) => MiningProgram | undefined;
  readonly own: readonly OwnProgram[];
  readonly readGpus: () => Promise<HostGpu[]>;
  /** Ports of the APIs of programs that run. */
  readonly usedPorts: () => ReadonlySet<number>;
  readonly downloads: Pick<Downloads, "obtain" | "confirm">;
}

/**
 * Decides what a program is started with. The service names it and its settings; what is run, where it comes from and
 * how its command line looks is decided here.
 */
export class Launcher {
  readonly #options: LauncherOptions;
  /** By address: starts that wait for the confirmation of their download. */
  readonly #awaited = new Map<string, Set<() => void>>();

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  async prepare(program: Program, report: (step: Preparing) => void, signal: AbortSignal): Promise<PreparedLaunch> {
    const { permissions, readGpus, usedPorts } = this.#options;
    const entry = this.#entry(program);
    if (program.gpuSettings.length > 0 && !permissions.gpuSettings) throw forbidden("settings of GPUs", "allow.gpuSettings");
    const file = await this.#file(program, entry, report, signal);
    const apiPort = entry.api === null ? null : await freePort(usedPorts());
    const apiToken = randomBytes(18).toString("base64url");
    const gpus = program.gpuSettings.length === 0 ? [] : await readGpus();
    const { tuning, host } = splitSettings(program.gpuSettings, gpus, entry);
    const line = lineOf(entry, program, { apiPort, apiToken, ...(tuning === undefined ? {} : { tuning }) });
    return {
      argv: [file, ...line.argv],
      shown: [file, ...line.shown],
      environment: line.environment,
      apiPort,
      apiToken: apiPort === null ? null : apiToken,
      quit: entry.quit,
      badConfiguration: [...entry.badConfigurationExits],
      secrets: secretsIn(program, line.argv, line.shown, apiToken),
      gpuSettings: host,
    };
  }

  /** The command line as people may see it. */
  shown(program: Program, apiPort: number | null): string[] {
    const entry = this.#entry(program);
    const own = this.#options.own.find((each) => each.entry.id === program.software);
    const file = own?.path ?? (program.files.from === "path" ? program.files.path : (entry.executable[system] ?? entry.id));
    const port = entry.api === null ? null : (apiPort ?? examplePort);
    return [file, ...lineOf(entry, program, { apiPort: port, apiToken: "token" }).shown];
  }

  #entry({ software }: Program): MiningProgram {
    const entry =
      this.#options.own.find((each) => each.entry.id === software)?.entry ?? this.#options.catalogue(software);
    if (entry !== undefined) return entry;
    throw new RigbridgeError(
      "software.unknown",
      `This host's agent knows no mining software ${software}; update it, or declare that program in its configuration`,
    );
  }

  async #file(
    { software, files }: Program,
    entry: MiningProgram,
    report: (step: Preparing) => void,
    signal: AbortSignal,
  ): Promise<string> {
    const { own, permissions, downloads } = this.#options;
    const declared = own.find((each) => each.entry.id === software);
    if (declared !== undefined) return executable(declared.path);
    if (files.from === "path") return allowedExecutable(files.path, permissions.folders);
    if (!permissions.downloads) throw forbidden("downloads of programs", "allow.downloads");
    for (;;) {
      report({ status: "downloading", download: null });
      const got = await downloads.obtain(downloadRequest(entry, files), signal);
      if (got.state === "ready") return got.path;
      const { url, bytes, sha256 } = got;
      report({ status: "confirming", download: { url, bytes, sha256 } });
      await this.#confirmation(url, signal);
    }
  }

  /** Confirms the download of a program by its sum. */
  async confirm({ files }: Program, sha256: string): Promise<string> {
    if (files.from === "path") throw new RigbridgeError("not.possible", "The files of this program are not downloaded");
    await this.#options.downloads.confirm(files.url, sha256);
    for (const confirmed of this.#awaited.get(files.url) ?? []) confirmed();
    return `The download of ${files.url} is confirmed`;
  }

  async #confirmation(url: string, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>();
    const waiting = this.#awaited.get(url) ?? new Set();
    const abort = (): void => reject(signal.reason);
    this.#awaited.set(url, waiting.add(resolve));
    signal.addEventListener("abort", abort);
    try {
      signal.throwIfAborted();
      await promise;
    } finally {
      signal.removeEventListener("abort", abort);
      waiting.delete(resolve);
    }
  }
}

type Download = Extract<ProgramFiles, { from: "download" }>;

/** The archive of the catalogue has a version and may have sums; any other address has what the service says. */
function downloadRequest(entry: MiningProgram, { url, sha256 }: Download): DownloadRequest {
  const known = target === null ? null : downloadOf(entry, target);
  if (known?.url === url) return { ...known, sha256: sha256 ?? known.sha256 };
  const name = entry.executable[system];
  if (name !== null) return { software: entry.id, version: "other", url, sha256, sums: null, executable: name };
  throw new RigbridgeError("no.download", `${entry.name} has no release for this system; set softwarePath`);
}

const system = process.platform === "win32" ? "windows" : process.platform === "darwin" ? "macos" : "linux";
const targets: readonly DownloadTarget[] = ["linux-x64", "windows-x64", "macos-x64", "macos-arm64"];
/** null where no maker has releases for this kind of processor. */
const target = targets.find((each) => each === `${system}-${process.arch}`) ?? null;
/** Shown where the program does not run; each start gets a free one. */
const examplePort = 20_000;

function lineOf(...[entry, program, options]: Parameters<typeof commandLine>) {
  const line = commandLine(entry, program, options);
  if ("mistakes" in line) throw invalidAll(line.mistakes);
  return line;
}

/** Passwords, and each word of the command line that people do not see. */
function secretsIn(
  { pools, dualPools }: Program,
  argv: readonly string[],
  shown: readonly string[],
  apiToken: string,
): string[] {
  const passwords = [...pools, ...dualPools].map(({ password }) => password);
  const hidden = argv.filter((word, index) => word !== shown[index]);
  return [...new Set([apiToken, ...passwords, ...hidden])].filter((each) => each !== "" && each !== "x");
}
