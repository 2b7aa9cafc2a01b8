import { useState } from "preact/hooks";
import { byName, number } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { isNarrow } from "../../parts/narrow.ts";
import { keepColumns, keepLayout, ownColumns } from "./choices.ts";
import { type ColumnKey, columnKeys } from "./column-keys.ts";
import { ColumnsDialog } from "./columns-dialog.tsx";
import { CsvMenu } from "./csv-menu.tsx";
import { FiltersDialog } from "./filters-dialog.tsx";
import type { GroupTree } from "./groups.ts";
import { partText } from "./part-text.ts";
import type { Listed } from "./use-listed.ts";
import { allRigs, type Layout, layouts, partsOf, type View, without } from "./view.ts";
import { ViewsBar } from "./views-bar.tsx";

interface ToolbarProps {
  readonly view: View;
  readonly change: (view: View) => void;
  readonly layout: Layout;
  readonly listed: Listed;
  readonly tree: GroupTree;
}

/** The search, the filters, and the look of the list; on a phone, the filter dialog has everything but the search. */
export function Toolbar({ view, change, layout, listed, tree }: ToolbarProps) {
  const [open, setOpen] = useState(false);
  const parts = partsOf(view).filter((part) => part !== "text");
  const looks = <Looks view={view} change={change} layout={layout} listed={listed} tree={tree} />;
  return (
    <>
      <search class="rigs-toolbar">
        <label class="rigs-search">
          <Icon name="search" />
          <input
            type="search"
            value={view.text}
            maxLength={200}
            placeholder={t.rigs.search}
            aria-label={t.rigs.search}
            spellcheck={false}
            autocomplete="off"
            onInput={({ currentTarget }) => change({ ...view, text: currentTarget.value })}
          />
        </label>
        <button type="button" class="button" aria-haspopup="dialog" onClick={() => setOpen(true)}>
          <Icon name="filter" /> {t.rigs.filter}
          {parts.length === 0 ? null : <span class="count">{number(parts.length)}</span>}
        </button>
        {isNarrow.value ? null : looks}
      </search>
      {parts.length === 0 ? null : (
        <ul class="chips rigs-chips" aria-label={t.rigs.filter}>
          {parts.map((part) => (
            <li key={part} class="chip">
              <bdi>{partText(view, part, tree)}</bdi>
              <button
                type="button"
                aria-label={t.rigs.removeFilter({ filter: partText(view, part, tree) })}
                onClick={() => change(without(view, part))}
              >
                <Icon name="close" />
              </button>
            </li>
          ))}
          <li>
            <button
              type="button"
              class="button quiet small"
              onClick={() => change({ ...view, text: "", facets: allRigs.facets, ranges: allRigs.ranges })}
            >
              {t.rigs.clearFilters}
            </button>
          </li>
        </ul>
      )}
      {open ? (
        <FiltersDialog
          view={view}
          change={change}
          all={listed.all}
          listed={listed.rows.length}
          tree={tree}
          onClose={() => setOpen(false)}
        >
          {isNarrow.value ? (
            <>
              <ViewsBar view={view} all={listed.all} tree={tree} />
              <div class="rigs-looks">{looks}</div>
            </>
          ) : null}
        </FiltersDialog>
      ) : null}
    </>
  );
}

/** The order, the columns, table or cards, and the export. */
function Looks({ view, change, layout, listed, tree }: ToolbarProps) {
  const [choosing, setChoosing] = useState(false);
  return (
    <>
      {layout === "cards" ? <SortChoice view={view} change={change} /> : null}
      <span class="spring" />
      <button
        type="button"
        class="button"
        aria-haspopup="dialog"
        aria-label={t.rigs.chooseColumns}
        title={t.rigs.chooseColumns}
        onClick={() => setChoosing(true)}
      >
        <Icon name="columns" />
        <span class="wide-only">{t.rigs.chooseColumns}</span>
      </button>
      <fieldset class="segments">
        <legend class="visually-hidden">{t.rigs.layoutLabel}</legend>
        {layouts.map((each) => (
          <button
            key={each}
            type="button"
            class="button"
            aria-pressed={layout === each}
            aria-label={t.rigs.layout[each]}
            title={t.rigs.layout[each]}
            onClick={() => {
              keepLayout(each);
              change({ ...view, layout: each });
            }}
          >
            <Icon name={each === "table" ? "rigs" : "cards"} />
          </button>
        ))}
      </fieldset>
      <CsvMenu rows={listed.rows} tree={tree} />
      {choosing ? (
        <ColumnsDialog
          chosen={view.columns ?? ownColumns.value}
          change={(columns) => {
            keepColumns(columns);
            change({ ...view, columns });
          }}
          onClose={() => setChoosing(false)}
        />
      ) : null}
    </>
  );
}

/** Cards have no column headers to sort by. */
function SortChoice({ view, change }: Pick<ToolbarProps, "view" | "change">) {
  const keys: readonly ColumnKey[] = columnKeys.toSorted((one, other) =>
    byName(t.rigs.columns[one], t.rigs.columns[other]),
  );
  return (
    <span class="rigs-sort">
      <label>
        <span>{t.rigs.sortBy}</span>
        <select
          value={view.sort}
          onChange={({ currentTarget }) =>
            change({ ...view, sort: keys.find((key) => key === currentTarget.value) ?? view.sort })
          }
        >
          {keys.map((key) => (
            <option key={key} value={key}>
              {t.rigs.columns[key]}
            </option>
          ))}
        </select>
      </label>
      <button
        type="button"
        class="button"
        aria-label={view.descending ? t.rigs.descending : t.rigs.ascending}
        title={view.descending ? t.rigs.descending : t.rigs.ascending}
        onClick={() => change({ ...view, descending: !view.descending })}
      >
        <Icon name={view.descending ? "down" : "up"} />
      </button>
    </span>
  );
}
