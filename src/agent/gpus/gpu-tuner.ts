import { open, readFile, rename } from "node:fs/promises";
import { dirname, join } from "node:path";
import { z } from "zod";
import { Mutex } from "../../async/index.ts";
import type { GpuSettings } from "../../contract/agent.ts";
import { busOf, type Card } from "./card.ts";
import {
  type CardChange,
  CardStep,
  changeOf,
  type SettingName,
  settingNames,
  takeStep,
  titleOf,
} from "./card-changes.ts";
import type { GpuReader } from "./gpu-reader.ts";

export interface GpuTunerOptions {
  readonly reader: Pick<GpuReader, "cards">;
  /** File with the settings to restore. */
  readonly journal: string;
  readonly env: NodeJS.ProcessEnv;
  /** Folder that contains `sys` and `proc`; "/" except in tests. */
  readonly root: string;
  readonly timeoutMs: number;
  readonly log: (text: string) => void;
}

const Entry = z.strictObject({
  slot: z.string().regex(/^[0-9a-f]{4,8}:[0-9a-f]{2}:[0-9a-f]{2}\.[0-7]$/),
  setting: z.enum(["powerLimit", "coreClock", "memoryClock", "fan"]),
  program: z.int(),
  undo: z.array(CardStep).max(5),
});
type Entry = z.infer<typeof Entry>;

/** A reboot resets all cards: settings journalled before it are not restored. */
const Journal = z.strictObject({ boot: z.string(), entries: z.array(Entry).max(1000) });

interface Wanted {
  readonly card: Card;
  readonly setting: SettingName;
  readonly value: number;
  /** Whether the setting names this card. A setting for all other cards may fail on some of them, but not on all. */
  readonly named: boolean;
}

interface Planned extends Wanted {
  readonly change: CardChange;
}

/**
 * Applies GPU settings for programs, and restores the previous ones. These are written to disk before the first setting
 * is applied, so that they are restored even after a crash.
 */
export class GpuTuner {
  readonly #options: GpuTunerOptions;
  readonly #mutex = new Mutex();
  #entries: Entry[] | null = null;

  constructor(options: GpuTunerOptions) {
    this.#options = options;
  }

  /**
   * Restores settings left by earlier runs of the agent, except those of running programs. Call it when the agent
   * starts.
   */
  recover(running: ReadonlySet<number>): Promise<void> {
    return this.#mutex.run(() => this.#undo(({ program }) => !running.has(program)));
  }

  /** Restores the settings that were changed for a program. */
  restore(program: number): Promise<void> {
    return this.#mutex.run(() => this.#undo((entry) => entry.program === program));
  }

  /**
   * Applies the settings for a program. Resolves with one sentence for each failure; after a failure, none of the
   * settings stays.
   */
  apply(program: number, settings: readonly GpuSettings[]): Promise<string[]> {
    return this.#mutex.run(async () => {
      const wanted = wantedOf(settings, await this.#options.reader.cards());
      const { planned, mistakes } = await this.#plan(wanted.settings);
      const all = [...wanted.mistakes, ...mistakes];
      if (all.length > 0) return all;
      await this.#undo((entry) => entry.program === program && !planned.some((each) => isSame(entry, each)));
      if (planned.length === 0) return [];
      await this.#journal(program, planned);
      const failures = await this.#set(planned);
      if (failures.length > 0) await this.#undo((entry) => entry.program === program);
      return failures;
    });
  }

  async #plan(wanted: readonly Wanted[]): Promise<{ planned: Planned[]; mistakes: string[] }> {
    const planned: Planned[] = [];
    const refused: { readonly wanted: Wanted; readonly why: string }[] = [];
    for (const each of wanted) {
      const change = await changeOf(each.card, each.setting, each.value, this.#options.root);
      if (typeof change === "string") refused.push({ wanted: each, why: change });
      else planned.push({ ...each, change });
    }
    const isMistake = ({ setting, named }: Wanted) =>
      named || !planned.some((each) => !each.named && each.setting === setting);
    return {
      planned,
      mistakes: refused.filter((each) => isMistake(each.wanted)).map((each) => sentence(each.wanted, each.why)),
    };
  }

  /** Existing journal entries stay: they hold the settings from before the first change. */
  async #journal(program: number, planned: readonly Planned[]): Promise<void> {
    const entries = await this.#load();
    const fresh = planned.filter((each) => !entries.some((entry) => isSame(entry, each)));
    const kept = entries.map((entry) => (planned.some((each) => isSame(entry, each)) ? { ...entry, program } : entry));
    const added = fresh.map(({ card, setting, change }) => ({
      slot: card.slot,
      setting,
      program,
      undo: [...change.undo],
    }));
    await this.#save([...kept, ...added]);
  }

  async #set(planned: readonly Planned[]): Promise<string[]> {
    const failures: string[] = [];
    for (const each of planned)
      for (const step of each.change.set) {
        const failure = await takeStep(each.card.slot, step, this.#options.root, this.#options);
        if (failure === null) continue;
        failures.push(sentence(each, failure));
        break;
      }
    return failures;
  }

  async #undo(which: (entry: Entry) => boolean): Promise<void> {
    const entries = await this.#load();
    const undone = entries.filter(which);
    if (undone.length === 0) return;
    const failed: Entry[] = [];
    for (const entry of undone)
      for (const step of entry.undo) {
        const failure = await takeStep(entry.slot, step, this.#options.root, this.#options);
        if (failure === null) continue;
        this.#options.log(
          `The ${titleOf(entry.setting)} of the graphics card at ${entry.slot} was not restored: ${failure}`,
        );
        failed.push(entry);
        break;
      }
    // Failed restores are retried later.
    await this.#save(entries.filter((entry) => !undone.includes(entry) || failed.includes(entry)));
  }

  async #load(): Promise<Entry[]> {
    if (this.#entries !== null) return this.#entries;
    const text = await readFile(this.#options.journal, "utf8").catch(() => null);
    const journal = text === null ? null : parsed(text);
    if (text !== null && journal === null)
      this.#options.log(`${this.#options.journal} cannot be read; no GPU settings are restored`);
    this.#entries = journal !== null && journal.boot === (await this.#boot()) ? journal.entries : [];
    return this.#entries;
  }

  /** Replaces the file atomically. */
  async #save(entries: Entry[]): Promise<void> {
    const { journal } = this.#options;
    const file = await open(`${journal}.new`, "w", 0o600);
    try {
      await file.writeFile(JSON.stringify({ boot: await this.#boot(), entries }));
      await file.sync();
    } finally {
      await file.close();
    }
    await rename(`${journal}.new`, journal);
    if (process.platform !== "win32") {
      const folder = await open(dirname(journal));
      await folder.sync().finally(() => folder.close());
    }
    this.#entries = entries;
  }

  async #boot(): Promise<string> {
    const id = join(this.#options.root, "proc/sys/kernel/random/boot_id");
    return await readFile(id, "utf8").then(
      (text) => text.trim(),
      () => "",
    );
  }
}

/** Each setting of each card. An entry without a bus applies to the cards that no other entry names. */
function wantedOf(
  settings: readonly GpuSettings[],
  cards: readonly Card[],
): { settings: Wanted[]; mistakes: string[] } {
  const named = new Set(settings.flatMap(({ bus }) => bus ?? []));
  const found: Wanted[] = [];
  const mistakes: string[] = [];
  for (const each of settings) {
    const own = cards.filter(({ slot }) => (each.bus === null ? !named.has(busOf(slot)) : busOf(slot) === each.bus));
    if (each.bus !== null && own.length === 0) mistakes.push(`There is no graphics card on bus ${each.bus}`);
    if (cards.length === 0 && each.bus === null) mistakes.push("There is no graphics card to set");
    for (const setting of settingNames) {
      const value = each[setting];
      if (value !== null) found.push(...own.map((card) => ({ card, setting, value, named: each.bus !== null })));
    }
  }
  return { settings: found, mistakes };
}

const isSame = (entry: Entry, { card, setting }: Wanted): boolean =>
  entry.slot === card.slot && entry.setting === setting;

const sentence = ({ card, setting }: Wanted, why: string): string =>
  `The ${titleOf(setting)} of ${card.name} on bus ${busOf(card.slot)} was not set: ${why}`;

function parsed(text: string): z.infer<typeof Journal> | null {
  try {
    return Journal.safeParse(JSON.parse(text)).data ?? null;
  } catch {
    return null;
  }
}
