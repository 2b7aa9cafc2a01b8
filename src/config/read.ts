import { basename, dirname, resolve } from "node:path";
import type { z } from "zod";
import { ChannelSettings, commonIssues } from "../contract/channels.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { isSecret } from "../contract/secrets.ts";
import { crossChecks, type NamesOutside, pathText } from "./cross-checks.ts";
import { isDatabaseUrl } from "./database-url.ts";
import { type Finding, type Path, parseYaml } from "./document.ts";
import { type Environment, withEnvironment } from "./environment.ts";
import { invalidConfig, readableByOthers, readText } from "./file.ts";
import { knownKeys } from "./json-schema.ts";
import { Config } from "./schema.ts";
import { findingsIn, sentence, unknownKey } from "./sentence.ts";

export interface ReadConfig {
  readonly config: Config;
  /** Sentences for the log; the configuration is valid all the same. */
  readonly warnings: readonly string[];
  readonly file: ConfigFile;
}

/** The configuration file as written. */
export interface ConfigFile {
  readonly name: string;
  /** Before defaults, with environment variables filled in. */
  readonly written: Readonly<Record<string, unknown>>;
  /** With defaults; paths as written. */
  readonly config: Config;
  /** The line, from 1, of a key; null if the file does not have it. */
  lineOf(key: string): number | null;
}

/**
 * Reads the configuration file. Relative paths in it are relative to the file's folder.
 * Throws `config.invalid` with every mistake, each at `rigbridge.yaml:12: miners[1].address`.
 */
export async function readConfig(file: string, env: Environment = process.env): Promise<ReadConfig> {
  const text = await readText(file);
  const { config, holdsSecret, written, lineOf } = parseConfig(text, basename(file), env);
  const warnings =
    holdsSecret && (await readableByOthers(file))
      ? [`${file} contains secrets that every user of this machine can read; run chmod 600 on it`]
      : [];
  return {
    config: resolved(config, dirname(file)),
    warnings,
    file: { name: basename(file), written, config, lineOf },
  };
}

/** With absolute paths in place of those that are relative to a folder. */
export function resolved(config: Config, folder: string): Config {
  const { url: given } = config.store;
  const url = given === ":memory:" || isDatabaseUrl(given) ? given : resolve(folder, given);
  const { ca } = config.centre ?? {};
  const centre = config.centre && { ...config.centre, ...(ca === undefined ? {} : { ca: resolve(folder, ca) }) };
  return {
    ...config,
    store: { ...config.store, url },
    agent: resolvedAgent(config.agent, folder),
    ...(centre === undefined ? {} : { centre }),
  };
}

function resolvedAgent(agent: Config["agent"], folder: string): Config["agent"] {
  const data = agent.data === undefined ? {} : { data: resolve(folder, agent.data) };
  const folders = agent.allow.folders?.map((each) => resolve(folder, each));
  return { ...agent, ...data, allow: { ...agent.allow, ...(folders === undefined ? {} : { folders }) } };
}

interface ParsedConfig extends Pick<ConfigFile, "written" | "config" | "lineOf"> {
  readonly holdsSecret: boolean;
}

/** The configuration from YAML text; `name` names the file in the mistakes. */
export function parseConfig(text: string, name: string, env: Environment): ParsedConfig {
  const document = parseYaml(text);
  if (document.broken.length > 0) {
    throw invalidConfig(
      name,
      document.broken.map(({ line, message }) => ({ line, path: "", message })),
    );
  }
  const written = withoutHolders(document.value ?? {});
  const filled = withEnvironment(written, env);
  const checked = check(filled.value, [...document.findings, ...filled.findings]);
  if (checked.config === undefined) {
    throw invalidConfig(
      name,
      checked.findings.map(({ path, message }) => ({ line: document.lineOf(path), path: pathText(path), message })),
    );
  }
  const keys = isRecord(filled.value) ? filled.value : {};
  return {
    config: checked.config,
    holdsSecret: holdsSecret(document.value),
    written: keys,
    lineOf: (key) => (Object.hasOwn(keys, key) ? document.lineOf([key]) : null),
  };
}

/** Without the top keys that begin with x-: they hold anchors for the rest of the file. */
const withoutHolders = (value: unknown): unknown =>
  isRecord(value) ? Object.fromEntries(Object.entries(value).filter(([key]) => !key.startsWith("x-"))) : value;

/** The configuration from a value built by a front end. Throws `config.invalid` with every mistake, by its path. */
export function checkedConfig(value: unknown): Config {
  const { config, findings } = check(value, []);
  if (config !== undefined) return config;
  throw new RigbridgeError("config.invalid", "The configuration has mistakes", {
    errors: findings.map((each) => ({ ...each, path: pathText(each.path) })),
  });
}

/** The configuration, or every mistake in it after those already found. */
export function check(
  value: unknown,
  before: readonly Finding[] = [],
  also?: NamesOutside,
): { config: Config | undefined; findings: Finding[] } {
  const parsed = Config.safeParse(value, { error: yamlSentence, reportInput: true });
  const issues = parsed.error?.issues ?? [];
  const findings = firstAtEachPath([
    ...before,
    ...findingsOf([...issues, ...besideUnknownTypes(issues, value)], value),
    ...crossChecks(value, also),
  ]);
  return { config: findings.length === 0 ? parsed.data : undefined, findings };
}

/** The other mistakes of channels whose type is unknown. */
const besideUnknownTypes = (issues: readonly z.core.$ZodIssue[], value: unknown): z.core.$ZodIssue[] =>
  issues.flatMap(({ path: [section, index, key] }) => {
    if (section !== "channels" || typeof index !== "number" || key !== "type") return [];
    const channel = isRecord(value) && Array.isArray(value.channels) ? value.channels[index] : undefined;
    return commonIssues(channel, yamlSentence).map((issue) => ({ ...issue, path: [section, index, ...issue.path] }));
  });

/** For zod: the sentence of any settings, with a hint for YAML. */
const yamlSentence = (issue: z.core.$ZodRawIssue): string =>
  issue.code === "invalid_type" && issue.expected === "array" && isRecord(issue.input)
    ? `${sentence(issue)}; each entry begins with "- "`
    : sentence(issue);

/** The mistakes found by zod in this value of the configuration file. */
const findingsOf = (issues: readonly z.core.$ZodIssue[], value: unknown): Finding[] =>
  findingsIn(issues, (path, key) => {
    const section = sectionFor(key, path, value);
    const at = [...path, key];
    if (section !== undefined) return { path: at, message: `is not indented; it belongs under ${section}` };
    const { text, coded } = unknownKey(key, knownKeys(path));
    return { path: at, message: text, coded };
  });

/** The empty section before a key, where the key belongs to that section. */
function sectionFor(key: string, path: Path, value: unknown): string | undefined {
  let parent = value;
  for (const step of path)
    parent = typeof parent === "object" && parent !== null ? Reflect.get(parent, step) : undefined;
  if (!isRecord(parent)) return undefined;
  const keys = Object.keys(parent);
  return keys
    .slice(0, keys.indexOf(key))
    .findLast((each) => (parent[each] ?? null) === null && knownKeys([...path, each]).includes(key));
}

/** One mistake per path: the first one found. */
function firstAtEachPath(findings: readonly Finding[]): Finding[] {
  const first = new Map<string, Finding>();
  for (const finding of findings) {
    const path = pathText(finding.path);
    if (!first.has(path)) first.set(path, finding);
  }
  return [...first.values()];
}

const secretKeys = new Set([
  ...["key", "password", "token", "secret"],
  // Of facility devices.
  ...["authPassword", "privPassword", "community", "writeCommunity"],
  // Of OpenADR servers.
  "clientSecret",
]);
/** Lists whose entries are named by their `key`. */
const keyedLists = ["channels", "rules", "schedules", "maintenance", "facility", "signals"];

/** Whether the file itself contains a secret. Any header may be one. */
function holdsSecret(value: unknown, isSecretKey = (key: string): boolean => secretKeys.has(key)): boolean {
  if (Array.isArray(value)) return value.some((item) => holdsSecret(item, isSecretKey));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([key, item]) => {
    if (typeof item === "string") return isSecretKey(key) && isWritten(item);
    if (key === "headers") return holdsSecret(item, () => true);
    if (key === "channels" && Array.isArray(item)) return item.some(channelHoldsSecret);
    return holdsSecret(item, keyedLists.includes(key) ? (name) => name !== "key" && secretKeys.has(name) : isSecretKey);
  });
}

/** Which settings of a channel are secret depends on its type. */
function channelHoldsSecret(channel: unknown): boolean {
  const type = isRecord(channel) ? channel.type : undefined;
  const fields: Readonly<Record<string, z.ZodType>> =
    ChannelSettings.options.find(({ shape }) => shape.type.value === type)?.shape ?? {};
  return holdsSecret(channel, (key) => {
    const field = Object.hasOwn(fields, key) ? fields[key] : undefined;
    return field !== undefined && isSecret(field);
  });
}

/**
 * Public knowledge: a pool's empty password, manufacturers' default passwords, and the token of the simulated XMRig.
 */
const publicSecrets: readonly string[] = ["", "x", "admin", "root", "super", "simulated"];

const isWritten = (text: string): boolean => !publicSecrets.includes(text) && !text.includes("${");
