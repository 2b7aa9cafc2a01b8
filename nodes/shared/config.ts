import { z } from "zod";
import { Fault } from "./faults.ts";

/** A node's configuration as a flow file holds it. */
export type Raw = Readonly<Record<string, unknown>>;

/** What a node's configuration looks like now, and how older ones become like that. */
export interface ConfigKind<C> {
  /** As in `defaults.version` of the editor. */
  readonly version: number;
  /** The first makes version 2 of version 1, and so on. */
  readonly migrations: readonly ((raw: Raw) => Raw)[];
  /** Messages are keys under `problem` in the catalogue of `rigbridge-service`. */
  readonly schema: z.ZodType<C>;
}

/** Throws a Fault `config.invalid` that names the field, also for a configuration that a newer version has made. */
export function readConfig<C>({ version, migrations, schema }: ConfigKind<C>, raw: Raw): C {
  const made = typeof raw.version === "number" ? raw.version : 1;
  if (made > version) throw new Fault("config.invalid", "newer", { made, version });
  const current = migrations.slice(made - 1).reduce((config, migrate) => migrate(config), raw);
  const { data, error } = schema.safeParse(current, { error: () => "wrong" });
  const [issue] = error?.issues ?? [];
  if (issue !== undefined) throw configFault(issue.path, current, issue.message);
  if (data === undefined) throw new Fault("config.invalid", "internal", { why: "no configuration" });
  return data;
}

/** Names the field, and an environment variable that stands there and is not set. */
function configFault(path: readonly PropertyKey[], raw: Raw, problem: string): Fault {
  const [field = "", row] = path.map(String);
  const value = z.string().safeParse(valueAt(raw, path)).data ?? "";
  const [, variable] = /^\$\{(\S+)\}$/.exec(value) ?? [];
  const words = { field: `=field.${field}`, row: row === undefined ? "" : ` ${Number(row) + 1}` };
  return variable === undefined
    ? new Fault("config.invalid", "config", { ...words, problem: `=problem.${problem}` })
    : new Fault("config.invalid", "environment", { ...words, variable });
}

const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (typeof at === "object" && at !== null ? Reflect.get(at, key) : undefined), value);

/** A text that must be there. */
export const required = z.string().trim().min(1, "required");

/** A text that may be left empty. */
export const optional = z.string().trim().default("");

/** A number as the editor's fields hold it: a text, which may be left empty for `usual`. */
export const figure = (least: number, most: number, usual: number) =>
  z
    .union([z.number(), z.string()])
    .default(usual)
    .transform((value) => (value === "" ? usual : Number(value)))
    .pipe(z.number("number").min(least, "number").max(most, "number"));

/** A whole number likewise. */
export const count = (least: number, most: number, usual: number) => figure(least, most, usual).pipe(z.int("number"));

/** Kinds of value that a typed field may have. */
export const valueTypes = ["str", "num", "bool", "json", "msg", "flow", "global", "env", "jsonata"] as const;
export const ValueType = z.enum(valueTypes);
export type ValueType = z.infer<typeof ValueType>;
