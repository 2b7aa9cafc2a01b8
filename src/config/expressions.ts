import { type ASTNode, Environment, ParseError } from "@marcbachmann/cel-js";
import { z } from "zod";
import { didYouMean } from "../contract/nearest.ts";
import { Readings } from "../contract/readings.ts";
import { Budget, mostWork, OverBudget } from "./expression-budget.ts";
import { compile, macros } from "./expression-compiler.ts";
import { functions, isZone, methods } from "./expression-functions.ts";

/** The values in scope of an expression. */
export interface ExpressionContext {
  readonly miner: Readonly<Record<string, unknown>>;
  readonly reading: Readonly<Record<string, unknown>>;
  readonly rule: Readonly<Record<string, unknown>>;
}

/** The result of an evaluation. */
export interface Tested {
  /** Null if unknown, such as where a reading is unknown. */
  readonly truth: boolean | null;
  /** Its cost in steps. */
  readonly work: number;
  /** Why it was stopped early, such as "it takes more than 10,000 steps"; null if it was not. */
  readonly stopped: string | null;
}

export interface Expression {
  /** Never throws, and never costs more than one budget of `expression-budget.ts`. */
  test(context: ExpressionContext): Tested;
}

/** Parses the expressions of `where`, in CEL: bounded in size and depth. Nothing is ever evaluated with it. */
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

/** The schema of rules allows half of it; much longer ones could overflow the stack of the parser. */
const longestText = 2_000;
/** Nested macros iterate over the square of the elements. */
const deepestMacros = 2;

type Names = Readonly<Record<string, Shape>>;

/** The mistakes in an expression, each with its place; empty if there are none. */
export function expressionMistakes(text: string): string[] {
  if (text.length > longestText) return [`is longer than ${longestText.toLocaleString("en-US")} characters`];
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

/** The shape of a node's value; adds mistakes to `found`. */
function shapeIn(node: ASTNode, names: Names, found: string[], macroDepth: number): Shape {
  const inside = (each: ASTNode): Shape => shapeIn(each, names, found, macroDepth);
  switch (node.op) {
    case "value":
      if (typeof node.args === "object" && node.args !== null)
        found.push(`numbers like 1u and texts like b"…" are not allowed${placeOf(node.range)}`);
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
    case "call": {
      const [name, given] = node.args;
      if (name !== "has" && !Object.hasOwn(functions, name)) found.push(unknownCall(name, functions, node));
      for (const argument of given) inside(argument);
      return "any";
    }
    case "rcall": {
      const [method, receiver, given] = node.args;
      if (method === "matches")
        found.push(`matches() is not allowed${placeOf(node.range)}; use contains(), startsWith() or endsWith()`);
      else if (!macros.has(method) && !Object.hasOwn(methods, method)) found.push(unknownCall(method, methods, node));
      else if (method.startsWith("get") && given.length > 0) found.push(...zoneMistakes(given));
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

const unknownCall = (name: string, known: object, { range }: ASTNode): string =>
  `${name}() is not known${placeOf(range)}${didYouMean(name, [...Object.keys(known), ...macros])}`;

/** Formatters of time zones are costly, so expressions must not compute zone names. */
const zoneMistakes = ([zone]: readonly ASTNode[]): string[] =>
  zone?.op === "value" && typeof zone.args === "string" && isZone(zone.args)
    ? []
    : [`the time zone must be a name like "Europe/Berlin"${placeOf(zone?.range)}`];

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

/** The slots of the names available to every expression. */
const slots: ReadonlyMap<string, number> = new Map(["miner", "reading", "rule"].map((name, slot) => [name, slot]));

/** Requires a text without mistakes. */
export function compileExpression(text: string): Expression {
  const part = compile(environment.parse(text).ast, slots);
  return {
    test: ({ miner, reading, rule }) => {
      const budget = new Budget();
      const done = (truth: boolean | null, stopped: string | null): Tested => ({
        truth,
        stopped,
        work: mostWork - Math.max(0, budget.work),
      });
      try {
        const result = part({ budget, values: [miner, reading, rule] });
        // A reading that is null, or a type that does not fit.
        return done(typeof result === "boolean" ? result : null, null);
      } catch (error) {
        if (error instanceof OverBudget) return done(null, error.message);
        throw error;
      }
    },
  };
}
