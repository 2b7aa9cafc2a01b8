import type { Socket } from "node:net";
import * as damage from "./damage.ts";
import type { Reply } from "./reply.ts";

/** What goes wrong. Each part is optional; what is left out goes as it should. */
export interface Fault {
  /** Takes the connection before anything is read from it. */
  readonly connect?: (socket: Socket) => void;
  /** Whatever would change something is refused, in the words of the protocol. */
  readonly denies?: true;
  readonly change?: (reply: Reply) => Reply;
  /** Puts the bytes on the wire in its own way. */
  readonly send?: (socket: Socket, bytes: Buffer, ms: number) => void;
  /** For `send`, unless the setting says otherwise. */
  readonly ms?: number;
}

/** Every fault is one row; `change` works on JSON over TCP and over HTTP alike. */
export const faults = {
  off: { connect: (socket) => socket.resetAndDestroy() },
  reset: { connect: (socket) => socket.resetAndDestroy() },
  close: { connect: (socket) => socket.resume().end() },
  silent: { connect: (socket) => socket.resume() },
  slow: { send: sendSlowly, ms: 500 },
  delay: { send: sendLate, ms: 2900 },
  open: { send: (socket, bytes) => socket.write(bytes) },
  truncated: { send: (socket, bytes) => socket.end(bytes.subarray(0, bytes.length / 2)) },
  endless: { send: sendForEver },
  "no-nul": { change: (reply) => ({ ...reply, tail: "" }) },
  trailing: { change: (reply) => ({ ...reply, tail: `${reply.tail}\r\nOK\r\n` }) },
  "nul-inside": { change: text(damage.withNulInside) },
  garbage: { change: (reply) => ({ ...reply, body: damage.garbage(8192) }) },
  huge: { change: text(damage.huge) },
  deep: { change: text(damage.deep) },
  "missing-comma": { change: text(damage.withoutCommas) },
  "trailing-comma": { change: text(damage.withTrailingCommas) },
  nan: { change: text(damage.withNan) },
  bom: { change: text(damage.withMark) },
  "two-documents": { change: text((body) => body + body) },
  "wrong-types": { change: text(damage.withWrongTypes) },
  latin1: { change: text(damage.withLatin1) },
  denied: { denies: true },
  "http-500": { change: internalError },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** A fault by name, or with its own time; null is a rig in good health. */
export type FaultSetting = FaultName | { readonly name: FaultName; readonly ms: number } | null;

export function faultOf(setting: FaultSetting): Fault | null {
  if (setting === null) return null;
  return typeof setting === "string" ? faults[setting] : { ...faults[setting.name], ms: setting.ms };
}

function text(damaged: (body: string) => string | Buffer): (reply: Reply) => Reply {
  return (reply) => (typeof reply.body === "string" ? { ...reply, body: damaged(reply.body) } : reply);
}

function internalError(reply: Reply): Reply {
  const head = (length: number) => `HTTP/1.1 500 Internal Server Error\r\nContent-Length: ${length}\r\n\r\n`;
  return { ...reply, head, body: "Internal Server Error", tail: "" };
}

function sendSlowly(socket: Socket, bytes: Buffer, ms: number): void {
  let sent = 0;
  const timer = setInterval(() => {
    socket.write(bytes.subarray(sent, sent + 1));
    sent += 1;
    if (sent >= bytes.length) socket.end();
  }, ms);
  socket.once("close", () => clearInterval(timer));
  socket.once("finish", () => clearInterval(timer));
}

function sendLate(socket: Socket, bytes: Buffer, ms: number): void {
  const timer = setTimeout(() => socket.end(bytes), ms);
  socket.once("close", () => clearTimeout(timer));
}

/** The beginning of a reply, then more of it for as long as it is read. */
function sendForEver(socket: Socket, bytes: Buffer): void {
  const more = Buffer.alloc(65_536, "x");
  const write = (error?: Error | null): void => {
    if (!error) socket.write(more, write);
  };
  socket.write(bytes.subarray(0, bytes.length / 2), write);
}
