import { constants } from "node:fs";
import { open } from "node:fs/promises";
import type { Logger } from "pino";
import { type Neighbours, neighboursIn } from "../../discovery/leases.ts";

/** A file of 50,000 leases of ISC dhcpd has about 15 MB. */
const longestFile = 32 << 20;

/** Reads the files of DHCP servers and of the system that have the addresses of others. */
export class LeaseFiles {
  readonly #now: () => number;
  readonly #log: Logger;
  /** Files that could not be read; each was logged. */
  readonly #failing = new Set<string>();

  /** `now` in epoch ms. */
  constructor(now: () => number, log: Logger) {
    this.#now = now;
    this.#log = log;
  }

  /** What these files say now. Never rejects: a file that cannot be read is logged until it can be. */
  async read(files: readonly string[]): Promise<readonly Neighbours[]> {
    const found: Neighbours[] = [];
    for (const file of files) {
      try {
        found.push(await neighboursIn(await textIn(file), this.#now()));
        if (this.#failing.delete(file)) this.#log.info(`The addresses in ${file} are read again`);
      } catch (error) {
        if (!this.#failing.has(file)) this.#log.warn({ err: error }, `The addresses in ${file} cannot be read`);
        this.#failing.add(file);
      }
    }
    return found;
  }
}

/** A regular file: a pipe or a device might never end. /proc/net/arp counts as one, with a size of 0. */
async function textIn(file: string): Promise<string> {
  // Without blocking, since opening a pipe waits for its writer.
  const handle = await open(file, constants.O_RDONLY | constants.O_NONBLOCK);
  try {
    if (!(await handle.stat()).isFile()) throw new Error(`${file} is not a regular file`);
    const parts: Buffer[] = [];
    let length = 0;
    for await (const part of handle.createReadStream({ autoClose: false, end: longestFile })) {
      length += part.length;
      if (length > longestFile) throw new Error(`${file} is larger than ${longestFile >> 20} MB`);
      parts.push(part);
    }
    return Buffer.concat(parts).toString("latin1");
  } finally {
    await handle.close();
  }
}
