import type { NodeAPI } from "node-red";
import { type ProblemCode, RigbridgeError } from "rigbridge";

/** Values for the `__name__` placeholders of a text. */
export type Placeholders = Readonly<Record<string, string | number>>;

/** A text of the shared catalogue, in the language of Node-RED. */
export type Translate = (key: string, placeholders?: Placeholders) => string;

/** The configuration node's catalogue holds the texts that all nodes share. */
export const translator =
  (RED: NodeAPI): Translate =>
  (key, placeholders = {}) =>
    RED._(`@rigbridge/node-red/rigbridge-service:${key}`, { ...placeholders });

/** An error found by the nodes themselves, translated where it leaves the node. */
export class Fault extends Error {
  override readonly name = "Fault";
  readonly code: ProblemCode;
  /** Under `fault` in the catalogue of `rigbridge-service`. */
  readonly key: string;
  /** A value that begins with `=` is itself the key of a text, as the label of a field: `=field.miners`. */
  readonly placeholders: Placeholders;

  constructor(
    code: ProblemCode,
    key: string,
    placeholders: Placeholders = {},
    options: { readonly cause?: unknown } = {},
  ) {
    super(`${key} ${JSON.stringify(placeholders)}`, options);
    this.code = code;
    this.key = key;
    this.placeholders = placeholders;
  }
}

/** A wrong field, which the text names. */
export const fieldFault = (field: string, key: string, placeholders: Placeholders = {}): Fault =>
  new Fault("input.invalid", key, { field: `=field.${field}`, ...placeholders });

/** The error as users see it, with a code; any other exception becomes `internal`. */
export function toRigbridgeError(error: unknown, translate: Translate): RigbridgeError {
  if (error instanceof RigbridgeError) return error;
  if (!(error instanceof Fault))
    return new RigbridgeError("internal", translate("fault.internal", { why: String(error) }), { cause: error });
  const { code, key, placeholders, cause } = error;
  const translated = Object.entries(placeholders).map(([name, value]) => [
    name,
    typeof value === "string" && value.startsWith("=") ? translate(value.slice(1)) : value,
  ]);
  const message = translate(`fault.${key}`, Object.fromEntries(translated));
  return new RigbridgeError(code, message, cause === undefined ? {} : { cause });
}
