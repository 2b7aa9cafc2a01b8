import type { HostGpu } from "../../contract/agent.ts";
import { detailIn, RigbridgeError } from "../../contract/problems.ts";
import { type Control, type ControlKey, type ControlValue, unknownReadings } from "../../contract/readings.ts";
import { detail } from "../../messages/detail.ts";
import { connect } from "../connect.ts";
import { toggle, trigger } from "../controls.ts";
import type { DeviceReading, Driver, Halt, Outage, PoolControls, PoolReading, Reading, Rig } from "../driver.ts";
import { unknownIdentity } from "../identity.ts";
import { openLink } from "../link.ts";
import { halt, stopped } from "../reason.ts";
import { modelOf, unreadDevice, withHostGpus } from "./gpu-figures.ts";
import type { HostProgram, ProgramReport } from "./host-program.ts";

export interface ManagedRigOptions {
  readonly program: HostProgram;
  readonly software: string;
  /** Reads its API; null for a program without one. */
  readonly driver: Driver | null;
  /** Whether its API has failed to answer several reads in a row. */
  readonly isSilent: () => boolean;
  /** The controls as last offered. */
  readonly knownControls: readonly Control[];
  /** Epoch ms. */
  readonly now: () => number;
}

/** The longest time from the start of a program to its first hash; large DAGs take minutes. */
const startSeconds = 300;
const bootSeconds = 600;

/**
 * Whether mining counts as on, and why it does not hash, by the state that the agent reports. States that hash are
 * absent.
 */
const halts: Partial<Record<ProgramReport["status"], { readonly on: boolean; readonly halt: Halt }>> = {
  stopped: { on: false, halt: stopped },
  downloading: { on: true, halt: halt("updating", detail("reason.downloading")) },
  confirming: { on: true, halt: halt("updating", detail("reason.confirming")) },
  waiting: { on: true, halt: halt("unknown", detail("reason.ended")) },
  idle: { on: true, halt: halt("user", detail("reason.waits")) },
  failed: { on: false, halt: halt("unknown", detail("reason.gaveUp")) },
};

/**
 * A managed miner: a program on a host, started and stopped by the host's agent and read through it by the driver of its
 * API. The agent is authoritative about whether it runs.
 */
export class ManagedRig implements Rig {
  readonly #program: HostProgram;
  readonly #options: ManagedRigOptions;
  /** The connection to the API of the program that runs now. */
  #api: { readonly rig: Rig; readonly key: string } | null = null;
  /** Its devices as its program last reported them, without readings. */
  #devices: readonly DeviceReading[] = [];
  /** Pools are changed in the managed miner, not in its program, which would forget them. */
  readonly pools: PoolControls = {};

  constructor(options: ManagedRigOptions) {
    this.#options = options;
    this.#program = options.program;
  }

  get outage(): Outage | null {
    return this.#program.outage;
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const { report, gpus } = this.#program;
    if (report === null) throw new RigbridgeError("rig.unreachable", this.#program.absence);
    const halted = halts[report.status];
    if (halted !== undefined) {
      this.#disconnect();
      const halt = report.message === null ? halted.halt : { code: halted.halt.code, text: report.message };
      return this.#without(report, { hashrate: 0, on: halted.on, halt });
    }
    const api = this.#connection(report);
    if (api === null) return this.#without(report, { hashrate: null, on: true });
    try {
      const reading = withHostGpus(this.#managed(await api.read(signal), report), gpus);
      this.#devices = reading.devices.map(unreadDevice);
      return this.#withExpected(reading, gpus);
    } catch (error) {
      // While the program starts or ends, its API may not answer.
      const { report: now } = this.#program;
      if (!(error instanceof RigbridgeError) || now === null) throw error;
      if (now.status !== "running") return this.#without(now, { hashrate: 0, on: true });
      if (!this.#options.isSilent()) throw error;
      // It is not known whether it hashes, but it can be restarted.
      const silent = detail("reason.programSilent", { why: detailIn(error) });
      return this.#without(now, { hashrate: null, on: true, halt: halt("program", silent) });
    }
  }

  async set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    const program = this.#program;
    if (key === "mining") return value === true ? program.start(signal) : program.stop(signal);
    if (key === "restart") return program.restart(signal);
    if (key === "reboot") return program.reboot(signal);
    if (this.#api === null) throw new RigbridgeError("control.absent", detail("control.notRunning", { control: key }));
    return this.#api.rig.set(key, value, signal);
  }

  close(): void {
    this.#disconnect();
  }

  /** null if there is no API to read. After a restart, the port and token differ. */
  #connection({ apiPort, apiToken, startedAt }: ProgramReport): Rig | null {
    const { driver, knownControls, now } = this.#options;
    if (driver === null || apiPort === null) return null;
    const key = `${apiPort} ${apiToken} ${startedAt}`;
    if (this.#api?.key !== key) {
      this.#disconnect();
      const token = apiToken ?? undefined;
      // Families name it differently.
      const credentials = { token, password: token };
      const address = { host: this.#program.hostname, port: apiPort, tls: false, dial: () => this.#program.dial() };
      const link = openLink(address, credentials, undefined, knownControls, undefined, now);
      this.#api = { rig: connect(driver, link), key };
    }
    return this.#api?.rig ?? null;
  }

  #disconnect(): void {
    this.#api?.rig.close();
    this.#api = null;
  }

  /** The program's own reading, with the agent's switches in place of its own. */
  #managed(reading: Reading, report: ProgramReport): Reading {
    const { locked, ...rest } = reading;
    const { identity, readings, controls } = rest;
    // The agent starts it read only on purpose, so advice to start it otherwise is left out.
    const notes = readings.notes.filter((note) => note !== locked?.text);
    return {
      ...rest,
      // A host may run several programs, so none of them has the host's MAC or a serial.
      identity: { ...identity, mac: null, serial: null, hostname: null },
      readings: { ...readings, notes, mining: true, uptime: readings.uptime ?? this.#uptime(report) },
      pools: reading.pools.length === 0 ? this.#pools(true) : reading.pools,
      controls: [...controls.filter(({ key }) => !replaced.has(key)), ...this.#controls(true)],
      poolActions: ["add", "use"],
      software: this.#options.software,
      starting: reading.starting === true || report.status === "starting",
    };
  }

  /** The measured hash rate of its cards, unless the program reports an expected one. */
  #withExpected(reading: Reading, gpus: readonly HostGpu[]): Reading {
    const { readings, devices } = reading;
    const models = devices.filter(({ status }) => status !== "disabled").map((device) => modelOf(device, gpus));
    const hashrateExpected = readings.hashrateExpected ?? this.#program.expected(models);
    return { ...reading, readings: { ...readings, hashrateExpected } };
  }

  #without(
    report: ProgramReport,
    { hashrate, on, halt }: { readonly hashrate: number | null; readonly on: boolean; readonly halt?: Halt },
  ): Reading {
    const runs = report.status === "running";
    // It is still to run, so it can be started and stopped.
    const isSwitchedOn = report.status === "failed" ? null : on;
    const reading: Reading = {
      identity: unknownIdentity,
      readings: { ...unknownReadings(), hashrate, mining: on, uptime: runs ? this.#uptime(report) : null },
      pools: this.#pools(runs),
      devices: this.#devices,
      controls: this.#controls(isSwitchedOn),
      poolActions: ["add", "use"],
      software: this.#options.software,
      logInterval: null,
      workUtility: null,
      halt,
      starting: report.status === "starting",
    };
    return withHostGpus(reading, this.#program.gpus);
  }

  /** The pools that it was started with, unless it reports its own; it begins with the first. */
  #pools(runs: boolean): PoolReading[] {
    return this.#program.pools.map(({ url, worker }, index) => ({
      index,
      url,
      worker,
      priority: index,
      active: runs && index === 0,
      ...({ status: "enabled", devFee: false, quota: null, accepted: null, rejected: null, stale: null } as const),
    }));
  }

  #uptime({ startedAt }: ProgramReport): number | null {
    return startedAt === null ? null : Math.max(0, (this.#options.now() - startedAt) / 1000);
  }

  #controls(on: boolean | null): Control[] {
    const start = { lasting: true, restartsMining: true, seconds: startSeconds } as const;
    return [
      toggle("mining", on, start),
      ...(on === true ? [trigger("restart", { ...start, lasting: false })] : []),
      ...(this.#program.canReboot ? [trigger("reboot", { ...start, lasting: false, seconds: bootSeconds })] : []),
    ];
  }
}

const replaced: ReadonlySet<ControlKey> = new Set(["mining", "restart", "reboot"]);
