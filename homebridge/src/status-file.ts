import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { HomePlan } from "./homekit/accessories.ts";

/** What the plugin last showed in Home, for its settings page: names and reasons, nothing secret. */
const Status = z.object({
  /** Since when it is so; ISO 8601. */
  at: z.string(),
  /** What keeps anything from being shown. */
  problem: z.string().nullable(),
  accessories: z.array(
    z.object({
      key: z.string(),
      name: z.string(),
      /** `host:port` of the rig; null = no rig. */
      host: z.string().nullable(),
      /** Its services, as HAP calls them. */
      services: z.array(z.string()),
    }),
  ),
  notes: z.array(z.string()),
});
export type Status = z.infer<typeof Status>;

type Said = Omit<Status, "at">;

/** Written whenever something else is shown. What cannot be written is told once and then let be. */
export class StatusFile {
  readonly #file: string;
  readonly #warn: (message: string) => void;
  #said = "";
  #hasFailed = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string, warn: (message: string) => void) {
    this.#file = fileIn(folder);
    this.#warn = warn;
  }

  shown({ accessories, notes }: Pick<HomePlan, "accessories" | "notes">): void {
    this.#say({
      problem: null,
      accessories: accessories.map(({ key, name, host, services }) => ({
        key,
        name,
        host,
        services: [...new Set(services.map(({ type }) => (typeof type === "string" ? type : type.name)))],
      })),
      notes: [...notes],
    });
  }

  failed(problem: string): void {
    this.#say({ problem, accessories: [], notes: [] });
  }

  /** What was noted is not so any more, and there is nothing else to note. */
  forget(): void {
    this.#said = "";
    this.#writing = this.#writing.then(() =>
      rm(this.#file, { force: true }).catch((error: unknown) => this.#fail(error)),
    );
  }

  /** Resolves when what was said until now stands in the file, or cannot. */
  written(): Promise<void> {
    return this.#writing;
  }

  #say(said: Said): void {
    const text = JSON.stringify(said);
    if (text === this.#said) return;
    this.#said = text;
    const status: Status = { at: new Date().toISOString(), ...said };
    this.#writing = this.#writing.then(() => this.#write(status));
  }

  /** Whoever reads finds the former one or this one, whole. */
  async #write(status: Status): Promise<void> {
    try {
      await mkdir(join(this.#file, ".."), { recursive: true, mode: 0o700 });
      await writeFile(`${this.#file}.new`, JSON.stringify(status), { mode: 0o600 });
      await rename(`${this.#file}.new`, this.#file);
    } catch (error) {
      this.#fail(error);
    }
  }

  #fail(error: unknown): void {
    if (this.#hasFailed) return;
    this.#hasFailed = true;
    this.#warn(`What is shown cannot be noted for the settings page: ${String(error)}`);
  }
}

/** null where the plugin has not run yet, or had nothing to do. */
export async function readStatus(folder: string): Promise<Status | null> {
  try {
    return Status.parse(JSON.parse(await readFile(fileIn(folder), "utf8")));
  } catch {
    return null;
  }
}

const fileIn = (folder: string): string => join(folder, "shown.json");

/**
 * Where a block of the configuration keeps what outlives it, below the folder of Homebridge: one for each, so that each
 * may read rigs itself. A name may hold what no file name can.
 */
export const folderIn = (storagePath: string, name: string): string =>
  join(storagePath, "rigbridge", createHash("sha256").update(name).digest("hex").slice(0, 16));
