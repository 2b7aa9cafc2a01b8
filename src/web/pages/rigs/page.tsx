import { useEffect, useMemo } from "preact/hooks";
import { call } from "../../api.ts";
import { counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs, wantColumns } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Knowing, type Known, useLoaded } from "../../parts/load.tsx";
import { isNarrow } from "../../parts/narrow.ts";
import { OneByOne } from "../../parts/one-by-one.tsx";
import { Page } from "../../parts/page.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { usePlaces } from "../../use-places.ts";
import { BulkBar } from "./bulk-bar.tsx";
import { bulkNames, mayDo } from "./bulk-kinds.ts";
import { RigCards } from "./cards.tsx";
import { ownColumns, ownLayout } from "./choices.ts";
import type { ColumnKey } from "./column-keys.ts";
import { columns } from "./columns.tsx";
import { drops } from "./filter.ts";
import { type GroupTree, groupTree } from "./groups.ts";
import { JobList } from "./job-list.tsx";
import { partText } from "./part-text.ts";
import "./rigs.css";
import { keepOnly, selection } from "./selection.ts";
import { RigTable } from "./table.tsx";
import { Toolbar } from "./toolbar.tsx";
import { TotalsBar } from "./totals.tsx";
import { type Listed, useListed } from "./use-listed.ts";
import { useView } from "./use-view.ts";
import { allRigs, searchOf, type View, without } from "./view.ts";
import { ViewsBar } from "./views-bar.tsx";

/** All rigs, two or ten thousand: search, compare, and act. */
export default function Rigs() {
  const [view, change] = useView();
  const groups = useLoaded(
    (signal) => (may("listGroups") ? call("listGroups", {}, { signal }) : Promise.resolve([])),
    [],
  );
  const places = usePlaces().value;
  const tree = useMemo(() => groupTree(groups.value ?? [], places), [groups.value, places]);
  const listed = useListed(view, tree);
  const keys = view.columns ?? ownColumns.value;
  const layout = view.layout ?? ownLayout.value ?? (isNarrow.value ? "cards" : "table");
  useEffect(() => wantColumns([...keys, view.sort].flatMap((key) => columns[key].fields ?? [])), [keys, view.sort]);
  const state = rigs.value;
  useEffect(() => {
    if (state.loaded) keepOnly(state.byId);
  }, [state]);

  if (!state.loaded || listed.all.length === 0)
    return (
      <Page title={t.rigs.title}>
        <Knowing value={state.loaded ? state : undefined}>{(_, known) => <NoRigs known={known} />}</Knowing>
      </Page>
    );
  const selectable = bulkNames.some(mayDo);
  const list = { rows: listed.rows, keys, tree, selectable, search: searchOf(view) };
  const sortBy = (sort: ColumnKey) =>
    change({ ...view, sort, descending: view.sort === sort ? !view.descending : (columns[sort].isNumber ?? false) });
  return (
    <Page
      title={t.rigs.title}
      lead={<span role="status">{countText(listed)}</span>}
      actions={
        may("addMiner") ? (
          <a class="button" href={link("add")}>
            <Icon name="plus" /> {t.rigs.addRigs}
          </a>
        ) : undefined
      }
    >
      {isNarrow.value ? null : <ViewsBar view={view} all={listed.all} tree={tree} />}
      <OneByOne>
        <Toolbar view={view} change={change} layout={layout} listed={listed} tree={tree} />
        <TotalsBar listed={listed} view={view} change={change} />
        <JobList />
        {listed.rows.length === 0 ? (
          <Knowing value={listed}>
            {(_, known) => <NoneListed view={view} change={change} listed={listed} tree={tree} known={known} />}
          </Knowing>
        ) : layout === "table" ? (
          <RigTable {...list} sort={view.sort} descending={view.descending} onSort={sortBy} />
        ) : (
          <RigCards {...list} />
        )}
      </OneByOne>
      <p id="rigs-keys" class="visually-hidden">
        {t.rigs.keys}
      </p>
      {selection.value.size === 0 ? null : <BulkBar listed={listed} tree={tree} />}
    </Page>
  );
}

const countText = ({ rows, all }: Listed): string =>
  rows.length === all.length
    ? counted(all.length, t.rigs.count)
    : t.rigs.countOf({ listed: number(rows.length), all: counted(all.length, t.rigs.count) });

const NoRigs = ({ known }: { known: Known }) => (
  <EmptyState
    known={known}
    icon="rigs"
    title={t.rigs.empty}
    text={may("addMiner") ? t.rigs.emptyText : t.rigs.emptyAsk}
  >
    {may("addMiner") ? (
      <a class="button primary" href={link("add")}>
        {t.rigs.addRigs}
      </a>
    ) : null}
  </EmptyState>
);

interface NoneProps {
  readonly view: View;
  readonly change: (view: View) => void;
  readonly listed: Listed;
  readonly tree: GroupTree;
  readonly known: Known;
}

/** Suggests filters to remove. */
const NoneListed = ({ view, change, listed, tree, known }: NoneProps) => (
  <EmptyState known={known} icon="filter" title={t.rigs.none} text={t.rigs.noneText}>
    <div class="drops">
      {drops(listed.all, view, tree).map(({ part, count }) => (
        <button key={part} type="button" class="button" onClick={() => change(without(view, part))}>
          <bdi>{t.rigs.dropFilter({ filter: partText(view, part, tree), rigs: counted(count, t.rigs.count) })}</bdi>
        </button>
      ))}
      <button
        type="button"
        class="button quiet"
        onClick={() => change({ ...view, text: "", facets: allRigs.facets, ranges: allRigs.ranges })}
      >
        {t.rigs.clearFilters}
      </button>
    </div>
  </EmptyState>
);
