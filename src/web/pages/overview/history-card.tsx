import { useMemo, useState } from "preact/hooks";
import type { Reply } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { hashrate, money, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { Chart, type Series } from "../../parts/chart.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { usePeriod } from "../../parts/period.tsx";

/**
 * The farm's hash rate, power and money over the last hours or days. `algorithm`: that of the hash rate, by name; null if
 * it is unknown.
 */
export function HistoryCard({ algorithm }: { algorithm: string | null }) {
  // Of two that are mined at once, the first.
  const [first] = algorithm?.split(" + ") ?? [];
  const { picker, from, step, turn } = usePeriod();
  const [figure, setFigure] = useState<"hashrate" | "money">("hashrate");
  const history = useLoaded(
    async (signal) => {
      const span: [number, number] = [from(), Date.now()];
      const query = { from: span[0], step, ...(first === undefined ? {} : { algorithm: first }) };
      return { ...(await call("getSummaryHistory", query, { signal })), span };
    },
    [turn, first],
  );
  return (
    <Card
      wide
      title={t.overview.history}
      actions={
        <div class="row">
          <fieldset class="row choices">
            <legend class="visually-hidden">{t.overview.figure}</legend>
            {(["hashrate", "money"] as const).map((each) => (
              <button
                key={each}
                type="button"
                class="button small"
                aria-pressed={figure === each}
                onClick={() => setFigure(each)}
              >
                {each === "hashrate" ? t.overview.hashrateAndPower : t.overview.earnings}
              </button>
            ))}
          </fieldset>
          {picker}
        </div>
      }
    >
      <Loading from={history}>
        {(value, known) => <HistoryChart history={value} figure={figure} known={known} />}
      </Loading>
    </Card>
  );
}

type SummaryHistory = Reply<"getSummaryHistory"> & { readonly span: [from: number, to: number] };

interface HistoryChartProps {
  readonly history: SummaryHistory;
  readonly figure: "hashrate" | "money";
  readonly known: Known;
}

function HistoryChart({ history, figure, known }: HistoryChartProps) {
  const { points, algorithm, currency, span } = history;
  const times = useMemo(() => points.map(([time]) => time), [points]);
  const series = useMemo((): Series[] => {
    const column = (index: 1 | 2 | 3 | 5 | 6 | 7) => points.map((point) => point[index]);
    const rate = (value: number | null, largest?: number) => hashrate(value, algorithm, largest);
    const amount = (value: number | null) => money(value, currency);
    return figure === "hashrate"
      ? [
          { name: t.overview.hashrate, values: column(1), format: rate, colour: 1, shape: "area", scale: "hashrate" },
          { name: t.overview.power, values: column(2), format: power, colour: 2, scale: "power" },
        ]
      : [
          { name: t.overview.revenue, values: column(5), format: amount, colour: 3, scale: "money" },
          { name: t.overview.cost, values: column(6), format: amount, colour: 1, scale: "money" },
          { name: t.overview.profit, values: column(7), format: amount, colour: 2, shape: "area", scale: "money" },
        ];
  }, [points, figure]);
  const mining = useMemo(
    (): Series[] => [
      {
        name: t.status.Mining,
        values: points.map((point) => point[3]),
        // Between whole rigs an axis says nothing.
        format: (value) => (Number.isInteger(value ?? 0) ? number(value) : ""),
        colour: 3,
        shape: "steps",
      },
    ],
    [points],
  );
  return (
    <>
      <Chart
        known={known}
        title={figure === "hashrate" ? t.overview.hashrateAndPower : t.overview.earnings}
        times={times}
        span={span}
        series={series}
        titleHidden
      />
      {figure === "hashrate" && times.length > 0 ? (
        <Chart
          known={known}
          title={t.status.Mining}
          times={times}
          span={span}
          series={mining}
          height={100}
          secondAxis
          titleHidden
        />
      ) : null}
    </>
  );
}
