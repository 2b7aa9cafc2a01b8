import { useMemo } from "preact/hooks";
import type { MoneyReport } from "../../../contract/resources.ts";
import { energy, money } from "../../format.ts";
import { t } from "../../language.ts";
import { Chart, type Series } from "../../parts/chart.tsx";
import type { Known } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";

/** Local midnight of a date like 2026-11-22 or of the first day of a month like 2026-11, in epoch ms. */
const timeOf = (period: string): number =>
  new Date(`${period.length === 7 ? `${period}-01` : period}T00:00:00`).getTime();

/** Cost, revenue and energy of each day or month. */
export function DaysChart({ report, known }: { report: MoneyReport; known: Known }) {
  const { totalList, currency } = report;
  const periods = useMemo(
    () => totalList.map((sums) => ({ ...sums, time: timeOf(sums.period) })).sort((one, other) => one.time - other.time),
    [totalList],
  );
  const times = useMemo(() => periods.map(({ time }) => time), [periods]);
  const series = useMemo((): Series[] => {
    const amount = (value: number | null) => money(value, currency);
    return [
      {
        name: t.money.energy,
        values: periods.map((each) => each.energy),
        format: energy,
        colour: 2,
        shape: "bars",
        scale: "energy",
      },
      { name: t.money.cost, values: periods.map(({ cost }) => cost), format: amount, colour: 1, scale: "money" },
      {
        name: t.money.revenue,
        values: periods.map(({ revenue }) => revenue),
        format: amount,
        colour: 3,
        scale: "money",
      },
      { name: t.money.profit, values: periods.map(({ profit }) => profit), format: amount, colour: 4, scale: "money" },
    ];
  }, [periods, currency]);
  return (
    <Card>
      <Chart title={report.by === "day" ? t.money.days : t.money.months} known={known} times={times} series={series} />
    </Card>
  );
}
