import {
  isAlias,
  isMap,
  isPair,
  isScalar,
  isSeq,
  LineCounter,
  type Node,
  parseDocument,
  visit,
  type YAMLError,
} from "yaml";
import type { CodedText } from "../messages/coded-text.ts";

import { misindentedLine } from "./indentation.ts";

/** The place of a value in the configuration: keys, and indexes in lists. */
export type Path = readonly PropertyKey[];

/** A mistake, without its line. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
  /** The message by code; absent if it has none. */
  readonly coded?: CodedText | undefined;
}

interface Complaint {
  readonly line: number;
  readonly message: string;
}

/** A parsed YAML file: its value, and the line of each part. */
export interface Document {
  readonly value: unknown;
  /** Syntax errors; `value` is then undefined. */
  readonly broken: readonly Complaint[];
  /** Duplicate keys; there is a value nonetheless. */
  readonly findings: readonly Finding[];
  /** The line, from 1, of the value at the path, or of the nearest value around it. */
  lineOf(path: Path): number;
}

/** The parser's own messages may quote a password from the file; these do not. */
const syntaxErrors: Readonly<Record<string, string>> = {
  BAD_ALIAS: "text that begins with * or & needs quotes",
  BAD_DQ_ESCAPE: "this escape sequence is not valid in YAML; put the text in single quotes",
  BAD_INDENT: "the indentation does not match the lines above",
  BAD_SCALAR_START: "text that begins with this character needs quotes",
  BLOCK_AS_IMPLICIT_KEY: "a line break or quotes are missing here",
  MISSING_CHAR: "a quote, bracket, comma or colon is missing",
  MULTILINE_IMPLICIT_KEY: "a colon is missing after the key",
  MULTIPLE_DOCS: "a second YAML document begins here; only one is allowed",
  TAB_AS_INDENT: "tabs cannot be used for indentation; use spaces",
  TAG_RESOLVE_FAILED: "text that begins with ! needs quotes",
  UNEXPECTED_TOKEN: "this is not expected here; text with special characters needs quotes",
};

const mostAliases = 1000;

export function parseYaml(text: string): Document {
  const lines = new LineCounter();
  const document = parseDocument(text, {
    lineCounter: lines,
    prettyErrors: false,
    logLevel: "error",
    merge: true,
  });
  const lineAt = (offset: number): number => lines.linePos(Math.min(offset, text.trimEnd().length)).line;
  const doubled = document.errors.filter(({ code }) => code === "DUPLICATE_KEY");
  const complaints = upToTheFirstUnexpected([...document.errors, ...document.warnings]).map(({ code, pos }) => ({
    line: lineAt(pos[0]),
    message: syntaxErrors[code] ?? "this is not valid YAML",
  }));
  const broken = onePerLine(complaints.length === 0 ? [] : withIndentation(complaints, misindentedLine(text)));
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      broken.push({ line: lineAt(alias.range?.[0] ?? 0), message: syntaxErrors.BAD_ALIAS ?? "" });
    },
    Pair(_, { key, value }) {
      if (!isScalar(key) || key.source !== "<<" || key.type !== "PLAIN") return;
      const sources = isSeq(value) ? value.items : [value];
      const isMergeable = sources.every((source) => isMap(isAlias(source) ? source.resolve(document) : source));
      if (!isMergeable) broken.push({ line: lineAt(key.range?.[0] ?? 0), message: "<< takes an alias of a mapping" });
    },
  });
  const root = document.contents;
  const read = broken.length > 0 ? undefined : plainValue(() => document.toJS({ maxAliasCount: mostAliases }));
  if (read === null)
    broken.push({ line: 1, message: "its anchors and aliases refer to each other in a circle or too many times" });
  return {
    value: read?.value,
    broken,
    findings: doubled.map(({ pos }) => ({ path: pathAt(root, pos[0]), message: "is given twice" })),
    lineOf: (path) => lineAt(offsetOf(root, path)),
  };
}

/** The parser reports valid lines after an unexpected token. */
function upToTheFirstUnexpected(errors: readonly YAMLError[]): YAMLError[] {
  const inOrder = errors.filter(({ code }) => code !== "DUPLICATE_KEY").toSorted((a, b) => a.pos[0] - b.pos[0]);
  const first = inOrder.findIndex(({ code }) => code === "UNEXPECTED_TOKEN");
  return first === -1 ? inOrder : inOrder.slice(0, first + 1);
}

/** The parser reports a misindented line at the line before it, and follow-up errors as well. */
function withIndentation(complaints: readonly Complaint[], misindented: number | undefined): Complaint[] {
  const isMeant = ({ line }: Complaint): boolean => misindented !== undefined && Math.abs(line - misindented) <= 1;
  const first = complaints.findIndex(isMeant);
  if (misindented === undefined || first === -1) return [...complaints];
  return [...complaints.slice(0, first), { line: misindented, message: syntaxErrors.BAD_INDENT ?? "" }];
}

const onePerLine = (complaints: readonly Complaint[]): Complaint[] =>
  complaints.filter(({ line }, index) => complaints.findIndex((each) => each.line === line) === index);

/** Null if aliases make it too large or circular. */
function plainValue(read: () => unknown): { value: unknown } | null {
  try {
    const value = read();
    JSON.stringify(value);
    return { value };
  } catch {
    return null;
  }
}

/** The path of the key that begins at an offset. */
function pathAt(root: Node | null, offset: number): Path {
  let found: Path = [];
  visit(root, {
    Pair(_, { key }, ancestors) {
      if (!isScalar(key) || key.range?.[0] !== offset) return;
      found = [...pathOf(ancestors), String(key.value)];
      return visit.BREAK;
    },
  });
  return found;
}

function pathOf(ancestors: readonly unknown[]): Path {
  return ancestors.flatMap((node, depth): Path => {
    if (isPair(node)) return isScalar(node.key) ? [String(node.key.value)] : [];
    return isSeq(node) ? [node.items.indexOf(ancestors[depth + 1])] : [];
  });
}

/** The offset of the deepest part of the path that exists; of a key, that of its name. */
function offsetOf(root: Node | null, path: Path): number {
  let node: unknown = root;
  let offset = root?.range?.[0] ?? 0;
  for (const step of path) {
    if (isMap(node)) {
      const pair = node.items.findLast(({ key }) => isScalar(key) && String(key.value) === String(step));
      if (pair === undefined) return offset;
      offset = startOf(pair.key) ?? offset;
      node = pair.value;
    } else if (isSeq(node)) {
      node = node.items[Number(step)];
      offset = startOf(node) ?? offset;
    } else return offset;
  }
  return offset;
}

const startOf = (node: unknown): number | undefined =>
  isMap(node) || isSeq(node) || isScalar(node) || isAlias(node) ? node.range?.[0] : undefined;
