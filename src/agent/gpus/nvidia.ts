import { type Card, slotOf, unreadCard, withoutFigures } from "./card.ts";
import { type Output, type RunOptions, run } from "./run.ts";

/** All queried fields; those unknown to a driver are left out afterwards. */
const fields = [
  "pci.bus_id",
  "name",
  "driver_version",
  "temperature.gpu",
  "temperature.memory",
  "fan.speed",
  "utilization.gpu",
  "power.draw",
  "power.limit",
  "power.default_limit",
  "clocks.gr",
  "clocks.mem",
  "memory.total",
] as const;
type Field = (typeof fields)[number];

/** A failing card makes nvidia-smi slow: the card counts as lost after this many timeouts in a row. */
const hangsUntilLost = 3;

/** The NVIDIA cards of this host, read by a single call of nvidia-smi. */
export class NvidiaCards {
  readonly #run: RunOptions;
  readonly #known = new Map<string, Card>();
  #fields: readonly Field[] = fields;
  #driver: string | null = null;
  #hangs = 0;
  #problem: string | null = null;

  constructor(options: RunOptions) {
    this.#run = options;
  }

  /** Why the last read has no figures, for the log; null after a successful read. */
  get problem(): string | null {
    return this.#problem;
  }

  async read(): Promise<Card[]> {
    const output = await this.#ask([]);
    this.#problem = null;
    if (output === "missing") return [];
    if (output === "hanging") return this.#hanging();
    this.#hangs = 0;
    let cards = this.#cardsIn(output);
    const lost = lostSlots(output.text);
    if (lost.length > 0 && cards.length === 0) cards = await this.#askWithout(lost);
    for (const slot of lost) if (!this.#known.has(slot)) this.#known.set(slot, unreadCard(nameless(slot)));
    if (output.code !== 0 && !noDevices.test(output.text)) this.#problem = firstLine(output.text, output.code);
    // A call that fails as a whole, for instance between a driver update and a reboot, says nothing about a single
    // card.
    const gone = cards.length > 0 || noDriver.test(output.text);
    return this.#withMissing(cards, (slot) => gone || lost.includes(slot));
  }

  #hanging(): Card[] {
    this.#hangs += 1;
    this.#problem = `nvidia-smi did not answer within ${this.#run.timeoutMs / 1000} s; a card may be lost`;
    return this.#withMissing([], () => this.#hangs >= hangsUntilLost);
  }

  /** All cards that were ever read: the present ones, and the others without figures. */
  #withMissing(cards: readonly Card[], isLost: (slot: string) => boolean): Card[] {
    const read = new Map(cards.map((card) => [card.slot, card]));
    for (const card of cards) this.#known.set(card.slot, card);
    for (const [slot, card] of this.#known)
      if (!read.has(slot)) this.#known.set(slot, withoutFigures(card, card.lost || isLost(slot)));
    return [...this.#known.values()];
  }

  /** One lost card makes the call fail for all: the others are queried by their addresses. */
  async #askWithout(lost: readonly string[]): Promise<Card[]> {
    const others = [...this.#known.keys()].filter((slot) => !lost.includes(slot));
    if (others.length === 0) return [];
    const output = await this.#ask([`--id=${others.join(",")}`]);
    return typeof output === "string" ? [] : this.#cardsIn(output);
  }

  async #ask(more: readonly string[]): Promise<Output | "missing" | "hanging"> {
    for (;;) {
      const query = [`--query-gpu=${this.#fields.join(",")}`, "--format=csv,noheader,nounits", ...more];
      const output = await nvidiaSmi(query, this.#run);
      const unknown = typeof output === "string" ? undefined : unknownField.exec(output.text)?.[1];
      if (unknown === undefined || !this.#fields.some((field) => field === unknown)) return output;
      this.#fields = this.#fields.filter((field) => field !== unknown);
    }
  }

  #cardsIn(output: Output): Card[] {
    const asked = this.#fields;
    const rows = output.text.split("\n").flatMap((line) => {
      const row = rowOf(line, asked);
      return row === null ? [] : [row];
    });
    const driver = rows[0]?.values.get("driver_version") ?? this.#driver;
    // Another driver may know other fields.
    if (this.#driver !== null && driver !== this.#driver) this.#fields = fields;
    this.#driver = driver;
    return rows.map(cardOf);
  }
}

interface Row {
  readonly slot: string;
  readonly values: ReadonlyMap<Field, string>;
}

function rowOf(line: string, asked: readonly Field[]): Row | null {
  const parts = line.split(",").map((part) => part.trim());
  const slot = slotOf(parts[asked.indexOf("pci.bus_id")] ?? "");
  if (slot === null || parts.length !== asked.length) return null;
  return { slot, values: new Map(asked.map((field, index) => [field, parts[index] ?? ""])) };
}

function cardOf({ slot, values }: Row): Card {
  const name = values.get("name") ?? "";
  const identity = { ...nameless(slot), ...(/^\[|^$/.test(name) ? {} : { name: name.slice(0, 200) }) };
  if ([...values.values()].some((value) => /GPU is lost/i.test(value))) return { ...unreadCard(identity), lost: true };
  const figure = (field: Field, times = 1): number | null => {
    const text = values.get(field) ?? "";
    return /^-?\d+(\.\d+)?$/.test(text) ? Number(text) * times : null;
  };
  const limit = figure("power.limit");
  const usual = figure("power.default_limit");
  return {
    ...unreadCard(identity),
    activity: figure("utilization.gpu"),
    clock: figure("clocks.gr", 1e6),
    memoryClock: figure("clocks.mem", 1e6),
    powertune: limit === null || usual === null || usual <= 0 ? null : Math.round((limit / usual) * 100 - 100),
    fanPercent: figure("fan.speed"),
    temperature: figure("temperature.gpu"),
    memoryTemperature: figure("temperature.memory"),
    power: figure("power.draw"),
    powerLimit: limit,
    memory: figure("memory.total", 2 ** 20),
  };
}

const nameless = (slot: string) => ({ slot, name: "NVIDIA GPU", vendor: "nvidia" as const });

const unknownField = /Field "([^"]+)" is not a valid field to query/;
const noDevices = /No devices were found/i;
const noDriver = /couldn't communicate with the NVIDIA driver/i;

/**
 * "Unable to determine the device handle for GPU 0000:0A:00.0: GPU is lost." and similar lines, one for each lost card.
 */
const lostSlots = (text: string): string[] =>
  [...text.matchAll(/device handle for GPU\d*:? *([0-9a-f:]+\.[0-7])/gi)].flatMap(
    ([, address = ""]) => slotOf(address) ?? [],
  );

const firstLine = (text: string, code: number | null) =>
  `nvidia-smi: ${
    text
      .split("\n")
      .find((line) => line.trim() !== "")
      ?.trim()
      .slice(0, 300) ?? `it ended with code ${code}`
  }`;

/** The location in older drivers for Windows, which is not in the PATH. */
const oldWindowsPath = "C:\\Program Files\\NVIDIA Corporation\\NVSMI\\nvidia-smi.exe";

export async function nvidiaSmi(args: readonly string[], options: RunOptions): Promise<Output | "missing" | "hanging"> {
  const output = await run("nvidia-smi", args, options);
  return output === "missing" && process.platform === "win32" ? run(oldWindowsPath, args, options) : output;
}
