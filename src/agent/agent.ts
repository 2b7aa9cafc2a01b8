import { mkdirSync } from "node:fs";
import { join } from "node:path";
import type { Logger } from "pino";
import type { MiningProgram } from "../catalogue/mining-program.ts";
import { programOf } from "../catalogue/mining-software.ts";
import type { AgentPermissions, FromAgent, Program, ToAgent } from "../contract/agent.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { lock } from "../store/lock.ts";
import { type ForeignCommands, ForeignPrograms } from "./foreign-programs.ts";
import type { GpuReader } from "./gpus/gpu-reader.ts";
import type { GpuTuner } from "./gpus/gpu-tuner.ts";
import { HostReporter } from "./host-report.ts";
import { ActivityReader, type Occupation, occupation, unoccupied } from "./idle.ts";
import { Launcher, type LauncherOptions } from "./launcher.ts";
import { logLimits } from "./log-file.ts";
import { forbidden } from "./permissions.ts";
import { type Platform, platformOf } from "./platform/index.ts";
import { stopLimits } from "./process.ts";
import { reboot } from "./reboot.ts";
import { restartLimits } from "./restart-law.ts";
import { type SavedProgram, StateFile } from "./state-file.ts";
import { Supervisor } from "./supervisor.ts";
import type { SupervisorLimits, SupervisorParts } from "./supervisor-parts.ts";
import { Tunnel } from "./tunnel.ts";

export interface AgentOptions {
  /** Its own folder: state, logs, and the folders in which programs run. */
  readonly folder: string;
  readonly version: string;
  readonly permissions: AgentPermissions;
  readonly rebootCommand: readonly string[];
  /** Absent: none. */
  readonly foreign?: readonly ForeignCommands[];
  readonly own: LauncherOptions["own"];
  readonly downloads: LauncherOptions["downloads"];
  readonly gpuReader: Pick<GpuReader, "read">;
  readonly gpuTuner: Pick<GpuTuner, "apply" | "restore" | "recover">;
  readonly log: Logger;
  readonly catalogue?: (id: string) => MiningProgram | undefined;
  readonly platform?: Platform;
  readonly limits?: Partial<AgentLimits>;
  readonly now?: () => number;
}

export interface AgentLimits extends SupervisorLimits {
  /** Intervals of host reports, of checks for other work on the host, and of log rotation. */
  readonly intervalMs: number;
}

const agentLimits: AgentLimits = {
  restart: restartLimits,
  stop: stopLimits,
  log: logLimits,
  startMs: 30_000,
  settleMs: 5_000,
  adoptedMs: 1_000,
  intervalMs: 10_000,
};

/** The connection to the service, as the agent uses it. */
export interface ServiceLink {
  send(message: FromAgent): void;
  sendFrame(channel: number, bytes: Buffer): void;
  /** Bytes waiting to be sent. */
  readonly waiting: number;
}

/** Receives messages and bytes from the service; messages have been validated. */
export interface ServiceReceiver {
  message(message: ToAgent): void;
  frame(channel: number, bytes: Buffer): void;
  closed(): void;
}

type Request = Extract<ToAgent, { n: number }>;

/**
 * Runs the mining programs of this host as the service requests, and continues while the service is not reachable. The
 * agent's own configuration decides what the service may request.
 */
export class Agent {
  readonly #options: AgentOptions;
  readonly #limits: AgentLimits;
  readonly #platform: Platform;
  readonly #state: StateFile;
  readonly #lock: { release(): void };
  readonly #launcher: Launcher;
  readonly #reporter: HostReporter;
  readonly #foreign: ForeignPrograms;
  readonly #activity: ActivityReader;
  readonly #supervisors = new Map<number, Supervisor>();
  readonly #occupations = new Map<number, Occupation>();
  readonly #sent = new Map<number, string>();
  #link: ServiceLink | null = null;
  /** The newest connection, also while its `hello` is not ready. */
  #newestLink: ServiceLink | null = null;
  #timer: NodeJS.Timeout | undefined;
  /** The periodic tasks, while they run. */
  #look: Promise<void> | null = null;
  #isFlushing = false;

  /** Throws `store.refused` if another agent has the folder, or its state cannot be read. */
  constructor(options: AgentOptions) {
    this.#options = options;
    this.#limits = { ...agentLimits, ...options.limits };
    this.#platform = options.platform ?? platformOf();
    for (const name of ["", "logs", "runs", "programs"])
      mkdirSync(join(options.folder, name), { recursive: true, mode: 0o700 });
    this.#state = new StateFile(options.folder);
    this.#lock = lock(join(options.folder, "agent"), `folder ${options.folder}`);
    const readGpus = () => options.gpuReader.read();
    this.#launcher = new Launcher({
      ...options,
      readGpus,
      catalogue: options.catalogue ?? programOf,
      usedPorts: () => new Set([...this.#supervisors.values()].flatMap(({ apiPort }) => apiPort ?? [])),
    });
    this.#foreign = new ForeignPrograms(options.foreign ?? [], options.log);
    this.#reporter = new HostReporter(options.folder, readGpus);
    this.#activity = new ActivityReader(this.#platform);
  }

  /** Adopts running programs, and starts those that should run. */
  async start(): Promise<void> {
    const all = await this.#adopt();
    const running = all.flatMap(({ group, program }) => (group === null ? [] : [program.id]));
    await this.#options.gpuTuner.recover(new Set(running)).catch((error: unknown) => {
      this.#options.log.error({ err: error }, "GPU settings of earlier runs could not be restored");
    });
    for (const each of all) each.begin();
    this.#timer = setInterval(() => {
      // One at a time: an older, slower check must not be mistaken for news.
      this.#look ??= this.#lookAround().finally(() => {
        this.#look = null;
      });
    }, this.#limits.intervalMs).unref();
  }

  /** Sends `hello` over a new connection, which replaces an earlier one. */
  connected(link: ServiceLink): ServiceReceiver {
    const tunnel = new Tunnel((id) => this.#supervisors.get(id)?.apiPort ?? null, {
      sendFrame: (channel, bytes) => link.sendFrame(channel, bytes),
      closed: (channel, error) => link.send({ t: "closed", channel, ...(error === null ? {} : { error }) }),
      get waiting() {
        return link.waiting;
      },
    });
    this.#newestLink = link;
    void this.#introduce(link);
    return {
      message: (message) => {
        if (message.t === "programs") this.#want(message.programs);
        else if (message.t === "open") tunnel.open(message.channel, message.id);
        else if (message.t === "close") tunnel.close(message.channel);
        else void this.#answer(message, link);
      },
      frame: (channel, bytes) => tunnel.write(channel, bytes),
      closed: () => {
        tunnel.closeAll();
        if (this.#link === link) this.#link = null;
        if (this.#newestLink === link) this.#newestLink = null;
      },
    };
  }

  /** Instead of `start`: ends the running programs. The next agent starts them again. */
  async endPrograms(): Promise<void> {
    await Promise.all((await this.#adopt()).map((each) => each.suspend()));
  }

  #readState(): SavedProgram[] {
    try {
      return this.#state.read();
    } catch (error) {
      this.#lock.release();
      throw error;
    }
  }

  async #adopt(): Promise<Supervisor[]> {
    const all = this.#readState().map((saved) => this.#add(saved));
    await Promise.all(all.map((each) => each.adopt()));
    return all;
  }

  /** Programs keep running where the platform allows it. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    [this.#link, this.#newestLink] = [null, null];
    await Promise.all([...this.#supervisors.values()].map((each) => each.close()));
    this.#lock.release();
  }

  async #introduce(link: ServiceLink): Promise<void> {
    const { version, permissions, own } = this.#options;
    const host = await this.#reporter.report();
    // The link may have closed, or been replaced, while the GPUs were read.
    if (this.#newestLink !== link) return;
    this.#sent.clear();
    this.#link = link;
    const software = own.map(({ entry: { id, name, api, algorithms } }) => {
      return { id, name, api, algorithms: Object.keys(algorithms) };
    });
    const programs = [...this.#supervisors.values()].map(({ state }) => state);
    for (const state of programs) this.#sent.set(state.id, JSON.stringify(state));
    const foreign = this.#foreign.list;
    link.send({ t: "hello", version, permissions, software, host, programs, foreign });
  }

  #want(programs: readonly Program[]): void {
    const added = programs.filter(({ id }) => !this.#supervisors.has(id));
    for (const program of programs) {
      const known = this.#supervisors.get(program.id);
      if (known !== undefined) known.want(program);
      else this.#add({ program, run: null, starts: 0, exit: null, failed: null });
    }
    const wanted = new Set(programs.map(({ id }) => id));
    for (const [id, each] of this.#supervisors) if (!wanted.has(id)) void this.#forget(id, each);
    this.#saveOrLog();
    for (const { id } of added) this.#supervisors.get(id)?.begin();
  }

  async #forget(id: number, supervisor: Supervisor): Promise<void> {
    if (!(await supervisor.forget()) || this.#supervisors.get(id) !== supervisor) return;
    this.#supervisors.delete(id);
    this.#occupations.delete(id);
    this.#sent.delete(id);
    await supervisor.close();
    this.#saveOrLog();
  }

  #add(saved: SavedProgram): Supervisor {
    const { folder, log, gpuTuner, now = Date.now } = this.#options;
    const parts: SupervisorParts = {
      platform: this.#platform,
      limits: this.#limits,
      folder,
      log,
      gpus: gpuTuner,
      now,
      prepare: (...args) => this.#launcher.prepare(...args),
      save: () => this.#save(),
      saveOrLog: () => this.#saveOrLog(),
      changed: () => this.#flush(),
    };
    const supervisor = new Supervisor(saved, parts);
    this.#supervisors.set(saved.program.id, supervisor);
    return supervisor;
  }

  #save(): void {
    this.#state.write([...this.#supervisors.values()].map(({ saved }) => saved));
  }

  /** If a write fails, the state is written with the next change. */
  #saveOrLog(): void {
    try {
      this.#save();
    } catch (error) {
      this.#options.log.error({ err: error }, "The agent's state cannot be written");
    }
  }

  /** Sends the changes of this turn together. */
  #flush(): void {
    if (this.#isFlushing) return;
    this.#isFlushing = true;
    setImmediate(() => {
      this.#isFlushing = false;
      for (const { state } of this.#supervisors.values()) {
        const text = JSON.stringify(state);
        if (this.#link === null || this.#sent.get(state.id) === text) continue;
        this.#sent.set(state.id, text);
        this.#link.send({ t: "program", program: state });
      }
    });
  }

  async #answer(request: Request, link: ServiceLink): Promise<void> {
    const { n } = request;
    try {
      link.send({ t: "done", n, ...(await this.#fulfil(request)) });
    } catch (error) {
      if (!(error instanceof RigbridgeError))
        this.#options.log.error({ err: error }, `Internal error with ${request.t}`);
      const { code, message } =
        error instanceof RigbridgeError ? error : { code: "internal", message: "Internal error of the host's agent" };
      link.send({ t: "done", n, error: { code, message: message.slice(0, 4_000).toWellFormed() } });
    }
  }

  async #fulfil(request: Request): Promise<{ message?: string; command?: string[] }> {
    switch (request.t) {
      case "start":
        return { message: await this.#supervisor(request.id).start() };
      case "stop":
        return { message: await this.#supervisor(request.id).stop() };
      case "restart":
        return { message: await this.#supervisor(request.id).restart() };
      case "reboot":
        if (!this.#options.permissions.reboot) throw forbidden("a reboot", "allow.reboot");
        return { message: await reboot(this.#options.rebootCommand, this.#options.log) };
      case "foreign":
        return { message: await this.#foreign.run(request.port, request.action) };
      case "command": {
        const port = this.#supervisors.get(request.program.id)?.apiPort ?? null;
        return { command: await this.#launcher.shown(request.program, port) };
      }
      case "confirm":
        return { message: await this.#options.downloads.confirm(request.id, request.sha256) };
    }
  }

  #supervisor(id: number): Supervisor {
    const supervisor = this.#supervisors.get(id);
    if (supervisor === undefined) throw new RigbridgeError("not.found", `There is no program ${id} on this host`);
    return supervisor;
  }

  /** The periodic tasks: logs, idle detection, the report of the host. */
  async #lookAround(): Promise<void> {
    const { log } = this.#options;
    const jobs = [
      this.#reportHost(),
      this.#observe(),
      ...[...this.#supervisors.values()].map((each) => each.rotateLog()),
    ];
    for (const { reason } of (await Promise.allSettled(jobs)).filter((each) => each.status === "rejected"))
      log.warn({ err: reason }, "The host could not be observed");
  }

  async #reportHost(): Promise<void> {
    const link = this.#link;
    if (link === null) return;
    const host = await this.#reporter.report();
    if (this.#link === link) link.send({ t: "host", host });
  }

  async #observe(): Promise<void> {
    const { now = Date.now } = this.#options;
    const all = [...this.#supervisors.values()];
    const activity = all.some(({ program }) => program.idle !== null)
      ? await this.#activity.read(all.flatMap(({ group }) => group ?? []))
      : null;
    for (const each of all) {
      const { id, idle } = each.program;
      const before = this.#occupations.get(id) ?? unoccupied;
      const next = idle === null || activity === null ? unoccupied : occupation(before, idle, activity, now());
      this.#occupations.set(id, next);
      each.occupy(next.by);
    }
  }
}
