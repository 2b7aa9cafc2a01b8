import { cgminer } from "../cgminer/index.ts";
import { escaped } from "../cgminer/writer.ts";
import { objectIn } from "../json.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { changes, setOption } from "./options.ts";
import { liteStats, stats, version } from "./reports.ts";
import { type AvalonGeneration, type AvalonRig, clockOf, freshAvalon, reboot, settle } from "./state.ts";
import { webAnswer } from "./web.ts";

export interface AvalonOptions {
  readonly generation: AvalonGeneration;
  /** Password of the web page. */
  readonly password: string;
  /** Whether the firmware lists its options. */
  readonly helps: boolean;
}

/**
 * Canaan's Avalon: cgminer's RPC with its own options and status line, on one thread, which answers requests one
 * after the other; and the web page that stores the pools.
 */
export function avalon(body: RigBody, options: AvalonOptions): Conversation {
  const rig = freshAvalon(body, options);
  const base = cgminer(body, { dialect: "cgminer", privileged: true });
  return {
    rpc: (request) => answer(rig, request, (text) => base.rpc?.(text) ?? null),
    http: (request) => webAnswer(rig, request),
  };
}

/** Commands of cgminer that these do not have; home miners change their pools only on the web page. */
const lacking: Readonly<Record<AvalonGeneration, ReadonlySet<string>>> = {
  "a-series": new Set(["asc", "pga", "quit", "save", "privileged", "addpool", "removepool"]),
  nano3: new Set(["asc", "pga", "quit", "save", "privileged"]),
  nano3s: new Set(["asc", "pga", "quit", "save", "privileged", "addpool", "removepool", "restart"]),
  mini3: new Set(["asc", "pga", "quit", "save", "privileged", "addpool", "removepool"]),
  q: new Set(["asc", "pga", "quit", "save", "privileged", "addpool", "removepool"]),
};

interface Request {
  readonly json: boolean;
  readonly command: string;
  readonly parameter: string | null;
}

function answer(rig: AvalonRig, text: string, base: (text: string) => Reply | null): Reply | null {
  if (text === "") return null;
  settle(rig);
  const request = requestOf(text);
  if (!request.json && rig.generation === "nano3s") return statusReply(rig, request, "E", 23, "Invalid JSON");
  const { command, parameter } = request;
  if (lacking[rig.generation].has(command)) return statusReply(rig, request, "E", 14, "Invalid command");
  switch (command) {
    case "version":
      return statusReply(rig, request, "S", 22, "CGMiner versions", ["VERSION", version(rig)]);
    case "stats":
    case "estats":
      return statusReply(rig, request, "S", 70, "CGMiner stats", ["STATS", stats(rig)]);
    case "litestats":
      return statusReply(rig, request, "S", 70, "CGMiner stats", ["STATS", liteStats(rig)]);
    case "ascset":
      return ascset(rig, request);
    case "restart":
      return restarted(rig, request);
    case "check":
      if (parameter !== null && lacking[rig.generation].has(parameter))
        return statusReply(rig, request, "S", 72, "Check command", ["CHECK", { Exists: "N", Access: "N" }]);
      return byItsClock(rig, base(text));
    default:
      return byItsClock(rig, base(text));
  }
}

function ascset(rig: AvalonRig, request: Request): Reply {
  const [module, name = "", ...rest] = (request.parameter ?? "").split(",");
  const value = rest.join(",");
  if (changes(name, value)) logWrite(rig.body.requests, `ascset|${request.parameter}`);
  if (rig.body.denies()) return statusReply(rig, request, "E", 45, "Access denied to 'ascset' command");
  if (module !== "0") return statusReply(rig, request, "E", 107, `Invalid ASC id ${module} - range is 0 - 0`);
  const clock = clockOf(rig);
  const outcome = setOption(rig, name.toLowerCase(), value);
  if (outcome === null) return statusReply(rig, request, "S", 119, "ASC 0 set OK", undefined, clock);
  if ("error" in outcome) return statusReply(rig, request, "E", 120, `ASC 0 set failed: ${outcome.error}`);
  return statusReply(rig, request, "I", 118, `ASC 0 set info: ${outcome.info}`);
}

function restarted(rig: AvalonRig, request: Request): Reply {
  logWrite(rig.body.requests, "restart");
  if (rig.body.denies()) return statusReply(rig, request, "E", 45, "Access denied to 'restart' command");
  reboot(rig);
  return rpcReply(request.json ? '{"STATUS":"RESTART","id":1}' : "RESTART");
}

function requestOf(text: string): Request {
  const fields = objectIn(text);
  if (fields !== null) {
    const { command, parameter } = fields;
    return {
      json: true,
      command: String(command ?? ""),
      parameter: parameter === undefined ? null : String(parameter),
    };
  }
  const [command = "", parameter = null] = text.split(/\|(.*)/s);
  return { json: text.startsWith("{"), command, parameter };
}

type Section = readonly [name: string, fields: Readonly<Record<string, string | number>>];

const description = "cgminer 4.11.1";

function statusReply(
  rig: AvalonRig,
  { json }: Request,
  letter: "S" | "I" | "E",
  code: number,
  words: string,
  section?: Section,
  when = clockOf(rig),
): Reply {
  const status = { STATUS: letter, When: when, Code: code, Msg: words, Description: description };
  if (json) {
    const more = section === undefined ? {} : { [section[0]]: [section[1]] };
    return rpcReply(JSON.stringify({ STATUS: [status], ...more, id: 1 }));
  }
  const pairs = (fields: object): string[] =>
    Object.entries(fields).map(([key, value]) => `${key}=${escaped(String(value))}`);
  const rest = section === undefined ? "" : `${[section[0], ...pairs(section[1])].join(",")}|`;
  return rpcReply(`${pairs(status).join(",")}|${rest}`);
}

/** An A-series does not have the time of day. */
function byItsClock(rig: AvalonRig, reply: Reply | null): Reply | null {
  if (reply === null || rig.generation !== "a-series" || typeof reply.body !== "string") return reply;
  return { ...reply, body: reply.body.replace(/("When":|When=)\d+/, `$1${clockOf(rig)}`) };
}
