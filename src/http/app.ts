import { randomUUID } from "node:crypto";
import type { RequestListener } from "node:http";
import compress from "@fastify/compress";
import { type FastifyBaseLogger, type FastifyInstance, type FastifyReply, type FastifyRequest, fastify } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import type { QueryText } from "../contract/decode.ts";
import type { ActingLease } from "../contract/lease.ts";
import type { MqttStatus } from "../contract/mqtt-status.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { RemoteWriteStatus } from "../contract/remote-write-status.ts";
import type { MiningService } from "../contract/service.ts";
import type { SessionLog } from "../contract/session.ts";
import type { StoreWaiting } from "../contract/store-waiting.ts";
import { detail } from "../messages/detail.ts";
import { type Admission, admission } from "./admission.ts";
import { addAgentRoute } from "./agents.ts";
import { countAnswers, sendRead } from "./answers.ts";
import { hasBody, unreadBody } from "./body.ts";
import { quickCompression } from "./compression.ts";
import { type Admitted, credentials } from "./credentials.ts";
import { addDocs, nothingHere } from "./docs.ts";
import { addEventStream } from "./events.ts";
import { addHookRoute } from "./hooks.ts";
import { routeUpgrades } from "./inward-sockets.ts";
import { limitedServer } from "./limited-server.ts";
import type { HttpLimits } from "./limits.ts";
import { logAnswers, loggable } from "./log.ts";
import type { LoginCodes } from "./login-codes.ts";
import { addMcpRoute } from "./mcp.ts";
import { addMetrics } from "./metrics.ts";
import { builtWeb, isForBrowser, Pages } from "./pages.ts";
import { refuse, takePassedOn } from "./passed-on.ts";
import { absentMethods, activePath, docsPath, healthPath, methodsAt, pathOf, rootPath } from "./paths.ts";
import { trustedProxies } from "./peer.ts";
import { PendingAnswers } from "./pending-answers.ts";
import { problemDocument, problemType } from "./problem.ts";
import { readQuery } from "./query.ts";
import { RequestQueues } from "./request-queue.ts";
import { addRoutes } from "./routes.ts";
import { addSessionRoutes } from "./session-routes.ts";
import { Sessions } from "./sessions.ts";
import { addSiteRoute } from "./site-connections.ts";

declare module "fastify" {
  interface FastifyRequest {
    /** The query as text; Fastify's own `query` stays empty. */
    queryText: QueryText;
    admitted: Admitted;
    /** Charges bytes of the body to this client's write limit. Throws `too.many`. */
    chargeForBody: (bytes: number) => void;
    /** The problem with which the request was refused. */
    refusal: RigbridgeError | undefined;
  }
}

/** No route has a Fastify schema; its compilers would be loaded unless others are given. */
const compile = () => (): never => {
  throw new RigbridgeError("internal", "No route may have a schema of Fastify's");
};
const noCompilers = { buildValidator: compile, buildSerializer: compile };

export interface AppOptions {
  readonly service: MiningService;
  readonly settings: HttpSettings;
  readonly log: FastifyBaseLogger;
  readonly version: string;
  readonly limits: HttpLimits;
  readonly mqtt?: () => MqttStatus | undefined;
  /** Absent: this service has no remote write. */
  readonly remoteWrite?: () => RemoteWriteStatus | undefined;
  readonly lease?: ActingLease | null;
  /** Samples that wait for the store. */
  readonly waiting?: () => StoreWaiting | null;
  /** Storage of sessions; absent: they end with the process. */
  readonly sessions?: SessionLog;
  readonly codes: LoginCodes;
  /** The folder of the built dashboard; by default the package's own. */
  readonly web?: string;
}

/** The Fastify instance with all routes, checks and error answers; it does not listen yet. */
export async function buildApp({
  service,
  settings,
  log,
  version,
  limits,
  mqtt,
  remoteWrite,
  lease = null,
  waiting = () => null,
  ...options
}: AppOptions): Promise<FastifyInstance> {
  const fail = problemSender(log, limits);
  const queues = new RequestQueues(limits);
  const app: FastifyInstance = fastify({
    schemaController: { compilersFactory: noCompilers },
    serverFactory: (handle) => {
      const server = limitedServer(ofClients(handle, lease), queues, limits, log);
      const route = ofClients((request, response) => app.routing(request, response), lease);
      routeUpgrades(server, route, (socket) => queues.release(socket));
      return server;
    },
    // The server answers it itself; Fastify's own handler would cut the connection off before that answer is read.
    clientErrorHandler: () => {},
    trustProxy: trustedBy(settings),
    exposeHeadRoutes: false,
    return503OnClosing: false,
    routerOptions: {
      caseSensitive: false,
      ignoreTrailingSlash: true,
      maxParamLength: limits.headers,
      querystringParser: () => ({}),
    },
    frameworkErrors: fail,
  });
  takeOverBodies(app);
  await app.register(compress, { threshold: 1024, ...quickCompression });
  const sessions = new Sessions({
    stored: options.sessions,
    keyHolder: (digest) => service.keyHolder?.(digest),
    ownKey: () => settings.key,
    now: Date.now,
    unstored: (error) => log.warn({ err: error }, "a session could not be stored; it ends with the process"),
  });
  const { admit, login } = admission(settings, credentials(settings, service, sessions), limits);
  addHooks(app, admit);
  app.addHook("preClose", (done) => {
    queues.close();
    done();
  });
  const pending = new PendingAnswers(limits);
  countAnswers(app, pending);
  logAnswers(app, log);
  app.setErrorHandler(fail);
  const pages = new Pages(options.web ?? builtWeb, () => settings.origins);
  app.setNotFoundHandler(async (request, reply) =>
    isForBrowser(request)
      ? ((await pages.answer(request, reply)) ?? notFound(request, reply))
      : notFound(request, reply),
  );
  app.route({
    method: ["GET", "HEAD"],
    url: rootPath,
    compress: false,
    handler: async (request, reply) =>
      isForBrowser(request) ? pages.answer(request, reply) : reply.redirect(docsPath),
  });
  app.route({
    method: ["GET", "HEAD"],
    url: healthPath,
    handler: (request, reply) => {
      const ofStore = { ...roleOf(lease), waiting: waiting() ?? undefined };
      return sendRead(request, reply, { status: "ok", version, mqtt: mqtt?.(), ...ofStore });
    },
  });
  app.route({
    method: ["GET", "HEAD"],
    url: activePath,
    handler: async (request, reply) => {
      if (lease?.mayAct() === false)
        throw new RigbridgeError("service.no.active", "This service does not have the lease of its store now");
      return sendRead(request, reply, { status: "ok", version, ...roleOf(lease) });
    },
  });
  for (const route of absentMethods)
    app.route({ ...route, method: [...route.method], handler: async (request, reply) => notFound(request, reply) });
  addDocs(app, version);
  addMetrics(app, {
    service,
    version,
    pending,
    lease,
    ...(mqtt === undefined ? {} : { mqtt }),
    ...(remoteWrite === undefined ? {} : { remoteWrite }),
  });
  addRoutes(app, { service, limits, pending });
  addSessionRoutes(app, { service, sessions, codes: options.codes, login, version, limits });
  addHookRoute(app, { service, limits });
  addMcpRoute(app, { service, settings, limits, version, log });
  addAgentRoute(app, { service, log, lease });
  addSiteRoute(app, { service, log });
  addEventStream(app, { service, limits, log, sessions });
  return app;
}

/** For a service that shares its store with others of its site. */
const roleOf = (lease: ActingLease | null) =>
  lease === null ? {} : { role: "active", epoch: lease.epoch, since: new Date(lease.since).toISOString() };

/** Answers requests that another service of the site has passed on as those of its clients. */
const ofClients = (handle: RequestListener, lease: ActingLease | null): RequestListener =>
  lease === null
    ? handle
    : (request, response) => {
        try {
          takePassedOn(request, lease.secret);
        } catch (error) {
          if (!(error instanceof RigbridgeError)) throw error;
          return refuse(response, error);
        }
        return handle(request, response);
      };

function trustedBy(settings: HttpSettings): (address: string) => boolean {
  const proxies = trustedProxies(settings);
  return (address) => proxies().has(address);
}

/** The operation decides how its body is read (body.ts); Fastify would refuse content types that must be ignored. */
function takeOverBodies(app: FastifyInstance): void {
  for (const method of ["POST", "PATCH", "DELETE", "PUT", "OPTIONS", "QUERY"])
    app.addHttpMethod(method, { hasBody: false, overrideExisting: true });
}

const always = {
  "referrer-policy": "no-referrer",
  "x-content-type-options": "nosniff",
  vary: "accept-encoding",
} as const;

const readsOnly: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);

function addHooks(app: FastifyInstance, admit: Admission["admit"]): void {
  app.decorateRequest("queryText");
  app.decorateRequest("admitted");
  app.decorateRequest("chargeForBody", () => undefined);
  app.decorateRequest("refusal");
  app.addHook("onRequest", (request, reply, done) => {
    reply.headers(always);
    // Bodies of these methods are not read, and may be endless.
    if (hasBody(request.raw) && readsOnly.has(request.method)) reply.header("connection", "close");
    request.queryText = readQuery(request.url);
    request.admitted = {};
    request.admitted = admit(request, request.queryText, reply);
    done();
  });
}

/** 405 and OPTIONS for known paths, 404 for others; the answer repeats nothing of the request. */
function notFound(request: FastifyRequest, reply: FastifyReply): FastifyReply {
  const methods = methodsAt(pathOf(request.url));
  if (methods.length === 0) throw nothingHere();
  reply.header("allow", methods.join(", "));
  if (request.method === "OPTIONS") return reply.code(204).send();
  throw new RigbridgeError("method.not-allowed", `This path takes ${methods.join(", ")}`);
}

type ProblemSender = (error: Error & { code?: string }, request: FastifyRequest, reply: FastifyReply) => void;

function problemSender(log: FastifyBaseLogger, limits: HttpLimits): ProblemSender {
  return (error, request, reply) => {
    const problem = problemOf(error, request, log);
    request.refusal = problem;
    if (problem.code === "too.many" && !reply.hasHeader("retry-after")) reply.header("retry-after", "1");
    if (unreadBody(request.raw, limits) === "endless") reply.header("connection", "close");
    reply
      .code(problem.status)
      .headers({ "referrer-policy": "no-referrer", "x-content-type-options": "nosniff", "cache-control": "no-store" })
      .removeHeader("etag")
      .header("content-type", problemType)
      .send(JSON.stringify(problemDocument(problem)));
  };
}

/** Any other error is an invalid path or an internal error, whose details go to the log only. */
function problemOf(error: Error & { code?: string }, request: FastifyRequest, log: FastifyBaseLogger) {
  if (error instanceof RigbridgeError) return error;
  if (error.code === "FST_ERR_BAD_URL")
    return new RigbridgeError("input.invalid", "The path has a broken percent-escape");
  const id = randomUUID();
  log.error({ err: error, id, method: request.method, path: loggable(request.url) }, "a fault of the service");
  return new RigbridgeError("internal", detail("service.failed", { id }));
}
