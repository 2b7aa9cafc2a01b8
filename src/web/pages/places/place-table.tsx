import { useEffect, useMemo, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { rigs, wantColumns } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Knowing, useLoaded } from "../../parts/load.tsx";
import { isNarrow } from "../../parts/narrow.ts";
import type { PlaceTree } from "../../places.ts";
import { may } from "../../session.ts";
import { RigCards } from "../rigs/cards.tsx";
import { ownColumns } from "../rigs/choices.ts";
import type { ColumnKey } from "../rigs/column-keys.ts";
import { columns } from "../rigs/columns.tsx";
import { groupTree } from "../rigs/groups.ts";
import "../rigs/rigs.css";
import { RigTable } from "../rigs/table.tsx";
import { useListed } from "../rigs/use-listed.ts";
import { allRigs, type View } from "../rigs/view.ts";

/** The rigs of a place as the list of rigs shows them; acting on them is offered there. */
export function PlaceTable({ tree, id }: { tree: PlaceTree; id: number }) {
  const [view, setView] = useState<View>({ ...allRigs, facets: { place: [String(id)] } });
  const groups = useLoaded(async (signal) => (may("listGroups") ? call("listGroups", {}, { signal }) : []), []);
  const all = useMemo(() => groupTree(groups.value ?? [], tree), [groups.value, tree]);
  const listed = useListed(view, all);
  const keys = ownColumns.value;
  useEffect(() => wantColumns(keys.flatMap((key) => columns[key].fields ?? [])), [keys]);
  const sortBy = (sort: ColumnKey) =>
    setView({
      ...view,
      sort,
      descending: view.sort === sort ? !view.descending : (columns[sort].isNumber ?? false),
    });
  const list = { rows: listed.rows, keys, tree: all, selectable: false, search: `?place=${id}` };
  if (listed.rows.length === 0)
    return (
      <Knowing value={rigs.value.loaded ? listed : undefined}>
        {(_, known) => <EmptyState known={known} icon="rigs" title={t.places.noRigs} text={t.places.noRigsText} />}
      </Knowing>
    );
  return isNarrow.value ? (
    <RigCards {...list} />
  ) : (
    <RigTable {...list} sort={view.sort} descending={view.descending} onSort={sortBy} />
  );
}
