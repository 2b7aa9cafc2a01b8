import { type HttpRequest, httpReply } from "../http-message.ts";
import type { Reply } from "../reply.ts";
import type { Conversation, RigBody } from "../rig.ts";
import { graphql } from "./graphql.ts";
import { rest } from "./rest.ts";
import { type BraiinsOptions, type BraiinsRig, freshRig, knows } from "./rig.ts";
import { rpc } from "./rpc.ts";

/**
 * Braiins OS: BOSminer (22.08: RPC and, with a login, GraphQL) or BOSer (25.07: RPC and, with a login, REST). RPC
 * needs no login and offers few commands.
 */
export function braiins(body: RigBody, options: BraiinsOptions): Conversation {
  const rig = freshRig(body, options);
  return { rpc: (request) => rpc(rig, request), http: (request) => http(rig, request) };
}

const page = "<!doctype html><html><head><title>Braiins OS</title></head><body><div id=root></div></body></html>";

function http(rig: BraiinsRig, request: HttpRequest): Reply {
  const { method, path, headers, body } = request;
  rig.body.model.advance();
  const api = rest(rig, request);
  if (api !== undefined) return api.body === undefined ? reply(api.status, [], null) : json(api.status, api.body);
  const session = /session_id=([^;]+)/.exec(headers.get("cookie") ?? "")?.[1];
  if (method === "POST" && path === "/graphql") {
    const answer = graphql(rig, body, knows(rig, session));
    const cookies = answer.session === undefined ? [] : [`Set-Cookie: session_id=${answer.session}; HttpOnly; Path=/`];
    return json(200, answer.body, cookies);
  }
  if (rig.options.generation === "bosminer" && path.startsWith("/cgi-bin/luci/"))
    return luci(rig, path, knows(rig, session));
  // Like any single-page application, it serves its page at every other path.
  return reply(path.startsWith("/api/") ? 404 : 200, ["Content-Type: text/html"], page);
}

function luci({ body }: BraiinsRig, path: string, admitted: boolean): Reply {
  if (!admitted) return reply(403, [], "Forbidden");
  if (!path.endsWith("/admin/network/iface_status/lan")) return reply(404, [], "Not Found");
  return json(200, [{ macaddr: body.mac }]);
}

const reasons: Readonly<Record<number, string>> = {
  200: "OK",
  201: "Created",
  204: "No Content",
  400: "Bad Request",
  401: "Unauthorized",
  403: "Forbidden",
  404: "Not Found",
  409: "Conflict",
  412: "Precondition Failed",
};

function reply(status: number, headers: readonly string[], body: string | null): Reply {
  const length =
    body === null && status !== 204 ? ["Content-Length: 0"] : body === null ? [] : ["Content-Length: {length}"];
  return httpReply({ status, reason: reasons[status] ?? "", headers: [...headers, ...length], body, close: false });
}

const json = (status: number, body: unknown, headers: readonly string[] = []): Reply =>
  reply(status, ["Content-Type: application/json", ...headers], JSON.stringify(body));
