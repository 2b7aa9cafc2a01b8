import type { FastifyBaseLogger, FastifyInstance, FastifyReply, FastifyRequest } from "fastify";
import type { HttpSettings } from "../config/schema.ts";
import { userIdIn } from "../contract/decode.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { readJson } from "./body.ts";
import { callerOf } from "./caller.ts";
import { nothingHere } from "./docs.ts";
import type { HttpLimits } from "./limits.ts";
import { mcpPath } from "./paths.ts";

export interface McpRouteOptions {
  readonly service: MiningService;
  readonly settings: HttpSettings;
  readonly limits: HttpLimits;
  readonly version: string;
  readonly log: FastifyBaseLogger;
}

/**
 * The Model Context Protocol over HTTP, if `http.mcp` is on. Admission has checked key, Host and Origin, as for every
 * write. Nothing is kept between two requests but confirmations.
 */
export function addMcpRoute(app: FastifyInstance, { service, settings, limits, version, log }: McpRouteOptions): void {
  const failed = (error: unknown): void => log.error({ err: error }, "an MCP tool failed");
  let loaded: ReturnType<typeof load> | undefined;
  /** Loaded with the first request, since most services have no MCP client. */
  const load = async () => {
    const [{ mcpServers }, { createMcpHandler }] = await Promise.all([
      import("../mcp/index.ts"),
      import("@modelcontextprotocol/server"),
    ]);
    const servers = mcpServers({ service, version, now: Date.now, failed });
    return (client: Parameters<typeof servers>[0]) =>
      // Nothing is announced, so there is nothing to subscribe to.
      createMcpHandler(servers(client), { maxSubscriptions: 0, keepAliveMs: 0 });
  };
  app.route({
    method: "POST",
    url: mcpPath,
    handler: async (request, reply) => {
      if (!settings.mcp) throw nothingHere();
      const { userId, privilege } = callerOf(request.admitted, userIdIn(request.queryText));
      const message = await readJson(reply.raw, limits, request.chargeForBody);
      if (Array.isArray(message)) throw new RigbridgeError("input.invalid", "Send one message at a time");
      loaded ??= load();
      const handler = (await loaded)({ access: { userId, privilege }, name: productOf(request) });
      const gone = new AbortController();
      reply.raw.once("close", () => gone.abort());
      const answer = await handler.fetch(webRequest(request, gone.signal), { parsedBody: message });
      return send(reply, answer);
    },
  });
}

/** The program of a request, for clients of earlier revisions: they give their name only with the first request. */
const productOf = ({ headers }: FastifyRequest): string | undefined => headers["user-agent"]?.split(/[/ ]/, 1)[0];

/** Without the key and cookies. */
function webRequest({ headers, raw }: FastifyRequest, signal: AbortSignal): Request {
  const own = ["accept", "content-type", ...Object.keys(headers).filter((name) => name.startsWith("mcp-"))];
  const kept = own.flatMap((name) => {
    const value = headers[name];
    return typeof value === "string" ? [[name, value] satisfies [string, string]] : [];
  });
  return new Request(`http://localhost${mcpPath}`, { method: raw.method ?? "POST", headers: kept, signal });
}

/** A stream as well ends with its one result. */
async function send(reply: FastifyReply, answer: Response): Promise<FastifyReply> {
  const body = await answer.text();
  const type = answer.headers.get("content-type");
  reply.code(answer.status).header("cache-control", "no-store");
  if (type !== null) reply.header("content-type", type);
  return reply.send(body);
}
