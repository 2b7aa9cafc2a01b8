import type { Node, NodeAPI, NodeMessage } from "node-red";
import { z } from "zod";
import { allFaults, Fault, fieldFault, wordsOf } from "./faults.ts";

/** A node's configuration as stored in a flow file. */
export type Raw = Readonly<Record<string, unknown>>;

/** The current shape of a node's configuration, and the migrations of older ones. */
export interface ConfigKind<C> {
  /** As in `defaults.version` of the editor. */
  readonly version: number;
  /** The first migrates version 1 to 2, and so on. */
  readonly migrations: readonly ((raw: Raw) => Raw)[];
  /** Messages are keys under `problem` in the catalogue of `rigbridge-service`. */
  readonly schema: z.ZodType<C>;
}

/** Throws a Fault `config.invalid` that names every wrong field, or that the configuration is of a newer version. */
export function readConfig<C>({ version, migrations, schema }: ConfigKind<C>, raw: Raw): C {
  const made = typeof raw.version === "number" ? raw.version : 1;
  if (made > version) throw new Fault("config.invalid", "newer", { made, version });
  const current = migrations.slice(made - 1).reduce((config, migrate) => migrate(config), raw);
  const { data, error } = schema.safeParse(current, { error: () => "wrong" });
  const fault = allFaults((error?.issues ?? []).map(({ path, message }) => configFault(path, current, message)));
  if (fault !== undefined) throw fault;
  if (data === undefined) throw new Fault("config.invalid", "internal", { why: "no configuration" });
  return data;
}

/** Names the field, and the environment variable in it if that is not set. */
function configFault(path: readonly PropertyKey[], raw: Raw, problem: string): Fault {
  const [field = "", row] = path.map(String);
  const value = z.string().safeParse(valueAt(raw, path)).data ?? "";
  const [, variable] = /^\$\{(\S+)\}$/.exec(value) ?? [];
  // The credentials of single rigs have a number after the name.
  const where = { field: `=field.${field.replace(/_\d+$/, "")}`, row: row === undefined ? "" : ` ${Number(row) + 1}` };
  return variable === undefined
    ? new Fault("config.invalid", "config", { ...where, problem: `=problem.${problem}` })
    : new Fault("config.invalid", "environment", { ...where, variable });
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), value);

/** A text that must not be empty. */
export const required = z.string().trim().min(1, "required");

/** A text that may be empty. */
export const optional = z.string().trim().default("");

/** A number as the editor stores it: a text; empty means `usual`. */
export const figure = (least: number, most: number, usual: number) =>
  z
    .union([z.number(), z.string()])
    .default(usual)
    .transform((value) => (value === "" ? usual : Number(value)))
    .pipe(z.number("number").min(least, "number").max(most, "number"));

/** An integer as the editor stores it. */
export const count = (least: number, most: number, usual: number) => figure(least, most, usual).pipe(z.int("number"));

/** The types of a typed field. */
export const ValueType = z.enum(["str", "num", "bool", "json", "msg", "flow", "global", "env", "jsonata"]);
export type ValueType = z.infer<typeof ValueType>;

/** A field of the editor that holds a text, or the source of its value. */
export interface TypedField {
  /** As in the configuration, and under `field` in the catalogue. */
  readonly name: string;
  readonly value: string;
  readonly type: ValueType;
}

/** Evaluates a field for a message; undefined if its source has no value. Throws a Fault that names the field. */
export async function fieldValue(RED: NodeAPI, node: Node, field: TypedField, msg: NodeMessage): Promise<unknown> {
  const { value, type, name } = field;
  if (type !== "str" && value === "" && type !== "bool") throw fieldFault(name, "empty");
  try {
    return await new Promise((resolve, reject) => {
      RED.util.evaluateNodeProperty(value, type, node, msg, (error, result) =>
        error ? reject(error) : resolve(result),
      );
    });
  } catch (error) {
    throw fieldFault(name, "no-value", { why: wordsOf(error), type });
  }
}
