import { RigbridgeError } from "../../../contract/problems.ts";
import type { ControlKey, ControlValue, Identity } from "../../../contract/readings.ts";
import type { Driver, PoolControls, PoolReading, Question, Reading, Rig, Signs } from "../../driver.ts";
import type { Link } from "../../link.ts";
import { Notes, printable, type TolerantReader } from "../../tolerant-reader.ts";
import { garbledText, refusedWith } from "../../transports/limits.ts";
import type { LineTransport } from "../../transports/lines.ts";
import { isSamePool, listedPool } from "../shared/listed-pool.ts";
import { Memo } from "../shared/memo.ts";
import { OfferedControls } from "../shared/offered-controls.ts";
import { readingOf } from "../shared/program.ts";
import { recordsOf } from "./records.ts";
import { isForProcessors, isSummary, poolOf, programOf, reportOf } from "./report.ts";

/**
 * The text API of ccminer and its descendants, such as cpuminer-opt and CryptoDredge. Pools can be switched if `help` lists
 * the command; there are no other controls. Sources: api.cpp of ccminer 2.3.1, api.c of cpuminer-opt. `quit` and `seturl`
 * are never sent.
 */
export const ccminer: Driver = {
  id: "ccminer",
  name: "ccminer API (ccminer, cpuminer-opt, CryptoDredge)",
  evidence: { readings: "vendor document", controls: "vendor document" },
  ports: [4068, 4048],
  recognise: (signs) => recognise(signs),
  connect: (link) => new CcminerRig(link),
};

function recognise({ root, texts = {}, port }: Signs): Partial<Identity> | Question | undefined {
  if (root !== null || port === undefined) return undefined;
  if (!Object.hasOwn(texts, "summary")) return { text: "summary" };
  const [summary] = recordsOf(texts.summary ?? "", new Notes(), "summary");
  return isSummary(summary) ? { make: programOf(summary).make } : undefined;
}

/** The commands that it accepts, and its pools. */
interface Menu {
  /** Null if it lists no commands. */
  readonly commands: ReadonlySet<string> | null;
  readonly pools: readonly PoolReading[];
}

/** They are those of its start; the pool in use is read each time. */
const menuMaxAgeMs = 60_000;
/** As ccminer itself allows. */
const mostPools = 8;

class CcminerRig implements Rig {
  readonly quick = true;
  readonly #lines: LineTransport;
  readonly #menu: Memo<Menu>;
  readonly #offered = new OfferedControls();

  constructor({ lines, monotonicNow }: Pick<Link, "lines" | "monotonicNow">) {
    this.#lines = lines;
    this.#menu = new Memo(menuMaxAgeMs, monotonicNow);
  }

  async read(signal: AbortSignal): Promise<Reading> {
    const notes = new Notes();
    const summary = await this.#summary(signal, notes);
    const threads = isForProcessors(summary) ? [] : await this.#records("threads", signal, notes);
    const { commands } = await this.#known(summary, signal, notes);
    const pools = await this.#readPools(summary, signal, notes);
    const canSwitch = commands?.has("switchpool") === true && pools.length > 1;
    const isLocked = commands?.has("pool") === true && !commands.has("switchpool");
    if (isLocked) notes.add(readOnlyNote);
    const report = reportOf(summary, threads.slice(0, 64), pools);
    return {
      ...readingOf(report, notes),
      controls: this.#offered.offer([]),
      poolActions: canSwitch ? ["switch"] : [],
      ...(isLocked ? { locked: { why: "read-only", text: readOnlyNote } } : {}),
      software: report.software === "" ? null : report.software,
    };
  }

  set(key: ControlKey, value: ControlValue, signal: AbortSignal): Promise<string> {
    return this.#offered.set(this, key, value, signal);
  }

  get pools(): PoolControls {
    return {
      switch: async (pool, signal) => {
        const { index } = listedPool(await this.#listPools(mostPools, signal, new Notes()), pool);
        const answer = await this.#lines.text(`switchpool|${index}`, signal);
        if (/^ok\b/i.test(answer.trim())) return "The program accepted";
        const words = printable(answer.slice(0, 80).replaceAll("|", "")) || "it accepts no commands from this address";
        throw refusedWith("rig.refused", `${this.#lines.at} refused "switchpool"`, words);
      },
    };
  }

  close(): void {
    this.#lines.close();
  }

  /** Throws `rig.garbled` for anything but the summary of such a program. */
  async #summary(signal: AbortSignal, notes: Notes): Promise<TolerantReader> {
    const text = await this.#lines.text("summary", signal);
    const [summary] = recordsOf(text, notes, "summary");
    if (isSummary(summary)) return summary;
    throw garbledText(this.#lines.at, "the reply is not a summary", text);
  }

  async #records(command: string, signal: AbortSignal, notes: Notes): Promise<TolerantReader[]> {
    return recordsOf(await this.#lines.text(command, signal), notes, command);
  }

  /** A program that does not know `help` closes the connection. */
  async #known(summary: TolerantReader, signal: AbortSignal, notes: Notes): Promise<Menu> {
    const known = this.#menu.value;
    if (known !== undefined && this.#menu.isFresh) return known;
    const commands = await this.#commands(signal);
    const count = commands?.has("pool") === true ? Math.min(summary.integer("POOLS") ?? 1, mostPools) : 0;
    const pools = count > 1 ? await this.#listPools(count, signal, notes) : [];
    return this.#menu.keep({ commands, pools });
  }

  async #commands(signal: AbortSignal): Promise<ReadonlySet<string> | null> {
    try {
      const help = await this.#lines.text("help", signal);
      const words = help.split(/[\s|]+/, 100).filter((word) => /^[a-z]{2,20}$/.test(word));
      return words.length === 0 ? null : new Set(words);
    } catch (error) {
      if (error instanceof RigbridgeError && error.code === "rig.garbled") return null;
      throw error;
    }
  }

  /** All pools; for an index beyond the last, ccminer repeats an earlier pool. */
  async #listPools(count: number, signal: AbortSignal, notes: Notes): Promise<PoolReading[]> {
    const pools: PoolReading[] = [];
    for (let index = 0; index < count; index += 1) {
      const [record] = await this.#records(`pool|${index}`, signal, notes);
      const [pool] = record === undefined ? [] : poolOf(record, index, false);
      if (pool === undefined || pools.some((other) => isSamePool(other, pool))) break;
      pools.push(pool);
    }
    return pools;
  }

  async #readPools(summary: TolerantReader, signal: AbortSignal, notes: Notes): Promise<readonly PoolReading[]> {
    const menu = this.#menu.value;
    if (menu?.commands?.has("pool") !== true) return poolOf(summary, 0, true);
    const [record] = await this.#records("pool", signal, notes);
    const [current] = record === undefined ? [] : poolOf(record, 0, true);
    if (current === undefined) return menu.pools;
    const place = menu.pools.findIndex((pool) => isSamePool(pool, current));
    if (place === -1) return [current];
    return menu.pools.map((pool, index) =>
      index === place ? { ...current, index: pool.index, priority: pool.priority } : pool,
    );
  }
}

const readOnlyNote =
  "this program is read only; to switch its pools, start it with --api-allow and the address of Rigbridge's computer";
