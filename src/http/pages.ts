import { readFile, stat } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { gunzip } from "node:zlib";
import type { FastifyReply, FastifyRequest } from "fastify";
import { derived } from "./derived.ts";
import { contentTag } from "./etag.ts";
import { docsPath, pathOf } from "./paths.ts";
import { hostName, loopback } from "./security.ts";
import { StaticAnswer } from "./static-answer.ts";

/** Built by Vite from src/web; the same folder from src and from dist. */
export const builtWeb = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** The dashboard's pages, by the first segment of their path. Any other path is answered by its page for unknown paths. */
const pageNames: ReadonlySet<string> = new Set([
  "",
  "family",
  "rigs",
  "compare",
  "wall",
  "alarms",
  "rules",
  "pools",
  "coins",
  "energy",
  "money",
  "curtailment",
  "activity",
  "add",
  "settings",
  "start",
  "users",
  "hosts",
  "sites",
  "places",
  "login",
]);

/** Paths of the API and of files, which are never pages. */
const reserved: ReadonlySet<string> = new Set(["api", "webapi", "docs", "health", "metrics", "assets"]);

/** Maximum segments of a path; the longest of the dashboard have three. */
const deepest = 6;

const html = "text/html; charset=utf-8";
/** Files of other types are not served. */
const types: Readonly<Record<string, string>> = {
  ".html": html,
  ".js": "text/javascript; charset=utf-8",
  ".css": "text/css; charset=utf-8",
  ".webmanifest": "application/manifest+json; charset=utf-8",
  ".json": "application/json; charset=utf-8",
  ".svg": "image/svg+xml",
  ".png": "image/png",
  ".ico": "image/x-icon",
  ".woff2": "font/woff2",
  ".txt": "text/plain; charset=utf-8",
};

const typeOf = (name: string): string | undefined => types[extname(name).toLowerCase()];

/** A file of the dashboard: in assets, or an icon or the manifest beside index.html. */
const filePath = /^\/(?:assets\/[\w.-]+\.\w+|[\w-]+\.(?:webmanifest|svg|png|ico|txt))$/;

/**
 * Whether a request is for a page or a file of the dashboard. They contain no data and need no key. Only browsers accept
 * HTML; other programs get the API's answers at the same paths.
 */
export function isForBrowser({ method, url, headers }: FastifyRequest): boolean {
  if (method !== "GET" && method !== "HEAD") return false;
  const path = pathOf(url);
  return filePath.test(path) || (/\btext\/html\b/i.test(headers.accept ?? "") && isPagePath(path));
}

function isPagePath(path: string): boolean {
  if (path.length > 500) return false;
  const [, first = "", ...rest] = path.split("/");
  return (
    rest.length < deepest &&
    !reserved.has(first.toLowerCase()) &&
    (first === "" ? rest.length === 0 : /^[a-z0-9-]+$/i.test(first)) &&
    rest.slice(0, -1).every((segment) => segment !== "")
  );
}

interface Kept {
  /** Version of the source file. */
  readonly version: string;
  readonly answer: Promise<StaticAnswer | undefined>;
}

/**
 * Answers requests that are `isForBrowser`, with index.html for every page. Files are read on first use, and again once
 * they are replaced: an update replaces the folder while the service runs.
 */
export class Pages {
  readonly #folder: string;
  readonly #headers: () => Readonly<Record<string, string>>;
  readonly #kept = new Map<string, Kept>();

  /** `folder` is `builtWeb` or another build; a missing folder is not built yet. */
  constructor(folder: string, origins: () => readonly string[]) {
    this.#folder = folder;
    this.#headers = derived(origins, (listed) => {
      // Kept answers have the old headers.
      this.#kept.clear();
      return {
        "content-security-policy": policy(listed),
        "permissions-policy": "camera=(self), geolocation=(), microphone=(), payment=(), usb=()",
      };
    });
  }

  /** Returns undefined if there is no such file. */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    this.#headers();
    const path = pathOf(request.url);
    const answer = await (filePath.test(path) ? this.#file(path.slice(1)) : this.#page(path));
    if (answer === undefined) return undefined;
    // Programs receive other answers at the same paths.
    reply.header("vary", `${reply.getHeader("vary")}, accept`);
    // Elsewhere browsers ignore it, with a message on their console.
    if (isTrustworthy(request)) reply.header("cross-origin-opener-policy", "same-origin");
    return answer.send(request, reply);
  }

  async #page(path: string): Promise<StaticAnswer> {
    const [, first = "", ...rest] = path.split("/");
    const isKnown = pageNames.has(first.toLowerCase());
    const base = "../".repeat(rest.length) || "./";
    const page = await this.#once(`${isKnown} ${base}`, "index.html", async (built) => {
      const text = built.toString("utf8").replace(/<base\b[^>]*>/i, "");
      const bytes = Buffer.from(text.replace(/<head\b[^>]*>/i, (head) => `${head}<base href="${base}">`));
      return new StaticAnswer(isKnown ? 200 : 404, this.#headersOf("index.html", bytes), bytes);
    });
    return page ?? notBuilt(this.#headers());
  }

  async #file(name: string): Promise<StaticAnswer | undefined> {
    if (typeOf(name) === undefined) return undefined;
    const answerOf = async (bytes: Buffer, gzip: Buffer | undefined): Promise<StaticAnswer> =>
      new StaticAnswer(200, this.#headersOf(name, bytes), bytes, { br: await this.#read(`${name}.br`), gzip });
    const plain = await this.#once(name, name, async (bytes) => answerOf(bytes, await this.#read(`${name}.gz`)));
    if (plain !== undefined) return plain;
    // The build leaves out the plain copy of an asset: nearly every client takes a compressed one.
    return this.#once(`${name}.gz`, `${name}.gz`, async (gzip) => answerOf(await unzipped(gzip), gzip));
  }

  /** Undefined if there is no such file. */
  #read(name: string): Promise<Buffer | undefined> {
    return unlessMissing(readFile(join(this.#folder, name)));
  }

  #headersOf(name: string, bytes: Buffer): Readonly<Record<string, string>> {
    return {
      ...this.#headers(),
      "content-type": typeOf(name) ?? "",
      // The names of assets contain a hash of their content.
      "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      etag: contentTag(bytes),
    };
  }

  /** Failed reads are retried; undefined if there is no such file. */
  async #once(
    key: string,
    name: string,
    make: (bytes: Buffer) => Promise<StaticAnswer>,
  ): Promise<StaticAnswer | undefined> {
    const found = await unlessMissing(stat(join(this.#folder, name)));
    if (found?.isFile() !== true) {
      this.#kept.delete(key);
      return undefined;
    }
    // Files from npm all have the same modification time.
    const version = `${found.ctimeMs} ${found.ino} ${found.size}`;
    const known = this.#kept.get(key);
    if (known?.version === version) return known.answer;
    const answer = this.#read(name).then((bytes) => bytes && make(bytes));
    this.#kept.set(key, { version, answer });
    answer.catch(() => this.#kept.delete(key));
    return answer;
  }
}

const unzipped = promisify(gunzip);

const missing: ReadonlySet<unknown> = new Set(["ENOENT", "ENOTDIR", "ENAMETOOLONG"]);

const unlessMissing = <T>(found: Promise<T>): Promise<T | undefined> =>
  found.catch((error: unknown) => {
    if (error instanceof Error && "code" in error && missing.has(error.code)) return undefined;
    throw error;
  });

/** Nothing from elsewhere, and frames only in pages of listed origins. Vite turns small images into data: URLs. */
const policy = (origins: readonly string[]): string =>
  [
    "default-src 'self'",
    "img-src 'self' data:",
    "object-src 'none'",
    "base-uri 'self'",
    "form-action 'self'",
    ["frame-ancestors 'self'", ...origins].join(" "),
  ].join("; ");

function isTrustworthy(request: FastifyRequest): boolean {
  const name = hostName(request.host) ?? "";
  return request.protocol === "https" || name === "localhost" || loopback.has(name);
}

const notBuilt = (headers: Readonly<Record<string, string>>): StaticAnswer =>
  new StaticAnswer(
    503,
    { ...headers, "content-type": html },
    Buffer.from(
      `<!doctype html><html lang="en"><meta charset="utf-8"><title>Rigbridge</title><h1>The dashboard is not built</h1>
<p>The service runs, but this checkout has no dashboard yet: run <code>npm run build</code>, then reload this page.</p>
<p>Its API is described at <a href="${docsPath.slice(1)}">/docs</a>.</p></html>\n`,
    ),
  );
