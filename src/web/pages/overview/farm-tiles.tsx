import type { KnownOf } from "../../../contract/known-of.ts";
import type { MoneyTotal } from "../../../contract/resources.ts";
import { counted, efficiency, hashrate, money, number, percent, power } from "../../format.ts";
import { t } from "../../language.ts";
import { openAlarms, rigs, summary, urgentAlarms } from "../../live.ts";
import { Tile, Tiles } from "../../parts/page.tsx";
import { SumTile } from "../../parts/sum.tsx";
import { may } from "../../session.ts";
import type { Sums } from "../../sums.ts";

/** Maximum further algorithms with their own tile. */
const mostAlgorithms = 3;

/** The farm's present hash rate, power and earnings. */
export function FarmTiles({ sums }: { sums: Sums }) {
  const [main, ...others] = sums.hashrates;
  return (
    <Tiles>
      <Tile
        name={main?.algorithm == null ? t.overview.hashrate : t.overview.hashrateOf({ algorithm: main.algorithm })}
        value={hashrate(main?.hashrate, main?.algorithm)}
        note={reached(main?.algorithm ?? null)}
      />
      {others.slice(0, mostAlgorithms).map((each) => (
        <Tile
          key={each.algorithm}
          name={
            each.algorithm === null ? t.overview.otherHashrate : t.overview.hashrateOf({ algorithm: each.algorithm })
          }
          value={hashrate(each.hashrate, each.algorithm)}
          note={counted(each.rigs, t.overview.rigs)}
        />
      ))}
      <SumTile
        name={t.overview.power}
        sum={sums.power}
        format={power}
        leavesOut={(count) => counted(count, t.overview.withoutPower)}
      />
      <Tile name={t.overview.efficiency} value={efficiency(sums.efficiency)} />
      {may("getSummary") ? <ProfitTile total={summary.value?.money} /> : null}
      {may("listNotifications") ? <AlarmsTile /> : null}
    </Tiles>
  );
}

function AlarmsTile() {
  const open = openAlarms.value;
  const unseen = open?.filter(({ isAcknowledged }) => !isAcknowledged).length ?? 0;
  return (
    <Tile
      name={t.menu.alarms}
      value={number(open?.length)}
      note={unseen === (open?.length ?? 0) ? null : counted(unseen, t.shell.unacknowledged)}
      {...((urgentAlarms.value ?? []).length > 0 ? { tone: "warning" as const } : {})}
    />
  );
}

/** The profit of the rigs with known revenue and cost, with both, and the number of others. */
function ProfitTile({ total }: { total: MoneyTotal | undefined }) {
  const amount = (value: number | null) => money(value, total?.currency);
  return (
    <SumTile
      name={t.overview.profit}
      sum={total === undefined ? "loading" : profitOf(total)}
      format={amount}
      notes={total === undefined ? [] : notesOn(total, amount)}
      leavesOut={(count) => counted(count, t.overview.withoutProfit)}
      marksLoss
    />
  );
}

const profitOf = ({ profitPerDay, profitMinerCount, minerCount, revenueMinerCount }: MoneyTotal): KnownOf => ({
  value: profitPerDay,
  known: profitMinerCount,
  // A farm without any known revenue is not told so for each rig.
  total: revenueMinerCount === 0 ? profitMinerCount : minerCount,
});

const notesOn = (total: MoneyTotal, amount: (value: number | null) => string): (string | null)[] => [
  total.profitMinerCount > 0
    ? t.overview.revenueAndCost({ revenue: amount(total.profitRevenuePerDay), cost: amount(total.profitCostPerDay) })
    : total.revenueMinerCount === 0 && total.minerCount > 0
      ? t.overview.noRevenue
      : null,
  total.estimatedMinerCount === 0 ? null : counted(total.estimatedMinerCount, t.overview.estimated),
];

/** The hash rate of an algorithm as a share of its rigs' expected hash rate. */
function reached(algorithm: string | null): string | null {
  let [rate, expected] = [0, 0];
  for (const row of rigs.value.byId.values()) {
    if ((row.algorithm ?? null) !== algorithm || row.expected === null || row.repair !== null) continue;
    expected += row.expected;
    if (row.readAt === null) rate += row.hashrate ?? 0;
  }
  return expected === 0 ? null : t.overview.ofExpected({ share: percent(rate / expected) });
}
