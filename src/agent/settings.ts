import { readFile } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";
import { z } from "zod";
import { type Finding, parseYaml } from "../config/document.ts";
import { type Environment, withEnvironment } from "../config/environment.ts";
import { invalidConfig, readableByOthers, readText } from "../config/file.ts";
import { AllowSettings, ForeignProgramSettings, foreignPrograms, mirror, rebootCommand } from "../config/own-agent.ts";
import { findingsIn, sentence, unknownKeySentence } from "../config/sentence.ts";
import {
  type DeclaredProgram,
  declaredProgram,
  Software,
  SoftwareSettings,
  softwareFindings,
} from "../config/software.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { secret } from "../contract/secrets.ts";
import { urlsIn } from "../contract/service-urls.ts";
import { checkService } from "./connection.ts";

const path = z.string().min(1).max(1_000);

const Address = z.url({ protocol: /^https?$/ });
const Addresses = z
  .string()
  .refine((text) => urlsIn(text).length > 0 && urlsIn(text).every((each) => Address.safeParse(each).success), {
    error: "must be an address like https://rigs.example:17790",
  });

/** The configuration file of `rigbridge agent`. Only this file decides what the service may do on this host. */
export const AgentSettings = z.strictObject({
  service: z
    .union([Addresses, z.array(Addresses).min(1).max(10)])
    .optional()
    .describe("address of the service; of several, as a list or with commas, the first that answers is used"),
  token: secret(z.string().regex(/^[\x21-\x7e]{16,200}$/, "must be a token from `rigbridge agent token`"))
    .optional()
    .describe("from `rigbridge agent token`; for this host only"),
  ca: path.optional().describe("file with the certificate of the CA that signed the service's"),
  insecure: z
    .boolean()
    .default(false)
    .describe("send the token unencrypted, or to a service without a valid certificate"),
  data: path.default("rigbridge-agent").describe("the agent's own folder: state, logs, programs"),
  allow: AllowSettings.prefault({}),
  rebootCommand,
  foreignPrograms,
  software: Software,
  mirror,
});
export type AgentSettings = z.infer<typeof AgentSettings>;

/** What the agent runs with. Paths are absolute. */
export interface ReadySettings {
  /** The addresses of the service. */
  readonly services: readonly [URL, ...URL[]];
  readonly token: string;
  /** The certificate itself. */
  readonly ca: string | null;
  readonly insecure: boolean;
  readonly folder: string;
  readonly allow: AgentSettings["allow"];
  readonly rebootCommand: AgentSettings["rebootCommand"];
  readonly foreignPrograms: AgentSettings["foreignPrograms"];
  readonly mirror: string | null;
  readonly own: readonly DeclaredProgram[];
  readonly warnings: readonly string[];
}

/** Given on the command line; they take precedence over the file. */
export interface AgentOverrides {
  readonly service?: string;
  readonly token?: string;
  readonly ca?: string;
  readonly insecure?: true;
  readonly data?: string;
}

/** Throws `config.invalid` with every mistake, each at `agent.yaml:12: allow.reboot`. `file` is null for none. */
export async function readAgentSettings(
  file: string | null,
  overrides: AgentOverrides,
  env: Environment = process.env,
): Promise<ReadySettings> {
  const text = file === null ? "" : await readText(file);
  const written = parseAgentSettings(text, file === null ? "" : basename(file), env);
  const token = overrides.token ?? env.RIGBRIDGE_AGENT_TOKEN ?? written.token;
  const checked = AgentSettings.partial().safeParse({ ...overrides, token }, { error: sentence });
  if (!checked.success) {
    const findings = findingsIn(checked.error.issues, (at) => ({ path: at, message: "is not known" }));
    const errors = findings.map(({ path: [option], message }) => ({ path: `--${String(option)}`, message }));
    throw new RigbridgeError("config.invalid", "The options are not valid", { errors });
  }
  const beside = file === null ? "" : dirname(file);
  const given = [overrides.service ?? written.service ?? []].flat();
  const [service, ...others] = given.flatMap(urlsIn).map((each) => new URL(each));
  if (service === undefined || token === undefined) throw missing({ service: service?.href, token }, file);
  const services = [service, ...others] as const;
  const folder = overrides.data === undefined ? resolve(beside, written.data) : resolve(overrides.data);
  const ca = overrides.ca === undefined ? written.ca && resolve(beside, written.ca) : resolve(overrides.ca);
  const insecure = overrides.insecure ?? written.insecure;
  for (const each of services) checkService({ service: each, insecure });
  const { folders, ...allowed } = written.allow;
  return {
    services,
    token,
    folder,
    insecure,
    ca: ca === undefined ? null : await certificate(ca),
    allow: { ...allowed, folders: folders?.map((each) => resolve(beside, each)) },
    rebootCommand: written.rebootCommand,
    foreignPrograms: written.foreignPrograms,
    mirror: written.mirror ?? null,
    own: written.software.map(declaredProgram),
    warnings: file === null ? [] : await warningsAbout(file, text, written),
  };
}

/** The file alone, which may leave the service and the token to options. Throws like `readAgentSettings`. */
export async function readAgentFile(
  file: string,
  env: Environment = process.env,
): Promise<{ readonly settings: AgentSettings; readonly warnings: readonly string[] }> {
  const text = await readText(file);
  const settings = parseAgentSettings(text, basename(file), env);
  return { settings, warnings: await warningsAbout(file, text, settings) };
}

async function warningsAbout(file: string, text: string, { token }: AgentSettings): Promise<string[]> {
  // Unless it comes from the environment.
  const holdsToken = token !== undefined && text.includes(token);
  return holdsToken && (await readableByOthers(file))
    ? [`${file} contains a token that every user of this machine can read; run chmod 600 on it`]
    : [];
}

/** The settings from YAML text; `name` names the file in the mistakes. */
export function parseAgentSettings(text: string, name: string, env: Environment): AgentSettings {
  const document = parseYaml(text);
  if (document.broken.length > 0)
    throw invalidConfig(
      name,
      document.broken.map(({ line, message }) => ({ line, path: "", message })),
    );
  const filled = withEnvironment(document.value ?? {}, env);
  const parsed = AgentSettings.safeParse(filled.value, { error: sentence });
  const unknownKey = (at: Finding["path"], key: string): Finding => {
    const sections = {
      allow: AllowSettings,
      software: SoftwareSettings,
      foreignPrograms: ForeignProgramSettings,
    };
    const section = Object.entries(sections).find(([name]) => name === at[0])?.[1] ?? AgentSettings;
    const keys = Object.keys(section.shape);
    return { path: [...at, key], message: unknownKeySentence(key, keys) };
  };
  const findings = [
    ...document.findings,
    ...filled.findings,
    ...findingsIn(parsed.error?.issues ?? [], unknownKey),
    ...softwareFindings(parsed.data?.software ?? []),
  ];
  if (parsed.data !== undefined && findings.length === 0) return parsed.data;
  throw invalidConfig(
    name,
    findings.map(({ path: at, message }) => ({ line: document.lineOf(at), path: at.join("."), message })),
  );
}

function missing(found: Readonly<Record<string, string | undefined>>, file: string | null): RigbridgeError {
  const errors = Object.entries(found)
    .filter(([, value]) => value === undefined)
    .map(([key]) => ({
      path: key,
      message: `is missing; give it with --${key}${file === null ? "" : `, or in ${file}`}`,
    }));
  return new RigbridgeError("config.invalid", "The agent's settings are incomplete", { errors });
}

async function certificate(file: string): Promise<string> {
  const text = await readFile(file, "utf8").catch((error: NodeJS.ErrnoException) => {
    throw new RigbridgeError("config.invalid", `The certificate ${file} cannot be read (${error.code})`);
  });
  if (text.includes("-----BEGIN CERTIFICATE-----")) return text;
  throw new RigbridgeError("config.invalid", `${file} contains no certificate in PEM form`);
}
