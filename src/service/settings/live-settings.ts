import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/schema.ts";
import { type SettingsSection, settingsSections } from "../../contract/settings.ts";

/** Lists of the configuration file that take effect while the service runs, in the order of the file. */
export const liveLists = [
  "miners",
  "groups",
  "pools",
  "poolGroups",
  "templates",
  "algorithms",
  "coins",
  "rules",
  "schedules",
  "maintenance",
  "users",
  "channels",
  "hooks",
] as const;
export type LiveList = (typeof liveLists)[number];

/** A key of the configuration that parts of the service follow. */
export type LiveKey = SettingsSection | LiveList;

const liveKeys: readonly LiveKey[] = [...settingsSections, ...liveLists];

export const isLiveKey = (key: string): key is LiveKey => liveKeys.some((each) => each === key);

export type Sections<S extends LiveKey = SettingsSection> = Pick<Config, S>;

/** Applies a change of its sections; throws if it cannot, and is then called with the values swapped. */
type Apply<S extends LiveKey> = (now: Sections<S>, before: Sections<S>) => void | Promise<void>;

/** A part's view of the settings: the present values of the sections that it declares. */
export interface SettingsPart<S extends LiveKey> {
  /** Read it when a value is needed; a stored copy gets outdated. */
  readonly now: Sections<S>;
  /** For objects built from settings, which must be rebuilt. */
  onChange(apply: Apply<S>): void;
}

/** An object whose fields always give the present values. */
export const present = <T extends object>(read: () => T): T =>
  new Proxy<T>(Object.create(null), { get: (_none, key) => Reflect.get(read(), key) });

interface Part {
  readonly name: string;
  readonly sections: readonly LiveKey[];
  apply: ((now: Config, before: Config) => void | Promise<void>) | null;
}

/** Fields that no part applies live: they keep their values from the start of the service, like undeclared sections. */
const fixedFields: Partial<Record<LiveKey, readonly string[]>> = {
  http: ["host", "port"],
};

/** The settings in effect, and the parts of the service that apply their changes. */
export class LiveSettings {
  readonly #atStart: Config;
  #now: Config;
  #wanted: Config;
  readonly #parts: Part[] = [];

  constructor(config: Config) {
    this.#atStart = config;
    this.#now = config;
    this.#wanted = config;
  }

  /** The settings after a restart. */
  get wanted(): Config {
    return this.#wanted;
  }

  /** Declares a part by its name and sections; the compiler hides all others from it. */
  part<const S extends LiveKey>(name: string, sections: readonly S[]): SettingsPart<S> {
    const part: Part = { name, sections, apply: null };
    this.#parts.push(part);
    const view = Object.defineProperties(
      {},
      Object.fromEntries(sections.map((section) => [section, { get: () => this.#now[section], enumerable: true }])),
    ) as Sections<S>;
    return {
      now: view,
      onChange: (apply) => {
        part.apply = apply;
      },
    };
  }

  /** The parts in the order in which they apply a change. */
  get parts(): readonly Pick<Part, "name" | "sections">[] {
    return this.#parts;
  }

  /** Whether a section of a configuration takes effect only after a restart. */
  waits(section: LiveKey, wanted: Config = this.#wanted): boolean {
    return !isDeepStrictEqual(wanted[section], this.#followed(section, wanted));
  }

  /** Applies a configuration to every part. If one fails, all go back to the previous one, and its error is thrown. */
  async change(wanted: Config): Promise<void> {
    const [before, wantedBefore] = [this.#now, this.#wanted];
    const sections = liveKeys.map((section) => [section, this.#followed(section, wanted)]);
    const next: Config = { ...wanted, ...Object.fromEntries(sections) };
    const differs = (section: LiveKey): boolean => !isDeepStrictEqual(next[section], before[section]);
    const followed: Part[] = [];
    [this.#now, this.#wanted] = [next, wanted];
    try {
      for (const part of this.#parts.filter((each) => each.sections.some(differs))) {
        followed.push(part);
        await part.apply?.(next, before);
      }
    } catch (error) {
      [this.#now, this.#wanted] = [before, wantedBefore];
      // Rolls back as far as possible: the first error is the one to report.
      for (const { apply } of followed.toReversed()) await (async () => apply?.(before, next))().catch(() => undefined);
      throw error;
    }
  }

  /** The parts' view of a section. */
  #followed<S extends LiveKey>(section: S, wanted: Config): Config[S] {
    const atStart = this.#atStart[section];
    if (!this.#parts.some(({ sections }) => sections.some((each) => each === section))) return atStart;
    const fields = fixedFields[section];
    if (fields === undefined) return wanted[section];
    const followed = { ...Object(wanted[section]) };
    for (const field of fields) {
      const value: unknown = Reflect.get(Object(atStart), field);
      if (value === undefined) delete followed[field];
      else followed[field] = value;
    }
    return followed;
  }
}
