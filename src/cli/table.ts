/** For the terminal. Every text comes out printable, for what a rig says may hold anything. */

/**
 * Rows under one another, columns as wide as their widest cell, two blanks between; columns of figures stand to the
 * right, empty ones are left out.
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
  return padded.join("  ").trimEnd();
}

/** Names and values under one another. */
export function pairs(entries: readonly (readonly [string, string])[]): string {
  const longest = Math.max(0, ...entries.map(([name]) => width(name)));
  return entries.map(([name, text]) => `${name}${" ".repeat(longest - width(name))}  ${printable(text)}`).join("\n");
}

export const indented = (text: string): string => text.replace(/^(?=.)/gm, "  ");

/** Without control characters, which a terminal would obey. */
export const printable = (text: string): string => text.replace(/[\p{Cc}\p{Cf}\p{Zl}\p{Zp}]/gu, "\u{fffd}");

const width = (text: string): number => [...text].length;
