/**
 * The one error family: a stable code, a sentence for people, and for bad input every mistake at once.
 * Codes map to HTTP statuses as `decisions` of the API says (RFC 9457 problem documents).
 */
export const problems = {
  "input.invalid": { status: 400, title: "Bad input" },
  "key.missing": { status: 401, title: "API key missing" },
  "key.wrong": { status: 401, title: "API key wrong" },
  "user.forbidden": { status: 403, title: "Not allowed for this user" },
  "address.forbidden": { status: 403, title: "Not allowed from this address" },
  "request.cross-site": { status: 403, title: "Refused: sent by another web site" },
  "not.found": { status: 404, title: "No such thing" },
  "method.not-allowed": { status: 405, title: "Method not allowed" },
  "request.timeout": { status: 408, title: "The request took too long" },
  "not.possible": { status: 409, title: "Not possible now" },
  "not.yet": { status: 409, title: "Not there yet in this version" },
  "in.use": { status: 409, title: "Still in use" },
  "owned.by-file": { status: 409, title: "Declared by the configuration file" },
  "address.known": { status: 409, title: "Address already known" },
  "control.absent": { status: 409, title: "This rig cannot do that" },
  "pool.last": { status: 409, title: "The last pool cannot be removed" },
  "rig.other": { status: 409, title: "Another rig answers at this address" },
  "body.too-large": { status: 413, title: "Body too large" },
  "body.not-json": { status: 415, title: "JSON expected" },
  "host.unknown": { status: 421, title: "Host name not allowed" },
  "too.many": { status: 429, title: "Too many requests" },
  "headers.too-large": { status: 431, title: "Headers too large" },
  internal: { status: 500, title: "A fault of the service" },
  "service.unsupported": { status: 501, title: "The service does not offer this" },
  "rig.refused": { status: 502, title: "The rig refused" },
  "rig.login": { status: 502, title: "The rig wants another login" },
  "rig.read-only": { status: 502, title: "The rig only lets itself be read" },
  "command.expired": { status: 503, title: "Not sent in time" },
  "rig.busy": { status: 503, title: "The rig is busy with somebody else" },
  "rig.garbled": { status: 502, title: "The rig's answer could not be read" },
  "rig.unknown-protocol": { status: 502, title: "Nothing there speaks a known protocol" },
  "service.refused": { status: 502, title: "The service refused" },
  "service.garbled": { status: 502, title: "What answers is no mining service" },
  "service.not-ready": { status: 503, title: "Not ready" },
  "service.unreachable": { status: 504, title: "The service cannot be reached" },
  "rig.unreachable": { status: 504, title: "The rig cannot be reached" },
  "rig.timeout": { status: 504, title: "The rig did not answer in time" },
  "rig.unconfirmed": { status: 504, title: "The rig does not report the change" },
  "store.full": { status: 507, title: "The store cannot be written" },
  "store.refused": { status: 503, title: "The store cannot be opened" },
  "config.invalid": { status: 400, title: "The configuration has mistakes" },
} as const satisfies Record<string, { status: number; title: string }>;

export type ProblemCode = keyof typeof problems;

/** One mistake in what came from outside: where it stands and what is wrong with it. */
export interface Mistake {
  readonly path: string;
  readonly message: string;
}

export interface RigbridgeErrorOptions {
  readonly errors?: readonly Mistake[];
  readonly cause?: unknown;
  /** Where the message quotes what answered at an address: the same without that. */
  readonly unquoted?: string;
}

/** What every module throws across its edge; the message is shown to people and never holds a secret. */
export class RigbridgeError extends Error {
  override readonly name = "RigbridgeError";
  readonly code: ProblemCode;
  readonly errors: readonly Mistake[];
  /**
   * The message without what answered at an address, where that is quoted. Whoever may add a miner chooses the address,
   * and is told no more of what answers there than that it is no rig; the words are for the machine's owner.
   */
  readonly unquoted: string;

  constructor(code: ProblemCode, message: string, options: RigbridgeErrorOptions = {}) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.code = code;
    this.errors = options.errors ?? [];
    this.unquoted = options.unquoted ?? message;
  }

  get status(): number {
    return problems[this.code].status;
  }
}

export const notFound = (what: string, id: string | number): RigbridgeError =>
  new RigbridgeError("not.found", `There is no ${what} ${id}`);

export const notYet = (what: string): RigbridgeError =>
  new RigbridgeError("not.yet", `${what} is not there yet in this version; nothing was done`);

/** Of a managed miner, which is stored for the agent that will run it. */
export const notRunYet = "Nothing runs managed miners yet in this version: it is stored, and that is all";

/** Mistakes that are named at once, and characters of a path and of a message: an error stays small whatever was sent. */
export const namedMistakes = 20;
const longestPath = 100;
const longestMessage = 500;

/**
 * Bad input, with every mistake; of very many the first ones, and last how many more there are. `unnamed`: such that
 * the caller has counted only.
 */
export function invalidAll(mistakes: readonly Mistake[], unnamed = 0): RigbridgeError {
  const named = mistakes.slice(0, namedMistakes).map(({ path, message }) => ({
    path: shortened(path, longestPath),
    message: shortened(message, longestMessage),
  }));
  const more = mistakes.length - named.length + unnamed;
  const errors = more === 0 ? named : [...named, { path: "", message: `and ${more.toLocaleString("en-US")} more` }];
  const sentences = errors.map(({ path, message }) => (path === "" ? message : `${path}: ${message}`));
  return new RigbridgeError("input.invalid", sentences.join("; "), { errors });
}

const shortened = (text: string, longest: number): string =>
  text.length <= longest ? text : `${text.slice(0, longest - 1).toWellFormed()}…`;

/** Bad input found after the schemas: one mistake, named by its path. */
export const invalid = (path: string, message: string): RigbridgeError => invalidAll([{ path, message }]);
