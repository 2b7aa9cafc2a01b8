import { isDeepStrictEqual } from "node:util";
import type { Logger } from "pino";
import { type NamesOutside, pathText } from "../../config/cross-checks.ts";
import { type Base, layered, ownerOf, type SavedSections, strictlyLayered } from "../../config/layers.ts";
import type { ConfigFile } from "../../config/read.ts";
import { Config } from "../../config/schema.ts";
import { invalidAll, RigbridgeError } from "../../contract/problems.ts";
import { isRecord } from "../../contract/record.ts";
import { markSecret, withoutSecrets, withSecretsOf } from "../../contract/secrets.ts";
import {
  isSettingsSection,
  type SectionState,
  type SettingsSection,
  settingsSections,
} from "../../contract/settings.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredSection } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { walkGroups } from "../nested-groups.ts";
import { isLiveKey, LiveSettings } from "./live-settings.ts";

/** The origin of the configuration. */
export interface SettingsSource {
  /** What sections are that neither the file nor the store has, while there is only the demo. */
  readonly demo?: Partial<Config> | undefined;
  /** The configuration file, or a replacement built by a front end. */
  readonly base: SettingsBase;
  /** Reads the file again. Throws `config.invalid` with every mistake. */
  reread(): Promise<SettingsBase>;
  /** Adds values from folders and command line options. Throws if the configuration is not usable with them. */
  finish(config: Config): Config;
}

export type SettingsBase = Pick<ConfigFile, "name" | "written" | "config" | "lineOf">;

/** For a service whose configuration does not come from a file. */
export const sourceOf = (config: Config): SettingsSource => {
  const base: SettingsBase = { name: "", written: {}, config, lineOf: () => null };
  return { base, reread: async () => base, finish: (each) => each };
};

type SettingsStore = Pick<Store, "settings" | "groups" | "miners">;

/** A checked change: the resulting configuration, and the stored value. */
export interface SettingsPlan {
  readonly section: SettingsSection;
  readonly config: Config;
  /** The saved value; undefined: nothing, the section returns to its defaults. */
  readonly value: unknown;
  /** Paths whose values differ, with both values; without secrets. */
  readonly changes: readonly string[];
  /** Whether the same is already saved. */
  readonly isSaved: boolean;
}

/** A newly read file. */
export interface Reread {
  /** Keys whose values differ. */
  readonly keys: readonly string[];
  /** Whether all of them can be applied without a restart. */
  readonly isLive: boolean;
  apply(): Promise<void>;
}

/** Sections of the file and of the store as one configuration; each section has one owner. */
export class SettingsBook {
  readonly live: LiveSettings;
  readonly #source: SettingsSource;
  readonly #store: SettingsStore;
  readonly #log: Logger;
  #file: SettingsBase;
  /** Null without a demo. */
  #demo: Partial<Config> | null;
  #problems: ReadonlyMap<SettingsSection, string> = new Map();

  constructor(source: SettingsSource, store: SettingsStore, log: Logger) {
    this.#source = source;
    this.#store = store;
    this.#log = log;
    this.#file = source.base;
    this.#demo = source.demo ?? null;
    const { config, problems } = layered(this.#base(), this.#saved(), this.#names());
    this.#problems = problems;
    this.live = new LiveSettings(source.finish(config));
    this.#warn();
  }

  /** With defaults and options, as after a restart. */
  get config(): Config {
    return this.live.wanted;
  }

  /** Sections that wait for a restart. */
  get waiting(): SettingsSection[] {
    return settingsSections.filter((section) => this.live.waits(section));
  }

  list(): SectionState[] {
    return settingsSections.map((section) => this.state(section));
  }

  state(section: SettingsSection, config = this.config): SectionState {
    const saved = this.#saved();
    const row = this.#row(section);
    const owner = ownerOf(section, this.#file, saved);
    const written = owner === "file" ? this.#file.written[section] : saved.get(section);
    return {
      key: section,
      owner,
      line: this.#file.lineOf(section),
      value: shown(section, written),
      effective: shown(section, config[section]),
      restart: this.live.waits(section, config),
      revision: row?.revision ?? 0,
      undoable: owner !== "file" && row !== undefined && row.revision > 0,
      problem: this.#problemOf(section, owner, saved),
    };
  }

  /** The result of saving a section. Throws with every mistake. */
  plan(section: SettingsSection, value: unknown, revision: number | undefined): SettingsPlan {
    this.#refuseOfFile(section);
    const saved = this.#saved();
    const merged = withSecretsOf(Config.shape[section], value, this.#baseOf(section, saved));
    if (revision !== undefined && revision !== (this.#row(section)?.revision ?? 0)) {
      const differing = differences(section, saved.get(section), merged);
      const keys = differing.join("; ");
      const why =
        keys === "" ? detail("settings.changed", { section }) : detail("settings.changedKeys", { section, keys });
      throw new RigbridgeError("settings.changed", why);
    }
    return this.#planOf(section, merged);
  }

  /** The configuration with an unsaved section, for tests. Throws with every mistake. */
  draft(section: SettingsSection, value: unknown): Config {
    return value === undefined ? this.config : this.plan(section, value, undefined).config;
  }

  /** The result of removing the saved value of a section. */
  planRemoval(section: SettingsSection): SettingsPlan {
    this.#refuseOfFile(section);
    return this.#planOf(section, undefined);
  }

  /** The result of undoing the last save. Throws `nothing.to.do`, and every mistake. */
  planUndo(section: SettingsSection): SettingsPlan {
    this.#refuseOfFile(section);
    const row = this.#row(section);
    if (row === undefined) throw new RigbridgeError("nothing.to.do", detail("settings.neverSaved", { section }));
    return this.#planOf(section, row.isSavedBefore ? row.before : undefined);
  }

  #planOf(section: SettingsSection, value: unknown): SettingsPlan {
    const saved = this.#saved();
    const next = new Map(saved);
    if (value === undefined) next.delete(section);
    else next.set(section, value);
    const { config: whole, findings } = strictlyLayered(this.#base(), next, this.#names());
    if (whole === undefined) throw invalidAll(findings.map((each) => ({ ...each, path: pathText(each.path) })));
    const config = this.#source.finish(whole);
    const isSaved = isDeepStrictEqual(saved.get(section), value);
    return { section, config, value, changes: differences(section, this.config[section], config[section]), isSaved };
  }

  /** Saves the section and applies it to every part. If one part fails, nothing is changed. */
  async apply({ section, config, value }: SettingsPlan): Promise<void> {
    const row = this.#row(section);
    await this.#save(section, row, value);
    try {
      await this.live.change(config);
    } catch (error) {
      if (row === undefined) await this.#save(section, this.#row(section), undefined);
      else await this.#store.settings.change(row.id, row);
      throw error;
    }
    // The plan counts only if all that is saved is correct together.
    this.#problems = new Map();
  }

  /** The settings of the demo end with it. */
  async leaveDemo(): Promise<void> {
    this.#demo = null;
    const { config, problems } = layered(this.#base(), this.#saved(), this.#names());
    this.#problems = problems;
    await this.live.change(this.#source.finish(config));
  }

  /** Reads the file again; `keys` are those whose values differ. Throws with every mistake and changes nothing. */
  async reread(): Promise<Reread> {
    const file = await this.#source.reread();
    const names = new Set([...Object.keys(file.written), ...Object.keys(this.#file.written)]);
    const keys = [...names].filter((key) => !isDeepStrictEqual(file.written[key], this.#file.written[key]));
    const { config, problems } = layered(this.#base(file), this.#saved(), this.#names(file));
    const finished = this.#source.finish(config);
    return {
      keys,
      isLive: keys.every((key) => this.#canFollow(key, finished)),
      apply: async () => {
        await this.live.change(finished);
        this.#file = file;
        this.#problems = problems;
        this.#warn();
      },
    };
  }

  /** Beside rigs of the file a demo has fewer of its own, and no house: the first and the last one need a new start. */
  #canFollow(key: string, wanted: Config): boolean {
    if (!isLiveKey(key) || this.live.waits(key, wanted)) return false;
    const isAlone = ({ miners }: Config): boolean => miners.length === 0;
    return key !== "miners" || this.#demo === null || isAlone(wanted) === isAlone(this.config);
  }

  #refuseOfFile(section: SettingsSection): void {
    const line = this.#file.lineOf(section);
    if (line === null) return;
    throw new RigbridgeError("owned.by-file", detail("owned.section", { section, file: this.#file.name, line }));
  }

  /** The source of unchanged secrets: the saved value, otherwise the one in effect. */
  #baseOf(section: SettingsSection, saved: SavedSections): unknown {
    return saved.has(section) ? saved.get(section) : this.config[section];
  }

  async #save(section: SettingsSection, row: Stored<StoredSection> | undefined, value: unknown): Promise<void> {
    const isSaved = value !== undefined;
    const next = {
      section,
      value: asJson(value),
      isSaved,
      before: row?.value ?? null,
      isSavedBefore: row?.isSaved ?? false,
      revision: (row?.revision ?? 0) + 1,
    };
    if (row === undefined) await this.#store.settings.add(next);
    else await this.#store.settings.change(row.id, next);
  }

  #row(section: SettingsSection): Stored<StoredSection> | undefined {
    return this.#store.settings.all().find((row) => row.section === section);
  }

  #saved(): SavedSections {
    return new Map(
      this.#store.settings
        .all()
        .flatMap(({ section, value, isSaved }) => (isSaved && isSettingsSection(section) ? [[section, value]] : [])),
    );
  }

  /** The file, with the settings of the demo where it has none. */
  #base(file = this.#file): Base {
    const { written, config } = file;
    const ofDemo = Object.entries(this.#demo ?? {}).filter(([key]) => !Object.hasOwn(written, key));
    return { written, config: { ...config, ...Object.fromEntries(ofDemo) } };
  }

  /** The valid names: those of the file, and those added over the API. Other rows are as of the last start. */
  #names(base = this.#file): NamesOutside {
    const added = <T extends { owner: string }>(rows: readonly T[]): T[] =>
      rows.filter(({ owner }) => owner === "store");
    const groups = [...walkGroups(base.config.groups)].map(({ group }) => group);
    const miners = [...base.config.miners, ...added(enabled(this.#store.miners))];
    return {
      groups: new Set([...groups, ...added(enabled(this.#store.groups))].map(({ name }) => name)),
      miners: new Set(miners.flatMap(({ name, uid }) => [name, uid]).filter((each) => each != null)),
    };
  }

  #problemOf(section: SettingsSection, owner: SectionState["owner"], saved: SavedSections): string | null {
    if (owner !== "file" || !saved.has(section)) return this.#problems.get(section) ?? null;
    return "what was saved here is kept aside, because the configuration file has this section; it counts again when the file has it no longer";
  }

  #warn(): void {
    const saved = this.#saved();
    for (const section of saved.keys()) {
      const problem = this.#problemOf(section, ownerOf(section, this.#file, saved), saved);
      if (problem !== null) this.#log.warn(`Settings of ${section} have no effect: ${problem}`);
    }
  }
}

const asJson = (value: unknown) => JSON.parse(JSON.stringify(value ?? null));

/** As JSON, without secrets. */
const shown = (section: SettingsSection, value: unknown) =>
  asJson(withoutSecrets(Config.shape[section], value, markSecret));

/** The paths at which two values of a section differ, with both values; secrets are only reported as different. */
export function differences(section: SettingsSection, before: unknown, after: unknown): string[] {
  const paths: string[] = [];
  const walk = (one: unknown, other: unknown, path: readonly (string | number)[]): void => {
    if (isDeepStrictEqual(one, other)) return;
    const parts = [one, other];
    if (parts.every(isRecord) || parts.every(Array.isArray)) {
      const names = new Set(parts.flatMap((part) => Object.keys(part as object)));
      for (const name of names) {
        const key = Array.isArray(one) ? Number(name) : name;
        walk(Reflect.get(one as object, name), Reflect.get(other as object, name), [...path, key]);
      }
    } else paths.push(`${pathText(path)}: ${text(one)} → ${text(other)}`);
  };
  const secretPaths = secretsThatDiffer(section, before, after);
  walk(shown(section, before), shown(section, after), [section]);
  return [...paths, ...secretPaths];
}

/** Masks hide differences between secrets. */
function secretsThatDiffer(section: SettingsSection, before: unknown, after: unknown): string[] {
  const secretsOf = (value: unknown): string[] => {
    const found: string[] = [];
    withoutSecrets(Config.shape[section], value, (secret) => {
      found.push(JSON.stringify(secret));
      return "";
    });
    return found;
  };
  return isDeepStrictEqual(secretsOf(before), secretsOf(after)) ? [] : [`${section}: secrets differ`];
}

const longestText = 80;

const text = (value: unknown): string => {
  const json = value === undefined || value === null ? "nothing" : JSON.stringify(value);
  return json.length > longestText ? `${json.slice(0, longestText)}…` : json;
};
