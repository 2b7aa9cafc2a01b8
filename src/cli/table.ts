/** Text for the terminal. Every text is made printable, because a rig's reports may contain anything. */

/** Columns of a terminal, less the indentation of `indented`. */
const room = 78;

/**
 * Rows in columns as wide as their widest cell, two spaces apart. Columns of figures are aligned right, empty columns
 * are left out, and the last column wraps.
 */
export function table(heads: readonly string[], allRows: readonly (readonly string[])[]): string {
  const filled = (_: string, column: number) => allRows.some((cells) => (cells[column] ?? "") !== "");
  const [head = [], ...rows] = [heads, ...allRows].map((cells) => cells.filter(filled).map(printable));
  const lines = [head, ...rows];
  const widths = head.map((_, column) => Math.max(...lines.map((cells) => width(cells[column] ?? ""))));
  const right = head.map((_, column) => rows.every((cells) => /^([\d.,]+( \S{1,5})?)?$/.test(cells[column] ?? "")));
  return lines.map((cells) => rowText(cells, widths, right)).join("\n");
}

function rowText(cells: readonly string[], widths: readonly number[], right: readonly boolean[]): string {
  const padded = widths.map((wanted, column) => {
    const cell = cells[column] ?? "";
    const blanks = " ".repeat(wanted - width(cell));
    return right[column] ? blanks + cell : cell + blanks;
  });
  const last = padded.pop() ?? "";
  return hanging(padded.map((cell) => `${cell}  `).join(""), right.at(-1) ? last : last.trimEnd()).trimEnd();
}

/** A text that follows `before` on its line and wraps below its own beginning. */
export function hanging(before: string, text: string): string {
  const indent = width(before);
  const lines = room - indent < narrowest ? [text] : linesOf(text, room - indent);
  return lines.map((line, index) => (index === 0 ? before : " ".repeat(indent)) + line).join("\n");
}

/** A narrower column does not wrap, because it would be unreadable. */
const narrowest = 20;

/** Lines of at most `most` characters, broken at spaces, and within a word only if it is longer than a line. */
function linesOf(text: string, most: number): string[] {
  const lines: string[] = [];
  let line = "";
  for (let word of text.split(" ")) {
    if (line !== "" && width(line) + 1 + width(word) > most) {
      lines.push(line);
      line = "";
    }
    while (width(word) > most) {
      lines.push([...word].slice(0, most).join(""));
      word = [...word].slice(most).join("");
    }
    line = line === "" ? word : `${line} ${word}`;
  }
  return [...lines, line];
}

/** One line for each name and value. */
export function pairs(entries: readonly (readonly [string, string])[]): string {
  const longest = Math.max(0, ...entries.map(([name]) => width(name)));
  return entries
    .map(([name, text]) => hanging(`${name}${" ".repeat(longest - width(name))}  `, printable(text)))
    .join("\n");
}

export const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ");

/** Without control characters, which a terminal would execute. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");

const width = (text: string): number => [...text].length;

/** "1 miner", "40,000 miners". */
export const counted = (count: number, noun: string): string =>
  `${count.toLocaleString("en-US")} ${noun}${count === 1 ? "" : "s"}`;
