import { createReadStream, createWriteStream } from "node:fs";
import { type FileHandle, open, rename, stat, truncate } from "node:fs/promises";
import { pipeline } from "node:stream/promises";
import { stripVTControlCharacters } from "node:util";
import { redact } from "./secrets.ts";

export interface LogLimits {
  /** Bytes of one file. */
  readonly size: number;
  /** Files of one program, the current one included. */
  readonly files: number;
}

export const logLimits: LogLimits = { size: 10_000_000, files: 3 };

/** Bytes at the end of a log that are searched for its last lines. */
const tailBytes = 64_000;
const longestLine = 500;
/** Prefix of the lines that the agent adds. */
const noteMark = "--- ";

/**
 * The output of a program. The program writes to the file itself, by an inherited descriptor: through a pipe its output
 * would end with the agent, and many programs end at the first write to a closed pipe. Because the descriptor cannot be
 * replaced from outside, rotation copies the file and empties it. The descriptor appends, so the program continues at
 * the new end; only output between copy and emptying is lost. While no agent runs, the file grows.
 */
export class LogFile {
  readonly path: string;
  readonly #limits: LogLimits;

  constructor(path: string, limits: LogLimits) {
    this.path = path;
    this.#limits = limits;
  }

  /** For a program's stdout and stderr. */
  open(): Promise<FileHandle> {
    return open(this.path, "a", 0o600);
  }

  /** Adds a line of the agent's own. */
  async note(at: number, text: string): Promise<void> {
    const file = await this.open();
    try {
      await file.write(`${noteMark}${new Date(at).toISOString()} ${text}\n`);
    } finally {
      await file.close();
    }
  }

  /** Empties the file if it is too long. Its end becomes the newest of the older files. */
  async rotate(): Promise<void> {
    const size = await this.#size();
    if (size <= this.#limits.size) return;
    try {
      for (let number = this.#limits.files - 2; number >= 1; number -= 1)
        await rename(this.#older(number), this.#older(number + 1)).catch(() => undefined);
      const end = createReadStream(this.path, { start: size - this.#limits.size, end: size - 1 });
      await pipeline(end, createWriteStream(this.#older(1), { mode: 0o600 }));
    } finally {
      // Empties it even if there is no space for the copy: a log must not fill the disk.
      await truncate(this.path, 0);
    }
  }

  /** The last lines printed by the program, without control characters and secrets. */
  async lastOutput(lines: number, secrets: readonly string[] = [], bytes = tailBytes): Promise<string[]> {
    const size = await this.#size();
    const from = Math.max(0, size - tailBytes);
    const text = size === 0 ? "" : await this.#read(from, size - from);
    const whole = from === 0 ? text : text.slice(text.indexOf("\n") + 1);
    const last = whole
      .split(/[\r\n]+/)
      .map((line) => redact(printable(line), secrets).slice(0, longestLine).toWellFormed())
      .filter((line) => line !== "" && !line.startsWith(noteMark))
      .slice(-lines);
    while (last.reduce((sum, line) => sum + Buffer.byteLength(line), 0) > bytes) last.shift();
    return last;
  }

  async #read(from: number, length: number): Promise<string> {
    const file = await open(this.path, "r");
    try {
      const { buffer, bytesRead } = await file.read(Buffer.alloc(length), 0, length, from);
      return buffer.toString("utf8", 0, bytesRead);
    } finally {
      await file.close();
    }
  }

  async #size(): Promise<number> {
    return (await stat(this.path).catch(() => ({ size: 0 }))).size;
  }

  #older(number: number): string {
    return `${this.path}.${number}`;
  }
}

const printable = (line: string): string =>
  stripVTControlCharacters(line)
    .replaceAll(/\p{Cc}/gu, " ")
    .trim();
