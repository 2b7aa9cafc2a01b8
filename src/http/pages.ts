import { readdirSync } from "node:fs";
import { readFile } from "node:fs/promises";
import { extname, join } from "node:path";
import { fileURLToPath } from "node:url";
import type { FastifyReply, FastifyRequest } from "fastify";
import { contentTag } from "./etag.ts";
import { docsPath, pathOf } from "./paths.ts";
import { hostName, loopback } from "./security.ts";
import { StaticAnswer } from "./static-answer.ts";

/** Built by Vite from src/web; the same folder from src and from dist. */
export const builtWeb = fileURLToPath(new URL("../../dist/web", import.meta.url));

/** The dashboard's pages, by the first segment of their path. Any other path is answered by its page for unknown paths. */
const pageNames: ReadonlySet<string> = new Set([
  ...["", "family", "rigs", "alarms", "rules", "pools", "coins", "energy", "money", "activity", "add", "settings"],
  ...["users", "hosts", "login"],
]);

/** Paths of the API and of files, which are never pages. */
const reserved: ReadonlySet<string> = new Set(["api", "webapi", "docs", "health", "metrics", "assets"]);

/** Segments of a path at most; the longest of the dashboard have three. */
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

/** Answers requests that are `isForBrowser`, with index.html for every page. */
export class Pages {
  readonly #folder: string;
  readonly #names: ReadonlySet<string>;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #answers = new Map<string, Promise<StaticAnswer | undefined>>();

  /** `folder` is `builtWeb`, or another build; one that does not exist is not built yet. */
  constructor(folder: string, origins: readonly string[]) {
    this.#folder = folder;
    this.#names = filesIn(folder);
    this.#headers = {
      "content-security-policy": policy(origins),
      "permissions-policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    };
  }

  /** Returns undefined if there is no such file. */
  async answer(request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply | undefined> {
    const path = pathOf(request.url);
    const answer = await (filePath.test(path) ? this.#file(path.slice(1)) : this.#page(path));
    if (answer === undefined) return undefined;
    // Programs get other answers at the same paths.
    reply.header("vary", `${reply.getHeader("vary")}, accept`);
    // Elsewhere browsers ignore it, and say so on their console.
    if (isTrustworthy(request)) reply.header("cross-origin-opener-policy", "same-origin");
    return answer.send(request, reply);
  }

  #page(path: string): Promise<StaticAnswer | undefined> {
    const [, first = "", ...rest] = path.split("/");
    const isKnown = pageNames.has(first.toLowerCase());
    const base = "../".repeat(rest.length) || "./";
    return this.#once(`${isKnown} ${base}`, async () => {
      if (!this.#names.has("index.html")) return notBuilt(this.#headers);
      const built = await readFile(join(this.#folder, "index.html"), "utf8");
      const text = built.replace(/<base\b[^>]*>/i, "");
      const bytes = Buffer.from(text.replace(/<head\b[^>]*>/i, (head) => `${head}<base href="${base}">`));
      return new StaticAnswer(isKnown ? 200 : 404, this.#headersOf("index.html", bytes), bytes);
    });
  }

  #file(name: string): Promise<StaticAnswer | undefined> {
    if (!this.#names.has(name) || typeOf(name) === undefined) return Promise.resolve(undefined);
    return this.#once(name, async () => {
      const read = (suffix: string) =>
        this.#names.has(name + suffix) ? readFile(join(this.#folder, name + suffix)) : undefined;
      const [bytes, br, gzip] = await Promise.all([readFile(join(this.#folder, name)), read(".br"), read(".gz")]);
      return new StaticAnswer(200, this.#headersOf(name, bytes), bytes, { br, gzip });
    });
  }

  #headersOf(name: string, bytes: Buffer): Readonly<Record<string, string>> {
    return {
      ...this.#headers,
      "content-type": typeOf(name) ?? "",
      // The names of assets contain a hash of what they hold.
      "cache-control": name.startsWith("assets/") ? "public, max-age=31536000, immutable" : "no-cache",
      etag: contentTag(bytes),
    };
  }

  /** What could not be read is tried again. */
  #once(name: string, make: () => Promise<StaticAnswer | undefined>): Promise<StaticAnswer | undefined> {
    const known = this.#answers.get(name);
    if (known !== undefined) return known;
    const made = make();
    this.#answers.set(name, made);
    made.catch(() => this.#answers.delete(name));
    return made;
  }
}

function filesIn(folder: string): ReadonlySet<string> {
  const list = (under: string) =>
    readdirSync(join(folder, under), { withFileTypes: true }).flatMap((entry) =>
      entry.isFile() ? [under + entry.name] : [],
    );
  try {
    const root = list("");
    return new Set([...root, ...list("assets/")]);
  } catch {
    return new Set();
  }
}

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
<p>The service runs, but this checkout has no dashboard yet: run <code>npm run build</code>, then restart the service.</p>
<p>Its API is described at <a href="${docsPath.slice(1)}">/docs</a>.</p></html>\n`,
    ),
  );
