import { type HttpRequest, httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import type { Reply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { changes } from "./changes.ts";
import { capabilities, hashrate, network, summary } from "./reports.ts";
import { type EpicOptions, EpicRig } from "./rig.ts";

/** An Antminer with ePIC's control board: JSON over HTTP, reads without a login, a password in each command. */
export function epic(body: RigBody, options: EpicOptions): Conversation {
  const rig = new EpicRig(body, options);
  return {
    // Other rigs have their RPC at this port; a web server answers its requests so.
    rpc: () => reply(400, "text/plain", ""),
    http: (request) => {
      rig.model.advance();
      return answer(rig, options.password, request);
    },
  };
}

const page = "<!doctype html><html><head><title>Miner Web Dashboard</title></head><body></body></html>";

const pages: ReadonlyMap<string, (rig: EpicRig) => unknown> = new Map<string, (rig: EpicRig) => unknown>([
  ["/summary", summary],
  ["/capabilities", capabilities],
  ["/network", network],
  ["/hashrate", hashrate],
]);

function answer(rig: EpicRig, password: string, { method, path, body }: HttpRequest): Reply {
  if (method === "GET" && path === "/") return reply(200, "text/html", page);
  const read = pages.get(path);
  if (method === "GET") return read === undefined ? unknown() : json(200, read(rig));
  const { param, password: given, ...others } = objectIn(body) ?? {};
  logWrite(rig.body.requests, `${path} ${JSON.stringify(param)}`);
  const change = changes.get(path);
  if (method !== "POST" || change === undefined) return unknown();
  if (Object.keys(others).length > 0 || param === undefined) return refused("MissingParam");
  if (given !== password) return refused("BadPassword");
  if (rig.body.denies()) return refused("Not permitted");
  const mistake = change(rig, param);
  return mistake === null ? json(200, { result: true, error: null }) : refused(mistake);
}

const reply = (status: number, type: string, body: string): Reply =>
  httpReply({
    status,
    reason: status === 200 ? "OK" : "Refused",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close"],
    body,
    close: true,
  });

const json = (status: number, value: unknown): Reply => reply(status, "application/json", JSON.stringify(value));
const refused = (error: string): Reply => json(200, { result: false, error });
const unknown = (): Reply => json(404, { result: false, error: "InvalidUrl" });
