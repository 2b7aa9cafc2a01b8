import { createReadStream, createWriteStream } from "node:fs";
import { chmod, mkdir, open } from "node:fs/promises";
import { dirname, join } from "node:path";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import { createGunzip } from "node:zlib";
import { Parser, type ReadEntry } from "tar";
// A CommonJS module whose exports cannot be imported by name.
import xz from "xz-decompress";
import yauzl from "yauzl";
import { RigbridgeError } from "../../contract/problems.ts";
import { largestDownload } from "./fetch-file.ts";

const mostEntries = 10_000;

/**
 * Unpacks a tar.gz, tar.xz or zip archive into an empty folder. An archive that could reach beyond the folder, or
 * contains anything but files and folders, is refused as a whole. Throws `download.archive`, or `download.failed` if
 * the disk is full; the caller removes the folder.
 */
export async function unpack(archive: string, folder: string, limit = largestDownload): Promise<void> {
  const target = new Target(folder, limit);
  try {
    const kind = await kindOf(archive);
    if (kind === "zip") await unpackZip(archive, target);
    else await unpackTar(createReadStream(archive), kind, target);
    if (target.entries === 0) throw new Error("it is empty");
  } catch (error) {
    const full = error instanceof Error && "code" in error && error.code === "ENOSPC";
    const reason = full ? "the disk is full" : error instanceof Error ? error.message : String(error);
    const code = full ? "download.failed" : "download.archive";
    throw new RigbridgeError(code, `The archive cannot be unpacked: ${reason}`, { cause: error });
  }
}

async function kindOf(archive: string): Promise<"gzip" | "xz" | "zip"> {
  const file = await open(archive);
  try {
    const { buffer } = await file.read(Buffer.alloc(6), 0, 6, 0);
    const magic = buffer.toString("hex");
    if (magic.startsWith("1f8b")) return "gzip";
    if (magic === "fd377a585a00") return "xz";
    if (magic.startsWith("504b0304")) return "zip";
  } finally {
    await file.close();
  }
  throw new Error("it is neither tar.gz, tar.xz nor zip");
}

/** The target folder, with the limits for each entry. */
class Target {
  readonly #folder: string;
  readonly #limit: number;
  #bytes = 0;
  #entries = 0;

  constructor(folder: string, limit: number) {
    this.#folder = folder;
    this.#limit = limit;
  }

  get entries(): number {
    return this.#entries;
  }

  async folder(path: string): Promise<void> {
    await mkdir(this.#place(path), { recursive: true, mode: 0o755 });
  }

  /** Opens the content only when it is read: a stream that fails unread would end the process. */
  async file(path: string, isExecutable: boolean, open: () => Promise<Readable>): Promise<void> {
    const place = this.#place(path);
    await mkdir(dirname(place), { recursive: true, mode: 0o755 });
    const measure = new Transform({
      transform: (chunk: Buffer, _encoding, done) => {
        this.#bytes += chunk.length;
        done(this.#bytes > this.#limit ? tooLarge(this.#limit) : null, chunk);
      },
    });
    // `wx`: an entry that exists already, under this name or as another spelling of it, is an error.
    await pipeline(await open(), measure, createWriteStream(place, { flags: "wx" }));
    await chmod(place, isExecutable ? 0o755 : 0o644);
  }

  #place(path: string): string {
    this.#entries += 1;
    if (this.#entries > mostEntries) throw new Error(`it has more than ${mostEntries.toLocaleString("en-US")} entries`);
    return join(this.#folder, ...partsOf(path));
  }
}

/** The names of an entry's path. A `\` separates on Windows, and a `:` names a drive or a stream there. */
function partsOf(path: string): string[] {
  const parts = path.split(/[/\\]/).filter((part) => part !== "" && part !== ".");
  const isOutside = /^[/\\]/.test(path) || parts.includes("..");
  const isOdd = parts.length === 0 ? !/^[./\\]*$/.test(path) : parts.some((part) => /[:\p{Cc}]|[. ]$/u.test(part));
  if (isOutside || isOdd || path.length > 1_000) {
    throw new Error(`the path of an entry is not allowed: ${JSON.stringify(path.slice(0, 100))}`);
  }
  return parts;
}

const tooLarge = (limit: number): Error => new Error(`it unpacks to more than ${limit.toLocaleString("en-US")} bytes`);

const notAllowed = (type: string, path: string): Error =>
  new Error(`it contains a ${type}, ${JSON.stringify(path.slice(0, 100))}; only files and folders are allowed`);

async function unpackTar(packed: Readable, kind: "gzip" | "xz", target: Target): Promise<void> {
  const parser = new Parser({ strict: true, brotli: false, zstd: false });
  let failure: Error | undefined;
  // The parser yields the next entry once the present one has been read.
  const fail = (error: unknown): void => {
    failure ??= error instanceof Error ? error : new Error(String(error));
    parser.abort(failure);
  };
  let writing = Promise.resolve();
  parser.on("entry", (entry: ReadEntry) => {
    const written = writing.then(() => writeEntry(entry, target));
    writing = written.catch((error: unknown) => {
      entry.resume();
      fail(error);
    });
  });
  const ended = new Promise<void>((resolve) => {
    parser.on("end", resolve);
    parser.on("error", (error: unknown) => {
      failure ??= error instanceof Error ? error : new Error(String(error));
      resolve();
    });
  });
  let begins = true;
  const source = kind === "gzip" ? packed.pipe(createGunzip()) : Readable.from(unxz(packed));
  packed.on("error", (error) => source.destroy(error));
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk);
    // The parser would decompress it again.
    if (begins && bytes.readUInt16BE() === 0x1f8b) throw new Error("it is packed twice");
    begins = false;
    if (failure !== undefined) break;
    if (!parser.write(bytes)) await Promise.race([new Promise((resolve) => parser.once("drain", resolve)), ended]);
  }
  if (failure === undefined) {
    parser.end();
    await ended;
  }
  packed.destroy();
  await writing;
  if (failure !== undefined) throw failure;
}

async function writeEntry(entry: ReadEntry, target: Target): Promise<void> {
  const { path, type, mode = 0 } = entry;
  if (type === "Directory") {
    await target.folder(path);
    entry.resume();
  } else if (type === "File" || type === "OldFile" || type === "ContiguousFile") {
    await target.file(path, (mode & 0o111) !== 0, async () => Readable.from(entry));
  } else throw notAllowed(type, path);
}

/** The library uses web streams. It returns empty chunks forever if an archive is truncated. */
async function* unxz(packed: Readable): AsyncGenerator<Uint8Array> {
  const chunks = packed[Symbol.asyncIterator]();
  let hasEnded = false;
  const source = new ReadableStream<Uint8Array>({
    pull: async (controller) => {
      const { done, value } = await chunks.next();
      hasEnded = done === true;
      if (hasEnded) controller.close();
      else controller.enqueue(new Uint8Array(value));
    },
  });
  const reader = new xz.XzReadableStream(source).getReader();
  try {
    for (let emptyChunks = 0; ; ) {
      const { done, value } = await reader.read();
      if (done) return;
      if (value.length > 0) yield value;
      emptyChunks = value.length === 0 && hasEnded ? emptyChunks + 1 : 0;
      if (emptyChunks > 10) throw new Error("it ends too early");
    }
  } finally {
    // Frees the library for the next archive.
    await reader.cancel().catch(() => undefined);
  }
}

async function unpackZip(archive: string, target: Target): Promise<void> {
  // File names are checked twice: by this library, and by `partsOf`.
  const zip = await new Promise<yauzl.ZipFile>((resolve, reject) => {
    const options = { lazyEntries: true, autoClose: false, decodeStrings: true, validateEntrySizes: true };
    yauzl.open(archive, options, (error, file) => (error === null ? resolve(file) : reject(error)));
  });
  try {
    await new Promise<void>((resolve, reject) => {
      zip.on("error", reject);
      zip.on("end", resolve);
      zip.on("entry", (entry: yauzl.Entry) => {
        writeZipEntry(zip, entry, target).then(() => zip.readEntry(), reject);
      });
      zip.readEntry();
    });
  } finally {
    zip.close();
  }
}

async function writeZipEntry(zip: yauzl.ZipFile, entry: yauzl.Entry, target: Target): Promise<void> {
  const path = entry.fileName;
  // The Unix mode, if the archive was created there.
  const mode = entry.externalFileAttributes >>> 16;
  const type = mode & 0o170000;
  if (path.endsWith("/")) return target.folder(path);
  if (type !== 0 && type !== 0o100000) throw notAllowed(type === 0o120000 ? "link" : "special file", path);
  const open = (): Promise<Readable> =>
    new Promise((resolve, reject) => {
      zip.openReadStream(entry, (error, stream) => (error === null ? resolve(stream) : reject(error)));
    });
  await target.file(path, (mode & 0o111) !== 0, open);
}
