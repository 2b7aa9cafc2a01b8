import { RigbridgeError } from "../contract/problems.ts";

/** Reads a JSON body. Throws `input.invalid` that says where it is broken and repeats nothing of it. */
export const parseBody = (text: string, deepest: number): unknown => parseJson(text, deepest, "body");

/** The same of what is called so, as "payload". */
export function parseJson(text: string, deepest: number, name: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw new RigbridgeError("input.invalid", `The ${name} is no JSON: ${place(text, faultAt(text))}`);
  }
  const flaw = flawOf(value, deepest);
  if (flaw !== undefined) throw new RigbridgeError("input.invalid", `The ${name} ${flaw}`);
  return value;
}

/** Names that would reach a prototype, and nesting that would break whoever writes it out again. */
function flawOf(value: unknown, levels: number): string | undefined {
  if (typeof value !== "object" || value === null) return undefined;
  if (levels === 0) return "is nested too deeply";
  if (Object.hasOwn(value, "__proto__")) return "holds the forbidden name __proto__";
  for (const [name, part] of Object.entries(value)) {
    if (name === "constructor" && isObject(part) && Object.hasOwn(part, "prototype"))
      return "holds the forbidden name constructor.prototype";
    const flaw = flawOf(part, levels - 1);
    if (flaw !== undefined) return flaw;
  }
  return undefined;
}

const isObject = (value: unknown): value is object => typeof value === "object" && value !== null;

function place(text: string, offset: number): string {
  if (offset >= text.length) return "it ends too early";
  const before = text.slice(0, offset).split("\n");
  return `line ${before.length}, column ${(before.at(-1)?.length ?? 0) + 1}`;
}

const space = /[ \t\n\r]*/y;
const plain = /[ !#-[\]-\uffff]*/y;
const escaped = /\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})/y;
const scalar = /-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?|true|false|null/y;

/** Offset of the first character at which a text stops being JSON (RFC 8259), its length where something is missing. */
export function faultAt(text: string): number {
  const closers: string[] = [];
  let at = 0;
  const take = (pattern: RegExp): boolean => {
    pattern.lastIndex = at;
    const length = pattern.exec(text)?.[0].length ?? 0;
    at += length;
    return length > 0;
  };
  const string = (): boolean => {
    if (text[at] !== '"') return false;
    at += 1;
    while (take(plain) || take(escaped));
    if (text[at] !== '"') return false;
    at += 1;
    return true;
  };
  const next = (): string | undefined => {
    take(space);
    return text[at];
  };
  const name = (): boolean => {
    next();
    if (!string() || next() !== ":") return false;
    at += 1;
    return true;
  };
  /** After a bracket was opened: true when a value has to follow. */
  const opened = (closer: string): boolean | undefined => {
    at += 1;
    if (next() === closer) return false;
    closers.push(closer);
    return closer === "]" || name() ? true : undefined;
  };
  for (;;) {
    const first = next();
    if (first === "{" || first === "[") {
      const more = opened(first === "{" ? "}" : "]");
      if (more === undefined) return at;
      if (more) continue;
      at += 1;
    } else if (!(string() || (first !== '"' && take(scalar)))) return at;
    while (closers.length > 0 && next() === closers.at(-1)) {
      closers.pop();
      at += 1;
    }
    if (closers.length === 0) {
      next();
      return at;
    }
    if (text[at] !== ",") return at;
    at += 1;
    if (closers.at(-1) === "}" && !name()) return at;
  }
}
