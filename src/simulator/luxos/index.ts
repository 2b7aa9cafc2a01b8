import { type HttpRequest, httpReply } from "../http-message.ts";
import { objectIn } from "../json.ts";
import { type Reply, rpcReply } from "../reply.ts";
import { type Conversation, logWrite, type RigBody } from "../rig.ts";
import { type CommandResult, guarded, open } from "./commands.ts";
import { description, reports } from "./reports.ts";
import { type LuxosOptions, LuxosRig } from "./rig.ts";

/** LuxOS of 2025: the RPC of cgminer with its own commands, one session at a time, and a page on its web port. */
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
  const { command, parameter } = objectIn(text) ?? {};
  return typeof command === "string" ? { command, parameter: parameter == null ? "" : String(parameter) } : null;
}

const written = (rig: LuxosRig, result: CommandResult): Reply => rpcReply(JSON.stringify(withStatus(rig, result)));

const withStatus = (rig: LuxosRig, { letter, code, words }: CommandResult, sections: object = {}): object => ({
  ...sections,
  STATUS: [{ Code: code, Description: description, Msg: words, STATUS: letter, When: Math.floor(rig.model.at / 1000) }],
  id: 1,
});

const result = (letter: CommandResult["letter"], code: number, words: string): CommandResult => ({
  letter,
  code,
  words,
});

function bodyOf(rig: LuxosRig, command: string, parameter: string): object {
  const report = reports.get(command);
  if (report !== undefined) return withStatus(rig, result("S", report.code, report.message(rig)), report.sections(rig));
  if (command === "voltageget") return voltage(rig, parameter);
  if (command === "session") {
    const id = rig.knows(rig.session?.id) ? (rig.session?.id ?? "") : "";
    return withStatus(rig, result("S", 319, "Session information"), { SESSION: [{ SessionID: id }] });
  }
  if (command === "logon") return logon(rig);
  const writes = open.get(command);
  const run = guarded.get(command);
  if (writes === undefined && run === undefined && command !== "logoff") {
    return withStatus(rig, result("E", 14, "Invalid command"));
  }
  const [session, ...parts] = parameter.split(",");
  const logged = writes === undefined ? parts.join(",") : parameter;
  if (command !== "logoff") logWrite(rig.body.requests, logged === "" ? command : `${command}|${logged}`);
  if (rig.body.denies()) return withStatus(rig, result("E", 45, `Access denied to '${command}' command`));
  if (writes !== undefined) return withStatus(rig, writes(rig, parameter));
  if (!rig.knows(session)) return withStatus(rig, result("E", 401, `Invalid session id '${session}'`));
  if (run !== undefined) return withStatus(rig, run(rig, parts));
  rig.session = null;
  return withStatus(rig, result("S", 317, "Session terminated"));
}

function logon(rig: LuxosRig): object {
  const id = rig.logon();
  return id === null
    ? withStatus(rig, result("E", 402, "Another session is active"))
    : withStatus(rig, result("S", 316, "Session created"), { SESSION: [{ SessionID: id }] });
}

function voltage(rig: LuxosRig, parameter: string): object {
  const board = Number(parameter);
  if (!(board >= 0 && board < rig.model.hardware.boards)) return withStatus(rig, result("E", 403, "Invalid board"));
  const volts = rig.model.hashing && !rig.model.boardsOff.has(board) ? rig.model.voltage : 0;
  return withStatus(rig, result("S", 307, "Get Voltage"), { VOLTAGE: [{ Board: board, Voltage: volts }] });
}
