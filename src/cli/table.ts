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
  const right = head.map((_, column) => rows.every((cells) => figure.test(cells[column] ?? "")));
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

/** Changes the look of a padded cell, not its width; `row` counts from 0 without the heads. */
export type Paint = (cell: string, row: number, column: number) => string;

/**
 * Rows in columns of at most `columns` characters together, one line each: cells of the `flexible` columns are cut
 * with "…" where there is no room, the widest column first. Columns of figures are aligned right.
 */
export function fittedTable(
  heads: readonly string[],
  rows: readonly (readonly string[])[],
  {
    flexible,
    columns = room + 2,
    paint = (cell) => cell,
  }: { readonly flexible: readonly number[]; readonly columns?: number; readonly paint?: Paint },
): string[] {
  const lines = [heads, ...rows].map((cells) => cells.map(printable));
  const natural = heads.map((_, column) => widest(lines.map((cells) => cells[column] ?? "")));
  const widths = narrowed(natural, flexible, columns - 2 * (heads.length - 1));
  const right = heads.map((_, column) => lines.slice(1).every((cells) => figure.test(cells[column] ?? "")));
  return lines.map((cells, line) =>
    widths
      .map((most, column) => {
        const cell = cut(cells[column] ?? "", most);
        const blanks = " ".repeat(most - width(cell));
        const isLast = column === widths.length - 1;
        const padded = right[column] ? blanks + cell : isLast ? cell : cell + blanks;
        return line === 0 ? padded : paint(padded, line - 1, column);
      })
      .join("  ")
      .trimEnd(),
  );
}

/** A loop, because a call takes only some 100,000 arguments. */
const widest = (cells: readonly string[]): number => cells.reduce((most, cell) => Math.max(most, width(cell)), 0);

/** Narrows the widest flexible column until all fit. */
function narrowed(natural: readonly number[], flexible: readonly number[], most: number): number[] {
  const widths = [...natural];
  let excess = widths.reduce((sum, each) => sum + each, 0) - most;
  for (; excess > 0; excess -= 1) {
    const column = flexible.reduce(
      (one, other) => ((widths[other] ?? 0) > (widths[one] ?? 0) ? other : one),
      flexible[0] ?? 0,
    );
    const now = widths[column] ?? 0;
    if (now <= narrowestCut) break;
    widths[column] = now - 1;
  }
  return widths;
}

/** Fewer characters of a name would tell nothing. */
const narrowestCut = 6;

/** At most this many characters, the last one "…" if some are missing. */
export const cut = (text: string, most: number): string =>
  width(text) <= most ? text : `${[...text].slice(0, most - 1).join("")}…`;

const figure = /^([\d.,]+( \S{1,5})?)?$/;

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
