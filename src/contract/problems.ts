import type { CodedText, Detail } from "../messages/coded-text.ts";
import { codeOf, detail } from "../messages/detail.ts";

/**
 * The one error family: a stable code, a sentence for people and, for invalid input, every mistake at once.
 * The HTTP status of each code follows `decisions` of the API (RFC 9457 problem documents).
 */
export const problems = {
  "input.invalid": { status: 400, title: "Invalid input" },
  "key.missing": { status: 401, title: "API key missing" },
  "key.wrong": { status: 401, title: "API key wrong" },
  "session.ended": { status: 401, title: "Session ended" },
  "user.forbidden": { status: 403, title: "Not allowed for this user" },
  "address.forbidden": { status: 403, title: "Not allowed from this address" },
  "request.cross-site": { status: 403, title: "Refused: sent by another website" },
  "not.found": { status: 404, title: "Not found" },
  "method.not-allowed": { status: 405, title: "Method not allowed" },
  "request.timeout": { status: 408, title: "The request took too long" },
  "not.possible": { status: 409, title: "Not possible now" },
  "not.yet": { status: 409, title: "Not supported yet in this version" },
  "nothing.to.do": { status: 409, title: "Nothing to do" },
  "in.use": { status: 409, title: "Still in use" },
  "owned.by-file": { status: 409, title: "Declared by the configuration file" },
  "owned.by-centre": { status: 409, title: "Belongs to a centre" },
  "settings.changed": { status: 409, title: "Saved by somebody else meanwhile" },
  "idempotency.reused": { status: 409, title: "Key used for another request" },
  "idempotency.unknown": { status: 409, title: "Outcome of the first request unknown" },
  "idempotency.not-kept": { status: 409, title: "Answer of the first request not kept" },
  "address.known": { status: 409, title: "Address already known" },
  "control.absent": { status: 409, title: "This rig cannot do that" },
  "agent.forbidden": { status: 403, title: "Not allowed on this host" },
  "program.missing": { status: 409, title: "The program is not on the host" },
  "program.not-executable": { status: 409, title: "The program is not executable" },
  "software.unknown": { status: 409, title: "Unknown mining software" },
  "host.no.agent": { status: 409, title: "The host has no agent" },
  "no.download": { status: 409, title: "No known download" },
  "pool.last": { status: 409, title: "The last pool cannot be removed" },
  "rig.other": { status: 409, title: "Another rig answers at this address" },
  "body.too-large": { status: 413, title: "Body too large" },
  "body.not-json": { status: 415, title: "JSON expected" },
  "host.unknown": { status: 421, title: "Host name not allowed" },
  "too.many": { status: 429, title: "Too many requests" },
  "headers.too-large": { status: 431, title: "Headers too large" },
  internal: { status: 500, title: "Internal error" },
  "service.unsupported": { status: 501, title: "The service does not offer this" },
  "rig.refused": { status: 502, title: "The rig refused" },
  "rig.login": { status: 502, title: "The rig rejects the login" },
  "rig.read-only": { status: 502, title: "The rig is read-only" },
  "command.expired": { status: 503, title: "Not sent in time" },
  "rig.busy": { status: 503, title: "The rig is busy with another client" },
  "rig.garbled": { status: 502, title: "The rig's answer cannot be read" },
  "download.failed": { status: 502, title: "The download failed" },
  "download.wrong-sum": { status: 502, title: "The download is not the expected file" },
  "download.archive": { status: 502, title: "The archive cannot be unpacked" },
  "rig.unknown-protocol": { status: 502, title: "Nothing at this address speaks a known protocol" },
  "service.refused": { status: 502, title: "The service refused" },
  "service.garbled": { status: 502, title: "The server is not a mining service" },
  "service.not-ready": { status: 503, title: "Not ready" },
  "service.no.active": { status: 503, title: "No active service" },
  "service.active-unreachable": { status: 502, title: "The active service cannot be reached" },
  "service.unreachable": { status: 504, title: "The service cannot be reached" },
  "program.ended": { status: 502, title: "The program ended" },
  "program.hangs": { status: 504, title: "The program does not end" },
  "host.away": { status: 504, title: "The agent of the host is not connected" },
  "rig.unreachable": { status: 504, title: "The rig cannot be reached" },
  "rig.timeout": { status: 504, title: "The rig did not answer in time" },
  "rig.unconfirmed": { status: 504, title: "The rig does not confirm the change" },
  "store.full": { status: 507, title: "The store cannot be written" },
  "service.store-away": { status: 503, title: "The store cannot be reached" },
  "store.refused": { status: 503, title: "The store cannot be opened" },
  "config.invalid": { status: 400, title: "The configuration has mistakes" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** One mistake in external input: its path and what is wrong. */
export interface Mistake {
  readonly path: string;
  readonly message: string;
  /** The message by code; absent if it has none. */
  readonly coded?: CodedText | undefined;
}

/** A mistake whose message has a code. */
export const mistake = (path: string, { text, coded }: Detail): Mistake => ({ path, message: text, coded });

export interface RigbridgeErrorOptions {
  readonly errors?: readonly Mistake[];
  readonly cause?: unknown;
  /** The message by code, for an error that is rebuilt from its parts. */
  readonly coded?: CodedText | null;
  /** If the message quotes the answer from an address: the message without the quote. */
  readonly unquoted?: string;
}

/** The only error that modules throw to their callers. The message is shown to people and never contains a secret. */
export class RigbridgeError extends Error {
  override readonly name = "RigbridgeError";
  readonly code: ProblemCode;
  readonly errors: readonly Mistake[];
  /** The message by code, for clients that show it in another language; null if it has none. */
  readonly coded: CodedText | null;
  /**
   * The message without any quoted answer from an address. A user who may add miners chooses the address, and must not
   * learn more about what answers there than that it is not a rig; the quote is for the machine's owner.
   */
  readonly unquoted: string;

  constructor(code: ProblemCode, message: string | Detail, options: RigbridgeErrorOptions = {}) {
    const { text, coded } = typeof message === "string" ? { text: message, coded: options.coded ?? null } : message;
    super(text, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    this.coded = coded;
    this.unquoted = options.unquoted ?? text;
  }

  get status(): number {
    return problems[this.code].status;
  }
}

export const notFound = (what: string, id: string | number): RigbridgeError =>
  new RigbridgeError("not.found", detail("thing.missing", { thing: thing(what), id }));

/** The kind of a thing, such as "managed miner"; by code if it has one. */
export function thing(what: string): Detail | string {
  const code = codeOf(what);
  return code === undefined ? what : { text: what, coded: code };
}

/** The most mistakes in one error. With the longest path and message, in characters, it bounds the size of an error. */
export const namedMistakes = 20;
const longestPath = 100;
const longestMessage = 500;

/** Invalid input, with the first mistakes and the number of all others; `unnamed` are those that were only counted. */
export function invalidAll(mistakes: readonly Mistake[], unnamed = 0): RigbridgeError {
  const named = mistakes.slice(0, namedMistakes).map(({ path, message, coded }) => ({
    path: shortened(path, longestPath),
    message: shortened(message, longestMessage),
    ...(coded === undefined || message.length > longestMessage ? {} : { coded }),
  }));
  const more = mistakes.length - named.length + unnamed;
  const errors =
    more === 0 ? named : [...named, mistake("", detail("input.others", { count: more.toLocaleString("en-US") }))];
  const sentences = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return new RigbridgeError("input.invalid", sentences.join("; "), { errors });
}

const shortened = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;

/** Invalid input with a single mistake. */
export const invalid = (path: string, message: string | Detail): RigbridgeError =>
  invalidAll([typeof message === "string" ? { path, message } : mistake(path, message)]);

const awayCodes: ReadonlySet<string> = new Set([
  "service.unreachable",
  "service.not-ready",
  "service.no.active",
  "service.active-unreachable",
  "service.garbled",
]);

/** The message without any quote, by code if it has one: for a detail that contains it. */
export const detailIn = ({ unquoted, coded }: RigbridgeError): string | Detail =>
  coded === null ? unquoted : { text: unquoted, coded };

/** The message, by code if it has one: for a text that contains it. */
export const messageIn = ({ message, coded }: RigbridgeError): string | Detail =>
  coded === null ? message : { text: message, coded };

/** Whether the error means that a service elsewhere is away; with any other it has answered. */
export const isAway = ({ code }: RigbridgeError): boolean => awayCodes.has(code);
