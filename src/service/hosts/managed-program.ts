import type { Duplex } from "node:stream";
import { closedChannel } from "../../async/channel.ts";
import type { HostGpu, Program, ProgramStatus } from "../../contract/agent.ts";
import { notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Outage } from "../../link/driver.ts";
import type { HostProgram, ProgramReport } from "../../link/programs/host-program.ts";
import type { Store, Stored, StoredManagedMiner } from "../../store/index.ts";
import type { AgentRequest, AgentSession } from "./agent-session.ts";
import type { Benchmarks } from "./benchmarks.ts";
import type { HostAgents } from "./host-agents.ts";
import { type Lack, poolsOf } from "./program-of.ts";

/** The managed miners as seen by one of their programs. */
interface ProgramOwner {
  isManaged(minerId: number): boolean;
  programOf(miner: Stored<StoredManagedMiner>): Program | Lack;
  /** Sends a host its programs if they have changed. */
  sync(hostId: number): void;
}

interface ProgramContext {
  readonly store: Store;
  readonly agents: HostAgents;
  readonly benchmarks: Pick<Benchmarks, "expected">;
}

/** The program of a managed miner, as its rig sees and controls it. */
export class ManagedProgram implements HostProgram {
  readonly #id: number;
  readonly #miners: ProgramOwner;
  readonly #options: ProgramContext;

  constructor(id: number, miners: ProgramOwner, options: ProgramContext) {
    this.#id = id;
    this.#miners = miners;
    this.#options = options;
  }

  get hostname(): string {
    return this.#options.store.hosts.get(this.#hostId)?.hostname ?? "";
  }

  get report(): ProgramReport | null {
    if (this.#session === undefined) return null;
    const state = this.#session.program(this.#id);
    if (state !== undefined) return state;
    const miner = this.#options.store.managedMiners.get(this.#id);
    const program = miner === undefined ? null : this.#miners.programOf(miner);
    const message = program !== null && "message" in program ? program.message : null;
    return { ...notRun, message };
  }

  get absence(): string {
    return this.#options.agents.absence(this.#hostId, this.hostname).message;
  }

  get outage(): Outage | null {
    return this.#options.agents.outage(this.#hostId);
  }

  get gpus(): readonly HostGpu[] {
    return this.#session?.host?.gpus ?? [];
  }

  get canReboot(): boolean {
    return this.#session?.permissions?.reboot === true;
  }

  get pools(): HostProgram["pools"] {
    const { store } = this.#options;
    const miner = store.managedMiners.get(this.#id);
    if (miner === undefined) return [];
    return poolsOf(miner, store).map(({ url, workerName, walletAddress }) => ({
      url,
      worker: [walletAddress, workerName].filter((part) => part !== "").join("."),
    }));
  }

  expected(models: readonly string[]): number | null {
    const program = this.#miners.programOf(this.#miner());
    if ("message" in program || program.dualAlgorithm !== null) return null;
    return this.#options.benchmarks.expected(models, program.software, program.algorithm)?.hashrate ?? null;
  }

  dial(): Duplex {
    return this.#session?.dial(this.#id) ?? closedChannel();
  }

  start(signal: AbortSignal): Promise<string> {
    const program = this.#miners.programOf(this.#miner());
    if ("message" in program) throw new RigbridgeError(program.code, program.message);
    return this.#run(true, signal);
  }

  stop(signal: AbortSignal): Promise<string> {
    return this.#run(false, signal);
  }

  restart(signal: AbortSignal): Promise<string> {
    return this.#ask({ t: "restart", id: this.#id }, "The host's agent restarts the program", signal);
  }

  reboot(signal: AbortSignal): Promise<string> {
    return this.#ask({ t: "reboot" }, "The host reboots", signal);
  }

  get #hostId(): number {
    return this.#options.store.managedMiners.get(this.#id)?.hostId ?? 0;
  }

  get #session(): AgentSession | undefined {
    return this.#options.agents.session(this.#hostId);
  }

  get #required(): AgentSession {
    const session = this.#session;
    if (session === undefined) throw new RigbridgeError("rig.unreachable", this.absence);
    return session;
  }

  #miner(): Stored<StoredManagedMiner> {
    const miner = this.#options.store.managedMiners.get(this.#id);
    if (miner === undefined) throw notFound("managed miner", this.#id);
    return miner;
  }

  /** Stored first, so that the service sends the same again after a crash. */
  async #run(running: boolean, signal: AbortSignal): Promise<string> {
    const session = this.#required;
    const before = this.#miner();
    await this.#keep(running);
    try {
      const id = this.#id;
      const reply = await session.request(running ? { t: "start", id } : { t: "stop", id }, signal);
      return reply.message ?? `The host's agent has ${running ? "started" : "stopped"} the program`;
    } catch (error) {
      const isRefused = error instanceof RigbridgeError && !unanswered.has(error.code);
      if (isRefused && this.#miners.isManaged(this.#id)) await this.#keep(before.running);
      throw error;
    }
  }

  async #keep(running: boolean): Promise<void> {
    const { managedMiners } = this.#options.store;
    if (managedMiners.get(this.#id)?.running === running) return;
    await managedMiners.change(this.#id, { running });
    this.#miners.sync(this.#hostId);
  }

  async #ask(request: AgentRequest, otherwise: string, signal: AbortSignal): Promise<string> {
    const { message } = await this.#required.request(request, signal);
    return message ?? otherwise;
  }
}

const notRun = {
  status: "stopped" as ProgramStatus,
  startedAt: null,
  apiPort: null,
  apiToken: null,
};

/** The agent may have executed the request. */
const unanswered: ReadonlySet<string> = new Set(["rig.timeout", "rig.unreachable"]);
