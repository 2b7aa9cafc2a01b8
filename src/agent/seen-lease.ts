import { readFileSync, renameSync, writeFileSync } from "node:fs";

/** The lease by which a service acts: the name of the store that it shares with others, and its epoch in it. */
interface ServiceLease {
  readonly store: string;
  readonly epoch: number;
  /** When the epoch began: tells two epochs of one number apart, of which one is in a copy of the database. */
  readonly since: number;
}

/** As in the header `leaseHeader`. */
const leaseIn = (text: string): ServiceLease | null => {
  const [, store = "", epoch, since] = /^([0-9a-f]{32}) (\d{1,15}) (\d{1,15})$/.exec(text) ?? [];
  return store === "" ? null : { store, epoch: Number(epoch), since: Number(since) };
};

/** The last lease of its service that the agent has seen, in a file that the next agent reads. */
export class SeenLease {
  readonly #file: string | null;
  #seen: ServiceLease | null;

  /** `file`: null for an agent that remembers nothing. */
  constructor(file: string | null) {
    this.#file = file;
    this.#seen = file === null ? null : leaseIn(contentOf(file));
  }

  /**
   * Takes what a service says of its lease. Returns both epochs if its database is older than the agent has seen it, or a
   * copy; null if not, or if the text is none of a lease.
   */
  take(text: string): { readonly epoch: number; readonly seen: number } | null {
    const lease = leaseIn(text);
    const seen = this.#seen;
    if (lease === null) return null;
    const { epoch, since } = lease;
    if (seen?.store === lease.store) {
      if (epoch < seen.epoch || (epoch === seen.epoch && since !== seen.since)) return { epoch, seen: seen.epoch };
      if (epoch === seen.epoch) return null;
    }
    this.#seen = lease;
    this.#save(text);
    return null;
  }

  /** If the disk takes no more, the next agent has seen less. */
  #save(text: string): void {
    if (this.#file === null) return;
    try {
      writeFileSync(`${this.#file}.new`, text, { mode: 0o600 });
      renameSync(`${this.#file}.new`, this.#file);
    } catch {
      // Its other files are there too, and the log says what is wrong with them.
    }
  }
}

const contentOf = (file: string): string => {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
};
