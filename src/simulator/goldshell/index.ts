import { type HttpRequest, httpReply } from "../http-message.ts";
import { jsonOf, objectIn } from "../json.ts";
import { mix } from "../random.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { changes } from "./changes.ts";
import { pages, rpcReports, status } from "./reports.ts";
import { type GoldshellOptions, GoldshellRig } from "./rig.ts";

/** A Goldshell: bfgminer's RPC without writes, an HTTP API with a token. */
export function goldshell(body: RigBody, options: GoldshellOptions): Conversation {
  const rig = new GoldshellRig(body, options);
  return {
    rpc: (request) => {
      rig.settle();
      const report = rpcReports.get(String(objectIn(request)?.command));
      const answer = report === undefined ? status(rig, "E", 14, "Invalid command") : report(rig);
      return rpcReply(JSON.stringify({ ...answer, id: 1 }));
    },
    http: (request) => {
      rig.settle();
      return answer(rig, options, request);
    },
  };
}

const page = "<!doctype html><html><head><title>cloud-box</title></head><body></body></html>";

function answer(rig: GoldshellRig, options: GoldshellOptions, request: HttpRequest): Reply {
  const { method, path, query, headers, body } = request;
  if (method === "GET" && path === "/") return reply(200, "text/html", page);
  const token = mix(rig.model.seed, 4_000 + rig.tokenTurn).toString(36);
  if (method === "GET" && path === "/user/login") return logIn(options, token, new URLSearchParams(query));
  if (headers.get("authorization") !== `Bearer ${token}`) return reply(401, "text/plain", "Unauthorized");
  const name = path.replace(/^\/mcb\//, "");
  const report = pages.get(name);
  if (method === "GET") return report === undefined ? missing() : json(report(rig));
  const change = changes.get(name);
  if (method !== "PUT" || change === undefined) return missing();
  logWrite(rig.body.requests, `${name} ${body}`.trimEnd());
  if (rig.body.denies()) return reply(403, "text/plain", "Forbidden");
  const done = change(rig, jsonOf(body));
  return done === null ? reply(400, "text/plain", "Bad Request") : json(done);
}

function logIn({ username, password, encrypted }: GoldshellOptions, token: string, given: URLSearchParams): Reply {
  // Its newer firmware takes the password only encrypted; `encrypted` is that form of it.
  const fits =
    given.get("username") === username &&
    (given.get("cipher") === "true" ? given.get("password") === encrypted : given.get("password") === password);
  return fits ? json({ "JWT Token": token }) : reply(401, "text/plain", "Unauthorized");
}

const reply = (code: number, type: string, body: string): Reply =>
  httpReply({
    status: code,
    reason: code === 200 ? "OK" : "Refused",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (value: unknown): Reply => reply(200, "application/json", JSON.stringify(value));
const missing = (): Reply => reply(404, "text/plain", "Not found");
