import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { z } from "zod";
import { didYouMean } from "../contract/nearest.ts";
import { Readings } from "../contract/readings.ts";

/** What an expression sees. */
export interface ExpressionContext {
  readonly miner: Readonly<Record<string, unknown>>;
  readonly reading: Readonly<Record<string, unknown>>;
  readonly rule: Readonly<Record<string, unknown>>;
}

export interface Expression {
  /** null if it is unknown, as where a reading is unknown. Never throws. */
  test(context: ExpressionContext): boolean | null;
}

/** The expressions of `where`, in CEL: bounded in size and depth, without regular expressions and own functions. */
const environment = new Environment({
  unlistedVariablesAreDyn: false,
  homogeneousAggregateLiterals: false,
  limits: { maxAstNodes: 200, maxDepth: 20, maxListElements: 50, maxMapEntries: 10, maxCallArguments: 8 },
});
for (const name of ["miner", "reading", "rule"]) environment.registerVariable(name, "dyn");

/** Names that a value has; "any" has no known names. */
type Shape = { readonly [name: string]: Shape } | { readonly each: Shape } | "any";

const minerShape: Shape = Object.fromEntries(
  ["uid", "name", "group", "tags", "model", "location"].map((name): [string, Shape] => [name, "any"]),
);
const shapes: Readonly<Record<string, Shape>> = {
  miner: {
    ...minerShape,
    location: { site: "any", container: "any", rack: "any", slot: "any" },
    tags: { each: "any" },
  },
  reading: shapeOf(Readings),
  rule: { key: "any", name: "any" },
};

function shapeOf(schema: z.core.$ZodType): Shape {
  if (schema instanceof z.ZodNullable) return shapeOf(schema.def.innerType);
  if (schema instanceof z.ZodArray) return { each: shapeOf(schema.element) };
  if (!(schema instanceof z.ZodObject)) return "any";
  return Object.fromEntries(Object.entries(schema.shape).map(([name, field]) => [name, shapeOf(field)]));
}

const macros: ReadonlySet<string> = new Set(["exists", "exists_one", "all", "filter", "map"]);
/** A macro inside a macro takes the square of the elements. */
const deepestMacros = 2;

type Names = Readonly<Record<string, Shape>>;

/** The mistakes in an expression, each with its place; an empty list if there are none. */
export function expressionMistakes(text: string): string[] {
  try {
    const { ast, check } = environment.parse(text);
    const found: string[] = [];
    shapeIn(ast, shapes, found, 0);
    if (found.length > 0) return [...new Set(found)];
    const { valid, type, error } = check();
    if (!valid) return [`is not a valid expression: ${error?.summary ?? "it cannot be read"}${placeOf(error?.range)}`];
    return type === "bool" || type === "dyn" ? [] : [`must be true or false, and is of the type ${String(type)}`];
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return [`is not a valid expression: ${error.summary}${placeOf(error.range)}`];
  }
}

const placeOf = (range: { readonly start: number } | undefined): string =>
  range === undefined ? "" : ` (at character ${range.start + 1})`;

/** The shape of a node's value; adds what is wrong in it to `found`. */
function shapeIn(node: ASTNode, names: Names, found: string[], macroDepth: number): Shape {
  const inside = (each: ASTNode): Shape => shapeIn(each, names, found, macroDepth);
  switch (node.op) {
    case "value":
      return "any";
    case "id": {
      const shape = Object.hasOwn(names, node.args) ? names[node.args] : undefined;
      if (shape === undefined)
        found.push(`"${node.args}" is not known${placeOf(node.range)}; there are miner, reading and rule`);
      return shape ?? "any";
    }
    case ".":
    case ".?":
      return fieldOf(inside(node.args[0]), node.args[1], node, found);
    case "[]":
    case "[?]": {
      const [value, index] = node.args;
      const shape = inside(value);
      if (index.op === "value" && typeof index.args === "string") return fieldOf(shape, index.args, node, found);
      inside(index);
      return elementOf(shape);
    }
    case "call":
      for (const argument of node.args[1]) inside(argument);
      return "any";
    case "rcall": {
      const [method, receiver, given] = node.args;
      if (method === "matches")
        found.push(`matches() is not allowed${placeOf(node.range)}; use contains(), startsWith() or endsWith()`);
      const shape = inside(receiver);
      const [variable, ...bodies] = given;
      if (!macros.has(method) || variable?.op !== "id") {
        for (const argument of given) inside(argument);
        return "any";
      }
      if (macroDepth === deepestMacros) found.push(`${method}() is nested too deeply${placeOf(node.range)}`);
      else
        for (const body of bodies)
          shapeIn(body, { ...names, [variable.args]: elementOf(shape) }, found, macroDepth + 1);
      return method === "filter" ? shape : "any";
    }
    case "list":
      for (const each of node.args) inside(each);
      return "any";
    case "map":
      for (const pair of node.args) for (const each of pair) inside(each);
      return "any";
    case "?:":
      for (const each of node.args) inside(each);
      return "any";
    case "!_":
    case "-_":
      inside(node.args);
      return "any";
    default:
      for (const each of node.args) inside(each);
      return "any";
  }
}

const elementOf = (shape: Shape): Shape => (shape !== "any" && isList(shape) ? shape.each : "any");
const isList = (shape: Exclude<Shape, "any">): shape is { readonly each: Shape } => "each" in shape;

function fieldOf(shape: Shape, field: string, node: ASTNode, found: string[]): Shape {
  if (shape === "any" || isList(shape)) return "any";
  const inner = Object.hasOwn(shape, field) ? shape[field] : undefined;
  if (inner === undefined)
    found.push(
      `"${node.input.slice(node.range.start, node.range.end).slice(0, 60)}" is not known${placeOf(node.range)}${didYouMean(field, Object.keys(shape))}`,
    );
  return inner ?? "any";
}

/** Of a text without mistakes. */
export function compileExpression(text: string): Expression {
  const run = environment.parse(text);
  return {
    test: (context) => {
      try {
        const result: unknown = run({ ...context });
        return typeof result === "boolean" ? result : null;
      } catch {
        // A reading that is null, or a type that does not fit.
        return null;
      }
    },
  };
}
