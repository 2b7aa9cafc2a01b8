import { type HttpRequest, httpReply } from "../http-message.ts";
import type { RigModel } from "../model.ts";
import { mix } from "../random.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { guarded, open, type Said } from "./commands.ts";
import { type LuxosProfile, profilesFor } from "./profiles.ts";
import { description, reports } from "./reports.ts";

export interface LuxosOptions {
  /** Whether it joins reports with `+`. */
  readonly joins: boolean;
  /** Whether thermal management is on at first. */
  readonly managed: boolean;
}

/** A LuxOS rig: its body, and what its firmware keeps. */
export class LuxosRig {
  readonly body: RigBody;
  readonly model: RigModel;
  readonly profiles: readonly LuxosProfile[];
  profile: LuxosProfile;
  asleep = false;
  redLed = "auto";
  atm: { readonly enabled: boolean; readonly highest: string };
  /** °C. */
  temperatures = { hot: 75, dangerous: 80 };
  /** At most one; it ends when it was not used for a minute. */
  session: { readonly id: string; usedAt: number } | null = null;
  #sessions = 0;

  constructor(body: RigBody, managed: boolean) {
    this.body = body;
    this.model = body.model;
    this.profiles = profilesFor(body.model);
    this.profile = this.profiles.find(({ name }) => name === "default") ?? notThere();
    this.atm = { enabled: managed, highest: "default" };
    this.use(this.profile);
  }

  use(profile: LuxosProfile): void {
    this.profile = profile;
    this.model.change((model) => {
      model.level = profile.level;
    });
  }

  logon(): string | null {
    if (this.session !== null && this.model.at - this.session.usedAt < sessionMs) return null;
    this.#sessions += 1;
    const id = mix(this.model.seed, this.#sessions).toString(36).padStart(8, "x");
    this.session = { id, usedAt: this.model.at };
    return id;
  }

  /** Whether this session is the one. */
  knows(session: string | undefined): boolean {
    const { session: own } = this;
    if (own === null || own.id !== session || this.model.at - own.usedAt >= sessionMs) return false;
    own.usedAt = this.model.at;
    return true;
  }
}

const sessionMs = 60_000;

const notThere = (): never => {
  throw new TypeError("there is no default profile");
};

/** LuxOS of 2025: the RPC of cgminer with commands of its own, one session at a time, and a page on its web port. */
export function luxos(body: RigBody, { joins, managed }: LuxosOptions): Conversation {
  const rig = new LuxosRig(body, managed);
  return { rpc: (request) => answer(rig, joins, request), http };
}

const page = "<!doctype html><html><head><title>Luxor Firmware</title></head><body></body></html>";

const http = ({ method, path }: HttpRequest): Reply => {
  const found = method === "GET" && path === "/";
  return httpReply({
    status: found ? 200 : 404,
    reason: found ? "OK" : "Not Found",
    headers: ["Content-Type: text/html", "Content-Length: {length}", "Connection: close"],
    body: found ? page : "",
    close: true,
  });
};

function answer(rig: LuxosRig, joins: boolean, text: string): Reply {
  rig.model.advance();
  const request = requestOf(text);
  if (request === null) return written(rig, { letter: "E", code: 23, words: "Invalid JSON" });
  const { command, parameter } = request;
  const names = command.split("+");
  if (joins && names.length > 1) {
    const parts = names.map((name) => [name, [bodyOf(rig, name, "")]]);
    return rpcReply(JSON.stringify({ ...Object.fromEntries(parts), id: 1 }));
  }
  return rpcReply(JSON.stringify(bodyOf(rig, command, parameter)));
}

function requestOf(text: string): { command: string; parameter: string } | null {
  try {
    const { command, parameter }: { command?: unknown; parameter?: unknown } = Object(JSON.parse(text));
    return typeof command === "string" ? { command, parameter: parameter == null ? "" : String(parameter) } : null;
  } catch {
    return null;
  }
}

const written = (rig: LuxosRig, said: Said): Reply => rpcReply(JSON.stringify(withStatus(rig, said)));

const withStatus = (rig: LuxosRig, { letter, code, words }: Said, sections: object = {}): object => ({
  ...sections,
  STATUS: [{ Code: code, Description: description, Msg: words, STATUS: letter, When: Math.floor(rig.model.at / 1000) }],
  id: 1,
});

const said = (letter: Said["letter"], code: number, words: string): Said => ({ letter, code, words });

function bodyOf(rig: LuxosRig, command: string, parameter: string): object {
  const report = reports.get(command);
  if (report !== undefined) return withStatus(rig, said("S", report.code, report.message(rig)), report.sections(rig));
  if (command === "voltageget") return voltage(rig, parameter);
  if (command === "session") {
    const id = rig.knows(rig.session?.id) ? (rig.session?.id ?? "") : "";
    return withStatus(rig, said("S", 319, "Session information"), { SESSION: [{ SessionID: id }] });
  }
  if (command === "logon") return logon(rig);
  const writes = open.get(command);
  const run = guarded.get(command);
  if (writes === undefined && run === undefined && command !== "logoff") {
    return withStatus(rig, said("E", 14, "Invalid command"));
  }
  const [session, ...parts] = parameter.split(",");
  const shown = writes === undefined ? parts.join(",") : parameter;
  if (command !== "logoff") logWrite(rig.body.requests, shown === "" ? command : `${command}|${shown}`);
  if (rig.body.denies()) return withStatus(rig, said("E", 45, `Access denied to '${command}' command`));
  if (writes !== undefined) return withStatus(rig, writes(rig, parameter));
  if (!rig.knows(session)) return withStatus(rig, said("E", 401, `Invalid session id '${session}'`));
  if (run !== undefined) return withStatus(rig, run(rig, parts));
  rig.session = null;
  return withStatus(rig, said("S", 317, "Session terminated"));
}

function logon(rig: LuxosRig): object {
  const id = rig.logon();
  return id === null
    ? withStatus(rig, said("E", 402, "Another session is active"))
    : withStatus(rig, said("S", 316, "Session created"), { SESSION: [{ SessionID: id }] });
}

function voltage(rig: LuxosRig, parameter: string): object {
  const board = Number(parameter);
  if (!(board >= 0 && board < rig.model.hardware.boards)) return withStatus(rig, said("E", 403, "Invalid board"));
  const volts = rig.model.hashing && !rig.model.boardsOff.has(board) ? rig.model.voltage : 0;
  return withStatus(rig, said("S", 307, "Get Voltage"), { VOLTAGE: [{ Board: board, Voltage: volts }] });
}
