import { useEffect, useMemo, useRef, useState } from "preact/hooks";
import type { History, MinerDetail } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { energy, hashrate, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Chart, type Series } from "../../parts/chart.tsx";
import { CsvLinks } from "../../parts/csv-links.tsx";
import { Field } from "../../parts/field.tsx";
import { type Known, Loading, useLoaded, useReconnects } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { usePageQuery } from "../../query.ts";
import {
  boundsOf,
  curvesOf,
  livePoint,
  localInput,
  type Metric,
  metrics,
  type Period,
  type PeriodKey,
  type Point,
  periodFrom,
  periods,
  withLive,
} from "./curves.ts";

const colours = { hashrate: 1, power: 2, temperature: 3, energy: 4 } as const;

interface RigHistoryProps {
  readonly miner: MinerDetail;
  readonly only?: readonly Metric[];
  readonly period?: Period;
  readonly height?: number;
}

const lastDay: Period = { key: "24h", from: null, to: null };

/** The curves of a rig; curves up to the present continue as the rig is read. */
export function RigHistory({ miner, only = metrics, period = lastDay, height = 220 }: RigHistoryProps) {
  const [turn, setTurn] = useState(0);
  const { key, from, to } = period;
  useEffect(() => {
    if (key === "own") return undefined;
    const again = setInterval(() => {
      if (document.visibilityState === "visible") setTurn((last) => last + 1);
    }, periods[key].refreshMs);
    return () => clearInterval(again);
  }, [key]);
  const loaded = useLoaded(
    async (signal) => {
      const bounds = boundsOf(period);
      const history = await call("getHistory", { id: miner.id, ...bounds }, { signal });
      return { history, ...bounds };
    },
    [miner.id, key, from, to, turn, useReconnects()],
  );
  const live = useLivePoints(miner, key !== "own");
  return (
    <Loading from={loaded}>
      {(value, known) => <Curves miner={miner} only={only} height={height} live={live} known={known} {...value} />}
    </Loading>
  );
}

/** The readings since the page was opened. */
function useLivePoints({ readings }: MinerDetail, wanted: boolean): readonly Point[] {
  const points = useRef<readonly Point[]>([]);
  const point = wanted ? livePoint(readings) : null;
  const last = points.current.at(-1)?.[0] ?? 0;
  if (point !== null && point[0] > last) points.current = [...points.current.slice(-500), point];
  return wanted ? points.current : none;
}
const none: readonly Point[] = [];

interface CurvesProps {
  readonly known: Known;
  readonly miner: MinerDetail;
  readonly only: readonly Metric[];
  readonly height: number;
  readonly live: readonly Point[];
  readonly history: History;
  readonly from: number;
  readonly to: number;
}

function Curves({ known, miner, only, height, live, history, from, to }: CurvesProps) {
  const curves = useMemo(() => curvesOf(withLive(history, live)), [history, live]);
  const span = [from, Math.max(to, curves.times.at(-1) ?? to)] as const;
  const { algorithm } = miner.readings;
  // A chart without values would waste space, unless all are empty.
  const withValues = only.filter((metric) => curves[metric].some((value) => value !== null));
  const shown = withValues.length === 0 ? only.slice(0, 1) : withValues;
  const charts = useMemo(
    () =>
      shown.map((metric): { metric: Metric; series: Series[] } => ({
        metric,
        series: [
          {
            name: t.rig[metric],
            values: curves[metric],
            colour: colours[metric],
            shape: metric === "energy" ? "area" : "line",
            format: {
              hashrate: (value: number | null, largest?: number) => hashrate(value, algorithm, largest),
              power,
              temperature: (value: number | null) => temperature(value, 1),
              energy,
            }[metric],
          },
        ],
      })),
    [curves, algorithm, shown.join()],
  );
  return (
    <div class="charts">
      {charts.map(({ metric, series }) => (
        <Chart
          known={known}
          key={metric}
          title={metric === "energy" ? t.rig.energyUsed : t.rig[metric]}
          times={curves.times}
          series={series}
          height={height}
          span={span}
        />
      ))}
    </div>
  );
}

/** The section with all curves; their period is stored in the address. */
export function HistorySection({ miner }: { miner: MinerDetail }) {
  const query = usePageQuery();
  const period = periodFrom(query.get("period"), query.get("from"), query.get("to"));
  return (
    <Card title={t.rig.history} actions={<CsvLinks of="getHistory" query={{ id: miner.id, ...boundsOf(period) }} />}>
      <PeriodChoice period={period} />
      <RigHistory miner={miner} period={period} />
    </Card>
  );
}

/** The period of a chart, stored in the address. */
export function PeriodChoice({ period }: { period: Period }) {
  const query = usePageQuery();
  const [problem, setProblem] = useState<string | undefined>(undefined);
  const keys = Object.keys(periods) as PeriodKey[];
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    const form = event.currentTarget;
    if (!(form instanceof HTMLFormElement)) return;
    const data = new FormData(form);
    const [from, to] = [String(data.get("from") ?? ""), String(data.get("to") ?? "")];
    const isPeriod = Date.parse(from) < Date.parse(to);
    setProblem(isPeriod ? undefined : t.rig.periodWrong);
    if (isPeriod) query.set({ period: "own", from, to });
  };
  const { from: begin, to: end } = boundsOf(period);
  return (
    <div class="period">
      <nav class="row" aria-label={t.rig.period}>
        {keys.map((key) => (
          <a
            key={key}
            class="button small"
            href={query.hrefWith({ period: key, from: "", to: "" })}
            aria-current={period.key === key ? "true" : undefined}
          >
            {t.rig.periods[key]}
          </a>
        ))}
      </nav>
      <details open={period.key === "own"}>
        <summary>{t.rig.ownPeriod}</summary>
        <form class="row period-form" onSubmit={submit}>
          <Field label={t.rig.from} problem={problem}>
            {(control) => (
              <input {...control} type="datetime-local" name="from" required defaultValue={localInput(begin)} />
            )}
          </Field>
          <Field label={t.rig.to}>
            {(control) => (
              <input {...control} type="datetime-local" name="to" required defaultValue={localInput(end)} />
            )}
          </Field>
          <button type="submit" class="button">
            {t.rig.show}
          </button>
        </form>
      </details>
    </div>
  );
}
