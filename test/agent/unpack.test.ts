import { existsSync } from "node:fs";
import { mkdir, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { unpack } from "../../src/agent/downloads/unpack.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";
import { problem } from "../errors.ts";
import { type Entry, filesIn, minerFiles, tar, tarGz, tarXz, unpackFolder, zip } from "./archives.ts";

describe("an archive", () => {
  async function unpacked(archive: Buffer, limit?: number): Promise<{ files: string[]; outside: string[] }> {
    const folder = await unpackFolder();
    const file = join(folder, "archive");
    await writeFile(file, archive);
    const target = join(folder, "deep", "er", "target");
    await mkdir(target, { recursive: true });
    await unpack(file, target, limit);
    return { files: filesIn(target), outside: filesIn(folder).filter((each) => !each.startsWith("deep")) };
  }

  test.each([
    ["tar.gz", tarGz(minerFiles)],
    ["tar.xz", tarXz(minerFiles)],
    ["zip", zip(minerFiles.filter(({ type }) => type !== "Directory"))],
  ])("is unpacked: %s", async (_, archive) => {
    const { files, outside } = await unpacked(archive);
    expect(files).toEqual([join("miner-1.0", "README.md"), join("miner-1.0", "miner")]);
    expect(outside).toEqual(["archive"]);
  });

  const evil = [
    "../evil",
    "a/../../evil",
    "/tmp/rigbridge-evil",
    "..\\evil",
    "a\\..\\..\\evil",
    "C:\\evil",
    "a:stream",
    "a/..",
    "evil. ",
  ];

  test.each(
    evil.flatMap((path) => [
      [path, "tar.gz", tarGz([{ path, content: "x" }])] as const,
      [path, "zip", zip([{ path, content: "x" }])] as const,
    ]),
  )("with the path %s is refused: %s", async (_path, _kind, archive) => {
    expect((await problem(unpacked(archive))).code).toBe("download.archive");
    expect(existsSync("/tmp/rigbridge-evil")).toBe(false);
  });

  test("with any path stays in its folder, or is refused", async () => {
    const part = fc.constantFrom("..", ".", "a", "b", "", "\\", "/", "C:", "~", " ", "\u0000");
    await fc.assert(
      fc.asyncProperty(
        fc.array(part, { minLength: 1, maxLength: 5 }),
        fc.constantFrom("/", "\\", ""),
        async (parts, by) => {
          const path = parts.join(by);
          const made = [tarGz([{ path: `${path}x`, content: "x" }]), zip([{ path: `${path}x`, content: "x" }])];
          for (const archive of made) {
            const result = await unpacked(archive).catch((error: unknown) => error);
            if (!(result instanceof RigbridgeError)) expect(result).toMatchObject({ outside: ["archive"] });
          }
        },
      ),
      { numRuns: 60 },
    );
  });

  test.each<[string, Entry]>([
    ["a symbolic link", { path: "link", type: "SymbolicLink", linkpath: "/etc/passwd" }],
    ["a hard link", { path: "link", type: "Link", linkpath: "/etc/passwd" }],
    ["a device", { path: "null", type: "CharacterDevice" }],
    ["a FIFO", { path: "pipe", type: "FIFO" }],
  ])("with %s is refused", async (_, entry) => {
    const error = await problem(unpacked(tarGz([...minerFiles, entry])));
    expect([error.code, error.message]).toEqual([
      "download.archive",
      expect.stringContaining("only files and folders"),
    ]);
  });

  test("with a link in a zip is refused", async () => {
    const error = await problem(unpacked(zip([{ path: "link", content: "/etc/passwd", mode: 0o120777 }])));
    expect(error.message).toContain("contains a link");
  });

  test.each([
    ["tar.gz", tarGz([{ path: "zeros", content: Buffer.alloc(3_000_000) }])],
    ["tar.xz", tarXz([{ path: "zeros", content: Buffer.alloc(3_000_000) }])],
    ["zip", zip([{ path: "zeros", content: Buffer.alloc(3_000_000) }])],
    ["zip that claims less", zip([{ path: "zeros", content: Buffer.alloc(3_000_000) }], 10)],
    [
      "tar.gz of many files",
      tarGz(Array.from({ length: 30 }, (_, at) => ({ path: `f${at}`, content: Buffer.alloc(100_000) }))),
    ],
  ])("that unpacks to more than the limit is refused: %s", async (_, archive) => {
    expect((await problem(unpacked(archive, 1_000_000))).code).toBe("download.archive");
  });

  test("with very many entries is refused", async () => {
    const many = Array.from({ length: 10_001 }, (_, at) => ({ path: `f${at}` }));
    expect((await problem(unpacked(tarGz(many)))).message).toContain("more than 10,000 entries");
  });

  test("with an entry that is there twice is refused", async () => {
    const twice = [
      { path: "miner", content: "a" },
      { path: "./miner", content: "b" },
    ];
    expect((await problem(unpacked(tarGz(twice)))).code).toBe("download.archive");
    expect((await problem(unpacked(zip(twice)))).code).toBe("download.archive");
  });

  test.each([
    ["text", Buffer.from("<html>not found</html>")],
    ["nothing", Buffer.alloc(0)],
    ["a bare tar", tar(minerFiles)],
    ["an empty tar.gz", tarGz([])],
    ["a tar.gz in a gzip", gzipSync(tarGz(minerFiles))],
    ["half a tar.gz", tarGz(minerFiles).subarray(0, 80)],
    ["half a tar.xz", tarXz(minerFiles).subarray(0, 80)],
    ["half a zip", zip(minerFiles).subarray(0, 80)],
    ["garbage behind a gzip header", Buffer.from("1f8b080000000000000312345678", "hex")],
  ])("that is none is refused: %s", async (_, archive) => {
    expect((await problem(unpacked(archive))).code).toBe("download.archive");
  });
});
