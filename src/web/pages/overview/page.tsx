import { hashrate, money, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs, summary } from "../../live.ts";
import { Page, Tile, Tiles } from "../../parts/page.tsx";
import { currency } from "../../session.ts";

export default function Overview() {
  const rows = [...rigs.value.byId.values()];
  const known = rows.filter(({ power }) => power !== null);
  return (
    <Page title={t.overview.title}>
      <Tiles>
        <Tile name={t.menu.rigs} value={number(rows.length)} />
        <Tile name={t.overview.hashrate} value={hashrate(rows.reduce((sum, row) => sum + (row.hashrate ?? 0), 0))} />
        <Tile
          name={t.overview.power}
          value={power(known.length === 0 ? null : known.reduce((sum, row) => sum + (row.power ?? 0), 0))}
        />
        <Tile name={t.overview.profit} value={money(summary.value?.money?.profitPerDay, currency())} />
      </Tiles>
    </Page>
  );
}
