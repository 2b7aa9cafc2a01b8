import type { HostGpu } from "../../contract/agent.ts";
import { readAmd } from "./amd.ts";
import { busOf, type Card, numbered, slotOf, unreadCard, withoutFigures } from "./card.ts";
import { type EnergyMark, readIntel } from "./intel.ts";
import { cardName } from "./names.ts";
import { NvidiaCards } from "./nvidia.ts";
import { CardFiles, drmCards, slotName } from "./sysfs.ts";

export interface GpuReaderOptions {
  /** Its PATH is searched for nvidia-smi. */
  readonly env: NodeJS.ProcessEnv;
  /** Folder that contains `sys` and `usr`; "/" except in tests. */
  readonly root: string;
  /** A card, or nvidia-smi, that takes longer has no readings in this report. */
  readonly timeoutMs: number;
  /** Monotonic clock, ms. */
  readonly monotonicNow: () => number;
  /** Called once for each new reason why readings are missing. */
  readonly log: (text: string) => void;
}

/** A read of a dead card's file never returns, and blocks one of Node's four threads for files. */
const stuckCards = 2;

const makers: Readonly<Record<string, "amd" | "intel">> = { "0x1002": "amd", "0x8086": "intel" };

/** The graphics cards of this host. A card that disappears stays in the list, marked as lost. */
export class GpuReader {
  readonly #options: GpuReaderOptions;
  readonly #nvidia: NvidiaCards;
  /** AMD's and Intel's, by slot. */
  readonly #known = new Map<string, Card>();
  readonly #energy = new Map<string, EnergyMark>();
  readonly #stuck = new Set<string>();
  #problem: string | null = null;
  #reading: Promise<Card[]> | null = null;

  constructor(options: Partial<GpuReaderOptions> = {}) {
    this.#options = {
      env: process.env,
      root: "/",
      timeoutMs: 6000,
      monotonicNow: () => performance.now(),
      log: () => undefined,
      ...options,
    };
    this.#nvidia = new NvidiaCards(this.#options);
  }

  async read(): Promise<HostGpu[]> {
    return numbered(await this.cards());
  }

  /** The cards with their PCI addresses. Concurrent callers share one read. */
  cards(): Promise<readonly Card[]> {
    this.#reading ??= this.#read().finally(() => {
      this.#reading = null;
    });
    return this.#reading;
  }

  async #read(): Promise<Card[]> {
    const [nvidia, others] = await Promise.all([this.#nvidia.read(), this.#readSysfs()]);
    const { problem } = this.#nvidia;
    if (problem !== null && problem !== this.#problem) this.#options.log(problem);
    this.#problem = problem;
    return [...nvidia, ...others];
  }

  async #readSysfs(): Promise<Card[]> {
    const present = new Set<string>();
    for (const folder of process.platform === "linux" ? await drmCards(this.#options.root) : []) {
      const files = new CardFiles(`${folder}/device`);
      const vendor = makers[(await files.fact("vendor")) ?? ""];
      const slot = slotOf(slotName(await files.fact("uevent")) ?? "");
      // Bus 0: graphics of an Intel processor, not a card.
      if (vendor === undefined || slot === null || (vendor === "intel" && busOf(slot) === 0)) continue;
      present.add(slot);
      await this.#readCard(slot, vendor, files);
    }
    for (const [slot, card] of this.#known) if (!present.has(slot)) this.#known.set(slot, withoutFigures(card, true));
    return [...this.#known.values()];
  }

  async #readCard(slot: string, vendor: "amd" | "intel", files: CardFiles): Promise<void> {
    const before = this.#known.get(slot);
    const name = before?.name ?? (await cardName(vendor, files, this.#options.root));
    const read =
      this.#stuck.size < stuckCards && !this.#stuck.has(slot) ? this.#figures(slot, name, vendor, files) : null;
    const card = read === null ? null : await this.#inTime(slot, read);
    // A dead card keeps its known values.
    const found = card ?? { ...(before ?? unreadCard({ slot, name, vendor })), lost: this.#stuck.has(slot) };
    this.#known.set(slot, found.lost || card === null ? withoutFigures(found, found.lost) : found);
  }

  async #figures(slot: string, name: string, vendor: "amd" | "intel", files: CardFiles): Promise<Card> {
    if (vendor === "amd") return readAmd(slot, name, files);
    const { card, energy } = await readIntel(slot, name, files, this.#energy.get(slot), this.#options.monotonicNow);
    if (energy === undefined) this.#energy.delete(slot);
    else this.#energy.set(slot, energy);
    return card;
  }

  /** Null if the card does not answer in time; it is not read again until it does. */
  async #inTime(slot: string, read: Promise<Card>): Promise<Card | null> {
    const { promise: late, resolve } = Promise.withResolvers<null>();
    const timer = setTimeout(() => {
      this.#stuck.add(slot);
      this.#options.log(`The graphics card at ${slot} does not answer`);
      resolve(null);
    }, this.#options.timeoutMs);
    const done = read.finally(() => {
      clearTimeout(timer);
      this.#stuck.delete(slot);
    });
    return await Promise.race([done, late]);
  }
}
