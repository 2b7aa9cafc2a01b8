import type { ASTNode } from "@marcbachmann/cel-js";
import type { Budget } from "./expression-budget.ts";
import { functions, methods } from "./expression-functions.ts";
import { failed, isKey, isMap, itemsOf, memberOf, operators } from "./expression-values.ts";

/** One evaluation. */
export interface Frame {
  readonly budget: Budget;
  /** The values of names, by their slots. */
  readonly values: unknown[];
}

/** A part of an expression: its value, or `failed`. Throws `OverBudget`. */
export type Part = (frame: Frame) => unknown;

/** The slots of the names in scope. */
type Slots = ReadonlyMap<string, number>;

export const macros: ReadonlySet<string> = new Set(["exists", "exists_one", "all", "filter", "map"]);

/**
 * Compiles an expression to closures. The library only parses; evaluation happens here, so that every step is charged
 * and only functions listed in `expression-functions.ts` are called.
 */
export function compile(node: ASTNode, slots: Slots): Part {
  const inside = (each: ASTNode): Part => compile(each, slots);
  switch (node.op) {
    case "value": {
      const value = node.args;
      return charged(() => value);
    }
    case "id": {
      const slot = slots.get(node.args);
      return charged(slot === undefined ? () => failed : ({ values }) => values[slot]);
    }
    case ".": {
      const [value, field] = [inside(node.args[0]), node.args[1]];
      return charged((frame) => memberOf(value(frame), field));
    }
    case "[]": {
      const [value, index] = [inside(node.args[0]), inside(node.args[1])];
      return charged((frame) => memberOf(value(frame), index(frame)));
    }
    case "call": {
      const [name, given] = node.args;
      if (name === "has") return presence(given[0], slots);
      return call(own(functions, name), given.map(inside));
    }
    case "rcall": {
      const [method, receiver, given] = node.args;
      const [variable, ...bodies] = given;
      if (!macros.has(method) || variable?.op !== "id")
        return call(own(methods, method), [receiver, ...given].map(inside));
      const slot = slots.size;
      const inner = new Map([...slots, [variable.args, slot]]);
      // A name that hides another one leaves its slot unused, so that slots are never shared.
      if (inner.size === slots.size) inner.set(`${variable.args} of ${slot}`, slot);
      return macro(
        method,
        inside(receiver),
        slot,
        bodies.map((body) => compile(body, inner)),
      );
    }
    case "list": {
      const parts = node.args.map(inside);
      return charged((frame) => {
        frame.budget.make(parts.length);
        return valuesOf(parts, frame) ?? failed;
      });
    }
    case "map": {
      const pairs = node.args.map(([key, value]) => [inside(key), inside(value)] as const);
      return charged((frame) => {
        frame.budget.make(pairs.length);
        const made: Record<string, unknown> = Object.create(null);
        for (const [key, value] of pairs) {
          const [name, inner] = [key(frame), value(frame)];
          if (!isKey(name) || inner === failed) return failed;
          made[String(name)] = inner;
        }
        return made;
      });
    }
    case "?:": {
      const [condition, yes, no] = [inside(node.args[0]), inside(node.args[1]), inside(node.args[2])];
      return charged((frame) => {
        const truth = condition(frame);
        return truth === true ? yes(frame) : truth === false ? no(frame) : failed;
      });
    }
    case "&&":
      return joined(inside(node.args[0]), inside(node.args[1]), false);
    case "||":
      return joined(inside(node.args[0]), inside(node.args[1]), true);
    case "!_": {
      const part = inside(node.args);
      return charged((frame) => {
        const value = part(frame);
        return typeof value === "boolean" ? !value : failed;
      });
    }
    case "-_": {
      const part = inside(node.args);
      return charged((frame) => {
        const value = part(frame);
        return typeof value === "number" || typeof value === "bigint" ? -value : failed;
      });
    }
    case ".?":
    case "[?]":
      return () => failed;
    default: {
      const operate = own(operators, node.op);
      const [left, right] = [inside(node.args[0]), inside(node.args[1])];
      return charged((frame) => {
        const [a, b] = [left(frame), right(frame)];
        return operate === undefined || a === failed || b === failed ? failed : operate(a, b, frame.budget);
      });
    }
  }
}

/** Each part costs a step, before it is evaluated. */
const charged =
  (part: Part): Part =>
  (frame) => {
    frame.budget.spend(1);
    return part(frame);
  };

const own = <T>(table: Readonly<Record<string, T>>, name: string): T | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined;

/** Undefined if one of them has no value. */
function valuesOf(parts: readonly Part[], frame: Frame): unknown[] | undefined {
  const values: unknown[] = [];
  for (const part of parts) {
    const value = part(frame);
    if (value === failed) return undefined;
    values.push(value);
  }
  return values;
}

function call(compute: (typeof functions)[string] | undefined, given: readonly Part[]): Part {
  return charged((frame) => {
    const values = valuesOf(given, frame);
    return values === undefined || compute === undefined ? failed : compute(values, frame.budget);
  });
}

/** `has(reading.power)`: whether the last field is there; what comes before it must be. */
function presence(node: ASTNode | undefined, slots: Slots): Part {
  if (node?.op !== ".") return () => failed;
  const [value, field] = [compile(node.args[0], slots), node.args[1]];
  return charged((frame) => {
    const found = value(frame);
    if (found === failed) return failed;
    return isMap(found) && Object.hasOwn(found, field) && found[field] !== undefined;
  });
}

/** && (decided by false) or || (decided by true), whatever the other side is. */
const joined = (left: Part, right: Part, decisive: boolean): Part =>
  charged((frame) => {
    const one = left(frame);
    if (one === decisive) return decisive;
    const other = right(frame);
    if (other === decisive) return decisive;
    return one === !decisive && other === !decisive ? !decisive : failed;
  });

function macro(method: string, range: Part, slot: number, [first, second]: readonly Part[]): Part {
  if (first === undefined) return () => failed;
  /**
   * Calls `take` with each element and the value of the first body; it returns the result, or undefined to continue.
   */
  const through = (frame: Frame, end: () => unknown, take: (value: unknown, item: unknown) => unknown): unknown => {
    const items = itemsOf(range(frame), frame.budget);
    if (items === failed) return failed;
    for (const item of items) {
      frame.budget.spend(1);
      frame.values[slot] = item;
      const result = take(first(frame), item);
      if (result !== undefined) return result;
    }
    return end();
  };
  /** Whether one element decides; elements without a truth value make the result unknown only if none does. */
  const quantified = (decisive: boolean): Part =>
    charged((frame) => {
      let isUnknown = false;
      return through(
        frame,
        () => (isUnknown ? failed : !decisive),
        (truth) => {
          if (truth === decisive) return decisive;
          isUnknown ||= truth !== !decisive;
          return undefined;
        },
      );
    });
  /** The list of `value` for each element that meets the condition. */
  const collected = (hasCondition: boolean, value: (frame: Frame, item: unknown, first: unknown) => unknown): Part =>
    charged((frame) => {
      const made: unknown[] = [];
      return through(
        frame,
        () => made,
        (found, item) => {
          if (hasCondition && found === false) return undefined;
          const element = hasCondition && found !== true ? failed : value(frame, item, found);
          if (element === failed) return failed;
          frame.budget.make(1);
          made.push(element);
          return undefined;
        },
      );
    });
  switch (method) {
    case "exists":
      return quantified(true);
    case "all":
      return quantified(false);
    case "exists_one":
      return charged((frame) => {
        let count = 0;
        return through(
          frame,
          () => count === 1,
          (truth) => {
            if (truth === true) count += 1;
            return typeof truth === "boolean" ? undefined : failed;
          },
        );
      });
    case "filter":
      return collected(true, (_, item) => item);
    default:
      return second === undefined
        ? collected(false, (_frame, _item, found) => found)
        : collected(true, (frame) => second(frame));
  }
}
