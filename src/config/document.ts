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

import { misindentedLine } from "./indentation.ts";

/** Where a value stands in the configuration: keys and places in lists. */
export type Path = readonly PropertyKey[];

/** A mistake, before its line is known. */
export interface Finding {
  readonly path: Path;
  readonly message: string;
}

interface Complaint {
  readonly line: number;
  readonly message: string;
}

/** A YAML file as read: its value, and on which line what stands. */
export interface Document {
  readonly value: unknown;
  /** What makes it no YAML; `value` is then undefined. */
  readonly broken: readonly Complaint[];
  /** Keys that stand twice; the value is there all the same. */
  readonly findings: readonly Finding[];
  /** The line, from 1, of what stands at the path, or else of what it would stand in. */
  lineOf(path: Path): number;
}

/** The parser's own words may quote the file, and with it a password; these do not. */
const words: Readonly<Record<string, string>> = {
  BAD_ALIAS: "text that begins with * or & needs quotes",
  BAD_DQ_ESCAPE: "YAML does not know this escape; put the text in single quotes",
  BAD_INDENT: "the indentation does not fit the lines above",
  BAD_SCALAR_START: "text that begins with this character needs quotes",
  BLOCK_AS_IMPLICIT_KEY: "a line end or quotes are missing here",
  MISSING_CHAR: "a quote, bracket, comma or colon is missing",
  MULTILINE_IMPLICIT_KEY: "a colon is missing after the key",
  MULTIPLE_DOCS: "a second document begins here; only one is read",
  TAB_AS_INDENT: "a tab cannot indent; use spaces",
  TAG_RESOLVE_FAILED: "text that begins with ! needs quotes",
  UNEXPECTED_TOKEN: "this is not expected here; text with special characters needs quotes",
};

const mostAliases = 1000;

export function parseYaml(text: string): Document {
  const lines = new LineCounter();
  const document = parseDocument(text, { lineCounter: lines, prettyErrors: false, logLevel: "error" });
  const lineAt = (offset: number): number => lines.linePos(Math.min(offset, text.trimEnd().length)).line;
  const doubled = document.errors.filter(({ code }) => code === "DUPLICATE_KEY");
  const complaints = upToTheFirstDerailment([...document.errors, ...document.warnings]).map(({ code, pos }) => ({
    line: lineAt(pos[0]),
    message: words[code] ?? "this is no valid YAML",
  }));
  const broken = onePerLine(complaints.length === 0 ? [] : withIndentation(complaints, misindentedLine(text)));
  visit(document, {
    Alias(_, alias) {
      if (alias.resolve(document) !== undefined) return;
      broken.push({ line: lineAt(alias.range?.[0] ?? 0), message: words.BAD_ALIAS ?? "" });
    },
  });
  const root = document.contents;
  const read = broken.length > 0 ? undefined : plainValue(() => document.toJS({ maxAliasCount: mostAliases }));
  if (read === null) broken.push({ line: 1, message: "its anchors and aliases refer to each other too often" });
  return {
    value: read?.value,
    broken,
    findings: doubled.map(({ pos }) => ({ path: pathAt(root, pos[0]), message: "stands here twice" })),
    lineOf: (path) => lineAt(offsetOf(root, path)),
  };
}

/** After something unexpected the parser trips over what is right. */
function upToTheFirstDerailment(errors: readonly YAMLError[]): YAMLError[] {
  const inOrder = errors.filter(({ code }) => code !== "DUPLICATE_KEY").toSorted((a, b) => a.pos[0] - b.pos[0]);
  const first = inOrder.findIndex(({ code }) => code === "UNEXPECTED_TOKEN");
  return first === -1 ? inOrder : inOrder.slice(0, first + 1);
}

/** A line that is not indented as it should be makes the parser complain of the line before it, and of what follows. */
function withIndentation(complaints: readonly Complaint[], misindented: number | undefined): Complaint[] {
  const isMeant = ({ line }: Complaint): boolean => misindented !== undefined && Math.abs(line - misindented) <= 1;
  const first = complaints.findIndex(isMeant);
  if (misindented === undefined || first === -1) return [...complaints];
  return [...complaints.slice(0, first), { line: misindented, message: words.BAD_INDENT ?? "" }];
}

const onePerLine = (complaints: readonly Complaint[]): Complaint[] =>
  complaints.filter(({ line }, index) => complaints.findIndex((each) => each.line === line) === index);

/** null when aliases make it too large, or go in a circle. */
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

/** As deep as the path leads; a key stands where its name does. */
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
