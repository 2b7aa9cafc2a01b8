import { createHash } from "node:crypto";
import fs, { existsSync, readFileSync, statSync } from "node:fs";
import { chmod, rm } from "node:fs/promises";
import type { RequestListener } from "node:http";
import { syncBuiltinESMExports } from "node:module";
import { join } from "node:path";
import { describe, expect, test } from "@jest/globals";
import { type DownloadRequest, Downloads, downloadOf } from "../../src/agent/downloads/index.ts";
import { ProgramDownloads } from "../../src/agent/downloads/program-downloads.ts";
import type { Preparing } from "../../src/agent/supervisor-parts.ts";
import { programOf } from "../../src/catalogue/mining-software.ts";
import { problem } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { filesIn, minerFiles, tarGz, unpackFolder } from "./archives.ts";
import { httpsServer } from "./https-server.ts";
import { someProgram } from "./programs.ts";

const sumOf = (bytes: Buffer): string => createHash("sha256").update(bytes).digest("hex");

interface Bench {
  readonly downloads: Downloads;
  readonly folder: string;
  readonly request: DownloadRequest;
  readonly asked: readonly string[];
  obtain(change?: Partial<DownloadRequest>): ReturnType<Downloads["obtain"]>;
}

/** Serves files by their path; another listener may answer instead. */
async function bench(files: Readonly<Record<string, Buffer | string>>, listener?: RequestListener): Promise<Bench> {
  const server = await httpsServer((request, response) => {
    const file = files[request.url ?? ""];
    if (file !== undefined) response.end(file);
    else if (listener !== undefined) listener(request, response);
    else response.writeHead(404).end("no such file");
  });
  const folder = await unpackFolder();
  const downloads = new Downloads({ folder, mirror: null, ca: server.ca });
  const request: DownloadRequest = {
    software: "Miner",
    version: "1.0",
    executable: "miner",
    url: `${server.url}/miner.tar.gz`,
    sha256: null,
    sums: null,
  };
  const signal = new AbortController().signal;
  return {
    downloads,
    folder,
    request,
    asked: server.asked,
    obtain: (change = {}) => downloads.obtain({ ...request, ...change }, signal),
  };
}

/** A disk with room for so many files; there is none of that kind here. */
function fullAfter(files: number): void {
  const original = fs.createWriteStream;
  let left = files;
  const full = Object.assign(new Error("ENOSPC: no space left on device, write"), { code: "ENOSPC" });
  Object.defineProperty(fs, "createWriteStream", {
    configurable: true,
    writable: true,
    value: (...given: Parameters<typeof original>) => {
      const stream = original(...given);
      left -= 1;
      return left >= 0
        ? stream
        : Object.assign(stream, { _write: (_: unknown, __: unknown, done: (error: Error) => void) => done(full) });
    },
  });
  syncBuiltinESMExports();
  onTestFinished(() => {
    Object.defineProperty(fs, "createWriteStream", { configurable: true, writable: true, value: original });
    syncBuiltinESMExports();
  });
}

describe("a download", () => {
  const archive = tarGz(minerFiles);

  test("with a pinned sum is unpacked into a folder of its version, and not fetched again", async () => {
    const { obtain, folder, asked } = await bench({ "/miner.tar.gz": archive });
    const sha256 = sumOf(archive);
    const first = await obtain({ sha256 });
    const path = join(folder, "programs", "Miner", `1.0-${sha256.slice(0, 16)}`, "miner-1.0", "miner");
    expect(first).toEqual({ state: "ready", path });
    expect(readFileSync(path, "utf8")).toBe("#!/bin/sh\n");
    expect(statSync(path).mode & 0o777).toBe(0o755);
    expect(statSync(join(path, "..", "README.md")).mode & 0o777).toBe(0o644);
    expect(await obtain({ sha256 })).toEqual(first);
    expect(asked).toEqual(["/miner.tar.gz"]);
    expect(filesIn(folder).filter((file) => file.startsWith("downloads"))).toEqual([
      join("downloads", "downloads.json"),
    ]);
  });

  test("whose program was deleted is fetched and unpacked again, in place of what is left of it", async () => {
    const { obtain, folder, asked } = await bench({ "/miner.tar.gz": archive });
    const sha256 = sumOf(archive);
    const first = await obtain({ sha256 });
    if (first.state !== "ready") throw new Error("it waits for a confirmation");
    // As virus scanners do.
    await rm(first.path);
    const left = filesIn(folder);
    expect(await obtain({ sha256 })).toEqual(first);
    expect(existsSync(first.path)).toBe(true);
    expect(filesIn(folder)).toHaveLength(left.length + 1);
    expect(asked).toHaveLength(2);
  });

  test("with another sum is removed", async () => {
    const { obtain, folder } = await bench({ "/miner.tar.gz": archive });
    const error = await problem(obtain({ sha256: "0".repeat(64) }));
    expect(error.code).toBe("download.wrong-sum");
    expect(error.message).toContain(`has the sum ${sumOf(archive)}, not ${"0".repeat(64)}`);
    expect(filesIn(folder)).toEqual([]);
  });

  test("is checked by the sums that its maker publishes", async () => {
    const sums = `${"1".repeat(64)}  other.tar.gz\n${sumOf(archive).toUpperCase()} *miner.tar.gz\n`;
    const { obtain, request } = await bench({ "/miner.tar.gz": archive, "/SHA256SUMS": sums, "/EMPTY": "" });
    const at = (path: string) => ({ sums: request.url.replace("/miner.tar.gz", path) });
    expect((await obtain(at("/SHA256SUMS"))).state).toBe("ready");
    expect((await problem(obtain({ ...at("/EMPTY"), url: `${request.url}?` }))).code).toBe("download.wrong-sum");
  });

  test("without a sum waits, not unpacked, until a person confirms it, and is pinned then", async () => {
    const { obtain, downloads, folder, request, asked } = await bench({ "/miner.tar.gz": archive });
    const sha256 = sumOf(archive);
    const waiting = { state: "confirming", url: request.url, bytes: archive.length, sha256 };
    expect(await obtain()).toEqual(waiting);
    expect(await obtain()).toEqual(waiting);
    expect(existsSync(join(folder, "programs"))).toBe(false);
    expect(await downloads.waiting()).toEqual([{ url: request.url, bytes: archive.length, sha256 }]);
    expect((await problem(downloads.confirm(request.url, "0".repeat(64)))).code).toBe("download.wrong-sum");
    expect((await problem(downloads.confirm("https://elsewhere.example/x", sha256))).code).toBe("not.possible");
    await downloads.confirm(request.url, sha256);
    expect((await obtain()).state).toBe("ready");
    expect(asked).toEqual(["/miner.tar.gz"]);
    // Another agent in the same folder knows the pin.
    await rm(join(folder, "programs"), { recursive: true });
    const { ca } = await httpsServer(() => undefined);
    const later = new Downloads({ folder, mirror: null, ca });
    expect((await later.obtain(request, new AbortController().signal)).state).toBe("ready");
    expect(asked).toEqual(["/miner.tar.gz", "/miner.tar.gz"]);
  });

  test("that changes at its address after it was confirmed is refused", async () => {
    const files = { "/miner.tar.gz": archive };
    const { obtain, downloads, folder, request } = await bench(files);
    await obtain();
    await downloads.confirm(request.url, sumOf(archive));
    await obtain();
    await rm(join(folder, "programs"), { recursive: true });
    files["/miner.tar.gz"] = tarGz([{ path: "miner", content: "another", mode: 0o755 }]);
    expect((await problem(obtain())).code).toBe("download.wrong-sum");
    expect(existsSync(join(folder, "programs"))).toBe(false);
  });

  test("comes from the mirror where one is set", async () => {
    const { asked, folder, obtain, request } = await bench({ "/copy/github.com/a/miner.tar.gz": archive });
    const { ca } = await httpsServer(() => undefined);
    const mirrored = new Downloads({ folder, mirror: request.url.replace("/miner.tar.gz", "/copy/"), ca });
    const given = { ...request, url: "https://github.com/a/miner.tar.gz", sha256: sumOf(archive) };
    expect((await mirrored.obtain(given, new AbortController().signal)).state).toBe("ready");
    expect(asked).toEqual(["/copy/github.com/a/miner.tar.gz"]);
    expect(await problem(obtain({ sha256: "0".repeat(64) }))).toMatchObject({ code: "download.failed" });
  });

  test("follows redirects, but only to https", async () => {
    const { obtain, request } = await bench({ "/miner.tar.gz": archive }, (asked, response) => {
      const location = asked.url === "/moved" ? "/miner.tar.gz" : "http://localhost:1/miner.tar.gz";
      response.writeHead(302, { location }).end();
    });
    const at = (path: string) => ({ url: request.url.replace("/miner.tar.gz", path), sha256: sumOf(archive) });
    expect((await obtain(at("/moved"))).state).toBe("ready");
    const error = await problem(obtain({ ...at("/away"), version: "2.0" }));
    expect([error.code, error.message]).toEqual(["download.failed", expect.stringContaining("only https is allowed")]);
    expect((await problem(obtain({ url: "http://localhost:1/x" }))).message).toContain("only https is allowed");
  });

  /** Only where it has to run out: a slow machine takes longer for the answers of the others. */
  const short = { idleMs: 200 };

  test.each<[string, RequestListener, string, { idleMs?: number }?]>([
    ["a server error", (_, response) => void response.writeHead(503).end("busy"), "the server answers 503"],
    [
      "a stream that is cut",
      (_, response) => {
        response.writeHead(200, { "content-length": "1000000" }).write(Buffer.alloc(1_000));
        setImmediate(() => response.socket?.destroy());
      },
      "failed: ",
    ],
    [
      "a length above the limit",
      (_, response) => void response.writeHead(200, { "content-length": "1000000001" }).write("x"),
      "it is larger than 1,000,000,000 bytes",
    ],
    ["silence", (_, response) => void response.writeHead(200).write("x"), "nothing arrived for 0.2 s", short],
  ])("fails with %s, and leaves nothing behind", async (_, listener, message, limit = {}) => {
    const { folder, request } = await bench({}, listener);
    const { ca } = await httpsServer(() => undefined);
    const downloads = new Downloads({ folder, mirror: null, ca, ...limit });
    const error = await problem(downloads.obtain(request, new AbortController().signal));
    expect([error.code, error.message]).toEqual(["download.failed", expect.stringContaining(message)]);
    expect(filesIn(folder)).toEqual([]);
  });

  test("that is stopped leaves nothing behind", async () => {
    const { downloads, folder, request } = await bench({}, (_, response) => {
      response.writeHead(200).write("x");
      ended.abort();
    });
    const ended = new AbortController();
    expect((await problem(downloads.obtain(request, ended.signal))).message).toContain("it was stopped");
    expect(filesIn(folder)).toEqual([]);
  });

  test("from a server that cannot prove its name fails", async () => {
    const { folder, request } = await bench({ "/miner.tar.gz": archive });
    const strict = new Downloads({ folder, mirror: null });
    expect((await problem(strict.obtain(request, new AbortController().signal))).code).toBe("download.failed");
    expect(filesIn(folder)).toEqual([]);
  });

  test("without its program in it is refused", async () => {
    const { obtain, folder } = await bench({ "/miner.tar.gz": archive });
    const error = await problem(obtain({ sha256: sumOf(archive), executable: "other" }));
    expect([error.code, error.message]).toEqual([
      "download.archive",
      expect.stringContaining("does not contain other"),
    ]);
    expect(filesIn(folder)).toEqual([]);
  });

  test.each([
    ["while it arrives", 0],
    ["while it is unpacked", 1],
  ])("fails where the disk is full %s, and leaves nothing behind", async (_, files) => {
    const { obtain, folder } = await bench({ "/miner.tar.gz": archive });
    fullAfter(files);
    const error = await problem(obtain({ sha256: sumOf(archive) }));
    expect([error.code, error.message]).toEqual(["download.failed", expect.stringContaining("the disk is full")]);
    expect(filesIn(folder)).toEqual([]);
  });

  (process.getuid?.() !== 0 ? test : test.skip)("into a folder that cannot be written fails", async () => {
    const { obtain, folder } = await bench({ "/miner.tar.gz": archive });
    await chmod(folder, 0o500);
    await expect(obtain({ sha256: sumOf(archive) })).rejects.toThrow("EACCES");
    await chmod(folder, 0o700);
    expect(filesIn(folder)).toEqual([]);
  });

  test("asked for twice at once is fetched once", async () => {
    const { obtain, asked } = await bench({ "/miner.tar.gz": archive });
    const sha256 = sumOf(archive);
    const [one, two] = await Promise.all([obtain({ sha256 }), obtain({ sha256 })]);
    expect(two).toEqual(one);
    expect(asked).toHaveLength(1);
  });
});

describe("a program's download", () => {
  const archive = tarGz(minerFiles);

  function entryAt(url: string) {
    const known = programOf("XmrigMiner");
    if (known === undefined) throw new Error("XMRig is missing");
    const executable = { linux: "miner", windows: "miner", macos: "miner" };
    return { ...known, executable, download: { version: "1.0", url: { "linux-x64": url }, sums: null } };
  }

  test("waits for its confirmation and goes on with it; the service cannot choose its address", async () => {
    const { downloads, request, asked } = await bench({ "/miner.tar.gz": archive });
    const programs = new ProgramDownloads(downloads, "linux-x64");
    const steps: Preparing[] = [];
    const wanted = someProgram({
      files: { from: "download", url: "https://evil.example/x.tar.gz", sha256: null },
    });
    const { promise: asksConfirmation, resolve: confirming } = Promise.withResolvers<void>();
    const path = programs.obtain(
      wanted,
      entryAt(request.url),
      (step) => {
        steps.push(step);
        if (step.status === "confirming") confirming();
      },
      new AbortController().signal,
    );
    await asksConfirmation;
    expect((await problem(programs.confirm(2, sumOf(archive)))).code).toBe("not.possible");
    expect((await problem(programs.confirm(1, "0".repeat(64)))).code).toBe("download.wrong-sum");
    await programs.confirm(1, sumOf(archive));
    expect(await path).toContain(join("miner-1.0", "miner"));
    expect(steps.map(({ status }) => status)).toEqual(["downloading", "confirming", "downloading", "starting"]);
    expect(steps[1]?.download).toEqual({ url: request.url, bytes: archive.length, sha256: sumOf(archive) });
    expect(asked).toEqual(["/miner.tar.gz"]);
  });

  test("with a sum from the service needs no confirmation, and must have it", async () => {
    const { downloads, request } = await bench({ "/miner.tar.gz": archive });
    const programs = new ProgramDownloads(downloads, "linux-x64");
    const obtain = (sha256: string) =>
      programs.obtain(
        someProgram({ files: { from: "download", url: request.url, sha256 } }),
        entryAt(request.url),
        () => undefined,
        new AbortController().signal,
      );
    expect((await problem(obtain("0".repeat(64)))).code).toBe("download.wrong-sum");
    expect(await obtain(sumOf(archive))).toContain("miner");
  });

  test("without a known address names softwarePath", async () => {
    const { downloads } = await bench({});
    const obtain = (id: string) => {
      const entry = programOf(id);
      if (entry === undefined) throw new Error(`No program ${id}`);
      const programs = new ProgramDownloads(downloads, "linux-x64");
      return programs.obtain(someProgram(), entry, () => undefined, new AbortController().signal);
    };
    const error = await problem(obtain("PhoenixMiner"));
    expect([error.code, error.message]).toEqual(["no.download", expect.stringContaining("softwarePath")]);
  });

  test("is that of the host's own kind", () => {
    const xmrig = programOf("XmrigMiner");
    if (xmrig === undefined) throw new Error("XMRig is missing");
    expect(downloadOf(xmrig, "linux-x64")?.url).toMatch(/linux-static-x64\.tar\.gz$/);
    expect(downloadOf(xmrig, "windows-x64")).toMatchObject({ executable: "xmrig.exe", version: "6.26.0" });
    expect(downloadOf(xmrig, "linux-arm64")).toBeNull();
    expect(downloadOf(xmrig, null)).toBeNull();
  });
});
