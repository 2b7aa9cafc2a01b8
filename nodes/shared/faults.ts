import type { NodeAPI } from "node-red";
import { nearest, type ProblemCode, RigbridgeError } from "rigbridge";

/** Values for the `__name__` placeholders of a text. */
export type Placeholders = Readonly<Record<string, string | number>>;

/** A text of the shared catalogue, in the language of Node-RED. */
export type Translate = (key: string, placeholders?: Placeholders) => string;

/** The configuration node's catalogue holds the texts that all nodes share. */
export const translator =
  (RED: NodeAPI): Translate =>
  (key, placeholders = {}) =>
    RED._(`@rigbridge/node-red/rigbridge-service:${key}`, { ...placeholders });

interface FaultOptions {
  readonly cause?: unknown;
  readonly meant?: string;
  readonly others?: readonly Fault[];
}

/** An error found by the nodes themselves, translated where it leaves the node. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: ProblemCode;
  /** Under `fault` in the catalogue of `rigbridge-service`. */
  readonly key: string;
  /** A value that begins with `=` is itself the key of a text, as the label of a field: `=field.miners`. */
  readonly placeholders: Placeholders;
  /** The known name that was probably meant. */
  readonly meant: string | undefined;
  /** Faults found at the same time; they share its text. */
  readonly others: readonly Fault[];

  constructor(
    code: ProblemCode,
    key: string,
    placeholders: Placeholders = {},
    { meant, others = [], ...options }: FaultOptions = {},
  ) {
    super(`${key} ${JSON.stringify(placeholders)}`, options);
    this.code = code;
    this.key = key;
    this.placeholders = placeholders;
    this.meant = meant;
    this.others = others;
  }
}

/** Several faults as one; undefined for none. */
export function allFaults([first, ...others]: readonly Fault[]): Fault | undefined {
  return first && new Fault(first.code, first.key, first.placeholders, { others });
}

/** A wrong field, which the text names. */
export const fieldFault = (field: string, key: string, placeholders: Placeholders = {}): Fault =>
  new Fault("input.invalid", key, { field: `=field.${field}`, ...placeholders });

/** An unknown name, with the known one that was probably intended. */
export function unknownName(
  code: ProblemCode,
  field: string,
  what: UnknownKey,
  name: string,
  known: Iterable<string>,
): Fault {
  const meant = nearest(name, known);
  const placeholders = { field: `=field.${field}`, name: shortened(name) };
  return new Fault(code, `unknown-${what}`, placeholders, meant === undefined ? {} : { meant });
}

/** What a message can name; each has a text under `fault`. */
export type UnknownKey = "command" | "miner" | "group" | "pool" | "template" | "rule";

export const shortened = (text: string): string => (text.length > 60 ? `${text.slice(0, 60)}…` : text);

/** The error as users see it, with a code; any other exception becomes `internal`. */
export function toRigbridgeError(error: unknown, translate: Translate): RigbridgeError {
  if (error instanceof RigbridgeError) return error;
  if (!(error instanceof Fault))
    return new RigbridgeError("internal", translate("fault.internal", { why: wordsOf(error) }), { cause: error });
  const { code, cause, others } = error;
  const message = [error, ...others].map((fault) => textOf(fault, translate)).join("; ");
  return new RigbridgeError(code, message, cause === undefined ? {} : { cause });
}

function textOf({ key, placeholders, meant }: Fault, translate: Translate): string {
  const translated = Object.entries(placeholders).map(([name, value]) => [
    name,
    typeof value === "string" && value.startsWith("=") ? translate(value.slice(1)) : value,
  ]);
  const hint = meant === undefined ? "" : translate("fault.meant", { name: meant });
  return translate(`fault.${key}`, Object.fromEntries(translated)) + hint;
}

/** The message of an error, without the name of its class. */
export const wordsOf = (error: unknown): string => {
  // JSONata throws plain objects.
  const message = typeof error === "object" && error !== null ? Reflect.get(error, "message") : error;
  return typeof message === "string" && message !== "" ? message : String(error);
};

/** An error for Node-RED, which writes the class's name before the message of any error that has one. */
export function forNodeRed(error: RigbridgeError): Error {
  const { code, message, cause, errors } = error;
  const shown = new Error(message, cause === undefined ? {} : { cause });
  return Object.assign(shown, { name: "", code, errors });
}

/** What a miner answered or why it failed, after its name; many rigs' messages begin with it. */
export const ofMiner = (name: string, message: string): string =>
  message.startsWith(name) ? message : `${name}: ${message}`;
