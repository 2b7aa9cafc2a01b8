import { createHash } from "node:crypto";
import { createWriteStream } from "node:fs";
import { rm } from "node:fs/promises";
import { Agent } from "node:https";
import { Readable, Transform } from "node:stream";
import { pipeline } from "node:stream/promises";
import axios from "axios";
import { RigbridgeError } from "../../contract/problems.ts";

/** The maximum size of a download, and of its unpacked content. */
export const largestDownload = 1_000_000_000;

export interface FetchOptions {
  readonly signal: AbortSignal;
  /** Certificates (PEM) to trust instead of the well-known ones. */
  readonly ca?: string | undefined;
  readonly limit?: number;
  /** Aborts a download that has received nothing for this long. */
  readonly idleMs?: number;
}

export interface FetchedFile {
  readonly bytes: number;
  /** Of its SHA-256, in hex. */
  readonly sha256: string;
}

/**
 * Downloads a file over HTTPS only, redirects included. A partial file is removed if the download fails.
 * Throws `download.failed` with the address and the reason.
 */
export async function fetchFile(url: string, path: string, options: FetchOptions): Promise<FetchedFile> {
  const hash = createHash("sha256");
  let bytes = 0;
  try {
    await fetchInto(url, options, async (stream, signal) => {
      const measure = new Transform({
        transform(chunk: Buffer, _encoding, done) {
          bytes += chunk.length;
          hash.update(chunk);
          done(null, chunk);
        },
      });
      await pipeline(stream, measure, createWriteStream(path, { flags: "wx", mode: 0o600 }), { signal });
    });
  } catch (error) {
    await rm(path, { force: true });
    throw error;
  }
  return { bytes, sha256: hash.digest("hex") };
}

/** A short text, such as a list of checksums. */
export async function fetchText(url: string, options: FetchOptions): Promise<string> {
  const chunks: Buffer[] = [];
  await fetchInto(url, { ...options, limit: 1_000_000 }, async (stream) => {
    for await (const chunk of stream) chunks.push(Buffer.from(chunk));
  });
  return Buffer.concat(chunks).toString("utf8");
}

async function fetchInto(
  url: string,
  { signal, ca, limit = largestDownload, idleMs = 60_000 }: FetchOptions,
  use: (stream: Readable, signal: AbortSignal) => Promise<void>,
): Promise<void> {
  const idle = new AbortController();
  const timer = setTimeout(() => idle.abort(new Error(`nothing arrived for ${idleMs / 1_000} s`)), idleMs);
  const ended = AbortSignal.any([signal, idle.signal]);
  try {
    refuseOther(new URL(url).protocol);
    const { data, headers } = await axios.get<unknown>(url, {
      responseType: "stream",
      // The checksum is that of the file as published, so no content encoding is undone.
      decompress: false,
      maxRedirects: 5,
      beforeRedirect: ({ protocol }) => refuseOther(String(protocol)),
      // Ignores proxies of the environment: hosts without direct access use a mirror.
      proxy: false,
      httpsAgent: new Agent({ ...(ca === undefined ? {} : { ca }) }),
      signal: ended,
    });
    if (!(data instanceof Readable)) throw new Error("it has no body");
    if (Number(headers["content-length"] ?? 0) > limit) {
      data.destroy();
      throw tooLarge(limit);
    }
    let bytes = 0;
    const limited = new Transform({
      transform(chunk: Buffer, _encoding, done) {
        timer.refresh();
        bytes += chunk.length;
        done(bytes > limit ? tooLarge(limit) : null, chunk);
      },
    });
    const both = [pipeline(data, limited, { signal: ended }), use(limited, ended)];
    // Both have to end, also after a failure: a file that is still being opened would survive its removal.
    await Promise.all(both).finally(() => Promise.allSettled(both));
  } catch (error) {
    // An unread body would keep the connection open.
    if (axios.isAxiosError(error) && error.response?.data instanceof Readable) error.response.data.destroy();
    const reason = idle.signal.aborted ? idle.signal.reason : signal.aborted ? "it was stopped" : error;
    throw new RigbridgeError("download.failed", `The download of ${url} failed: ${reasonOf(reason)}`, { cause: error });
  } finally {
    clearTimeout(timer);
  }
}

function refuseOther(protocol: string): void {
  if (protocol !== "https:") throw new Error(`it redirects to ${protocol.replace(":", "")}, and only https is allowed`);
}

const tooLarge = (limit: number): Error => new Error(`it is larger than ${limit.toLocaleString("en-US")} bytes`);

function reasonOf(error: unknown): string {
  if (axios.isAxiosError(error) && error.response !== undefined) return `the server answers ${error.response.status}`;
  if (!(error instanceof Error)) return String(error);
  return "code" in error && error.code === "ENOSPC" ? "the disk is full" : error.message;
}
