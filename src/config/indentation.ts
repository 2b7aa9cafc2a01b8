/**
 * The first misindented line of a YAML text, from 1: deeper than a key that already has its value, or between two
 * levels. Undefined if a value before it spans several lines, which only a parser understands.
 */
export function misindentedLine(text: string): number | undefined {
  /** The allowed indentations of the next line. */
  const levels: number[] = [];
  let opensLevel = true;
  for (const [index, line] of text.split(/\r?\n/).entries()) {
    const [, blanks = "", dashes = "", rest = ""] = /^( *)((?:- +)*)(.*?)\s*$/.exec(line) ?? [];
    if (rest === "" || rest.startsWith("#")) continue;
    const indent = blanks.length;
    const deepest = levels.at(-1) ?? -1;
    if (indent > deepest ? !opensLevel : !levels.includes(indent)) return index + 1;
    const ending = endingOf(rest, dashes !== "");
    if (ending === undefined) return undefined;
    while ((levels.at(-1) ?? -1) >= indent) levels.pop();
    levels.push(indent);
    const inner = [...dashes.matchAll(/- +/g)].map((dash) => indent + dash.index + dash[0].length);
    levels.push(...(ending === "item" ? inner.slice(0, -1) : inner));
    opensLevel = ending === "opens";
  }
  return undefined;
}

/** Whether the next line may be deeper; undefined where this one may continue in it. */
function endingOf(rest: string, isItem: boolean): "opens" | "complete" | "item" | undefined {
  if (rest === "-") return "opens";
  const [keyed, value = ""] = /^(?:[\w.-]+|"[^"]*"|'[^']*'):(?:\s+(.*))?$/.exec(rest) ?? [];
  if (keyed === undefined) return isItem && isWhole(rest) ? "item" : undefined;
  if (value === "" || value.startsWith("#")) return "opens";
  return isWhole(value) ? "complete" : undefined;
}

/** A plain text, an alias, or closed quotes and brackets; not an anchor, tag or block. */
const isWhole = (value: string): boolean =>
  /^(?:[^\s"'{[|>&*!%@`#].*|\*[\w.-]+|"[^"]*"|'[^']*'|\{[^{}]*\}|\[[^[\]]*\])(?:\s+#.*)?$/.test(value);
