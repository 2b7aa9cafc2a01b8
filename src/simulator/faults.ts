import type { Socket } from "node:net";
import { gzipSync } from "node:zlib";
import * as damage from "./damage.ts";
import type { Reply } from "./reply.ts";
import * as sending from "./sending.ts";

/** A fault. Each part is optional; an absent part behaves normally. `turn` counts up from 0. */
export interface Fault {
  /** Called before anything is read from the connection; true if it has handled it. */
  readonly connect?: (socket: Socket, turn: number) => boolean;
  /** Refuses every write, in the words of the protocol. */
  readonly denies?: true;
  readonly change?: (reply: Reply, turn: number) => Reply;
  /** Sends the bytes in its own way. */
  readonly send?: (socket: Socket, bytes: Buffer, ms: number) => void;
  /** For `send`, unless the setting has its own. */
  readonly ms?: number;
}

/** Every fault is one row; `change` works on JSON over TCP and over HTTP alike. */
export const faults = {
  off: { connect: taken((socket) => socket.resetAndDestroy()) },
  reset: { connect: taken((socket) => socket.resetAndDestroy()) },
  close: { connect: taken((socket) => socket.resume().end()) },
  silent: { connect: taken((socket) => socket.resume()) },
  flapping: { connect: (socket, turn) => turn % 2 === 1 && socket.resetAndDestroy() !== undefined },
  slow: { send: sending.sendSlowly, ms: 500 },
  delay: { send: sending.sendLate, ms: 2900 },
  open: { send: (socket, bytes) => socket.write(bytes) },
  truncated: { send: (socket, bytes) => socket.end(bytes.subarray(0, bytes.length / 2)) },
  "reset-midway": { send: sending.sendAndReset },
  endless: { send: sending.sendEndless },
  "split-character": { change: text(damage.withAccent), send: sending.sendSplit },
  "no-nul": { change: (reply) => ({ ...reply, tail: "" }) },
  trailing: { change: (reply) => ({ ...reply, tail: `${reply.tail}\r\nOK\r\n` }) },
  "nul-inside": { change: text(damage.withNulInside) },
  "only-nul": { change: text(() => "") },
  garbage: { change: (reply) => ({ ...reply, body: damage.garbage(8192) }) },
  gzip: { change: text((body) => gzipSync(body)) },
  huge: { change: text(damage.huge) },
  vast: {
    change: (reply) => ({ ...reply, head: (length) => reply.head(length + sending.vastLength) }),
    send: sending.sendVast,
  },
  "many-devices": { change: text(damage.withManyDevices) },
  deep: { change: text(damage.deep) },
  "missing-comma": { change: text(damage.withoutCommas) },
  "trailing-comma": { change: text(damage.withTrailingCommas) },
  nan: { change: text(damage.withNan) },
  bom: { change: text(damage.withMark) },
  "two-documents": { change: text((body) => body + body) },
  "duplicate-keys": { change: text(damage.withDuplicateKeys) },
  prototype: { change: text(damage.withPrototypeKeys) },
  "wrong-types": { change: text(damage.withWrongTypes) },
  "numbers-as-text": { change: text(damage.withNumbersAsText) },
  absurd: { change: text(damage.withAbsurdNumbers) },
  latin1: { change: text(damage.withLatin1) },
  names: { change: text(damage.withHostileNames) },
  wildcards: { change: text(damage.withWildcards) },
  "clock-jumps": { change: text(damage.withOtherClock) },
  "counters-reset": { change: text(damage.withResetCounters) },
  "empty-object": { change: text(() => "{}") },
  plain: { change: text(() => "STATUS=S,When=1800000000,Code=11,Msg=Summary|SUMMARY,Elapsed=1|") },
  denied: { denies: true },
  "http-page": { change: page("200 OK") },
  "http-401": { change: page("401 Unauthorized", 'WWW-Authenticate: Basic realm="rig"') },
  "http-302": { change: page("302 Found", "Location: http://127.0.0.1:1/elsewhere") },
  "http-500": { change: page("500 Internal Server Error") },
  "http-continue": { send: sending.sendContinue },
  twice: { change: (reply) => ({ ...reply, times: 2 * reply.times }) },
  "reset-after": { send: (socket, bytes) => socket.write(bytes, () => socket.resetAndDestroy()) },
  tls: { change: (reply) => ({ ...reply, head: () => "", body: damage.tlsAlert, tail: "" }) },
  "other-rig": { change: text(damage.withOtherIdentity) },
  "uptime-jumps": { change: text(damage.withOtherUptime) },
  "long-texts": { change: text(damage.withLongTexts) },
  "many-keys": { change: text(damage.withManyKeys) },
  surrogates: { change: text(damage.withHalfCharacters) },
  "http-upgrade": { change: page("101 Switching Protocols", "Connection: Upgrade", "Upgrade: websocket") },
  "http-no-length": { change: (reply) => ({ ...reply, head: headWithoutLength(reply), close: true }) },
  "http-two-lengths": { change: (reply) => ({ ...reply, head: headWith(reply, "Content-Length: 5") }) },
  "http-bomb": { change: (reply) => ({ ...reply, head: headWith(reply, "Content-Encoding: gzip"), body: bomb() }) },
  "http-endless-head": { send: sending.sendEndlessHead },
  "http-endless-chunks": { send: sending.sendEndlessChunks },
  "http-length": { change: (reply) => ({ ...reply, head: (length) => reply.head(length + 10_000) }) },
} as const satisfies Record<string, Fault>;

export type FaultName = keyof typeof faults;

/** A fault by name, or with its own time; null is a healthy rig. */
export type FaultSetting = FaultName | { readonly name: FaultName; readonly ms: number } | null;

export function faultOf(setting: FaultSetting): Fault | null {
  if (setting === null) return null;
  return typeof setting === "string" ? faults[setting] : { ...faults[setting.name], ms: setting.ms };
}

function taken(take: (socket: Socket) => unknown): (socket: Socket) => true {
  return (socket) => {
    take(socket);
    return true;
  };
}

function text(damaged: (body: string, turn: number) => string | Buffer): (reply: Reply, turn: number) => Reply {
  return (reply, turn) => (typeof reply.body === "string" ? { ...reply, body: damaged(reply.body, turn) } : reply);
}

/** A web page instead of every answer, also over plain TCP. */
function page(status: string, ...headers: readonly string[]): (reply: Reply) => Reply {
  const head = (length: number) =>
    [`HTTP/1.1 ${status}`, "Content-Type: text/html", ...headers, `Content-Length: ${length}`, "", ""].join("\r\n");
  return (reply) => ({ ...reply, head, body: `<!doctype html><title>${status}</title>`, tail: "" });
}

/** With one more header; a reply without headers is unchanged. */
function headWith({ head }: Reply, header: string): Reply["head"] {
  return (length) => head(length).replace("\r\n", `\r\n${header}\r\n`);
}

function headWithoutLength({ head }: Reply): Reply["head"] {
  return (length) => head(length).replace(/Content-Length:[^\r]*\r\n|Connection: keep-alive\r\n/gi, "");
}

/** 100 MB compressed to 100 KB, made once: a hundred times the same part, since to compress all of it takes seconds. */
let packed: Buffer | undefined;
function bomb(): Buffer {
  packed ??= Buffer.concat(Array<Buffer>(100).fill(gzipSync(Buffer.alloc(1_000_000))));
  return packed;
}
