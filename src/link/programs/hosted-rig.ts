import { detailIn, RigbridgeError } from "../../contract/problems.ts";
import {
  type Control,
  type ControlKey,
  type ControlValue,
  type Identity,
  unknownReadings,
} from "../../contract/readings.ts";
import { detail } from "../../messages/detail.ts";
import { toggle, trigger } from "../controls.ts";
import type { PoolControls, Reading, Rig } from "../driver.ts";
import { halt, stopped } from "../reason.ts";
import type { ProgramHost } from "./host-program.ts";

export interface HostedRigOptions {
  /** The host whose agent is connected; null while none is. */
  readonly host: () => ProgramHost | null;
  /** Opens the connection to the program's API. */
  readonly connect: (signal: AbortSignal) => Promise<Rig>;
  /** As last read. */
  readonly known: () => {
    readonly identity: Identity | null;
    readonly software: string | null;
    readonly controls: readonly Control[];
    /** Whether its API has not answered the last reads either. */
    readonly isSilent: boolean;
    readonly wasStopped: boolean;
  };
  /** Milliseconds of a clock that never jumps. */
  readonly monotonicNow: () => number;
}

/** The longest that a program takes from its start to an answer of its API; large DAGs take minutes. */
const startSeconds = 300;
const bootSeconds = 600;
const silences: ReadonlySet<string> = new Set(["rig.unreachable", "rig.timeout"]);
const effect = { lasting: false, restartsMining: true, seconds: startSeconds } as const;

/**
 * A mining program that was declared by its API's address, on a host with an agent: the agent starts, stops and restarts
 * it and reboots its host, as far as the agent's configuration allows and the program's API cannot do so itself.
 */
export class HostedRig implements Rig {
  readonly #options: HostedRigOptions;
  #rig: Rig | null = null;
  /** As of the agent's last connection: its actions stay on offer, so that nothing disappears with it. */
  #host: ProgramHost | null = null;
  #byAgent: ReadonlySet<ControlKey> = new Set();
  #isStopped = false;
  /** While a program starts, its API need not answer. */
  #startsUntil = Number.NEGATIVE_INFINITY;
  #isClosed = false;

  constructor(options: HostedRigOptions) {
    this.#options = options;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const host = this.#options.host();
    this.#host = host ?? this.#host;
    try {
      this.#rig ??= await this.#options.connect(signal);
      if (this.#isClosed) throw new RigbridgeError("rig.unreachable", detail("link.changed"));
      const reading = await this.#rig.read(signal);
      this.#isStopped = false;
      return this.#host === null ? reading : this.#withAgent(reading, this.#host);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || !silences.has(error.code) || host === null) throw error;
      return this.#silent(host, error);
    } finally {
      if (this.#isClosed) this.#disconnect();
    }
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    const host = this.#host;
    if (!this.#byAgent.has(key)) {
      if (this.#rig === null) throw new RigbridgeError("rig.unreachable", detail("link.apiSilent"));
      return this.#rig.set(key, value, signal);
    }
    if (host === null) throw new RigbridgeError("rig.unreachable", detail("link.noAgent"));
    if (key === "reboot") return host.reboot(signal);
    const isStop = key === "mining" && value === false;
    const message = await host.run(isStop ? "stop" : key === "mining" ? "start" : "restart", signal);
    this.#isStopped = isStop;
    this.#startsUntil = isStop ? Number.NEGATIVE_INFINITY : this.#options.monotonicNow() + startSeconds * 1000;
    return message;
  }

  get pools(): PoolControls {
    return this.#rig?.pools ?? {};
  }

  get quick(): true | undefined {
    return this.#rig?.quick;
  }

  doubt(): void {
    this.#rig?.doubt?.();
  }

  close(): void {
    this.#isClosed = true;
    this.#disconnect();
  }

  /** What its API cannot do is done by the agent. */
  #withAgent(reading: Reading, host: ProgramHost): Reading {
    const own = new Set(reading.controls.map(({ key }) => key));
    const added = this.#controls(host, true).filter(({ key }) => !own.has(key));
    this.#byAgent = new Set(added.map(({ key }) => key));
    this.#startsUntil = Number.NEGATIVE_INFINITY;
    return { ...reading, controls: [...reading.controls, ...added] };
  }

  /** A program whose API has not answered for a while can be started and restarted. */
  #silent(host: ProgramHost, error: RigbridgeError): Reading {
    const { identity, software, isSilent, wasStopped, controls: before } = this.#options.known();
    const isStarting = this.#options.monotonicNow() < this.#startsUntil;
    const isStopped = this.#isStopped || (wasStopped && !isStarting);
    // Which program it is was never read, or it may still answer.
    if (identity === null || !host.actions.includes("start") || isStarting || !(isSilent || isStopped)) throw error;
    this.#disconnect();
    const offered = this.#controls(host, isStopped ? false : null);
    this.#byAgent = new Set(offered.map(({ key }) => key));
    const others = before.filter(({ key }) => !this.#byAgent.has(key) && key !== "restart");
    const controls = [...others.map((control) => ({ ...control, value: null })), ...offered];
    const silent = detail("reason.apiSilent", { why: detailIn(error) });
    return {
      identity,
      readings: { ...unknownReadings(), hashrate: isStopped ? 0 : null, mining: isStopped ? false : null },
      pools: [],
      devices: [],
      controls,
      poolActions: [],
      software,
      logInterval: null,
      workUtility: null,
      halt: isStopped ? stopped : halt("program", silent),
    };
  }

  #controls({ actions, canReboot }: ProgramHost, on: boolean | null): Control[] {
    return [
      ...(actions.includes("start") && actions.includes("stop") ? [toggle("mining", on, effect)] : []),
      ...(actions.includes("restart") && on !== false ? [trigger("restart", effect)] : []),
      ...(canReboot ? [trigger("reboot", { ...effect, seconds: bootSeconds })] : []),
    ];
  }

  #disconnect(): void {
    this.#rig?.close();
    this.#rig = null;
  }
}
