import { dialects } from "../cgminer/dialects.ts";
import { cgminer } from "../cgminer/index.ts";
import { type HttpRequest, httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import { mix } from "../random.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { info, stats, status } from "./reports.ts";
import { modes, type SealminerOptions, SealminerRig } from "./rig.ts";

/** Its program is a cgminer with statistics of its own. */
const bdminer = {
  ...dialects.cgminer,
  version: { BDMiner: "4.11.1", API: "3.7" },
  description: "bdminer 4.11.1",
  joins: false,
};

/** A Sealminer: cgminer's RPC, and pages with a session in a cookie. */
export function sealminer(body: RigBody, options: SealminerOptions): Conversation {
  const rig = new SealminerRig(body);
  const others = cgminer(body, { dialect: bdminer, privileged: options.privileged });
  const sessions = new Map<string, number>();
  return {
    rpc: (request) => {
      rig.settle();
      const { command, parameter } = objectIn(request) ?? {};
      if (command === "stats")
        return rpcReply(JSON.stringify({ ...status(rig, "S", 70, "BDMiner stats"), ...stats(rig) }));
      if (command === "ascset") return rpcReply(JSON.stringify(set(rig, options, String(parameter))));
      const reply = others.rpc?.(request) ?? null;
      // Its program runs again.
      if (command === "restart" && options.privileged && !body.denies()) rig.suspended = false;
      return reply;
    },
    http: (request) => {
      rig.settle();
      return answer(rig, options, sessions, request);
    },
  };
}

function set(rig: SealminerRig, { privileged }: SealminerOptions, parameter: string): object {
  logWrite(rig.body.requests, `ascset|${parameter}`);
  if (!privileged || rig.body.denies()) return status(rig, "E", 45, "Access denied to 'ascset' command");
  if (parameter !== "0,suspend") return status(rig, "W", 117, "ASC 0 does not support that");
  rig.suspended = true;
  rig.settle();
  return status(rig, "S", 119, "ASC 0 set OK");
}

const loginPage = "<!doctype html><html><head><title>Login</title></head><body></body></html>";

function answer(
  rig: SealminerRig,
  options: SealminerOptions,
  sessions: Map<string, number>,
  { method, path, headers, body }: HttpRequest,
): Reply {
  const { model } = rig;
  const page = /^\/cgi-bin\/(\w+)\.php$/.exec(path)?.[1];
  if (page === undefined) return reply("text/html", loginPage);
  if (page === "login") {
    const given = new URLSearchParams(body);
    const session = mix(model.seed, 5_000 + sessions.size).toString(36);
    const fits = given.get("username") === options.username && given.get("origin_pwd") === options.password;
    // Every visitor has a session; only a login makes it valid.
    sessions.set(session, fits ? model.at + options.sessionSeconds * 1000 : 0);
    return reply("text/html", fits ? "1" : "0", [`Set-Cookie: PHPSESSID=${session}; path=/`]);
  }
  const session = /PHPSESSID=(\w+)/.exec(headers.get("cookie") ?? "")?.[1] ?? "";
  if (model.at >= (sessions.get(session) ?? 0)) return reply("text/html", loginPage);
  if (page === "get_system_info") return json(info(rig));
  logWrite(rig.body.requests, `${page}${method === "POST" ? ` ${body}` : ""}`);
  if (rig.body.denies()) return json({ message: "Not permitted" });
  return command(rig, page, body);
}

function command(rig: SealminerRig, page: string, body: string): Reply {
  const { key, value, miningMode } = objectIn(body) ?? {};
  if (page === "led_conf" && key === "led") rig.blinks = value === "on";
  if (page === "set_mining_mode") rig.mode = Object.values(modes).find((mode) => mode === miningMode) ?? rig.mode;
  if (page === "reboot") {
    rig.blinks = false;
    rig.suspended = false;
    rig.model.restart(rig.body.restartSeconds);
  }
  rig.settle();
  return reply("text/html", "");
}

const reply = (type: string, body: string, headers: readonly string[] = []): Reply =>
  httpReply({
    status: 200,
    reason: "OK",
    headers: [`Content-Type: ${type}`, "Content-Length: {length}", "Connection: close", ...headers],
    body,
    close: true,
  });

// Its pages call JSON a text.
const json = (value: unknown): Reply => reply("text/html", JSON.stringify(value));
