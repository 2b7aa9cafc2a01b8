import { type SettingsSection, settingsSections } from "../contract/settings.ts";
import { type NamesOutside, pathText } from "./cross-checks.ts";
import type { Finding } from "./document.ts";
import { type ConfigFile, check } from "./read.ts";
import type { Config } from "./schema.ts";

/** Sections saved over the API. */
export type SavedSections = ReadonlyMap<SettingsSection, unknown>;

export type SectionOwner = "file" | "store" | "default";

/** The base below the saved sections: a file, or a configuration built by a front end. */
export type Base = Pick<ConfigFile, "written" | "config">;

/** The configuration of the file with the saved sections that the file does not have. */
export interface Layers {
  readonly config: Config;
  /** Why saved sections are not used, by section. */
  readonly problems: ReadonlyMap<SettingsSection, string>;
}

/** A section in the file takes precedence; its saved value is kept aside. */
export function ownerOf(section: SettingsSection, { written }: Base, saved: SavedSections): SectionOwner {
  if (Object.hasOwn(written, section)) return "file";
  return saved.has(section) ? "store" : "default";
}

/**
 * The configuration with saved sections. A section that has become invalid, because the file or a name has changed, is
 * not used.
 */
export function layered(base: Base, saved: SavedSections, also: NamesOutside): Layers {
  const used = new Map([...saved].filter(([section]) => ownerOf(section, base, saved) === "store"));
  const problems = new Map<SettingsSection, string>();
  while (used.size > 0) {
    const { config, findings } = checked(base, used, also);
    if (config !== undefined)
      return {
        config: { ...base.config, ...Object.fromEntries([...used.keys()].map((key) => [key, config[key]])) },
        problems,
      };
    // For a mistake elsewhere, the responsible saved section is unknown.
    const wrong = new Set(
      findings.flatMap(({ path: [key] }) => settingsSections.filter((each) => each === key && used.has(each))),
    );
    for (const section of wrong.size === 0 ? [...used.keys()] : wrong) {
      problems.set(section, sentencesOf(findings.filter(({ path }) => wrong.size === 0 || path[0] === section)));
      used.delete(section);
    }
  }
  return { config: base.config, problems };
}

/** All mistakes of the configuration with these saved sections. */
export const mistakesWith = (base: Base, saved: SavedSections, also: NamesOutside): readonly Finding[] =>
  checked(base, new Map([...saved].filter(([section]) => ownerOf(section, base, saved) === "store")), also).findings;

const checked = ({ written }: Base, used: SavedSections, also: NamesOutside) =>
  check({ ...written, ...Object.fromEntries(used) }, [], also);

const sentencesOf = (findings: readonly Finding[]): string =>
  findings.map(({ path, message }) => `${pathText(path)}: ${message}`).join("; ");
