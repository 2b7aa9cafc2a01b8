import { useMemo } from "preact/hooks";
import { counted, efficiency, hashrate, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { type Rigs, rigs } from "../../live.ts";
import { Knowing } from "../../parts/load.tsx";
import { Tile, Tiles } from "../../parts/page.tsx";
import { SumTile } from "../../parts/sum.tsx";
import type { PlaceTree } from "../../places.ts";
import { link } from "../../route.ts";
import { type Sums, sumsOf } from "../../sums.ts";

/** What the rigs of a place do. */
export function PlaceTiles({ id, tree }: { id: number; tree: PlaceTree }) {
  const state: Rigs = rigs.value;
  const sums = useMemo(() => {
    const within = tree.within(id);
    return sumsOf([...state.byId.values()].filter(({ place }) => place != null && within.has(place)));
  }, [state, tree, id]);
  return (
    <Knowing value={state.loaded ? sums : undefined}>
      {(known) => <SumTiles id={id} sums={known} maxPower={tree.get(id)?.maxPower} />}
    </Knowing>
  );
}

function SumTiles({ id, sums, maxPower }: { id: number; sums: Sums; maxPower: number | undefined }) {
  const [main] = sums.hashrates;
  return (
    <Tiles>
      <Tile
        name={t.menu.rigs}
        value={<a href={link(`rigs?place=${id}`)}>{number(sums.count + sums.inRepair)}</a>}
        note={sums.inRepair === 0 ? null : counted(sums.inRepair, t.repair.sums)}
      />
      <Tile name={t.status.Mining} value={number(sums.mining)} />
      <Tile name={t.rigs.columns.hashrate} value={hashrate(main?.hashrate, main?.algorithm)} note={main?.algorithm} />
      <SumTile
        name={t.rigs.columns.power}
        sum={sums.power}
        format={power}
        notes={[maxPower === undefined ? null : t.places.ofMaxPower({ power: power(maxPower) })]}
        leavesOut={(count) => counted(count, t.rigs.powerUnknown)}
      />
      <Tile name={t.rigs.columns.efficiency} value={efficiency(sums.efficiency)} />
      <Tile
        name={t.menu.alarms}
        value={number(sums.alarms)}
        {...(sums.alarms > 0 ? { tone: "warning" as const } : {})}
      />
    </Tiles>
  );
}
