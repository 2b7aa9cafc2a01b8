import type { History, MoneyReport, SummaryHistory } from "./resources.ts";

type Cell = string | number | boolean | null;

/** A reply as a table: the names of its columns, and its rows. */
export interface Table {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Cell[])[];
}

/** RFC 4180, for spreadsheets too: a text that they would take for a formula begins with an apostrophe. */
export const csvOf = ({ columns, rows }: Table): string =>
  [columns, ...rows].map((row) => `${row.map(cell).join(",")}\r\n`).join("");

function cell(value: Cell): string {
  if (value === null) return "";
  if (typeof value !== "string") return String(value);
  const text = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\r\n]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

export const historyTable = ({ points }: History): Table => ({
  columns: ["time", "hashrate", "power", "temperature", "energy"],
  rows: points.map(([time, ...figures]) => [new Date(time).toISOString(), ...figures]),
});

export const summaryHistoryTable = ({ points, algorithm, currency }: SummaryHistory): Table => ({
  columns: ["time", "hashrate", "power", "mining", "total", "revenue", "cost", "profit", "algorithm", "currency"],
  rows: points.map(([time, ...figures]) => [new Date(time).toISOString(), ...figures, algorithm, currency]),
});

export const moneyTable = ({ list, currency }: MoneyReport): Table => ({
  columns: [
    "period",
    "id",
    "name",
    "hours",
    "energy",
    "cost",
    "revenue",
    "profit",
    "currency",
    "revenueBtc",
    "profitBtc",
    "incomplete",
    "profitHours",
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
