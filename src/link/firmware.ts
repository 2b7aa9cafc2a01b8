import { setTimeout as delay } from "node:timers/promises";
import type { Identity } from "../contract/readings.ts";

/** Different firmware at once in one farm; a rig that reports a new one with each read displaces the oldest. */
const firmwareAtMost = 500;
/**
 * ms until another rig is queried whether the firmware still lacks something: a starting rig may lack it for a moment.
 */
const lackRecheckMs = 600_000;

interface Firmware {
  /** By the driver's name for it: whether the firmware has it, and when a rig answered that. */
  readonly facts: Map<string, { has: boolean; at: number }>;
  /** Whether a rig with it has been read since the service started. */
  isRead: boolean;
  /** The first read of one, while it runs. */
  first: Promise<unknown> | null;
}

const unread = (): Firmware => ({ facts: new Map(), isRead: false, first: null });

/**
 * The capabilities of each firmware, such as commands and pages: queried from one rig for all with the same driver,
 * make, model and firmware. It stores yes-or-no answers to the drivers' questions. Properties of a single rig (its
 * settings, ranges, login and the rights of this address) do not belong here.
 */
export class FirmwareBook {
  /** Rigs of new firmware wait so long for the first of them to be read, then ask on their own. */
  readonly firstReadMs: number;
  readonly #firmware = new Map<string, Firmware>();

  constructor({ firstReadMs = 300 }: { readonly firstReadMs?: number } = {}) {
    this.firstReadMs = firstReadMs;
  }

  /** undefined for firmware without a name: its rigs may differ. */
  get(driver: string, login: boolean, { make, model, firmware }: Identity): Firmware | undefined {
    if (make === null || firmware === null) return undefined;
    const key = JSON.stringify([driver, login, make, model, firmware]);
    const found = this.#firmware.get(key) ?? unread();
    this.#firmware.delete(key);
    this.#firmware.set(key, found);
    const [oldest] = this.#firmware.keys();
    if (this.#firmware.size > firmwareAtMost && oldest !== undefined) this.#firmware.delete(oldest);
    return found;
  }

  get size(): number {
    return this.#firmware.size;
  }
}

export interface RigFirmwareOptions {
  readonly book: FirmwareBook;
  /** Its id. */
  readonly driver: string;
  /** Whether one is configured: answers may depend on it. */
  readonly login: boolean;
  /** Milliseconds of a clock that never jumps. */
  readonly now: () => number;
}

/** The firmware of one rig; without a shared book, only this rig's own answers. */
export class RigFirmware {
  readonly #book: FirmwareBook;
  readonly #driver: string;
  readonly #login: boolean;
  readonly #now: () => number;
  #identity: Identity | null = null;
  #name = "";
  #firmware = unread();
  #doubtedAt = Number.NEGATIVE_INFINITY;

  constructor({ book, driver, login, now }: Partial<RigFirmwareOptions> = {}) {
    this.#book = book ?? new FirmwareBook();
    this.#driver = driver ?? "";
    this.#login = login ?? false;
    this.#now = now ?? (() => performance.now());
  }

  /** When the rig last refused a command or restarted: older answers may be outdated. */
  get doubtedAt(): number {
    return this.#doubtedAt;
  }

  /** Sets the firmware once it is known. */
  recognise(identity: Identity): void {
    if (identity === this.#identity || identity.firmware === null) return;
    this.#identity = identity;
    const name = `${identity.make}\n${identity.model}\n${identity.firmware}`;
    if (name === this.#name) return;
    const firmware = this.#book.get(this.#driver, this.#login, identity);
    if (firmware === undefined) return;
    // What it answered before it named itself.
    if (this.#name === "") for (const [what, fact] of this.#firmware.facts) firmware.facts.set(what, fact);
    this.#name = name;
    this.#firmware = firmware;
  }

  /** undefined: this rig is to be asked. */
  has(what: string): boolean | undefined {
    const fact = this.#firmware.facts.get(what);
    if (fact === undefined || fact.at < this.#doubtedAt) return undefined;
    const now = this.#now();
    if (fact.has || now - fact.at < lackRecheckMs) return fact.has;
    // This rig queries for all.
    fact.at = now;
    return undefined;
  }

  keep(what: string, has: boolean): boolean {
    this.#firmware.facts.set(what, { has, at: this.#now() });
    return has;
  }

  /** Answers of rigs before `since` no longer count for this rig; its new answers count for all. */
  doubt(since = this.#now()): void {
    this.#doubtedAt = Math.max(this.#doubtedAt, since);
  }

  /** Runs a read. The first read of a firmware answers for the other rigs, which wait a moment for it. */
  read<T>(work: () => Promise<T>): Promise<T> {
    return this.#firmware.isRead ? work() : this.#readFirst(this.#firmware, work);
  }

  async #readFirst<T>(firmware: Firmware, work: () => Promise<T>): Promise<T> {
    if (firmware.first !== null) {
      await Promise.race([firmware.first, delay(this.#book.firstReadMs, undefined, { ref: false })]);
      return work();
    }
    const reading = work();
    firmware.first = reading.catch(() => undefined);
    try {
      const result = await reading;
      firmware.isRead = true;
      return result;
    } finally {
      firmware.first = null;
    }
  }
}
