import { readFileSync, renameSync, writeFileSync } from "node:fs";
import { RigbridgeError } from "../contract/problems.ts";

/** How far the lease of a store has come: its epoch, and the renewals within it. Neither ever goes back. */
export interface LeasePoint {
  /** The name of the store. */
  readonly instance: string;
  readonly epoch: number;
  readonly beat: number;
}

/** Renewals between two writes of the file: 10 s. */
const savedEvery = 20;
/** A database that went over to a standby server may have lost the last renewals; a backup is older. */
const lostAtMost = 20;

/**
 * What a service has seen of the lease of its store, in a file beside the service. A database that was restored from a
 * backup is behind it.
 */
export class LeaseMark {
  readonly #file: string | null;
  #seen: LeasePoint | null;
  #saved: LeasePoint | null;

  /** `file`: null for a service that remembers nothing. */
  constructor(file: string | null) {
    this.#file = file;
    this.#seen = file === null ? null : pointIn(file);
    this.#saved = this.#seen;
  }

  /** What was seen, if this point lies before; null if it does not, or nothing was seen of this store. */
  seenAhead({ instance, epoch, beat }: LeasePoint): LeasePoint | null {
    const seen = this.#seen;
    if (seen === null || seen.instance !== instance) return null;
    return epoch < seen.epoch || (epoch === seen.epoch && beat + lostAtMost < seen.beat) ? seen : null;
  }

  /** Throws store.refused if this point lies before. */
  check(point: LeasePoint): void {
    const seen = this.seenAhead(point);
    if (seen !== null)
      throw new RigbridgeError(
        "store.refused",
        `The database of store.url is older than this service has seen it (epoch ${point.epoch}, renewal ${point.beat}; ` +
          `seen: epoch ${seen.epoch}, renewal ${seen.beat}); if it was restored from a backup, start one service once with ` +
          "--accept-restored. Nothing was changed.",
      );
  }

  saw(point: LeasePoint): void {
    this.#seen = point;
    const isNear =
      this.#saved?.instance === point.instance &&
      this.#saved.epoch === point.epoch &&
      Math.abs(point.beat - this.#saved.beat) < savedEvery;
    if (!isNear) this.save();
  }

  /** A file that cannot be written stays as it is, and is then further behind. */
  save(): void {
    if (this.#file === null || this.#seen === null || this.#seen === this.#saved) return;
    const { instance, epoch, beat } = this.#seen;
    const part = `${this.#file}.${process.pid}.part`;
    try {
      writeFileSync(part, `${instance} ${epoch} ${beat}\n`, { mode: 0o600 });
      renameSync(part, this.#file);
      this.#saved = this.#seen;
    } catch {
      // The service says at its start that it cannot write there.
    }
  }
}

const pointIn = (file: string): LeasePoint | null => {
  try {
    const [, instance = "", epoch, beat] =
      /^([0-9a-f]{32}) (\d{1,15}) (\d{1,15})\n$/.exec(readFileSync(file, "utf8")) ?? [];
    return instance === "" ? null : { instance, epoch: Number(epoch), beat: Number(beat) };
  } catch {
    return null;
  }
};
