import { isUtf8 } from "node:buffer";
import { readFile } from "node:fs/promises";
import { text as textOf } from "node:stream/consumers";
import type { Command } from "commander";
import { csvOf } from "../contract/csv.ts";
import { type ImportPreview, type ImportResult, type ImportRow, minerTable } from "../contract/imports.ts";
import { RigbridgeError } from "../contract/problems.ts";
import { confirm } from "./confirm.ts";
import { failing } from "./failure.ts";
import { type Client, caller, type ServiceOptions, serviceCommand, withService } from "./service-options.ts";
import { counted, fittedTable } from "./table.ts";

interface ImportOptions extends ServiceOptions {
  readonly preview?: true;
  readonly yes?: true;
  readonly unplace?: true;
}

/** Rows that are printed before the question. */
const mostShown = 20;

export function importCommand(): Command {
  return serviceCommand("import", "rigbridge import rigs.csv --preview", "rigbridge import rigs.csv --yes")
    .description("Adds and changes rigs of a running service by a table (CSV).")
    .argument("<file>", "the table; - for standard input")
    .option("--preview", "show every row, and change nothing")
    .option("--yes", "do not ask first")
    .option("--unplace", "rigs that are not in the table, which must be complete, lose their place")
    .action(failing(importRigs));
}

export function exportCommand(): Command {
  return serviceCommand("export", "rigbridge export > rigs.csv")
    .description(
      "Prints the rigs of a running service as a table (CSV) that `rigbridge import` takes, without secrets.",
    )
    .action(
      failing((options: ServiceOptions) =>
        withService(options, async (service) => {
          process.stdout.write(csvOf(minerTable(await service.exportMiners({}, caller))));
        }),
      ),
    );
}

async function importRigs(
  file: string,
  { preview: isPreview, yes, unplace, ...options }: ImportOptions,
): Promise<void> {
  if (!isPreview && !yes && !process.stdin.isTTY)
    throw new RigbridgeError("input.invalid", "Nothing was imported: without a terminal to ask on, give --yes");
  const csv = file === "-" ? await textOf(process.stdin) : await textIn(file);
  await withService(options, async (service) => {
    const found = await service.previewImport({ csv, ...(unplace ? { omitted: "unplace" } : {}) }, caller);
    if (found.id === null) throw new RigbridgeError("input.invalid", mistakesText(found));
    console.log(previewText(found, isPreview ? Number.POSITIVE_INFINITY : mostShown));
    const { added, changed } = found.counts;
    if (isPreview || added + changed === 0) return;
    await commit(service, found.id, yes === true || (await confirm("Import them?", process.stdin, process.stderr)));
  });
}

/** The text of a file. Throws `input.invalid` if it cannot be read, or is not UTF-8. */
async function textIn(file: string): Promise<string> {
  const bytes = await readFile(file).catch((error: unknown) => {
    const code = error instanceof Error && "code" in error ? error.code : error;
    const why = code === "ENOENT" ? "does not exist" : `cannot be read (${code})`;
    throw new RigbridgeError("input.invalid", `The file ${file} ${why}`);
  });
  if (!isUtf8(bytes))
    throw new RigbridgeError("input.invalid", `The file ${file} is not UTF-8; in Excel, save it as "CSV UTF-8"`);
  return bytes.toString();
}

async function commit(service: Client, id: number, isWanted: boolean): Promise<void> {
  if (isWanted) return console.log(resultText(await service.commitImport({ id }, caller)));
  console.error("Nothing was imported.");
  process.exitCode = 1;
}

/** Every mistake by its place, as editors name one. */
export function mistakesText({ mistakes, moreMistakes }: Pick<ImportPreview, "mistakes" | "moreMistakes">): string {
  const lines = mistakes.map(({ line, column, name, message }) => {
    const place = column === null ? `${line}` : `${line}:${column}`;
    return `  ${place}: ${name === null ? "" : `${name}: `}${message}`;
  });
  const more = moreMistakes === 0 ? [] : [`  ... and ${moreMistakes} more`];
  return [`Nothing was imported: ${counted(lines.length + moreMistakes, "mistake")}`, ...lines, ...more].join("\n");
}

/** What would be added and changed, at most so many rows. */
export function previewText({ rows, counts, ignored }: ImportPreview, most: number): string {
  const shown = rows.filter(({ state }) => state !== "same");
  const cells = shown.slice(0, most).map((row) => [`${row.line}`, row.state, row.name, changesText(row)]);
  const heads = ["Line", "", "Rig", "Change"];
  return [
    ...(cells.length === 0 ? [] : [...fittedTable(heads, cells, { flexible: [2, 3] }), ""]),
    ...(shown.length > most ? [`... and ${shown.length - most} more; --preview shows all`, ""] : []),
    ...(ignored.length === 0 ? [] : [`Columns that cannot be set: ${ignored.join(", ")}`]),
    `${counted(counts.added, "rig")} to add, ${counts.changed} to change, ${counts.same} the same.`,
  ].join("\n");
}

const changesText = ({ changes, state }: ImportRow): string =>
  changes
    .map(({ field, from, to }) => (state === "added" ? `${field} ${to}` : `${field} ${from ?? "-"} → ${to ?? "-"}`))
    .join(", ");

const resultText = ({ added, changed, same }: ImportResult): string =>
  `${counted(added, "rig")} added, ${changed} changed, ${same} the same.`;
