import { useMemo } from "preact/hooks";
import { isNumberText } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { energy, hashrate, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Chart } from "../../parts/chart.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Knowing, type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { boundsOf, type Metric, metrics, periodFrom } from "../rig/curves.ts";
import { PeriodChoice } from "../rig/history.tsx";
import { mostCompared } from "../rigs/selection.ts";
import { joined, stepOf } from "./joined.ts";

/** Two to six rigs in one chart; rigs, metric and period are stored in the address. */
export default function Compare() {
  const query = usePageQuery();
  const ids = [...new Set(query.get("rigs").split(","))].filter(isNumberText).map(Number);
  const { byId, loaded } = rigs.value;
  const chosen = ids.slice(0, mostCompared).flatMap((id) => byId.get(id) ?? []);
  return (
    <Page title={t.compare.title} lead={t.compare.lead}>
      <Knowing value={loaded ? chosen : undefined}>
        {(all, known) =>
          all.length < 2 ? (
            <EmptyState known={known} icon="rigs" title={t.compare.tooFew} text={t.compare.howTo}>
              <a class="button primary" href={link("rigs")}>
                {t.compare.choose}
              </a>
            </EmptyState>
          ) : (
            <Curves rigs={all.map(({ id, name, algorithm }) => ({ id, name, algorithm }))} />
          )
        }
      </Knowing>
    </Page>
  );
}

interface Compared {
  readonly id: number;
  readonly name: string;
  readonly algorithm: string | null | undefined;
}

const isMetric = (text: string): text is Metric => metrics.some((metric) => metric === text);

function Curves({ rigs: all }: { rigs: readonly Compared[] }) {
  const query = usePageQuery();
  const asked = query.get("metric");
  const metric = isMetric(asked) ? asked : "hashrate";
  const period = periodFrom(query.get("period"), query.get("from"), query.get("to"));
  const { key, from: start, to: end } = period;
  const ids = all.map(({ id }) => id).join();
  const loaded = useLoaded(
    async (signal) => {
      const { from, to } = boundsOf(period);
      const step = stepOf(from, to);
      const histories = await Promise.all(all.map(({ id }) => call("getHistory", { id, from, to, step }, { signal })));
      return { histories, from, to };
    },
    [ids, key, start, end],
  );
  return (
    <Card>
      <nav class="row" aria-label={t.compare.what}>
        {metrics.map((each) => (
          <a
            key={each}
            class="button small"
            href={query.hrefWith({ metric: each })}
            aria-current={each === metric ? "true" : undefined}
          >
            {t.rig[each]}
          </a>
        ))}
      </nav>
      <PeriodChoice period={period} />
      <Loading from={loaded}>{(value, known) => <Curve known={known} metric={metric} rigs={all} {...value} />}</Loading>
    </Card>
  );
}

interface CurveProps {
  readonly known: Known;
  readonly metric: Metric;
  readonly rigs: readonly Compared[];
  readonly histories: Parameters<typeof joined>[0];
  readonly from: number;
  readonly to: number;
}

function Curve({ known, metric, rigs: all, histories, from, to }: CurveProps) {
  const { times, values } = useMemo(() => joined(histories, metric), [histories, metric]);
  // One axis has one unit: that of the first rig, even if others mine another algorithm.
  const algorithm = all[0]?.algorithm ?? null;
  const format = {
    hashrate: (value: number | null, largest?: number) => hashrate(value, algorithm, largest),
    power,
    temperature: (value: number | null) => temperature(value, 1),
    energy,
  }[metric];
  const series = all.map(({ name }, index) => ({
    name,
    values: values[index] ?? [],
    colour: colours[index] ?? 1,
    shape: "line" as const,
    format,
  }));
  return <Chart known={known} title={t.rig[metric]} times={times} series={series} height={360} span={[from, to]} />;
}

const colours = [1, 2, 3, 4, 5, 6] as const;
