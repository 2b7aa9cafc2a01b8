import { type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import { RigbridgeError } from "../contract/problems.ts";
import { clientHolds, tagged } from "./etag.ts";
import { openApiDocument } from "./openapi.ts";
import { docsDocumentPath, docsFilePath, docsPath, openApiPath, pathOf, rootPath } from "./paths.ts";

/** The OpenAPI document, and the page that shows it. Both are made when they are first asked for. */
export function addDocs(app: FastifyInstance, version: string): void {
  const made = once(() => {
    const { text, etag } = tagged(openApiDocument(version));
    return { bytes: Buffer.from(text), etag: etag ?? "" };
  });
  const sendDocument = (request: FastifyRequest, reply: FastifyReply): FastifyReply => {
    const { bytes, etag } = made();
    reply.headers({ etag, "cache-control": "no-cache" });
    if (clientHolds(request.headers["if-none-match"], etag)) return reply.code(304).send();
    return reply.header("content-type", "application/json; charset=utf-8").send(bytes);
  };
  const pages = once(buildPages);
  const sendPage = async (request: FastifyRequest, reply: FastifyReply): Promise<FastifyReply> => {
    const path = pathOf(request.url);
    if (!plain.test(path)) throw nothingHere();
    const held = request.headers["if-none-match"];
    const page = await (await pages()).inject({
      url: path,
      ...(held === undefined ? {} : { headers: { "if-none-match": held } }),
    });
    if (page.statusCode >= 400) throw nothingHere();
    reply.code(page.statusCode).headers({ "cache-control": "no-cache", "content-security-policy": policy });
    for (const name of ["content-type", "etag", "location"])
      if (page.headers[name] !== undefined) reply.header(name, page.headers[name]);
    return reply.send(page.rawPayload);
  };
  const method = ["GET", "HEAD"];
  for (const url of [openApiPath, docsDocumentPath]) app.route({ method, url, handler: sendDocument });
  for (const url of [docsPath, docsFilePath]) app.route({ method, url, handler: sendPage });
  app.route({ method, url: rootPath, handler: (_request, reply) => reply.redirect(docsPath) });
}

/** Segments that are names of files and nothing else. */
const plain = /^(\/[a-z0-9][a-z0-9.-]*)+\/?$/i;

export const nothingHere = () =>
  new RigbridgeError("not.found", `There is nothing at this path; ${docsPath} shows what there is`);

/** Nothing but this server's own files, and no frame of another page around them. */
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

/** An instance of its own, since one that listens takes no more plugins, and these take their time to load. */
async function buildPages(): Promise<FastifyInstance> {
  const [{ default: swagger }, { default: swaggerUi }] = await Promise.all([
    import("@fastify/swagger"),
    import("@fastify/swagger-ui"),
  ]);
  const pages = fastify({ routerOptions: { caseSensitive: false, ignoreTrailingSlash: true } });
  // The page reads the document from `docsDocumentPath`, which is served above; the plugin insists on one all the same.
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
