import { mkdir, readFile, rename, rm, writeFile } from "node:fs/promises";
import { dirname } from "node:path";
import type { Node } from "node-red";
import { isRecord, Notification } from "rigbridge";
import { z } from "zod";
import type { Seen } from "./changes.ts";

/** Kept across deploys and restarts. */
export interface Memory extends Seen {
  /** The id of the `rigbridge-service`; memory of another service does not apply. */
  readonly service: string;
  /** Ids that were sent and must still be acknowledged. */
  readonly owed: readonly number[];
}

/** Earlier versions stored less. What they stored counts as closed until the next poll, so that nothing is sent twice. */
const StoredNotification = z.preprocess(
  (value) =>
    isRecord(value) && value.severity === undefined
      ? {
          uid: null,
          severity: value.isWarning === true ? "warning" : "info",
          count: 1,
          lastUtc: value.timeUtc,
          closedUtc: value.timeUtc,
          ...value,
        }
      : value,
  Notification,
);

const StoredMemory = z.object({
  service: z.string(),
  notifications: z.array(StoredNotification),
  lastId: z.int(),
  owed: z.array(z.int()),
});

/** In Node-RED's default settings the context is in memory only, so the memory has its own file. */
export class MemoryFile {
  readonly #file: string;
  readonly #node: Node;
  #written: Promise<void> = Promise.resolve();

  constructor(file: string, node: Node) {
    this.#file = file;
    this.#node = node;
  }

  /** null if nothing is stored for this service. Rejects if the file cannot be read. */
  async read(service: string): Promise<Memory | null> {
    // After a deploy the node before may still be writing.
    await writing.get(this.#file);
    const { data } = StoredMemory.safeParse((await this.#stored()) ?? (await this.#inContext()));
    return data?.service === service ? data : null;
  }

  /** In the order of the calls. Rejects if the file cannot be written. */
  async write(memory: Memory): Promise<void> {
    const before = this.#written.catch(() => undefined);
    this.#written = before.then(async () => {
      const draft = `${this.#file}.new`;
      await mkdir(dirname(this.#file), { recursive: true, mode: 0o700 });
      await writeFile(draft, JSON.stringify(memory), { mode: 0o600 });
      await rename(draft, this.#file);
    });
    const settled = this.#written.catch(() => undefined);
    writing.set(this.#file, settled);
    await this.#written;
  }

  /** Resolves when the last write has ended. */
  async settled(): Promise<void> {
    await this.#written.catch(() => undefined);
  }

  /** The node was deleted. */
  async remove(): Promise<void> {
    await this.settled();
    await rm(this.#file, { force: true });
  }

  async #stored(): Promise<unknown> {
    try {
      const stored: unknown = JSON.parse(await readFile(this.#file, "utf8"));
      return stored;
    } catch (error) {
      // A file that is missing or broken is no memory.
      if (error instanceof SyntaxError || (error instanceof Error && Reflect.get(error, "code") === "ENOENT"))
        return undefined;
      throw error;
    }
  }

  /** Where earlier versions stored it. */
  #inContext(): Promise<unknown> {
    return new Promise((resolve, reject) => {
      this.#node
        .context()
        .get("rigbridge-notifications", (error: unknown, value) => (error ? reject(error) : resolve(value)));
    });
  }
}

/** The last write of each file. */
const writing = new Map<string, Promise<void>>();
