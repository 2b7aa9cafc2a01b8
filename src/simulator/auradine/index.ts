import { type HttpRequest, httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import { mix } from "../random.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { changes } from "./changes.ts";
import { pages, rpcReports, status } from "./reports.ts";
import { type AuradineOptions, AuradineRig } from "./rig.ts";

/** An Auradine with FluxOS: reports over cgminer's RPC, an HTTP API with a token. */
export function auradine(body: RigBody, options: AuradineOptions): Conversation {
  const rig = new AuradineRig(body);
  const tokens = new Map<string, number>();
  return {
    rpc: (request) => {
      rig.settle();
      const command = String(objectIn(request)?.command);
      const report = rpcReports.get(command);
      const answer = report === undefined ? status(rig, "E", 14, "Invalid command") : report(rig);
      return rpcReply(JSON.stringify({ ...answer, id: 1 }));
    },
    http: (request) => {
      rig.settle();
      return answer(rig, options, tokens, request);
    },
  };
}

const page = "<!doctype html><html><head><title>Miner UI</title></head><body></body></html>";

function answer(rig: AuradineRig, options: AuradineOptions, tokens: Map<string, number>, request: HttpRequest): Reply {
  const { method, path, headers } = request;
  if (method === "GET" && path === "/") return reply(200, "text/html", page);
  const name = path.slice(1);
  const { command, ...fields } = objectIn(request.body) ?? {};
  if (method === "POST" && name === "token") return logIn(rig, options, tokens, fields);
  const expires = tokens.get(headers.get("token") ?? "") ?? 0;
  if (rig.model.at >= expires) return json(status(rig, "E", 703, "Token expired or invalid"));
  const report = pages.get(name);
  if (method === "GET") return report === undefined ? reply(404, "text/plain", "Not found") : json(report(rig));
  const change = changes.get(name);
  if (method !== "POST" || change === undefined) return reply(404, "text/plain", "Not found");
  logWrite(rig.body.requests, `${name} ${JSON.stringify(fields)}`);
  if (rig.body.denies()) return json(status(rig, "E", 45, "Access denied"));
  if (command !== name) return json(status(rig, "E", 700, "Invalid command"));
  const mistake = change(rig, fields);
  return json(mistake === null ? status(rig, "S", 701, `Command '${name}' accepted`) : status(rig, "E", 702, mistake));
}

function logIn(
  rig: AuradineRig,
  { username, password, tokenSeconds }: AuradineOptions,
  tokens: Map<string, number>,
  given: Readonly<Record<string, unknown>>,
): Reply {
  if (given.user !== username || given.password !== password)
    return json(status(rig, "E", 706, "Invalid user or password"));
  const token = mix(rig.model.seed, 3_000 + tokens.size).toString(36);
  tokens.set(token, rig.model.at + tokenSeconds * 1000);
  return json({ ...status(rig, "S", 700, "Token created"), Token: [{ Token: token }] });
}

const reply = (code: number, type: string, body: string): Reply =>
  httpReply({
    status: code,
    reason: code === 200 ? "OK" : "Not Found",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (value: object): Reply => reply(200, "application/json", JSON.stringify({ ...value, id: 1 }));
