import { createHash } from "node:crypto";
import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { z } from "zod";
import type { HomePlan } from "./homekit/accessories.ts";

/** What the plugin last showed in Home, for its settings page: names and reasons, no secrets. */
const Status = z.object({
  /** Since when; ISO 8601. */
  at: z.string(),
  /** Why nothing is shown; null if something is. */
  problem: z.string().nullable(),
  accessories: z.array(
    z.object({
      key: z.string(),
      name: z.string(),
      /** `host:port` of the rig; null = not a rig. */
      host: z.string().nullable(),
      /** Its services, as HAP calls them. */
      services: z.array(z.string()),
    }),
  ),
  notes: z.array(z.string()),
});
export type Status = z.infer<typeof Status>;

/** Written whenever the displayed content changes. A failure is logged once. */
export class StatusFile {
  readonly #file: string;
  readonly #warn: (message: string) => void;
  #last = "";
  #hasFailed = false;
  #writing: Promise<void> = Promise.resolve();

  constructor(folder: string, warn: (message: string) => void) {
    this.#file = fileIn(folder);
    this.#warn = warn;
  }

  shown({ accessories, notes }: Pick<HomePlan, "accessories" | "notes">): void {
    this.#set({
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
    this.#set({ problem, accessories: [], notes: [] });
  }

  /** Nothing is configured. */
  remove(): void {
    this.#last = "";
    this.#writing = this.#writing.then(() =>
      rm(this.#file, { force: true }).catch((error: unknown) => this.#fail(error)),
    );
  }

  /** Resolves once the present status is in the file, or has failed to be written. */
  written(): Promise<void> {
    return this.#writing;
  }

  #set(status: Omit<Status, "at">): void {
    const text = JSON.stringify(status);
    if (text === this.#last) return;
    this.#last = text;
    const at = new Date().toISOString();
    this.#writing = this.#writing.then(() => this.#write({ at, ...status }));
  }

  /** Readers find the previous or the new status, never part of one. */
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
    this.#warn(`The status for the settings page cannot be written: ${String(error)}`);
  }
}

/** null if the plugin has not run yet, or nothing was configured. */
export async function readStatus(folder: string): Promise<Status | null> {
  try {
    return Status.parse(JSON.parse(await readFile(fileIn(folder), "utf8")));
  } catch {
    return null;
  }
}

const fileIn = (folder: string): string => join(folder, "shown.json");

/**
 * The data folder of one block of `config.json`, below Homebridge's folder: one for each block, so that each may read
 * rigs itself. The name is hashed since it may contain characters that file names cannot.
 */
export const folderIn = (storagePath: string, name: string): string =>
  join(storagePath, "rigbridge", createHash("sha256").update(name).digest("hex").slice(0, 16));
