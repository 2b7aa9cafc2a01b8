import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WriteRequest } from "./write-request.ts";

/** Bytes of requests that wait in memory while the receiver keeps up. */
const mostInMemory = 4_000_000;
const fileName = /^(\d{12})-(\d{1,9})\.snappy$/;

interface Waiting {
  readonly samples: number;
  readonly bytes: number;
}

export interface WaitingOptions {
  /** Null: everything is kept in memory. */
  readonly folder: string | null;
  /** Bytes; the oldest are dropped above that. */
  readonly most: number;
  /** Samples were dropped, because of the disk or for lack of room. */
  readonly dropped: (samples: number, why: "full" | "disk") => void;
}

/** Requests in the order of their samples. They are in memory, and on disk once the receiver does not keep up. */
export class WaitingRequests {
  readonly #options: WaitingOptions;
  /** By number, the oldest first. */
  readonly #waiting = new Map<number, Waiting>();
  /** Those that are not in their file, by number. */
  readonly #inMemory = new Map<number, Uint8Array>();
  #bytes = 0;
  #bytesInMemory = 0;
  #last = 0;
  /** Number of the request that is being sent, which is not dropped for lack of room. */
  #sent = 0;

  constructor(options: WaitingOptions) {
    this.#options = options;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Takes up what an earlier process left. */
  async open(): Promise<void> {
    const { folder } = this.#options;
    if (folder === null) return;
    await mkdir(folder, { recursive: true, mode: 0o700 });
    for (const name of (await readdir(folder)).sort()) {
      const [, number, samples] = fileName.exec(name) ?? [];
      const { size } = await stat(join(folder, name));
      // Half-written, or cut by a power failure.
      if (number === undefined || size === 0) await rm(join(folder, name), { force: true, recursive: true });
      else this.#put(Number(number), { samples: Number(samples), bytes: size }, null);
    }
  }

  async add({ body, samples }: WriteRequest): Promise<void> {
    this.#put(this.#last + 1, { samples, bytes: body.length }, body);
    const isOnDisk = this.#bytes > this.#bytesInMemory;
    if (isOnDisk || this.#bytesInMemory > mostInMemory) await this.spill();
    for (const number of this.#waiting.keys()) {
      if (this.#bytes <= this.#options.most) return;
      if (number !== this.#sent) await this.#drop(number, "full");
    }
  }

  /** The oldest, until `done` or the next call; undefined: nothing waits. */
  async first(): Promise<{ readonly request: WriteRequest; readonly done: () => Promise<void> } | undefined> {
    for (;;) {
      const [[number, { samples }] = [0, { samples: 0 }]] = this.#waiting;
      this.#sent = number;
      if (number === 0) return undefined;
      const body = this.#inMemory.get(number) ?? (await this.#read(number, samples));
      if (body !== null) return { request: { body, samples }, done: () => this.#remove(number) };
      await this.#drop(number, "disk");
    }
  }

  /** Moves everything to the disk, so that it outlives the process. */
  async spill(): Promise<void> {
    const { folder } = this.#options;
    if (folder === null) return;
    for (const [number, body] of this.#inMemory) await this.#write(folder, number, body);
  }

  /** Moves everything to the disk; nothing is being sent any more. */
  async close(): Promise<void> {
    this.#sent = 0;
    await this.spill();
  }

  #put(number: number, request: Waiting, body: Uint8Array | null): void {
    this.#last = number;
    this.#waiting.set(number, request);
    this.#bytes += request.bytes;
    if (body === null) return;
    this.#inMemory.set(number, body);
    this.#bytesInMemory += request.bytes;
  }

  async #write(folder: string, number: number, body: Uint8Array): Promise<void> {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    const file = join(folder, nameOf(number, waiting.samples));
    try {
      await writeFile(`${file}.part`, body, { mode: 0o600 });
      await rename(`${file}.part`, file);
    } catch {
      await remove(`${file}.part`);
      // One that is being sent stays in memory until the receiver has answered.
      if (number !== this.#sent) await this.#drop(number, "disk");
      return;
    }
    if (this.#waiting.has(number)) this.#forget(number);
    // It was sent meanwhile.
    else await remove(file);
  }

  async #read(number: number, samples: number): Promise<Uint8Array | null> {
    return readFile(join(this.#options.folder ?? "", nameOf(number, samples))).catch(() => null);
  }

  async #drop(number: number, why: "full" | "disk"): Promise<void> {
    const { samples } = this.#waiting.get(number) ?? {};
    await this.#remove(number);
    if (samples !== undefined) this.#options.dropped(samples, why);
  }

  /** From memory. */
  #forget(number: number): void {
    this.#bytesInMemory -= this.#inMemory.get(number)?.length ?? 0;
    this.#inMemory.delete(number);
  }

  async #remove(number: number): Promise<void> {
    const waiting = this.#waiting.get(number);
    if (waiting === undefined) return;
    const { folder } = this.#options;
    const isInFile = !this.#inMemory.has(number);
    this.#waiting.delete(number);
    this.#bytes -= waiting.bytes;
    this.#forget(number);
    if (folder !== null && isInFile) await remove(join(folder, nameOf(number, waiting.samples)));
  }
}

/** A file that stays is sent again by the next process, which does no harm. */
const remove = (file: string): Promise<void> => rm(file, { force: true }).catch(() => undefined);

const nameOf = (number: number, samples: number): string => `${String(number).padStart(12, "0")}-${samples}.snappy`;
