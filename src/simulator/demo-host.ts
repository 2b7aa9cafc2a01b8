import type { ServiceLink, ServiceReceiver } from "../agent/agent.ts";
import { commandLine } from "../agent/command-line.ts";
import { Tunnel } from "../agent/tunnel.ts";
import { lolMiner } from "../catalogue/programs/lolminer.ts";
import type { HostGpu, HostReport, Program, ProgramState, ToAgent } from "../contract/agent.ts";
import { invalidAll, notFound, RigbridgeError } from "../contract/problems.ts";
import { type Farm, startFarm } from "./farm.ts";
import { poolsOf } from "./model.ts";
import { Program as VirtualProgram } from "./programs/program.ts";
import type { SimulatedRig } from "./simulated-rig.ts";

type Request = Extract<ToAgent, { n: number }>;
type Answer = { readonly message: string } | { readonly command: string[] };
/** Opens a connection of this agent to the service; returns a function that ends it. */
type Connect = (agent: Pick<DemoHost, "connected">) => () => void;

export interface DemoHostOptions {
  /** Reported to the service as that of the agent. */
  readonly version: string;
  /** Epoch ms; by default the machine's clock. */
  readonly clock?: () => number;
}

/** The only program that it runs, by its id in the catalogue, and what that mines. */
export const demoProgram = { software: lolMiner.id, algorithm: "etchash" };

export const demoHostName = "demo-host";
const executable = `/opt/lolminer/${lolMiner.executable.linux}`;
const reportMs = 10_000;
/** Without connection. */
const rebootMs = 3_000;
/** How long it has been up when it starts. */
const uptimeMs = 3 * 86_400_000;
const cardBytes = 16e9;
/** % of its processors. */
const load = { running: 4, idle: 1 };

/**
 * The agent of a virtual host with graphics cards, in this process. It runs one mining program, which is a virtual rig, and
 * refuses everything else. Nothing is written, downloaded or started.
 */
export class DemoHost {
  readonly #farm: Farm;
  readonly #rig: SimulatedRig;
  readonly #cards: VirtualProgram;
  readonly #version: string;
  readonly #now: () => number;
  /** As last sent by the service, by id. The first is the one that can run. */
  #programs = new Map<number, Program>();
  /** States as last sent, as JSON. */
  readonly #sent = new Map<number, string>();
  /** The program has been running for an hour when the service first connects. */
  #isRunning = true;
  #starts = 1;
  /** Why the program could not be started; null if it could. */
  #problem: string | null = null;
  /** Epoch ms. */
  #bootedAt: number;
  #work: Promise<void> = Promise.resolve();
  #link: ServiceLink | null = null;
  #minerId = 0;
  #connect: Connect | null = null;
  #end = (): void => undefined;
  #reports: NodeJS.Timeout | undefined;
  #boot: NodeJS.Timeout | undefined;
  #isClosed = false;

  private constructor(farm: Farm, rig: SimulatedRig, { version, clock = Date.now }: DemoHostOptions) {
    this.#farm = farm;
    this.#rig = rig;
    this.#cards = new VirtualProgram(rig, {}, demoProgram.algorithm);
    this.#version = version;
    this.#now = clock;
    this.#bootedAt = clock() - uptimeMs;
  }

  /** Throws `not.possible` if no port is free for the API of the program. */
  static async start(options: DemoHostOptions): Promise<DemoHost> {
    const { clock } = options;
    const spec = { kind: "lolminer", name: demoHostName, warm: true } as const;
    const farm = await startFarm({ rigs: [spec], ...(clock === undefined ? {} : { clock }) });
    const [rig] = farm.rigs;
    if (rig === undefined) throw new RigbridgeError("internal", "The farm has no rig");
    return new DemoHost(farm, rig, options);
  }

  /** Connects to the service, now and after each reboot. `minerId`: whose program it has been running. */
  connect(minerId: number, connect: Connect): void {
    this.#minerId = minerId;
    this.#connect = connect;
    this.#end = connect(this);
  }

  async close(): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#boot);
    this.#end();
    await this.#work;
    await this.#farm.close();
  }

  /** The agent's side of a new connection; it introduces itself at once. */
  connected(link: ServiceLink): ServiceReceiver {
    const tunnel = new Tunnel((id) => (this.#isRunning && this.#isMain(id) ? this.#rig.port : null), {
      sendFrame: (channel, bytes) => link.sendFrame(channel, bytes),
      closed: (channel, error) => link.send({ t: "closed", channel, ...(error === null ? {} : { error }) }),
      get waiting() {
        return link.waiting;
      },
    });
    this.#link = link;
    this.#sent.clear();
    link.send({
      t: "hello",
      version: this.#version,
      permissions: { folders: [], downloads: false, reboot: true, gpuSettings: false },
      software: [
        { id: lolMiner.id, name: lolMiner.name, api: lolMiner.api, algorithms: Object.keys(lolMiner.algorithms) },
      ],
      host: this.#report(),
      programs:
        this.#main === undefined
          ? [this.#stateOf({ id: this.#minerId, running: true }, null)]
          : [...this.#programs.values()].map((program) => this.#stateOf(program, this.#refusal(program))),
      foreign: [],
    });
    clearInterval(this.#reports);
    this.#reports = setInterval(() => link.send({ t: "host", host: this.#report() }), reportMs).unref();
    return {
      message: (message) => {
        if (message.t === "programs") void this.#want(message.programs);
        else if (message.t === "open") tunnel.open(message.channel, message.id);
        else if (message.t === "close") tunnel.close(message.channel);
        else void this.#answer(message, link);
      },
      frame: (channel, bytes) => tunnel.write(channel, bytes),
      closed: () => {
        tunnel.closeAll();
        if (this.#link !== link) return;
        this.#link = null;
        clearInterval(this.#reports);
      },
    };
  }

  #want(programs: readonly Program[]): Promise<void> {
    const poolsBefore = this.#main?.pools;
    this.#programs = new Map(programs.map((program) => [program.id, program]));
    for (const id of this.#sent.keys()) if (!this.#programs.has(id)) this.#sent.delete(id);
    const pools = this.#main?.pools;
    const isOther = pools !== undefined && JSON.stringify(pools) !== JSON.stringify(poolsBefore);
    if (isOther) this.#setPools(pools);
    // With other pools a program is started again; the one that was running already mines for the first ones.
    return this.#settle(isOther && poolsBefore !== undefined);
  }

  #setPools(pools: Program["pools"]): void {
    const { model } = this.#rig;
    const specs = pools.map(({ url, worker, wallet, password }) => {
      return { url, user: [wallet, worker].filter((part) => part !== "").join("."), password };
    });
    model.setPools(poolsOf(specs, model.pools[0]?.difficulty ?? 1));
  }

  async #answer(request: Request, link: ServiceLink): Promise<void> {
    const { n } = request;
    try {
      link.send({ t: "done", n, ...(await this.#fulfil(request)) });
      if (request.t === "reboot") setImmediate(() => this.#reboot());
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      link.send({ t: "done", n, error: { code: error.code, message: error.message } });
    }
  }

  async #fulfil(request: Request): Promise<Answer> {
    switch (request.t) {
      case "start":
        return this.#run(request.id, false);
      case "restart":
        return this.#run(request.id, true);
      case "stop": {
        const program = this.#program(request.id);
        this.#programs.set(program.id, { ...program, running: false });
        await this.#settle();
        return { message: `${program.name} is stopped` };
      }
      case "reboot":
        return { message: "The host reboots" };
      case "command":
        return { command: this.#commandOf(request.program) };
      case "foreign":
        throw new RigbridgeError("not.possible", `${demoHostName} has no programs of others`);
      case "confirm":
        throw new RigbridgeError("not.possible", `No download on ${demoHostName} awaits confirmation`);
    }
  }

  async #run(id: number, isRestart: boolean): Promise<Answer> {
    const program = this.#program(id);
    const why = this.#refusal(program);
    if (why !== null) throw new RigbridgeError("agent.forbidden", why);
    this.#programs.set(id, { ...program, running: true });
    await this.#settle(isRestart);
    if (this.#problem !== null) throw new RigbridgeError("program.ended", this.#problem);
    return { message: `${program.name} is running` };
  }

  #commandOf(program: Program): string[] {
    const why = this.#refusal(program);
    if (why !== null) throw new RigbridgeError("agent.forbidden", why);
    const line = commandLine(lolMiner, program, { apiPort: this.#rig.port, apiToken: "" });
    if ("mistakes" in line) throw invalidAll([...line.mistakes]);
    return [executable, ...line.shown];
  }

  /** Brings the program into the wanted state, after earlier changes, and reports what has changed. */
  #settle(isRestart = false): Promise<void> {
    this.#work = this.#work.then(async () => {
      const main = this.#main;
      const wants = main?.running === true && this.#refusal(main) === null && this.#boot === undefined;
      if (this.#isRunning && (!wants || isRestart)) this.#stop();
      if (!wants) this.#problem = null;
      else if (!this.#isRunning) await this.#begin();
      for (const program of this.#programs.values()) this.#send(this.#stateOf(program, this.#refusal(program)));
    });
    return this.#work;
  }

  #stop(): void {
    this.#isRunning = false;
    this.#rig.powerOff();
    this.#rig.model.change((model) => {
      model.mining = false;
    });
  }

  async #begin(): Promise<void> {
    try {
      await this.#rig.powerOn();
      this.#isRunning = true;
      this.#starts += 1;
      this.#problem = null;
    } catch (error) {
      this.#stop();
      this.#problem = error instanceof Error ? error.message : String(error);
    }
  }

  /** The host is away for a moment; its program then starts again if it should run. */
  #reboot(): void {
    if (this.#isClosed || this.#boot !== undefined) return;
    this.#boot = setTimeout(() => {
      this.#boot = undefined;
      this.#bootedAt = this.#now();
      void this.#settle().then(() => {
        if (!this.#isClosed && this.#connect !== null) this.#end = this.#connect(this);
      });
    }, rebootMs).unref();
    this.#end();
    void this.#settle();
  }

  #send(program: ProgramState): void {
    const json = JSON.stringify(program);
    if (this.#link === null || this.#sent.get(program.id) === json) return;
    this.#sent.set(program.id, json);
    this.#link.send({ t: "program", program });
  }

  get #main(): Program | undefined {
    const [first] = this.#programs.values();
    return first;
  }

  #isMain(id: number): boolean {
    return (this.#main?.id ?? this.#minerId) === id;
  }

  #program(id: number): Program {
    const program = this.#programs.get(id);
    if (program === undefined) throw notFound("program", id);
    return program;
  }

  /** Why this program does not run here; null if it can. */
  #refusal({ id, software, algorithm, dualAlgorithm, parameters, gpuSettings, files }: Program): string | null {
    const main = this.#main;
    // One that is only being checked has an id that the host does not know.
    if (this.#programs.has(id) && !this.#isMain(id)) return `It is virtual and runs one program only: ${main?.name}`;
    if (software !== demoProgram.software || files.from !== "host")
      return `It is virtual and runs only its own ${lolMiner.name}`;
    if (algorithm !== demoProgram.algorithm || dualAlgorithm !== null)
      return `Its virtual cards mine only ${demoProgram.algorithm}`;
    if (parameters.trim() !== "") return "Its virtual program takes no parameters";
    return gpuSettings.length > 0 ? "Its virtual cards cannot be set" : null;
  }

  #stateOf({ id, running }: Pick<Program, "id" | "running">, refusal: string | null): ProgramState {
    const isMain = this.#isMain(id);
    const runs = isMain && this.#isRunning;
    const message = running ? (refusal ?? (isMain ? this.#problem : null)) : null;
    const halted = running ? (message === null ? "starting" : "failed") : "stopped";
    return {
      id,
      status: runs ? (running ? "running" : "stopping") : halted,
      pid: null,
      startedAt: runs ? this.#rig.model.startedAt : null,
      apiPort: runs ? this.#rig.port : null,
      apiToken: null,
      starts: isMain ? this.#starts : 0,
      exit: null,
      message,
      lastLines: [],
      download: null,
    };
  }

  #report(): HostReport {
    return {
      name: demoHostName,
      system: "Linux 6.8.0 (x86_64)",
      cpu: "AMD Ryzen 5 3600 6-Core Processor",
      cores: 12,
      uptime: Math.floor((this.#now() - this.#bootedAt) / 1000),
      load: this.#isRunning ? load.running : load.idle,
      memory: 16e9,
      memoryFree: 11.4e9,
      diskFree: 182e9,
      gpus: this.#gpus(),
    };
  }

  #gpus(): HostGpu[] {
    const { model } = this.#rig;
    model.advance();
    return this.#cards.gpus.map((card) => ({
      id: card.index,
      name: card.name,
      vendor: "amd",
      vendorId: card.index,
      pciBusId: card.bus,
      lost: card.status === "lost",
      activity: card.hashrate > 0 ? 99 : 0,
      clock: card.clock,
      memoryClock: card.memoryClock,
      voltage: model.voltage,
      powertune: null,
      fanRpm: card.fanRpm,
      fanPercent: card.fanPercent,
      temperature: card.temperature,
      memoryTemperature: card.memoryTemperature,
      power: card.power,
      powerLimit: null,
      memory: cardBytes,
    }));
  }
}
