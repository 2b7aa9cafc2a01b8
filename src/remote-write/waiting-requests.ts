import { mkdir, readdir, readFile, rename, rm, stat, writeFile } from "node:fs/promises";
import { join } from "node:path";
import type { WriteRequest } from "./write-request.ts";

/** Bytes of requests that wait in memory while the receiver keeps up. */
const mostInMemory = 4_000_000;
const fileName = /^(\d{12})-(\d{1,9})\.snappy$/;

interface Waiting {
  readonly number: number;
  readonly samples: number;
  readonly bytes: number;
  /** Null: it is in its file. */
  readonly body: Uint8Array | null;
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
  #list: Waiting[] = [];
  #next = 1;
  #bytes = 0;

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
      else this.#put({ number: Number(number), samples: Number(samples), bytes: size, body: null });
    }
    this.#next = (this.#list.at(-1)?.number ?? 0) + 1;
  }

  async add({ body, samples }: WriteRequest): Promise<void> {
    const request = { number: this.#next, samples, bytes: body.length, body };
    this.#next += 1;
    this.#put(request);
    if (this.#list.some((each) => each.body === null) || this.#inMemory() > mostInMemory) await this.spill();
    while (this.#bytes > this.#options.most) {
      const oldest = this.#list[0];
      if (oldest === undefined) return;
      await this.#drop(oldest, "full");
    }
  }

  /** The oldest; undefined: nothing waits. */
  async first(): Promise<{ readonly request: WriteRequest; readonly done: () => Promise<void> } | undefined> {
    for (;;) {
      const [oldest] = this.#list;
      if (oldest === undefined) return undefined;
      const body = oldest.body ?? (await this.#read(oldest));
      if (body !== null) return { request: { body, samples: oldest.samples }, done: () => this.#remove(oldest) };
      await this.#drop(oldest, "disk");
    }
  }

  /** Moves everything to the disk, so that it outlives the process. */
  async spill(): Promise<void> {
    const { folder } = this.#options;
    if (folder === null) return;
    for (const each of this.#list.filter(({ body }) => body !== null)) await this.#write(folder, each);
  }

  #put(request: Waiting): void {
    this.#list.push(request);
    this.#bytes += request.bytes;
  }

  readonly #inMemory = (): number => this.#list.reduce((sum, { body }) => sum + (body?.length ?? 0), 0);

  async #write(folder: string, { body, ...request }: Waiting): Promise<void> {
    if (body === null) return;
    const file = join(folder, nameOf(request));
    try {
      await writeFile(`${file}.part`, body, { mode: 0o600 });
      await rename(`${file}.part`, file);
    } catch {
      await rm(`${file}.part`, { force: true });
      return this.#drop(request, "disk");
    }
    const index = this.#list.findIndex(({ number }) => number === request.number);
    // It was sent meanwhile.
    if (index === -1) await rm(file, { force: true });
    else this.#list[index] = { ...request, body: null };
  }

  async #read({ number, samples }: Waiting): Promise<Uint8Array | null> {
    return readFile(join(this.#options.folder ?? "", nameOf({ number, samples }))).catch(() => null);
  }

  async #drop(request: Pick<Waiting, "number" | "samples" | "bytes">, why: "full" | "disk"): Promise<void> {
    await this.#remove(request);
    this.#options.dropped(request.samples, why);
  }

  async #remove({ number, samples }: Pick<Waiting, "number" | "samples">): Promise<void> {
    const index = this.#list.findIndex((each) => each.number === number);
    if (index === -1) return;
    const [request] = this.#list.splice(index, 1);
    this.#bytes -= request?.bytes ?? 0;
    const { folder } = this.#options;
    if (folder !== null && request?.body === null) await rm(join(folder, nameOf({ number, samples })), { force: true });
  }
}

const nameOf = ({ number, samples }: Pick<Waiting, "number" | "samples">): string =>
  `${String(number).padStart(12, "0")}-${samples}.snappy`;
