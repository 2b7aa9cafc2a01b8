import type { MoneyReport } from "../../../contract/resources.ts";
import { addressOf, call } from "../../api.ts";
import { counted, energy, money, number } from "../../format.ts";
import { t } from "../../language.ts";
import { summary } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Card, Page, Tile, Tiles } from "../../parts/page.tsx";
import { SumTile } from "../../parts/sum.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { DaysChart } from "./days-chart.tsx";
import { Prices } from "./prices.tsx";
import { type Line, linesOf, localDate, profitIn, totalOf } from "./report.ts";
import { ReportTable } from "./report-table.tsx";
import "./money.css";

const dayMs = 86_400_000;
/** Days back, and the length of the periods of a chart. */
const spans = {
  today: { days: 0, by: "day" },
  week: { days: 6, by: "day" },
  month: { days: 29, by: "day" },
  year: { days: 364, by: "month" },
} as const;
type Span = keyof typeof spans;
const subjects = ["miner", "group", "coin", "algorithm"] as const;

/** Energy, its price, and what is left of the revenue. */
export default function Money() {
  return (
    <Page title={t.money.title} lead={t.money.lead}>
      {may("getPrices") ? <Prices /> : null}
      {may("getMoney") ? <Report /> : null}
    </Page>
  );
}

/** How many rigs have no whole profit, where the lines are of rigs. */
function rigsWithGaps(of: MoneyReport["of"], lines: readonly Line[]): string | null {
  const gaps = lines.filter(({ incomplete }) => incomplete).length;
  if (gaps === 0) return null;
  return of === "miner" ? counted(gaps, t.money.rigsIncomplete) : t.money.incomplete;
}

/** How many rigs have a cost by their nameplate now. */
function estimated(): string | null {
  const count = summary.value?.money?.estimatedMinerCount ?? 0;
  return count === 0 ? null : counted(count, t.overview.estimated);
}

function Report() {
  const { get, set, hrefWith } = usePageQuery();
  const span: Span = (Object.keys(spans) as Span[]).find((each) => each === get("span")) ?? "month";
  const of = subjects.find((each) => each === get("of")) ?? "miner";
  const { days, by } = spans[span];
  const query = { from: localDate(Date.now() - days * dayMs), by, of };
  const report = useLoaded((signal) => call("getMoney", query, { signal, timeoutMs: 60_000 }), [query.from, by, of]);
  return (
    <>
      <nav class="row" aria-label={t.chart.period}>
        {(Object.keys(spans) as Span[]).map((each) => (
          <a
            key={each}
            class="button small"
            href={hrefWith({ span: each })}
            aria-current={each === span ? "true" : undefined}
          >
            {t.money.spans[each]}
          </a>
        ))}
      </nav>
      <Loading from={report}>
        {(value, known) => {
          const [total, lines] = [totalOf(value), linesOf(value)];
          const amount = (of: number | null) => money(of, value.currency);
          return (
            <>
              <Tiles>
                <Tile name={t.money.energy} value={energy(total.energy)} />
                <Tile name={t.money.cost} value={amount(total.cost)} note={estimated()} />
                <Tile name={t.money.revenue} value={amount(total.revenue)} />
                <SumTile
                  name={t.money.profit}
                  sum={profitIn(total)}
                  format={amount}
                  notes={[rigsWithGaps(of, lines)]}
                  leavesOut={(hours) => t.money.withoutHours({ hours: number(hours), all: number(total.hours) })}
                  marksLoss
                />
                <Tile name={t.money.hours} value={number(total.hours)} />
              </Tiles>
              {value.totalList.length > 1 ? <DaysChart report={value} known={known} /> : null}
              <Card
                title={t.money.by}
                actions={
                  <div class="row">
                    <label class="row">
                      <span class="visually-hidden">{t.money.by}</span>
                      <select value={of} onChange={({ currentTarget }) => set({ of: currentTarget.value })}>
                        {subjects.map((each) => (
                          <option key={each} value={each}>
                            {t.money.subjects[each]}
                          </option>
                        ))}
                      </select>
                    </label>
                    <a class="button small" href={addressOf("getMoney", { ...query, format: "csv" })} download>
                      <Icon name="download" /> CSV
                    </a>
                  </div>
                }
              >
                <ReportTable lines={lines} currency={value.currency} of={of} known={known} />
              </Card>
            </>
          );
        }}
      </Loading>
    </>
  );
}
