import type { History, MoneyReport, SummaryHistory } from "./resources.ts";

type Cell = string | number | boolean | null;

/** The display of a column for people. */
interface Column {
  readonly name: string;
  /** The unit for people. */
  readonly unit: string;
  /** The number of the reply's own units in one `unit`; default: 1. */
  readonly per?: number;
  readonly decimals: number;
}

/** A reply as a table: the names of its columns, and its rows. */
export interface Table {
  readonly columns: readonly (string | Column)[];
  readonly rows: readonly (readonly Cell[])[];
}

export interface CsvOptions {
  /** For people: units in the header, and rounded decimals. */
  readonly units?: boolean;
  /** Begins with a byte order mark, without which Excel does not read UTF-8. */
  readonly bom?: boolean;
}

/** RFC 4180, safe for spreadsheets: a text that they would read as a formula begins with an apostrophe. */
export function csvOf({ columns, rows }: Table, { units = false, bom = false }: CsvOptions = {}): string {
  const head = columns.map((column) => {
    if (typeof column === "string") return column;
    return units ? `${column.name} (${column.unit})` : column.name;
  });
  const shown = (value: Cell, at: number): Cell => {
    const column = columns[at];
    if (!units || typeof value !== "number" || typeof column !== "object") return value;
    return Number((value / (column.per ?? 1)).toFixed(column.decimals));
  };
  const lines = [head, ...rows.map((row) => row.map(shown))].map((row) => `${row.map(cell).join(",")}\r\n`);
  return `${bom ? "\u{FEFF}" : ""}${lines.join("")}`;
}

const hashrate: Column = { name: "hashrate", unit: "TH/s", per: 1e12, decimals: 6 };
const power: Column = { name: "power", unit: "W", decimals: 1 };
const energy: Column = { name: "energy", unit: "kWh", per: 1_000, decimals: 3 };
const moneyIn = (name: string, currency: string): Column => ({ name, unit: currency, decimals: 4 });
const bitcoin = (name: string): Column => ({ name, unit: "BTC", decimals: 8 });
const hours = (name: string): Column => ({ name, unit: "h", decimals: 2 });

/** The beginnings of texts that a spreadsheet reads as a formula. */
const formula = /^[=+\-@\t\r]/;

/** The text of a cell that `csvOf` may have made: without the apostrophe before what looks like a formula. */
export const textOfCell = (cell: string): string =>
  cell.startsWith("'") && formula.test(cell.slice(1)) ? cell.slice(1) : cell;

function cell(value: Cell): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = formula.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const historyTable = ({ points }: History): Table => ({
  columns: ["time", hashrate, power, { name: "temperature", unit: "°C", decimals: 1 }, energy],
  rows: points.map(([time, ...figures]) => [new Date(time).toISOString(), ...figures]),
});

export const summaryHistoryTable = ({ points, algorithm, currency }: SummaryHistory): Table => ({
  columns: [
    ...(["time", hashrate, power, "mining", "total"] as const),
    ...["revenue", "cost", "profit"].map((name) => moneyIn(name, `${currency} per day`)),
    ...(["algorithm", "currency"] as const),
  ],
  rows: points.map(([time, ...figures]) => [new Date(time).toISOString(), ...figures, algorithm, currency]),
});

export const moneyTable = ({ list, currency }: MoneyReport): Table => ({
  columns: [
    "period",
    "id",
    "name",
    hours("hours"),
    energy,
    ...["cost", "revenue", "profit"].map((name) => moneyIn(name, currency)),
    "currency",
    bitcoin("revenueBtc"),
    bitcoin("profitBtc"),
    "incomplete",
    hours("profitHours"),
  ],
  rows: list.map((row) => [
    row.period,
    row.id,
    row.name,
    row.hours,
    row.energy,
    row.cost,
    row.revenue,
    row.profit,
    currency,
    row.revenueBtc,
    row.profitBtc,
    row.incomplete,
    row.profitHours,
  ]),
});
