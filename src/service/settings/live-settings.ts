import { isDeepStrictEqual } from "node:util";
import type { Config } from "../../config/schema.ts";
import { type SettingsSection, settingsSections } from "../../contract/settings.ts";

export type Sections<S extends SettingsSection = SettingsSection> = Pick<Config, S>;

/** Follows a change of its sections; throws if it cannot, and is then called the other way round. */
type Apply<S extends SettingsSection> = (now: Sections<S>, before: Sections<S>) => void | Promise<void>;

/** What a part of the service sees of the settings: the sections that it declares, as they are now. */
export interface SettingsPart<S extends SettingsSection> {
  /** Read it when a value is needed; a value that was kept is one of the past. */
  readonly now: Sections<S>;
  /** For what is made from settings, and must be made anew. */
  onChange(apply: Apply<S>): void;
}

/** An object that reads each field of what is in effect when it is read. */
export const present = <T extends object>(read: () => T): T =>
  new Proxy<T>(Object.create(null), { get: (_none, key) => Reflect.get(read(), key) });

interface Part {
  readonly name: string;
  readonly sections: readonly SettingsSection[];
  apply: ((now: Config, before: Config) => void | Promise<void>) | null;
}

/** Fields that no part follows: they stay as they were when the service started, as do sections that no part declares. */
const fixedFields: Partial<Record<SettingsSection, readonly string[]>> = {
  http: ["host", "port"],
  poll: ["workers", "timeout", "nameplates", "makersLogins"],
  display: ["timeZone"],
};

/** The settings in effect, and the parts of the service that follow their changes. */
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

  /** As they will be after a restart. */
  get wanted(): Config {
    return this.#wanted;
  }

  /** Declares a part by its name and sections; the compiler lets it see no others. */
  part<const S extends SettingsSection>(name: string, sections: readonly S[]): SettingsPart<S> {
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

  /** Sections as they were when the service started, for what does not follow their changes. */
  atStart<const S extends SettingsSection>(..._sections: readonly S[]): Sections<S> {
    return this.#atStart;
  }

  /** The parts in the order in which they follow a change. */
  get parts(): readonly Pick<Part, "name" | "sections">[] {
    return this.#parts;
  }

  /** Whether a section of a configuration can be used only after a restart. */
  waits(section: SettingsSection, wanted: Config = this.#wanted): boolean {
    return !isDeepStrictEqual(wanted[section], this.#followed(section, wanted));
  }

  /** Brings every part in line. If one cannot follow, all go back to what was before, and its error is thrown. */
  async change(wanted: Config): Promise<void> {
    const [before, wantedBefore] = [this.#now, this.#wanted];
    const sections = settingsSections.map((section) => [section, this.#followed(section, wanted)]);
    const next: Config = { ...wanted, ...Object.fromEntries(sections) };
    const differs = (section: SettingsSection): boolean => !isDeepStrictEqual(next[section], before[section]);
    const followed: Part[] = [];
    [this.#now, this.#wanted] = [next, wanted];
    try {
      for (const part of this.#parts.filter((each) => each.sections.some(differs))) {
        followed.push(part);
        await part.apply?.(next, before);
      }
    } catch (error) {
      [this.#now, this.#wanted] = [before, wantedBefore];
      // As far as they can: the first error is the one to tell.
      for (const { apply } of followed.toReversed()) await (async () => apply?.(before, next))().catch(() => undefined);
      throw error;
    }
  }

  /** What the parts make of a section. */
  #followed<S extends SettingsSection>(section: S, wanted: Config): Config[S] {
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
