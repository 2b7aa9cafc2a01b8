import { cpus } from "node:os";
import { type Figure, figures, type PartName, reached, shown } from "./figures.ts";
import type { Measured } from "./statistics.ts";

/** For programs: one object of these parts' figures; null = could not be measured. */
export function json(parts: readonly PartName[], results: readonly Measured[]): string {
  const asked = figures.filter(({ part }) => parts.includes(part));
  const figureOf = (name: string): number | null => results.find((result) => result.name === name)?.value ?? null;
  return JSON.stringify(Object.fromEntries(asked.map(({ name }) => [name, figureOf(name)])), null, 2);
}

const head = ["name", "figure", "aim", "unit", "reached", "rounds"];

/** For people, at a terminal: what else was seen stands under each figure. */
export function table(results: readonly Measured[]): string {
  const rows = rowsOf(results);
  const widths = head.map((title, column) =>
    Math.max(title.length, ...rows.map(({ cells }) => cells[column]?.length ?? 0)),
  );
  const line = (cells: readonly string[]): string =>
    cells
      .map((cell, column) => cell.padEnd(widths[column] ?? 0))
      .join("  ")
      .trimEnd();
  return [line(head), ...rows.map(({ cells, note }) => `${line(cells)}\n  ${note}`)].join("\n");
}

/** The rows of docs/performance.md. */
export function markdown(results: readonly Measured[], command: string): string {
  const line = (cells: readonly string[]): string => `| ${cells.join(" | ")} |`;
  const rows = rowsOf(results).map(({ cells: [name, ...others], note }) => line([`\`${name}\``, ...others, note]));
  const titles = [...head, "seen"];
  const date = new Date().toISOString().slice(0, 10);
  return [`${date}, ${machine()}, \`${command}\`:`, "", line(titles), line(titles.map(() => "---")), ...rows].join(
    "\n",
  );
}

export function machine(): string {
  const processors = cpus();
  const model = processors[0]?.model.trim() ?? "";
  const named = model === "" || model === "unknown" ? "" : ` (${model})`;
  return `${processors.length} cores${named}, ${process.platform} ${process.arch}, Node ${process.versions.node}`;
}

interface Row {
  readonly cells: readonly string[];
  readonly note: string;
}

function rowsOf(results: readonly Measured[]): Row[] {
  return results.flatMap((result) => {
    const figure = figures.find(({ name }) => name === result.name);
    return figure === undefined ? [] : [rowOf(figure, result)];
  });
}

function rowOf(figure: Figure, { name, value, least, most, runs, note }: Measured): Row {
  const { aim, better, unit } = figure;
  const met = reached(figure, value);
  const aimed = aim === null ? "" : `${better === "more" ? "≥" : "≤"} ${shown(aim)}`;
  const verdict = met === null ? "" : met ? "yes" : "no";
  const spread = runs === 1 ? "1" : `${runs}: ${shown(least)} to ${shown(most)}`;
  return { cells: [name, shown(value), aimed, unit, verdict, spread], note };
}
