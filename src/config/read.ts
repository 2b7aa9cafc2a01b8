import { readFile, stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { crossChecks, pathText } from "./cross-checks.ts";
import { type Finding, parseYaml } from "./document.ts";
import { type Environment, withEnvironment } from "./environment.ts";
import { Config } from "./schema.ts";
import { findingsOf, yamlSentence } from "./wording.ts";

export interface ReadConfig {
  readonly config: Config;
  /** What is no mistake, but should be known. */
  readonly warnings: readonly string[];
}

/**
 * Reads the configuration file. A relative `store.url` is taken from the file's folder.
 * Throws `config.invalid` with every mistake, each at `rigbridge.yaml:12: miners[1].address`.
 */
export async function readConfig(file: string, env: Environment = process.env): Promise<ReadConfig> {
  const text = await readText(file);
  const { config, holdsSecret } = parseConfig(text, basename(file), env);
  const url = config.store.url === ":memory:" ? ":memory:" : resolve(dirname(file), config.store.url);
  const warnings =
    holdsSecret && (await readableByOthers(file))
      ? [`${file} holds secrets and can be read by every user of this machine; chmod 600 it`]
      : [];
  return { config: { ...config, store: { ...config.store, url } }, warnings };
}

async function readText(file: string): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (error) {
    const why = (isRecord(error) && reasons[String(error.code)]) || "cannot be read";
    throw new RigbridgeError("config.invalid", `${file} ${why}`, { cause: error });
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: "is not there",
  EACCES: "may not be read by this user",
  EISDIR: "is a folder; the name of a file is wanted",
};

/** The configuration from YAML text; `name` is how the mistakes call the file. */
export function parseConfig(text: string, name: string, env: Environment): { config: Config; holdsSecret: boolean } {
  const document = parseYaml(text);
  if (document.broken.length > 0) {
    throw invalidConfig(
      name,
      document.broken.map(({ line, message }) => ({ line, path: "", message })),
    );
  }
  const written = document.value ?? {};
  const filled = withEnvironment(written, env);
  const checked = check(filled.value, [...document.findings, ...filled.findings]);
  if (checked.config === undefined) {
    throw invalidConfig(
      name,
      checked.findings.map(({ path, message }) => ({ line: document.lineOf(path), path: pathText(path), message })),
    );
  }
  return { config: checked.config, holdsSecret: holdsSecret(written) };
}

/** The configuration from a value that a front end has made. Throws `config.invalid` with every mistake, by its path. */
export function checkedConfig(value: unknown): Config {
  const { config, findings } = check(value, []);
  if (config !== undefined) return config;
  throw new RigbridgeError("config.invalid", "The configuration has mistakes", {
    errors: findings.map(({ path, message }) => ({ path: pathText(path), message })),
  });
}

/** All that is wrong, after what was found before; without any the configuration. */
function check(value: unknown, before: readonly Finding[]): { config: Config | undefined; findings: Finding[] } {
  const parsed = Config.safeParse(value, { error: yamlSentence });
  const findings = firstAtEachPath([
    ...before,
    ...findingsOf(parsed.error?.issues ?? [], value),
    ...crossChecks(value),
  ]);
  return { config: findings.length === 0 ? parsed.data : undefined, findings };
}

/** What is wrong at one place is said once, by the first that found it. */
function firstAtEachPath(findings: readonly Finding[]): Finding[] {
  const first = new Map<string, Finding>();
  for (const finding of findings) {
    const path = pathText(finding.path);
    if (!first.has(path)) first.set(path, finding);
  }
  return [...first.values()];
}

function invalidConfig(
  name: string,
  mistakes: readonly { line: number; path: string; message: string }[],
): RigbridgeError {
  const errors = mistakes
    .toSorted((a, b) => a.line - b.line)
    .map(({ line, path, message }) => ({ path: `${name}:${line}${path === "" ? "" : `: ${path}`}`, message }));
  const count = errors.length === 1 ? "a mistake" : `${errors.length} mistakes`;
  return new RigbridgeError("config.invalid", `${name} has ${count}`, { errors });
}

const secretKeys = new Set(["key", "password", "token"]);

/** Whether a secret stands in the file itself. `x` is what pools take for no password. Any header may be one. */
function holdsSecret(value: unknown, all = false): boolean {
  if (Array.isArray(value)) return value.some((item) => holdsSecret(item));
  if (!isRecord(value)) return false;
  return Object.entries(value).some(([key, item]) =>
    all || secretKeys.has(key)
      ? typeof item === "string" && !["", "x"].includes(item) && !item.includes("${")
      : holdsSecret(item, key === "headers"),
  );
}

/** On Windows the mode says nothing. */
const readableByOthers = async (file: string): Promise<boolean> =>
  process.platform !== "win32" && ((await stat(file)).mode & 0o004) !== 0;
