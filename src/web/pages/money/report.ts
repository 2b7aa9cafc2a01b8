import type { KnownOf } from "../../../contract/known-of.ts";
import type { MoneyReport } from "../../../contract/resources.ts";

export type Sums = Pick<
  MoneyReport["totalList"][number],
  "energy" | "cost" | "revenue" | "profit" | "profitHours" | "hours" | "incomplete"
>;

/** Totals of one miner, group, coin or algorithm over the whole report. */
export interface Line extends Sums {
  readonly id: number | null;
  readonly name: string;
}

const plus = (one: number | null, other: number | null): number | null =>
  one === null ? other : other === null ? one : one + other;

const sum = (one: Sums, other: Sums): Sums => ({
  hours: one.hours + other.hours,
  energy: plus(one.energy, other.energy),
  cost: plus(one.cost, other.cost),
  revenue: plus(one.revenue, other.revenue),
  profit: plus(one.profit, other.profit),
  profitHours: one.profitHours + other.profitHours,
  incomplete: one.incomplete || other.incomplete,
});

const nothing: Sums = {
  hours: 0,
  energy: null,
  cost: null,
  revenue: null,
  profit: null,
  profitHours: 0,
  incomplete: false,
};

/** Totals of the whole period, over known values. */
export const totalOf = (report: MoneyReport): Sums => report.totalList.reduce<Sums>(sum, nothing);

/** The profit of the whole hours with known revenue and cost. */
export const profitIn = ({ profit, profitHours, hours }: Sums): KnownOf => ({
  value: profit,
  known: Math.round(profitHours),
  total: Math.round(hours),
});

/** One line for each subject, over all periods; the best profit first, unknown ones last. */
export function linesOf(report: MoneyReport): readonly Line[] {
  const lines = new Map<string, Line>();
  for (const { id, name, hours, energy, cost, revenue, profit, profitHours, incomplete } of report.list) {
    const key = `${id} ${id === null ? name : ""}`;
    const part = { hours, energy, cost, revenue, profit, profitHours, incomplete };
    // The newest name counts: lists are sorted by time.
    lines.set(key, { id, name, ...sum(lines.get(key) ?? nothing, part) });
  }
  const rank = ({ profit }: Line) => profit ?? Number.NEGATIVE_INFINITY;
  return [...lines.values()].sort((one, other) => rank(other) - rank(one));
}

/** A local date as in the service's reports: 2026-11-22. */
export const localDate = (time: number): string => {
  const date = new Date(time);
  const two = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${two(date.getMonth() + 1)}-${two(date.getDate())}`;
};
