import { isAbsolute } from "node:path";
import { z } from "zod";
import {
  type AlgorithmName,
  always,
  type Download,
  type Group,
  type MiningProgram,
  pairs,
} from "../catalogue/mining-program.ts";
import { miningPrograms, miningSoftware, programOf } from "../catalogue/mining-software.ts";
import type { Finding } from "./document.ts";

const word = z
  .string()
  .max(1_000)
  .refine((text) => !/\p{Cc}/u.test(text), "contains control characters");
const words = z.array(word).max(100);

/** Ids of the drivers of mining programs. The drivers are not imported, since an agent reads no rigs. */
const apis = [...new Set(miningPrograms.flatMap(({ api }) => api ?? []))];

/** A custom program, or another path or download of a program of the catalogue. */
export const SoftwareSettings = z.strictObject({
  id: z
    .string()
    .regex(/^[A-Za-z][A-Za-z0-9]{0,63}$/, "must be 1 to 64 letters and digits that begin with a letter")
    .describe("softwareType of its managed miners; with an id of the catalogue only path and download can be set"),
  name: word.min(1).max(100).optional().describe("name of the program"),
  api: z.enum(apis).optional().describe("driver that reads its API; absent = no API, and only its process is watched"),
  path: z
    .string()
    .max(1_000)
    .refine(isAbsolute, "must be an absolute path")
    .optional()
    .describe("its executable on this host"),
  download: z
    .strictObject({
      url: z
        .url({ protocol: /^https$/, error: "must be an address that begins with https://" })
        .describe("address of the archive"),
      sha256: z
        .string()
        .regex(/^[0-9a-f]{64}$/, "must be 64 digits of 0-9 and a-f")
        .optional()
        .describe("SHA-256 of the file; absent = an administrator confirms it once"),
      version: z
        .string()
        .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be 1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen")
        .describe("version, which names the folder that it is unpacked to"),
      executable: z
        .string()
        .regex(/^[^/\\]{1,255}$/, "must be a file name")
        .optional()
        .describe("file name of the program in the archive; not needed for programs of the catalogue"),
    })
    .optional()
    .describe("archive that contains it: tar.gz, tar.xz or zip"),
  arguments: words
    .optional()
    .describe("its arguments, with {algorithm} {scheme} {host} {port} {user} {worker} {login} {password}"),
  apiArguments: words
    .optional()
    .describe(
      "arguments that bind its API to the loopback, with {apiPort} and {apiToken}; parameters cannot repeat them",
    ),
  reserved: words.optional().describe("further options that parameters cannot set"),
  algorithms: z
    .array(z.string().regex(/^[a-z0-9-]{1,64}(=\S{1,100})?$/, "must be an id of GET /api/algorithms, or id=name"))
    .max(500)
    .optional()
    .describe("ids of the algorithms that it mines, as id=name if the program's name differs"),
});
export type SoftwareSettings = z.infer<typeof SoftwareSettings>;

export const Software = z
  .array(SoftwareSettings)
  .max(100)
  .default([])
  .describe(
    "mining programs of this host: custom ones, or those of the catalogue with other files; the API cannot add any",
  );

/** A program that is declared in a file. */
export interface DeclaredProgram {
  readonly entry: MiningProgram;
  /** null: downloaded, or at the path that the managed miner names. */
  readonly path: string | null;
}

/** Mistakes in the programs of a file, beyond those that the schema finds. */
export function softwareFindings(list: readonly SoftwareSettings[]): Finding[] {
  return list.flatMap((settings, at) => {
    const { id, path, download, arguments: given, algorithms } = settings;
    const mistakes: Finding[] = [];
    const add = (key: string, message: string) => mistakes.push({ path: ["software", at, key], message });
    if (list.findIndex((each) => each.id === id) < at) add("id", `"${id}" is declared twice`);
    if (path === undefined && download === undefined) add("path", "is missing; set path or download");
    if (programOf(id) !== undefined) {
      const others = ["name", "api", "arguments", "apiArguments", "reserved", "algorithms"] as const;
      for (const key of others.filter((each) => settings[each] !== undefined)) {
        add(key, `cannot be changed for ${id}, which is in the catalogue; use an id of your own`);
      }
      return mistakes;
    }
    if (miningSoftware.some((each) => each.id === id)) add("id", `"${id}" is reserved; use an id of your own`);
    if (given === undefined) add("arguments", "is missing");
    if (algorithms === undefined || algorithms.length === 0) add("algorithms", "is missing");
    if (settings.api !== undefined && !apiWords(settings).some((each) => each.includes("{apiPort}"))) {
      add("apiArguments", "must contain {apiPort}, so that its API can be read");
    }
    if (download !== undefined && download.executable === undefined)
      add("download", "requires executable, the file name of the program");
    for (const key of ["arguments", "apiArguments"] as const) {
      for (const name of (settings[key] ?? []).flatMap(namesIn)) {
        if (!placeholders[key].includes(name)) add(key, `{${name}} is not a placeholder here`);
      }
    }
    return mistakes;
  });
}

const placeholders = {
  arguments: ["algorithm", "scheme", "host", "port", "user", "worker", "login", "password"],
  apiArguments: ["apiPort", "apiToken"],
};

const namesIn = (text: string): string[] => [...text.matchAll(/\{([a-zA-Z0-9]+)\}/g)].map(([, name]) => name ?? "");

const apiWords = ({ apiArguments }: SoftwareSettings): readonly string[] => apiArguments ?? [];

/** A program of the catalogue with another path or download, or a custom one. Expects settings without mistakes. */
export function declaredProgram(settings: SoftwareSettings): DeclaredProgram {
  const path = settings.path ?? null;
  const known = programOf(settings.id);
  const given = settings.download;
  const download: Download | null = given === undefined ? (known?.download ?? null) : downloadFrom(given);
  if (known !== undefined) return { entry: { ...known, download, ...nameOfFile(known.executable, given) }, path };
  const api = apiWords(settings);
  const poolWords: Group[] = [always(...(settings.arguments ?? []))];
  return {
    path,
    entry: {
      id: settings.id,
      name: settings.name ?? settings.id,
      api: settings.api ?? null,
      devices: [],
      command: {
        start: [],
        pool: poolWords,
        spare: null,
        dual: null,
        supervised: [],
        api: api.length === 0 ? [] : [always(...api)],
        schemes: { plain: "stratum+tcp://", tls: "stratum+ssl://" },
      },
      algorithms: Object.fromEntries(
        pairs((settings.algorithms ?? []).join(" ")).map(([id, name]): [string, AlgorithmName] => [
          id,
          { name, args: [] },
        ]),
      ),
      dual: {},
      options: "getopt",
      reserved: settings.reserved ?? [],
      tuning: {},
      quit: null,
      badConfigurationExits: [],
      download,
      ...nameOfFile({ linux: null, windows: null, macos: null }, given),
    },
  };
}

type GivenDownload = NonNullable<SoftwareSettings["download"]>;

/** The same download for every host. */
const downloadFrom = ({ url, sha256, version }: GivenDownload): Download => {
  const targets = ["linux-x64", "linux-arm64", "windows-x64", "macos-x64", "macos-arm64"] as const;
  return {
    version,
    url: Object.fromEntries(targets.map((target) => [target, url])),
    ...(sha256 === undefined ? {} : { sha256: Object.fromEntries(targets.map((target) => [target, sha256])) }),
    sums: null,
  };
};

const nameOfFile = (
  executable: MiningProgram["executable"],
  given: GivenDownload | undefined,
): Pick<MiningProgram, "executable"> =>
  given?.executable === undefined
    ? { executable }
    : { executable: { linux: given.executable, windows: given.executable, macos: given.executable } };
