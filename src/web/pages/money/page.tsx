import type { MoneyReport } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { counted, energy, money, number } from "../../format.ts";
import { t } from "../../language.ts";
import { summary } from "../../live.ts";
import { CsvLinks } from "../../parts/csv-links.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Card, Page, Tile, Tiles } from "../../parts/page.tsx";
import { SumTile } from "../../parts/sum.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { coveredBy } from "./covered.ts";
import { DaysChart } from "./days-chart.tsx";
import { Prices } from "./prices.tsx";
import { type Line, linesOf, profitIn, totalOf } from "./report.ts";
import { ReportTable } from "./report-table.tsx";
import { SpanChoice } from "./span.tsx";
import "./money.css";

const subjects = ["miner", "group", "coin", "algorithm"] as const;

/** Energy, its price, and the profit. */
export default function Money() {
  return (
    <Page title={t.money.title} lead={t.money.lead}>
      {may("getPrices") ? <Prices /> : null}
      {may("getMoney") ? <Report /> : null}
    </Page>
  );
}

/** The number of rigs without a complete profit, if the lines are rigs. */
function rigsWithGaps(of: MoneyReport["of"], lines: readonly Line[]): string | null {
  const gaps = lines.filter(({ incomplete }) => incomplete).length;
  if (gaps === 0) return null;
  return of === "miner" ? counted(gaps, t.money.rigsIncomplete) : t.money.incomplete;
}

/** The number of rigs whose cost currently comes from their nameplate. */
function estimated(): string | null {
  const count = summary.value?.money?.estimatedMinerCount ?? 0;
  return count === 0 ? null : counted(count, t.overview.estimated);
}

function Report() {
  const pageQuery = usePageQuery();
  const { get, set } = pageQuery;
  const of = subjects.find((each) => each === get("of")) ?? "miner";
  const query = { ...coveredBy(pageQuery, Date.now()), of };
  const report = useLoaded(
    (signal) => call("getMoney", query, { signal, timeoutMs: 60_000 }),
    [query.from, query.to, query.by, of],
  );
  return (
    <>
      <SpanChoice query={pageQuery} />
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
                    <CsvLinks of="getMoney" query={query} />
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
