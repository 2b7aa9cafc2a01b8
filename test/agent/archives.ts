import { execFileSync } from "node:child_process";
import { readdirSync } from "node:fs";
import { mkdtemp, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join, relative } from "node:path";
import { crc32, deflateRawSync, gzipSync } from "node:zlib";
import { Header } from "tar";
import { onTestFinished } from "../finished.ts";

export interface Entry {
  readonly path: string;
  readonly content?: string | Buffer;
  readonly mode?: number;
  readonly type?: "File" | "Directory" | "SymbolicLink" | "Link" | "CharacterDevice" | "FIFO";
  readonly linkpath?: string;
}

const block = 512;

/** A tar archive, with whatever paths and types a test wants. */
export function tar(entries: readonly Entry[]): Buffer {
  const parts = entries.flatMap(({ path, content = "", mode = 0o644, type = "File", linkpath }) => {
    const body = Buffer.from(content);
    const header = new Header({
      path,
      mode,
      type,
      size: body.length,
      mtime: new Date(0),
      ...(linkpath && { linkpath }),
    });
    const head = Buffer.alloc(block);
    if (header.encode(head, 0)) throw new Error(`${path} is too long for this helper`);
    return [head, body, Buffer.alloc((block - (body.length % block)) % block)];
  });
  return Buffer.concat([...parts, Buffer.alloc(2 * block)]);
}

export const tarGz = (entries: readonly Entry[]): Buffer => gzipSync(tar(entries));

export const tarXz = (entries: readonly Entry[]): Buffer => execFileSync("xz", ["-z", "-c"], { input: tar(entries) });

/** A zip archive, with whatever paths and modes a test wants. */
export function zip(entries: readonly Entry[], claimedSize?: number): Buffer {
  const local: Buffer[] = [];
  const central: Buffer[] = [];
  let offset = 0;
  for (const { path, content = "", mode = 0o100644 } of entries) {
    const name = Buffer.from(path);
    const body = Buffer.from(content);
    const packed = deflateRawSync(body);
    const size = claimedSize ?? body.length;
    // Version, UTF-8 flag, deflate, time, date, CRC, sizes, name length.
    const shared = Buffer.alloc(26);
    shared.writeUInt16LE(20, 0);
    shared.writeUInt16LE(0x0800, 2);
    shared.writeUInt16LE(8, 4);
    shared.writeUInt16LE(0x21, 8);
    shared.writeUInt32LE(crc32(body), 10);
    shared.writeUInt32LE(packed.length, 14);
    shared.writeUInt32LE(size, 18);
    shared.writeUInt16LE(name.length, 22);
    const file = Buffer.concat([Buffer.from("504b0304", "hex"), shared, name, packed]);
    const rest = Buffer.alloc(14);
    rest.writeUInt32LE((mode << 16) >>> 0, 6);
    rest.writeUInt32LE(offset, 10);
    // Made on Unix, so that the mode counts.
    central.push(Buffer.concat([Buffer.from("504b0102", "hex"), Buffer.from([20, 3]), shared, rest, name]));
    local.push(file);
    offset += file.length;
  }
  const directory = Buffer.concat(central);
  const end = Buffer.alloc(22);
  end.write("504b0506", 0, "hex");
  end.writeUInt16LE(entries.length, 8);
  end.writeUInt16LE(entries.length, 10);
  end.writeUInt32LE(directory.length, 12);
  end.writeUInt32LE(offset, 16);
  return Buffer.concat([...local, directory, end]);
}

/** An archive as makers publish them. */
export const minerFiles: readonly Entry[] = [
  { path: "miner-1.0/", type: "Directory", mode: 0o755 },
  { path: "miner-1.0/miner", content: "#!/bin/sh\n", mode: 0o755 },
  { path: "miner-1.0/README.md", content: "read me", mode: 0o640 },
];

/** A folder that is removed with the test. */
export async function unpackFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "rigbridge-archives-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

/** Every file below a folder, by its path in it. */
export const filesIn = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map((entry) => relative(folder, join(entry.parentPath, entry.name)))
    .sort();
