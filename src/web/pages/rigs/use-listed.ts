import { useMemo, useRef } from "preact/hooks";
import type { MinerStatus } from "../../../contract/resources.ts";
import { type Rigs, type Row, rigs } from "../../live.ts";
import { type Sums, sumsOf } from "../../sums.ts";
import { compareBy } from "./columns.tsx";
import { matcher } from "./filter.ts";
import type { GroupTree } from "./groups.ts";
import { OrderedRows } from "./ordered.ts";
import { type View, withFacet } from "./view.ts";

export interface Listed {
  /** All rigs, in the order of the view. */
  readonly all: readonly Row[];
  /** Those that match the filters. */
  readonly rows: readonly Row[];
  readonly totals: Sums;
  /** By status, the number of rigs that match the other filters. */
  readonly statuses: ReadonlyMap<MinerStatus, number>;
}

/** The rigs of a view, kept up to date. */
export function useListed(view: View, tree: GroupTree): Listed {
  const state: Rigs = rigs.value;
  const ordered = useRef<OrderedRows | null>(null);
  ordered.current ??= new OrderedRows();
  const compare = useMemo(() => compareBy(view.sort, view.descending, tree), [view.sort, view.descending, tree]);
  const all = useMemo(() => ordered.current?.update(state.byId, compare) ?? [], [state, compare]);
  return useMemo(() => {
    const isStatusFiltered = view.facets.status !== undefined;
    const rows = all.filter(matcher(view, tree));
    const totals = sumsOf(rows);
    const statuses = isStatusFiltered
      ? sumsOf(all.filter(matcher(withFacet(view, "status", []), tree))).byStatus
      : totals.byStatus;
    return { all, rows, totals, statuses };
  }, [all, view.text, view.facets, view.ranges, tree]);
}
