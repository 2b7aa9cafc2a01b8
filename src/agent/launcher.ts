import { randomBytes } from "node:crypto";
import type { MiningProgram } from "../catalogue/mining-program.ts";
import type { DeclaredProgram } from "../config/software.ts";
import type { AgentPermissions, HostGpu, Program } from "../contract/agent.ts";
import { invalidAll, RigbridgeError } from "../contract/problems.ts";
import { commandLine } from "./command-line.ts";
import type { ProgramDownloads } from "./downloads/program-downloads.ts";
import { freePort } from "./free-port.ts";
import { splitSettings } from "./gpus/settings.ts";
import { allowedExecutable, checkName, executable, forbidden } from "./permissions.ts";
import type { PreparedLaunch, Preparing } from "./supervisor-parts.ts";

export interface LauncherOptions {
  readonly permissions: AgentPermissions;
  readonly catalogue: (id: string) => MiningProgram | undefined;
  /** Programs that this host's own configuration declares. */
  readonly own: readonly DeclaredProgram[];
  readonly readGpus: () => Promise<HostGpu[]>;
  /** Ports of the APIs of running programs. */
  readonly usedPorts: () => ReadonlySet<number>;
  readonly downloads: Pick<ProgramDownloads, "obtain" | "confirm">;
}

/**
 * Decides how a program is started. The service names the program and its settings; the executable, its source and the
 * command line are decided here.
 */
export class Launcher {
  readonly #options: LauncherOptions;

  constructor(options: LauncherOptions) {
    this.#options = options;
  }

  async prepare(program: Program, report: (step: Preparing) => void, signal: AbortSignal): Promise<PreparedLaunch> {
    const { readGpus, usedPorts } = this.#options;
    const entry = this.#entry(program);
    this.#checkGpuSettings(program);
    const present = await this.#presentFile(program, entry);
    const file = present ?? (await this.#options.downloads.obtain(program, entry, report, signal));
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

  /** The command line with secrets hidden. Throws the error that starting the program would. */
  async shown(program: Program, apiPort: number | null): Promise<string[]> {
    const entry = this.#entry(program);
    this.#checkGpuSettings(program);
    const port = entry.api === null ? null : (apiPort ?? examplePort);
    const line = lineOf(entry, program, { apiPort: port, apiToken: "token" });
    const file = await this.#presentFile(program, entry);
    return [file ?? entry.executable[system] ?? entry.id, ...line.shown];
  }

  #checkGpuSettings({ gpuSettings }: Program): void {
    if (gpuSettings.length > 0 && !this.#options.permissions.gpuSettings)
      throw forbidden("settings of GPUs", "allow.gpuSettings");
  }

  #entry(program: Program): MiningProgram {
    const { software } = program;
    const entry = this.#declared(program)?.entry ?? this.#options.catalogue(software);
    if (entry !== undefined) return entry;
    throw new RigbridgeError(
      "software.unknown",
      `The agent of this host does not know the mining software ${software}; update it, or declare the program in its configuration`,
    );
  }

  /** The executable of a program; null for a downloaded one. Throws if this host does not allow it. */
  async #presentFile(program: Program, entry: MiningProgram): Promise<string | null> {
    const { permissions } = this.#options;
    const declared = this.#declared(program);
    if (declared !== undefined && declared.path !== null) return executable(declared.path);
    if (program.files.from === "path") {
      const file = await allowedExecutable(program.files.path, permissions.folders);
      checkName(file, entry);
      return file;
    }
    if (program.files.from === "host" && declared === undefined)
      throw new RigbridgeError("software.unknown", `${program.software} is not declared in this host's configuration`);
    // A path in the host's own configuration needs no further permission.
    if (declared === undefined && !permissions.downloads) throw forbidden("downloads of programs", "allow.downloads");
    return null;
  }

  #declared({ software }: Program): DeclaredProgram | undefined {
    return this.#options.own.find(({ entry }) => entry.id === software);
  }
}

const system = process.platform === "win32" ? "windows" : process.platform === "darwin" ? "macos" : "linux";
/** Port in the command line of a program that does not run; each start gets a free one. */
const examplePort = 20_000;

function lineOf(...[entry, program, options]: Parameters<typeof commandLine>) {
  const line = commandLine(entry, program, options);
  if ("mistakes" in line) throw invalidAll(line.mistakes);
  return line;
}

/** Passwords, and each word that is hidden in the command line. */
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
