import { randomUUID } from "node:crypto";
import { chmod, mkdir, open, readdir, readFile, rename, rm, stat } from "node:fs/promises";
import { basename, join } from "node:path";
import { z } from "zod";
import { KeyedMutex, Mutex } from "../../async/index.ts";
import type { DownloadTarget, MiningProgram, Platform } from "../../catalogue/mining-program.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { FetchOptions } from "./fetch-file.ts";

export interface DownloadSettings {
  /** The agent's own folder. Programs are unpacked below `programs` in it. */
  readonly folder: string;
  /** A mirror of the publishers' sites: `<mirror>/<host>/<path>`; null for the sites themselves. */
  readonly mirror: string | null;
  readonly ca?: string | undefined;
  readonly idleMs?: number;
}

/** One archive with a program. */
export interface DownloadRequest {
  /** Id of the software, and its version: the names of the folders. */
  readonly software: string;
  readonly version: string;
  readonly url: string;
  /** In hex; null: taken from `sums`, or once confirmed by a person. */
  readonly sha256: string | null;
  /** Address of the publisher's list of checksums; null if there is none. */
  readonly sums: string | null;
  /** File name of the program in the archive. */
  readonly executable: string;
}

/** `confirming`: downloaded but not unpacked; `confirm` pins its checksum. */
export type Obtained =
  | { readonly state: "ready"; readonly path: string }
  | { readonly state: "confirming"; readonly url: string; readonly bytes: number; readonly sha256: string };

/** The download of a program for this kind of host; null if no address is known. */
export function downloadOf(
  { id, download, executable }: MiningProgram,
  target: DownloadTarget | null,
): DownloadRequest | null {
  if (target === null) return null;
  const url = download?.url[target];
  const [platform] = target.split("-") as [Platform];
  const name = executable[platform];
  if (download === null || url === undefined || name === null) return null;
  const { version, sums, sha256 } = download;
  return { software: id, version, url, sha256: sha256?.[target] ?? null, sums, executable: name };
}

/** Loaded only when needed: together these modules take 20 MB of memory. */
const fetching = () => import("./fetch-file.ts");
const unpacking = () => import("./unpack.ts");

const Sum = z.string().regex(/^[0-9a-f]{64}$/);
const Kept = z.object({
  /** By address: checksums that a person has confirmed. */
  pins: z.record(z.string(), Sum),
  /** By address: downloads that await confirmation. */
  waiting: z.record(z.string(), z.object({ sha256: Sum, bytes: z.int() })),
});
type Kept = z.infer<typeof Kept>;

/** Downloads, verifies and unpacks programs. A file is neither unpacked nor started before its checksum is known. */
export class Downloads {
  readonly #settings: DownloadSettings;
  readonly #byUrl = new KeyedMutex<string>();
  readonly #writing = new Mutex();

  constructor(settings: DownloadSettings) {
    this.#settings = settings;
  }

  /**
   * Downloads and unpacks a program, unless already done. Throws `download.failed`, `download.wrong-sum` or
   * `download.archive`, and then leaves no files behind.
   */
  async obtain(request: DownloadRequest, signal: AbortSignal): Promise<Obtained> {
    return this.#byUrl.run(request.url, async () => {
      const { pins, waiting } = await this.#kept();
      const pinned = request.sha256 ?? pins[request.url] ?? null;
      const present = pinned === null ? null : await this.#present(request, pinned);
      if (present !== null) return present;
      const expected = pinned ?? (await this.#publishedSum(request, signal));
      const before = expected === null ? null : await this.#present(request, expected);
      if (before !== null) return before;
      const held = waiting[request.url];
      const file = held === undefined ? null : this.#file(held.sha256);
      if (held !== undefined && file !== null && (await exists(file))) {
        if (expected === null) return { state: "confirming", url: request.url, ...held };
        if (expected === held.sha256) return this.#unpacked(request, file, held.sha256);
      }
      return this.#downloaded(request, expected, signal);
    });
  }

  /** Pins the checksum of a waiting download; its program can then be obtained. */
  async confirm(url: string, sha256: string): Promise<void> {
    const { waiting } = await this.#kept();
    const found = waiting[url];
    if (found === undefined) throw new RigbridgeError("not.possible", `No download of ${url} awaits confirmation`);
    if (found.sha256 !== sha256) {
      throw new RigbridgeError(
        "download.wrong-sum",
        `The download of ${url} has the sum ${found.sha256}, not ${sha256}`,
      );
    }
    await this.#keep(({ pins }) => {
      pins[url] = sha256;
    });
  }

  /** Downloads that await confirmation. */
  async waiting(): Promise<readonly { readonly url: string; readonly bytes: number; readonly sha256: string }[]> {
    const { pins, waiting } = await this.#kept();
    return Object.entries(waiting).flatMap(([url, held]) => (pins[url] === undefined ? [{ url, ...held }] : []));
  }

  async #downloaded(request: DownloadRequest, expected: string | null, signal: AbortSignal): Promise<Obtained> {
    await mkdir(this.#file("."), { recursive: true, mode: 0o700 });
    const partial = this.#file(`${randomUUID()}.part`);
    const { bytes, sha256 } = await (await fetching()).fetchFile(
      this.#address(request.url),
      partial,
      this.#fetching(signal),
    );
    try {
      if (expected === null) {
        await rename(partial, this.#file(sha256));
        await this.#keep(({ waiting }) => {
          waiting[request.url] = { sha256, bytes };
        });
        return { state: "confirming", url: request.url, bytes, sha256 };
      }
      if (sha256 !== expected) {
        const message = `The download of ${request.url} has the sum ${sha256}, not ${expected}; it was removed`;
        throw new RigbridgeError("download.wrong-sum", message);
      }
      return await this.#unpacked(request, partial, sha256);
    } finally {
      await rm(partial, { force: true });
    }
  }

  /**
   * Unpacks an archive with the right checksum, at first beside its place, so that a half-unpacked program never has
   * its name.
   */
  async #unpacked(request: DownloadRequest, file: string, sha256: string): Promise<Obtained> {
    const place = this.#place(request, sha256);
    const unfinished = `${place}.${randomUUID()}`;
    try {
      await mkdir(unfinished, { recursive: true, mode: 0o755 });
      const { unpack } = await unpacking();
      await unpack(file, unfinished);
      const path = await findFile(unfinished, request.executable);
      if (path === null) {
        throw new RigbridgeError(
          "download.archive",
          `The archive of ${request.url} does not contain ${request.executable}`,
        );
      }
      await chmod(path, 0o755);
      // Leftovers of an earlier one whose executable was deleted: a folder with files cannot be renamed onto.
      await rm(place, { recursive: true, force: true });
      await rename(unfinished, place);
    } finally {
      await rm(unfinished, { recursive: true, force: true });
    }
    await rm(file, { force: true });
    await this.#keep(({ waiting }) => {
      delete waiting[request.url];
    });
    const ready = await this.#present(request, sha256);
    if (ready !== null) return ready;
    const advice = "something on this host removed it, such as a virus scanner, where it must be allowed";
    throw new RigbridgeError("download.archive", `${request.executable} is gone from ${place} again: ${advice}`);
  }

  async #present(request: DownloadRequest, sha256: string): Promise<Obtained | null> {
    const path = await findFile(this.#place(request, sha256), request.executable);
    return path === null ? null : { state: "ready", path };
  }

  /** The checksum that the publisher lists for this file, from lines like `<sum>  <name>`. */
  async #publishedSum({ url, sums }: DownloadRequest, signal: AbortSignal): Promise<string | null> {
    if (sums === null) return null;
    const text = await (await fetching()).fetchText(this.#address(sums), this.#fetching(signal));
    const name = basename(new URL(url).pathname);
    for (const line of text.split("\n")) {
      const [, sum = "", file = ""] = /^([0-9a-f]{64})\s+\*?(?:\.\/)?(\S+)\s*$/i.exec(line) ?? [];
      if (file === name) return sum.toLowerCase();
    }
    throw new RigbridgeError("download.wrong-sum", `${sums} has no SHA-256 sum of ${name}`);
  }

  #fetching(signal: AbortSignal): FetchOptions {
    const { ca, idleMs } = this.#settings;
    return { signal, ca, ...(idleMs === undefined ? {} : { idleMs }) };
  }

  #address(url: string): string {
    const { mirror } = this.#settings;
    const { host, pathname } = new URL(url);
    return mirror === null ? url : `${mirror.replace(/\/$/, "")}/${host}${pathname}`;
  }

  #place({ software, version }: DownloadRequest, sha256: string): string {
    return join(this.#settings.folder, "programs", software, `${version}-${sha256.slice(0, 16)}`);
  }

  #file(name: string): string {
    return join(this.#settings.folder, "downloads", name);
  }

  async #kept(): Promise<Kept> {
    try {
      return Kept.parse(JSON.parse(await readFile(this.#file("downloads.json"), "utf8")));
    } catch {
      // Missing or damaged list: each download has to be confirmed again.
      return { pins: {}, waiting: {} };
    }
  }

  async #keep(change: (kept: Kept) => void): Promise<void> {
    await this.#writing.run(async () => {
      const kept = await this.#kept();
      change(kept);
      const unfinished = this.#file(`${randomUUID()}.part`);
      await mkdir(this.#file("."), { recursive: true, mode: 0o700 });
      const file = await open(unfinished, "wx", 0o600);
      try {
        await file.writeFile(JSON.stringify(kept, null, 2));
        await file.sync();
      } finally {
        await file.close();
      }
      await rename(unfinished, this.#file("downloads.json"));
    });
  }
}

const exists = (path: string): Promise<boolean> =>
  stat(path).then(
    () => true,
    () => false,
  );

/** The file of this name nearest to the top of a folder, at most six levels down. */
async function findFile(folder: string, name: string, depth = 6): Promise<string | null> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  const here = entries.find((entry) => entry.isFile() && entry.name === name);
  if (here !== undefined) return join(folder, here.name);
  if (depth === 0) return null;
  const below = await Promise.all(
    entries.filter((entry) => entry.isDirectory()).map((entry) => findFile(join(folder, entry.name), name, depth - 1)),
  );
  const found = below.filter((path) => path !== null).sort((a, b) => a.split(/[/\\]/).length - b.split(/[/\\]/).length);
  return found[0] ?? null;
}
