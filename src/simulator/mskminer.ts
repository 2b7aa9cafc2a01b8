import { dialects } from "./cgminer/dialects.ts";
import { cgminer } from "./cgminer/index.ts";
import { type HttpRequest, httpReply } from "./http-message.ts";
import type { Reply } from "./reply.ts";
import type { Conversation, RigBody } from "./rig.ts";

const dialect = {
  ...dialects.bmminer,
  version: {
    BMMiner: "4.11.1 rwglr",
    API: "3.1",
    Miner: "0.0.1.3",
    CompileTime: "10 Dec 2024 14:34:31 GMT",
    Type: "S19-88 v.2.6.0.39 ",
  },
  description: "bmminer 1.0.0",
  powers: true,
} as const;

const session = "session=simulated";

/** MSKMiner's firmware of an S19: Bitmain's RPC, here read-only, and the page of its network behind a login. */
export function mskminer(body: RigBody, password: string): Conversation {
  const { rpc } = cgminer(body, { dialect, privileged: false });
  return { ...(rpc === undefined ? {} : { rpc }), http: (request) => answer(body, password, request) };
}

function answer(body: RigBody, password: string, { method, path, headers, body: sent }: HttpRequest): Reply {
  if (method === "GET" && path === "/") return reply(200, "<html><head><title>Login</title></head></html>");
  if (method !== "POST") return reply(404, "");
  if (path === "/admin/login") {
    const form = new URLSearchParams(sent);
    const isRight = form.get("username") === "admin" && form.get("password") === password;
    return isRight ? reply(302, "", ["Location: /", `Set-Cookie: ${session}; Path=/; HttpOnly`]) : reply(401, "");
  }
  if (path !== "/api/info_v1") return reply(404, "");
  if (headers.get("cookie") !== session) return reply(401, "");
  const result = { address: "127.0.0.1", macaddr: body.mac.toLowerCase(), netmask: "255.0.0.0" };
  return reply(200, JSON.stringify({ network_info: { result } }));
}

const reply = (status: number, body: string, headers: readonly string[] = []): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Other",
    headers: [...headers, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });
