import { RigbridgeError } from "../../../contract/problems.ts";
import type { RigFirmware } from "../../firmware.ts";
import type { Notes } from "../../tolerant-reader.ts";
import { NotOnDevice } from "../../transports/http.ts";
import type { BraiinsRest } from "./rest.ts";

/** Read each time. */
const always = ["miner/details", "miner/stats", "miner/hw/hashboards", "cooling/state"] as const;
/** Values that change only by hand; at most two of them are read with each read once all are known. */
const seldom = [
  "performance/tuner-state",
  "pools/",
  "configuration/miner",
  "actions/locate",
  "miner/errors",
  "configuration/constraints",
] as const;

export type PagePath = (typeof always)[number] | (typeof seldom)[number];

/** Each page as last read; undefined if it does not exist. */
export type RestPages = ReadonlyMap<PagePath, unknown>;

const refreshAfterMs = 60_000;
const seldomAtOnce = 2;

/** The pages of a rig: measurements are read each time, settings now and then, and while a change is awaited. */
export class PageBook {
  readonly #rest: BraiinsRest;
  readonly #firmware: RigFirmware;
  readonly #pages = new Map<PagePath, unknown>();
  readonly #readAt = new Map<PagePath, number>();
  /** Pages that should soon show a change, until when. */
  readonly #awaited = new Map<PagePath, number>();

  constructor(rest: BraiinsRest, firmware: RigFirmware) {
    this.#rest = rest;
    this.#firmware = firmware;
  }

  /** The next read reads all pages. */
  doubt(): void {
    this.#readAt.clear();
  }

  /** Reads these pages with each read for so many seconds. */
  await(paths: readonly PagePath[], seconds: number): void {
    for (const path of paths) this.#awaited.set(path, performance.now() + seconds * 1000);
  }

  /** Throws when the rig's details cannot be read; any other page that is missing is a note. */
  async read(signal: AbortSignal, notes: Notes): Promise<RestPages> {
    for (const path of [...always, ...this.#due()]) await this.#page(path, signal, notes);
    return this.#pages;
  }

  #due(): PagePath[] {
    const now = performance.now();
    const age = (path: PagePath): number => now - (this.#readAt.get(path) ?? Number.NEGATIVE_INFINITY);
    const pressing = seldom.filter((path) => !this.#readAt.has(path) || (this.#awaited.get(path) ?? 0) > now);
    const old = seldom.filter((path) => !pressing.includes(path) && age(path) >= refreshAfterMs);
    return [...pressing, ...old.toSorted((a, b) => age(b) - age(a)).slice(0, seldomAtOnce)];
  }

  async #page(path: PagePath, signal: AbortSignal, notes: Notes): Promise<void> {
    // What this rig has answered itself counts more than that another lacks it.
    if (!this.#pages.has(path) && this.#firmware.has(path) === false) {
      this.#isMissing(path, "the rig refused it", notes);
      return;
    }
    try {
      const { value, notes: repairs } = await this.#rest.page(path, signal);
      notes.addAll(repairs);
      this.#pages.set(path, value);
    } catch (error) {
      if (!(error instanceof RigbridgeError) || path === "miner/details" || signal.aborted) throw error;
      if (error.code === "rig.login") throw error;
      if (error instanceof NotOnDevice) this.#firmware.keep(path, false);
      this.#isMissing(path, error.code === "rig.refused" ? "the rig refused it" : "its answer is not usable", notes);
    }
    this.#readAt.set(path, performance.now());
  }

  #isMissing(path: PagePath, why: string, notes: Notes): void {
    this.#pages.delete(path);
    notes.add(`${path} could not be read: ${why}`);
  }
}
