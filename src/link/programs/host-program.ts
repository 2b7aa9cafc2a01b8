import type { Duplex } from "node:stream";
import type { ForeignAction, HostGpu, ProgramStatus } from "../../contract/agent.ts";
import type { Outage } from "../driver.ts";

/** The state of a program as the host's agent reports it. */
export interface ProgramReport {
  readonly status: ProgramStatus;
  /** Why it does not run, and what to do about it. */
  readonly message: string | null;
  /** Epoch ms by the host's clock. */
  readonly startedAt: number | null;
  /** Port of its API on the host; null if it has no API or does not run. */
  readonly apiPort: number | null;
  readonly apiToken: string | null;
}

/** The program of a managed miner on its host. Only the actions throw. */
export interface HostProgram {
  readonly hostname: string;
  /** Null while the agent of the host is not connected; `absence` gives the reason. */
  readonly report: ProgramReport | null;
  readonly absence: string;
  /** Of the agent: brief for as long as it takes to connect again; null while it is connected. */
  readonly outage: Outage | null;
  readonly gpus: readonly HostGpu[];
  /** Whether the agent's own configuration allows it to reboot the host. */
  readonly canReboot: boolean;
  /** The pools that it is started with, in order. */
  readonly pools: readonly { readonly url: string; readonly worker: string }[];
  /** Measured H/s of cards of these models with its algorithm; null unless all of them have been measured. */
  expected(models: readonly string[]): number | null;
  /** Opens a connection to its API, through the agent. */
  dial(): Duplex;
  /** Each resolves with the agent's result; throws `rig.refused` with the agent's message, or `rig.unreachable`. */
  start(signal: AbortSignal): Promise<string>;
  stop(signal: AbortSignal): Promise<string>;
  restart(signal: AbortSignal): Promise<string>;
  reboot(signal: AbortSignal): Promise<string>;
}

/** The program with the id of this managed miner. */
export type HostPrograms = (minerId: number) => HostProgram;

/** The program of a managed miner as declared. */
export interface DeclaredProgram {
  /** Id of the mining software. */
  readonly software: string;
  /** The driver that reads its API; null for a program without one. */
  readonly driver: string | null;
}

/** A host with an agent, as a program uses it whose miner was declared by the host's name and a port. */
export interface ProgramHost {
  readonly hostname: string;
  /** What the agent can do with the program. */
  readonly actions: readonly ForeignAction[];
  readonly canReboot: boolean;
  /** Each resolves with the agent's result; throws its refusal, `host.away`, or `rig.unreachable` if it disconnects. */
  run(action: ForeignAction, signal: AbortSignal): Promise<string>;
  reboot(signal: AbortSignal): Promise<string>;
}

/** The host with a connected agent, for a program's API at this port; null if there is none. */
export type ProgramHosts = (hostId: number, port: number) => ProgramHost | null;
