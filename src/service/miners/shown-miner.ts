import { jsonWithoutActions } from "../../contract/may-act.ts";
import type { Miner } from "../../contract/resources.ts";
import type { MinerFigures, PresentedMiner } from "./present-miner.ts";

/** Builds the view of a miner; never throws for an existing miner. */
export interface MinerSource {
  /** `energy`: the value of the displayed version. */
  present(id: number, energy: number | null): PresentedMiner;
  /** The replacement for a miner that cannot be written as JSON. */
  failed(id: number, energy: number | null, error: unknown): PresentedMiner;
  /** The figures alone, without presenting the miner. */
  figures(id: number): MinerFigures;
}

/** A miner's JSON: for callers who may act, and for those who may only view. */
export type ListForm = "bytes" | "viewOnly";
/** Its object, or its JSON. */
export type Form = "miner" | ListForm;

type Shown = Pick<ShownMiner, "version" | "energy" | "since"> & { readonly figures: MinerFigures | null };

/** The view of a miner since its last read, built on request. */
export class ShownMiner {
  readonly version: number;
  /** Wh; changes when it is stored, not with every read. */
  readonly energy: number | null;
  /** ms, by `performance.now`. */
  readonly since: number;
  readonly #id: number;
  readonly #source: MinerSource;
  #miner: Miner | null = null;
  #bytes: Buffer | null = null;
  #viewOnly: Buffer | null = null;
  #figures: MinerFigures | null;

  constructor(id: number, { version, energy, figures, since }: Shown, source: MinerSource) {
    this.#id = id;
    this.version = version;
    this.energy = energy;
    this.since = since;
    this.#figures = figures;
    this.#source = source;
  }

  get miner(): Miner {
    if (this.#miner !== null) return this.#miner;
    const { miner, figures } = this.#source.present(this.#id, this.energy);
    this.#figures = figures;
    this.#miner = miner;
    return miner;
  }

  /** `,{...}`, ready to be joined in a list; for callers who may act. The object is then dropped. */
  get bytes(): Buffer {
    this.#bytes ??= this.#encoded();
    this.#miner = null;
    return this.#bytes;
  }

  #encoded(): Buffer {
    const { miner } = this;
    try {
      return Buffer.from(`,${JSON.stringify(miner)}`);
    } catch (error) {
      const failed = this.#source.failed(this.#id, this.energy, error);
      this.#figures = failed.figures;
      return Buffer.from(`,${JSON.stringify(failed.miner)}`);
    }
  }

  /** Like `bytes`, for callers who may only view. */
  get viewOnly(): Buffer {
    this.#viewOnly ??= jsonWithoutActions(this.bytes);
    return this.#viewOnly;
  }

  get json(): Buffer {
    return this.bytes.subarray(1);
  }

  isMade(form: Form): boolean {
    if (form === "miner") return this.#miner !== null;
    return (form === "bytes" ? this.#bytes : this.#viewOnly) !== null;
  }

  get figures(): MinerFigures {
    this.#figures ??= this.#source.figures(this.#id);
    return this.#figures;
  }

  /** The figures, if already computed. */
  get knownFigures(): MinerFigures | null {
    return this.#figures;
  }
}
