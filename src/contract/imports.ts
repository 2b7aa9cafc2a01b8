import { z } from "zod";
import { CodedText } from "./coded-text.ts";
import type { Table } from "./csv.ts";
import { exportColumns, type ImportColumn, importColumns, placedColumns } from "./import-columns.ts";

/** The maximum rows of a file. */
export const mostImportRows = 50_000;
/** The longest file, in bytes. */
export const longestImport = 10_000_000;
/** The mistakes that a preview lists; the others are counted. */
export const mostImportMistakes = 1_000;

export const ImportBody = z.strictObject({
  csv: z
    .string()
    .max(longestImport)
    .describe(
      `a table of rigs: a line of column names (${importColumns.join(", ")}), then a line for each rig, with commas, semicolons or tabs; or addresses alone, one in each line. It may also be sent as it is, as text/csv`,
    ),
});

export const ImportQuery = z.object({
  omitted: z
    .enum(["keep", "unplace"])
    .optional()
    .meta({
      description:
        "rigs that are not in the table keep their place (default), or are without one, for which the table must be complete; none is removed",
      examples: ["unplace"],
    }),
});

const text = z.string();

export const ImportMistake = z.object({
  line: z.int().describe("line of the file, from 1"),
  column: z.int().nullable().describe("column of the table, from 1; null: the whole line"),
  name: text.nullable().describe("name of the column; null if it has none"),
  message: text,
  coded: CodedText.optional().describe("the message by code; absent if it has none"),
});
export type ImportMistake = z.infer<typeof ImportMistake>;

const ImportChange = z.object({
  field: z.enum(importColumns),
  from: text
    .nullable()
    .describe("null: it is not set; `***`: the rig has a login of its own, which a new address ends"),
  to: text.nullable(),
});
export type ImportChange = z.infer<typeof ImportChange>;

export const ImportRow = z.object({
  line: z.int().describe("line of the file, from 1; 0: a rig that is not in the file, and loses its place"),
  state: z.enum(["added", "changed", "same", "error"]),
  miner: z.int().nullable().describe("id of the rig; null: it is a new one, or none was found"),
  name: text.describe("the rig's name, otherwise its address"),
  changes: z.array(ImportChange).describe("differences; for a new rig, everything that is set"),
});
export type ImportRow = z.infer<typeof ImportRow>;

const counts = {
  added: z.int(),
  changed: z.int(),
  same: z.int(),
} as const;

export const ImportPreview = z.object({
  id: z.int().nullable().describe("commits it, with POST /api/imports/{id}; null: it has mistakes, and cannot be"),
  expires: z.number().describe("epoch ms, until when it can be committed"),
  counts: z.object({ ...counts, error: z.int() }).describe("rows of each state"),
  ignored: z.array(text).describe("columns that the lists of the dashboard have, and that cannot be set"),
  rows: z.array(ImportRow),
  mistakes: z.array(ImportMistake).describe(`by line and column; the first ${mostImportMistakes}`),
  moreMistakes: z.int().describe("the number of those that are not listed"),
});
export interface ImportPreview extends z.infer<typeof ImportPreview> {}

export const ImportResult = z.object(counts);
export type ImportResult = z.infer<typeof ImportResult>;

/** A rig as a row of a list of rigs. */
export const ExportedMiner = z.object({
  uid: text.nullable(),
  mac: text.nullable(),
  serial: text.nullable(),
  address: text,
  name: text.nullable().describe("null: that of the rig itself"),
  group: text.nullable().describe("its path"),
  site: text.nullable(),
  container: text.nullable().describe("its building"),
  row: text.nullable(),
  rack: text.nullable(),
  slot: text.nullable(),
  rackRow: z.number().nullable().describe("row of its position, from 1"),
  rackColumn: z.number().nullable().describe("column of its position, from 1"),
  tags: text.describe("separated by semicolons"),
  driver: text.nullable(),
  interval: z.number().nullable().describe("s"),
  login: text.nullable().describe("name of its login in the settings"),
  nameplate: z.number().nullable().describe("W"),
} satisfies Record<Exclude<ImportColumn, "building">, z.ZodType>);
export type ExportedMiner = z.infer<typeof ExportedMiner>;

export const MinerExport = z.object({ list: z.array(ExportedMiner) });
export interface MinerExport extends z.infer<typeof MinerExport> {}

/** As POST /api/imports takes it. */
export const minerTable = ({ list }: MinerExport): Table => ({
  columns: exportColumns,
  rows: list.map((rig) => exportColumns.map((column) => rig[column])),
});

/** A rig by its place, as POST /api/imports takes it. */
export const PlacedMiner = ExportedMiner.pick({
  uid: true,
  mac: true,
  serial: true,
  address: true,
  name: true,
  site: true,
  row: true,
  rack: true,
  slot: true,
  rackRow: true,
  rackColumn: true,
  tags: true,
  driver: true,
}).extend({ building: text.nullable() });
export interface PlacedMiner extends z.infer<typeof PlacedMiner> {}

export const PlacedMiners = z.object({ list: z.array(PlacedMiner) });
export interface PlacedMiners extends z.infer<typeof PlacedMiners> {}

export const placedTable = ({ list }: PlacedMiners): Table => ({
  columns: placedColumns,
  rows: list.map((rig) => placedColumns.map((column) => rig[column])),
});
