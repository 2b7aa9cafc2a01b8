import { counted, efficiency, hashrate, money, number, percent, power } from "../../format.ts";
import { t } from "../../language.ts";
import { openAlarms, rigs, summary, urgentAlarms } from "../../live.ts";
import { Tile, Tiles } from "../../parts/page.tsx";
import { may } from "../../session.ts";
import type { Sums } from "../../sums.ts";

/** Further algorithms that have a tile of their own. */
const mostAlgorithms = 3;

/** What the farm does, draws and earns now. */
export function FarmTiles({ sums }: { sums: Sums }) {
  const [main, ...others] = sums.hashrates;
  const total = summary.value?.money;
  return (
    <Tiles>
      <Tile
        name={main?.algorithm == null ? t.overview.hashrate : t.overview.hashrateOf(main.algorithm)}
        value={hashrate(main?.hashrate, main?.algorithm)}
        note={reached(main?.algorithm ?? null)}
      />
      {others.slice(0, mostAlgorithms).map((each) => (
        <Tile
          key={each.algorithm}
          name={each.algorithm === null ? t.overview.otherHashrate : t.overview.hashrateOf(each.algorithm)}
          value={hashrate(each.hashrate, each.algorithm)}
          note={counted(each.rigs, t.overview.rigs)}
        />
      ))}
      <Tile
        name={t.overview.power}
        value={power(sums.power)}
        note={sums.withoutPower === 0 ? null : counted(sums.withoutPower, t.overview.withoutPower)}
      />
      <Tile name={t.overview.efficiency} value={efficiency(sums.efficiency)} />
      <Tile
        name={t.overview.profit}
        value={money(total?.profitPerDay, total?.currency)}
        note={
          total === undefined || total.costPerDay === null
            ? null
            : total.revenuePerDay === null
              ? t.overview.noRevenue
              : t.overview.revenueAndCost(
                  money(total.revenuePerDay, total.currency),
                  money(total.costPerDay, total.currency),
                )
        }
        {...(total?.profitPerDay != null && total.profitPerDay < 0 ? { tone: "bad" as const } : {})}
      />
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

/** The hash rate of an algorithm as a share of what its rigs are expected to reach. */
function reached(algorithm: string | null): string | null {
  let [rate, expected] = [0, 0];
  for (const row of rigs.value.byId.values()) {
    if ((row.algorithm ?? null) !== algorithm || row.expected === null) continue;
    expected += row.expected;
    if (row.readAt === null) rate += row.hashrate ?? 0;
  }
  return expected === 0 ? null : t.overview.ofExpected(percent(rate / expected));
}
