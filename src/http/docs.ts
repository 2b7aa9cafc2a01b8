import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { RigbridgeError } from "../contract/problems.ts";
import { tagged } from "./etag.ts";
import { openApiDocument } from "./openapi.ts";
import { docsDocumentPath, docsFilePath, docsPath, openApiPath, pathOf } from "./paths.ts";
import { StaticAnswer } from "./static-answer.ts";

/** The OpenAPI document and the page that shows it, each built on its first request. */
export function addDocs(app: FastifyInstance, version: string): void {
  const document = () => documentOf(version);
  const pages = once(async () => pagesOf(await buildPages()));
  const page = async (url: string): Promise<StaticAnswer> => {
    const path = pathOf(url).toLowerCase().replace(/\/$/, "");
    if (!plain.test(path)) throw nothingHere();
    return (await pages())(path);
  };
  const answer = (answering: (url: string) => StaticAnswer | Promise<StaticAnswer>) => ({
    method: ["GET", "HEAD"],
    // StaticAnswer compresses it, once.
    compress: false as const,
    handler: async (request: FastifyRequest, reply: FastifyReply) =>
      (await answering(request.url)).send(request, reply),
  });
  for (const url of [openApiPath, docsDocumentPath]) app.route({ url, ...answer(document) });
  for (const url of [docsPath, docsFilePath]) app.route({ url, ...answer(page) });
}

const documents = new Map<string, StaticAnswer>();

/** Built once for all servers of the process. */
function documentOf(version: string): StaticAnswer {
  const held = documents.get(version);
  if (held !== undefined) return held;
  const { text, etag = "" } = tagged(openApiDocument(version));
  const headers = { "content-type": "application/json; charset=utf-8", etag };
  const document = new StaticAnswer(200, headers, Buffer.from(text));
  documents.set(version, document);
  return document;
}

/** The files of the page, each requested from the page's own server once. Rejects with `not.found` for other paths. */
function pagesOf(pages: FastifyInstance): (path: string) => Promise<StaticAnswer> {
  const known = new Map<string, Promise<StaticAnswer>>();
  return (path) => {
    const held = known.get(path);
    if (held !== undefined) return held;
    const page = pageAt(pages, path);
    known.set(path, page);
    page.catch(() => known.delete(path));
    return page;
  };
}

async function pageAt(pages: FastifyInstance, url: string): Promise<StaticAnswer> {
  const { statusCode, headers, rawPayload } = await pages.inject({ url });
  if (statusCode >= 400) throw nothingHere();
  const kept = ["content-type", "etag", "location"].flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value]] : [];
  });
  return new StaticAnswer(statusCode, { ...Object.fromEntries(kept), "content-security-policy": policy }, rawPayload);
}

/** A path whose segments are plain file names. */
const plain = /^(\/[a-z0-9][a-z0-9.-]*)+$/;

export const nothingHere = () =>
  new RigbridgeError("not.found", `There is nothing at this path; see ${docsPath} for the paths of this API`);

/** Allows only this server's own files, and no embedding in another page. */
const policy = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "connect-src 'self'",
  "base-uri 'none'",
  "form-action 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** A separate instance, because a listening one accepts no more plugins, and these are slow to load. */
async function buildPages(): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import("@fastify/swagger"),
    import("@fastify/swagger-ui"),
  ]);
  const pages = fastify({ routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  // The page reads the document from `docsDocumentPath`, which is served above; the plugin requires one anyway.
  const empty = { openapi: "3.1.0", info: { title: "", version: "" }, paths: {} };
  await pages.register(swagger, { mode: "static", specification: { document: empty } });
  await pages.register(swaggerUi, {
    routePrefix: docsPath,
    theme: { title: "Rigbridge: the HTTP API" },
    uiConfig: { layout: "BaseLayout", docExpansion: "list", defaultModelsExpandDepth: 0, persistAuthorization: false },
  });
  await pages.ready();
  return pages;
}

function once<T>(make: () => T): () => T {
  let made: { readonly value: T } | undefined;
  return () => {
    made ??= { value: make() };
    return made.value;
  };
}
