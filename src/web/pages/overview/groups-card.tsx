import { useMemo } from "preact/hooks";
import { call } from "../../api.ts";
import { byName, counted, hashrate, money, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { type Row, rigs } from "../../live.ts";
import { useLoaded } from "../../parts/load.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { SumText } from "../../parts/sum.tsx";
import { link } from "../../route.ts";
import { currency, may } from "../../session.ts";
import { sumsOf } from "../../sums.ts";

const leftOut = (count: number): string => counted(count, t.overview.leftOut);

/** Each top-level group with the sums of its rigs, including subgroups. */
export function GroupsCard() {
  const groups = useLoaded(
    (signal) => (may("listGroups") ? call("listGroups", {}, { signal }) : Promise.resolve([])),
    [],
  );
  const tops = useMemo(() => {
    const byId = new Map((groups.value ?? []).map((group) => [group.id, group]));
    const topOf = (id: number): number => {
      const parent = byId.get(id)?.parentId ?? 0;
      return parent === 0 || parent === id ? id : topOf(parent);
    };
    const top = new Map([...byId.keys()].map((id) => [id, topOf(id)]));
    return { top, names: byId };
  }, [groups.value]);
  const rows = new Map<number, Row[]>();
  for (const row of rigs.value.byId.values()) {
    const id = tops.top.get(row.group) ?? 0;
    const list = rows.get(id);
    if (list === undefined) rows.set(id, [row]);
    else list.push(row);
  }
  if (rows.size < 2) return null;
  const lines = [...rows]
    .map(([id, list]) => ({ id, name: tops.names.get(id)?.name ?? t.overview.noGroup, sums: sumsOf(list) }))
    .sort((one, other) => (one.id === 0 ? 1 : other.id === 0 ? -1 : byName(one.name, other.name)));
  return (
    <Card
      title={t.overview.groups}
      wide
      actions={
        <a class="button small" href={link("wall")}>
          {t.wall.title}
        </a>
      }
    >
      <Scroll name={t.overview.groups}>
        <table>
          <thead>
            <tr>
              <th scope="col">{t.overview.group}</th>
              <th scope="col" class="number">
                {t.status.Mining}
              </th>
              <th scope="col" class="number">
                {t.overview.hashrate}
              </th>
              <th scope="col" class="number">
                {t.overview.power}
              </th>
              <th scope="col" class="number">
                {t.overview.profit}
              </th>
            </tr>
          </thead>
          <tbody>
            {lines.map(({ id, name, sums }) => (
              <tr key={id}>
                <th scope="row" class="name">
                  <a href={link(`rigs?group=${id}`)}>
                    <bdi>{name}</bdi>
                  </a>
                </th>
                <td class="number">
                  {t.overview.of({ some: number(sums.mining), all: number(sums.count) })}
                  {sums.inRepair === 0 ? null : <small> ({counted(sums.inRepair, t.repair.leftOut)})</small>}
                </td>
                <td class="number">{hashrate(sums.hashrates[0]?.hashrate, sums.hashrates[0]?.algorithm)}</td>
                <td class="number">
                  <SumText sum={sums.power} format={power} leavesOut={leftOut} />
                </td>
                <td class="number">
                  <SumText sum={sums.profit} format={(value) => money(value, currency())} leavesOut={leftOut} />
                </td>
              </tr>
            ))}
          </tbody>
        </table>
      </Scroll>
    </Card>
  );
}
