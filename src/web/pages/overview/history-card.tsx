import { useMemo, useState } from "preact/hooks";
import { uncounted } from "../../../contract/known-of.ts";
import type { Reply } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { now } from "../../clock.ts";
import { counted, hashrate, money, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { summary } from "../../live.ts";
import { Chart, type Series } from "../../parts/chart.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { usePeriod } from "../../parts/period.tsx";
import { wholeSteps } from "../../parts/whole-steps.ts";
import type { Sums } from "../../sums.ts";

/**
 * The farm's hash rate, power and money over the last hours or days, ending with the values of the tiles. The hash rate
 * is that of the main algorithm.
 */
export function HistoryCard({ sums }: { sums: Sums }) {
  const algorithm = sums.hashrates[0]?.algorithm ?? null;
  // The first of two simultaneous algorithms.
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
        {(value, known) => <HistoryChart history={value} sums={sums} figure={figure} known={known} />}
      </Loading>
    </Card>
  );
}

type SummaryHistory = Reply<"getSummaryHistory"> & { readonly span: [from: number, to: number] };

/** The values of the tiles, in the order of a point of the history. */
function presentOf({ hashrates, power: { value: watts }, mining, count }: Sums) {
  const { revenuePerDay = null, costPerDay = null, profitPerDay = null } = summary.value?.money ?? {};
  return [hashrates[0]?.hashrate ?? null, watts, mining, count, revenuePerDay, costPerDay, profitPerDay] as const;
}

interface HistoryChartProps {
  readonly history: SummaryHistory;
  readonly sums: Sums;
  readonly figure: "hashrate" | "money";
  readonly known: Known;
}

function HistoryChart({ history, sums, figure, known }: HistoryChartProps) {
  const { algorithm, currency } = history;
  const present = presentOf(sums);
  const points = useMemo(
    () => [...wholeSteps(history, history.span[1]), [Math.max(now.value, history.span[1]), ...present] as const],
    [history, present.join()],
  );
  const span = [history.span[0], points.at(-1)?.[0] ?? history.span[1]] as const;
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
        // No labels between whole rigs.
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
      {figure === "money" && uncounted(sums.profit) > 0 ? (
        <p class="hint">
          {t.overview.profit}: {counted(uncounted(sums.profit), t.overview.withoutProfit)}
        </p>
      ) : null}
    </>
  );
}
