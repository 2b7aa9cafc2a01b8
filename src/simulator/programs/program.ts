import { hardware } from "../hardware.ts";
import type { RigModel } from "../model.ts";
import { noise } from "../random.ts";
import type { Conversation, RigBody } from "../rig.ts";

/** What may differ between two virtual programs of one kind. */
export interface ProgramOptions {
  /** The program's own name of it; each kind has its default. */
  readonly algorithm?: string;
  /** A second algorithm, mined at the same time; none by default. */
  readonly dualAlgorithm?: string;
  /** Password or token of its API; none by default. */
  readonly password?: string;
  /** Whether it accepts commands, if its kind has any; default true. */
  readonly writable?: boolean;
  /** An earlier version, whose answers have another shape. */
  readonly older?: boolean;
}

/** How one kind of program answers. */
export type Dialect = (program: Program) => Conversation;

/** One card of a virtual program. */
export interface VirtualGpu {
  readonly index: number;
  readonly name: string;
  /** Number of its PCI bus. */
  readonly bus: number;
  readonly status: "on" | "paused" | "lost";
  /** H/s. */
  readonly hashrate: number;
  /** H/s of the second algorithm; 0 without one. */
  readonly dualHashrate: number;
  /** °C; 0 for a lost card, like all fields that follow. */
  readonly temperature: number;
  readonly memoryTemperature: number;
  readonly fanPercent: number;
  readonly fanRpm: number;
  /** W. */
  readonly power: number;
  /** Hz. */
  readonly clock: number;
  readonly memoryClock: number;
  readonly accepted: number;
  readonly rejected: number;
}

/** The second algorithm of a virtual program. */
export interface DualWork {
  readonly algorithm: string;
  readonly pool: { readonly url: string; readonly user: string; readonly password: string };
  /** H/s. */
  readonly hashrate: number;
  readonly accepted: number;
  readonly rejected: number;
}

const dualFactor = 8;
const dualShares = 1.5;
const memoryClock = 7_001e6;
const ambient = 25;

/**
 * A virtual mining program: the model of a rig with cards instead of boards. A paused card is in `model.boardsOff`, a lost
 * one in `model.boardsLost`.
 */
export class Program {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly options: ProgramOptions;
  readonly algorithm: string;

  constructor(body: RigBody, options: ProgramOptions, usualAlgorithm: string) {
    this.body = body;
    this.model = body.model;
    this.options = options;
    this.algorithm = options.algorithm ?? usualAlgorithm;
  }

  /** Refuses writes. */
  get isReadOnly(): boolean {
    return this.options.writable === false || this.body.denies();
  }

  /** Whether it mines on a processor only. */
  get isProcessor(): boolean {
    return this.model.hardware === hardware.processor;
  }

  /** Whole seconds since its start. */
  get uptime(): number {
    return Math.floor(this.model.elapsed);
  }

  get dual(): DualWork | null {
    const { dualAlgorithm } = this.options;
    if (dualAlgorithm === undefined) return null;
    const { accepted, rejected } = this.model.shares;
    return {
      algorithm: dualAlgorithm,
      pool: { url: "stratum+tcp://second.example.org:5555", user: `acct2.${this.body.name}`, password: "x2" },
      hashrate: this.model.hashrate() * dualFactor,
      accepted: Math.floor(accepted * dualShares),
      rejected: Math.floor(rejected * dualShares),
    };
  }

  /** As of the last `advance` of the model. */
  get gpus(): VirtualGpu[] {
    const { model } = this;
    const { boards, idlePower, fanRpm } = model.hardware;
    const cards = Array.from({ length: boards }, (_, index) => ({ index, weight: this.#weight(index) }));
    const sum = cards.reduce((all, { weight }) => all + weight, 0);
    const { accepted, rejected } = model.shares;
    return cards.map(({ index, weight }): VirtualGpu => {
      const status = this.#status(index);
      const isLost = status === "lost";
      const part = sum === 0 ? 0 : weight / sum;
      const idle = idlePower / boards;
      const heat = isLost ? 0 : model.temperature - (status === "on" ? 2 * index : 0.5 * (model.temperature - ambient));
      const hashrate = model.hashrate() * part;
      return {
        index,
        name: model.hardware.model,
        bus: busAt(index),
        status,
        hashrate,
        dualHashrate: this.options.dualAlgorithm === undefined ? 0 : hashrate * dualFactor,
        temperature: Math.round(heat),
        memoryTemperature: isLost ? 0 : Math.round(heat + 14),
        fanPercent: isLost ? 0 : Math.round(model.fan * 100),
        fanRpm: isLost ? 0 : Math.round(fanRpm * model.fan),
        power: isLost ? 0 : idle + (model.power - idlePower) * part,
        clock: isLost ? 0 : model.frequency,
        memoryClock: isLost ? 0 : memoryClock,
        accepted: partOf(accepted, index, boards),
        rejected: partOf(rejected, index, boards),
      };
    });
  }

  #status(index: number): VirtualGpu["status"] {
    if (this.model.boardsLost.has(index)) return "lost";
    return this.model.boardsOff.has(index) ? "paused" : "on";
  }

  /** Cards of one kind differ a little. */
  #weight(index: number): number {
    return this.#status(index) === "on" ? 1 + 0.02 * noise(this.model.seed, 1_000 + index) : 0;
  }
}

/** 1, 2, 5, 6, 10, 11, ...: some have a hexadecimal letter. */
const busAt = (index: number): number => 1 + 4 * Math.floor(index / 2) + (index % 2) + (index >= 4 ? 1 : 0);

/** Whole parts that add up to the whole. */
const partOf = (whole: number, index: number, parts: number): number =>
  Math.floor((whole * (index + 1)) / parts) - Math.floor((whole * index) / parts);
