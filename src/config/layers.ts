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
  const used = usedOf(base, saved);
  const problems = new Map<SettingsSection, string>();
  while (used.size > 0) {
    const { config, findings } = together(base, used, also);
    if (config !== undefined) return { config, problems };
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

/** The configuration with all of these saved sections, or all mistakes in it. */
export const strictlyLayered = (base: Base, saved: SavedSections, also: NamesOutside) =>
  together(base, usedOf(base, saved), also);

const usedOf = (base: Base, saved: SavedSections): Map<SettingsSection, unknown> =>
  new Map([...saved].filter(([section]) => ownerOf(section, base, saved) === "store"));

function together(
  { written, config: ofBase }: Base,
  used: SavedSections,
  also: NamesOutside,
): { readonly config: Config | undefined; readonly findings: readonly Finding[] } {
  const { config, findings } = check({ ...written, ...Object.fromEntries(used) }, [], {
    ...also,
    hasSavedSites: used.has("sites"),
  });
  const ofStore = config && Object.fromEntries([...used.keys()].map((key) => [key, config[key]]));
  return { config: ofStore && { ...ofBase, ...ofStore }, findings };
}

const sentencesOf = (findings: readonly Finding[]): string =>
  findings.map(({ path, message }) => `${pathText(path)}: ${message}`).join("; ");
