import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { join } from "node:path";

/** A package as seen by the reviewers of Homebridge plugins. */
export interface Plugin {
  readonly manifest: Readonly<Record<string, unknown>>;
  /** `config.schema.json`, as text. */
  readonly schema: string;
  /** The type of the default export, and what it registers when called. */
  readonly gives: string;
  readonly registers: { readonly plugin: string; readonly platform: string } | null;
  /** Modules that its code loads. */
  readonly imports: readonly string[];
}

/**
 * Violations of the rules for verified plugins (homebridge/plugins, "Requirements", and its src/plugin-checks), as far as
 * they can be checked here. That it does nothing unless configured is tested in a running Homebridge; that it has
 * releases, issues and no analytics is for people to check.
 */
export function brokenRules({ manifest, schema, gives, registers, imports }: Plugin): string[] {
  const { name, homepage, bugs, keywords, scripts, engines, dependencies, peerDependencies } = manifest;
  const { optionalDependencies } = manifest;
  const words = Array.isArray(keywords) ? keywords : [];
  const installed = [dependencies, peerDependencies, optionalDependencies].flatMap((each) => keysOf(each));
  const { pluginAlias, pluginType, schema: form } = parsed(schema) ?? {};
  const rules: readonly (readonly [boolean, string])[] = [
    [/^((@[\w-]+(\.[\w-]+)*)\/)?(homebridge-[\w-]+)$/.test(String(name)), "the name is not that of a plugin"],
    [isHttps(homepage), "homepage is not an https URL"],
    [isHttps(at(bugs, "url")), "bugs.url is not an https URL"],
    [words.includes("homebridge-plugin"), "the keyword homebridge-plugin is missing"],
    [words.length > 1, "there is no other keyword"],
    ...["preinstall", "install", "postinstall"].map(
      (each) => [at(scripts, each) === undefined, `it runs ${each}`] as const,
    ),
    ...ltsNodes.map((node) => [fits(at(engines, "node"), node), `engines.node leaves out ${node}`] as const),
    [fits(at(engines, "homebridge"), homebridgeVersion()), "engines.homebridge leaves out the present one"],
    ...["homebridge", "hap-nodejs", "@homebridge/hap-nodejs"].flatMap((each) => [
      [!installed.includes(each), `it installs ${each}`] as const,
      [!imports.includes(each), `it loads ${each}, which may be installed elsewhere`] as const,
    ]),
    [gives === "function", "its default export is not a function"],
    [parsed(schema) !== null, "config.schema.json is not JSON"],
    [typeof pluginAlias === "string", "pluginAlias is not a string"],
    [pluginType === "platform", "pluginType is not platform"],
    [at(at(form, "properties"), "name") !== undefined, "schema.properties.name is missing"],
    [registers?.platform === pluginAlias, "it registers another platform than its schema is for"],
    [registers?.plugin === name, "it registers as another plugin"],
  ];
  return rules.flatMap(([holds, otherwise]) => (holds ? [] : [otherwise]));
}

/** One of each supported release line; the check itself takes the newest of 22 and 24. */
const ltsNodes = ["22.13.0", "22.22.0", "24.11.0", "26.1.0"];

const require = createRequire(import.meta.url);

const homebridgeVersion = (): string => {
  const file = join(import.meta.dirname, "../../node_modules/homebridge/package.json");
  return String(at(JSON.parse(readFileSync(file, "utf8")), "version"));
};

/** Whether an npm version range includes a version. */
function fits(range: unknown, version: string): boolean {
  const satisfies: unknown = require("semver/functions/satisfies");
  return typeof satisfies === "function" && typeof range === "string" && satisfies(version, range) === true;
}

const isHttps = (value: unknown): boolean => typeof value === "string" && value.startsWith("https://");

const isObject = (value: unknown): value is Record<string, unknown> => typeof value === "object" && value !== null;
const at = (value: unknown, key: string): unknown => (isObject(value) ? value[key] : undefined);
const keysOf = (value: unknown): string[] => (isObject(value) ? Object.keys(value) : []);

function parsed(text: string): Record<string, unknown> | null {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : null;
  } catch {
    return null;
  }
}
