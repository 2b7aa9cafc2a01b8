import { Component } from "preact";
import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { useVirtual } from "../../parts/virtual.ts";
import { useShownRows } from "../../shown-rows.ts";
import type { ColumnKey } from "./column-keys.ts";
import { cellOf, columns } from "./columns.tsx";
import { Gap } from "./gap.tsx";
import type { GroupTree } from "./groups.ts";
import { lastOpened, leaveAt, topAgain } from "./left-at.ts";
import { RigLink, rigAddress } from "./rig-link.tsx";
import { clearSelection, selectAll, selection, toggleSelected } from "./selection.ts";

export interface ListProps {
  readonly rows: readonly Row[];
  readonly keys: readonly ColumnKey[];
  readonly tree: GroupTree;
  readonly selectable: boolean;
  /** The query of the list's address. */
  readonly search: string;
}

interface TableProps extends ListProps {
  readonly sort: ColumnKey;
  readonly descending: boolean;
  readonly onSort: (key: ColumnKey) => void;
}

export const rem = (): number => Number.parseFloat(getComputedStyle(document.documentElement).fontSize);
const rowRem = 2.75;
const pageRows = 10;

/** rem for the names, within the space that the other columns leave; alarms stand beside them. */
function nameWidth(rows: readonly Row[]): number {
  let longest = 0;
  for (const { name } of rows) if (name.length > longest) longest = name.length;
  return Math.min(20, Math.max(columns.name.width, 0.6 * longest + 3.5));
}

/** The rigs as a table; only its visible part is rendered. One tab stop; arrow keys do the rest. */
export function RigTable({ rows, keys, tree, selectable, search, sort, descending, onSort }: TableProps) {
  const scroller = useRef<HTMLDivElement>(null);
  const virtual = useVirtual({ count: rows.length, size: rowRem * rem(), scroller, overscan: 6 });
  const [active, setActive] = useState(lastOpened);
  const { route } = useLocation();
  /** A synchronous copy: keys may arrive faster than renderings. */
  const current = useRef<number | null>(null);
  const focusing = useRef(false);
  const first = virtual.items[0]?.index ?? 0;
  const shown = rows.slice(first, (virtual.items.at(-1)?.index ?? -1) + 1);
  useShownRows(rows, first, first + shown.length - 1);
  const tabStop = shown.some(({ id }) => id === active) ? active : shown[0]?.id;
  const chosen = selection.value;

  // The row is scrolled into view first, then rendered, and can take the focus only then.
  useLayoutEffect(() => {
    if (!focusing.current) return;
    const element = scroller.current?.querySelector<HTMLElement>(`tr[data-id="${active}"]`);
    if (element === null || element === undefined) return;
    focusing.current = false;
    element.focus({ preventScroll: true });
  });
  const isPlaced = useRef(false);
  // Once, but without a dependency list, which would keep the present rows.
  useLayoutEffect(() => {
    const element = scroller.current;
    if (element === null || isPlaced.current) return;
    isPlaced.current = true;
    const index = rows.findIndex(({ id }) => id === active);
    const size = rowRem * rem();
    const visible = element.clientHeight - (element.querySelector("thead")?.offsetHeight ?? 0);
    element.scrollTop = topAgain(search, { start: index < 0 ? null : index * size, size, visible });
  });
  const activate = (id: number) => {
    current.current = id;
    setActive(id);
  };
  const goTo = (index: number) => {
    const row = rows[Math.max(0, Math.min(rows.length - 1, index))];
    if (row === undefined) return undefined;
    focusing.current = true;
    activate(row.id);
    virtual.show(rows.indexOf(row));
    return row;
  };
  const onKeyDown = (event: KeyboardEvent) => {
    if (!(event.target instanceof HTMLElement) || event.target.closest("thead") !== null) return;
    const here = rows.findIndex(({ id }) => id === (current.current ?? tabStop));
    const row = rows[here];
    if (row === undefined) return;
    const steps: Readonly<Record<string, number>> = {
      ArrowDown: here + 1,
      ArrowUp: here - 1,
      PageDown: here + pageRows,
      PageUp: here - pageRows,
      Home: 0,
      End: rows.length - 1,
    };
    const to = steps[event.key];
    if (to !== undefined) {
      const next = goTo(to);
      if (event.shiftKey && selectable && next !== undefined) {
        if (!selection.value.has(row.id)) toggleSelected(rows, row.id, false);
        if (!selection.value.has(next.id)) toggleSelected(rows, next.id, true);
      }
    } else if (event.key === " " && selectable) toggleSelected(rows, row.id, event.shiftKey);
    else if (event.key === "Enter" && !(event.target instanceof HTMLAnchorElement)) {
      // A row that is still being scrolled into view would take the focus from the next page.
      focusing.current = false;
      route(rigAddress(row.id, search));
    } else if (event.key === "a" && (event.ctrlKey || event.metaKey) && selectable) selectAll(rows);
    else if (event.key === "Escape" && selectable) clearSelection();
    else return;
    event.preventDefault();
  };
  const onClick = (event: MouseEvent) => {
    if (!(event.target instanceof Element)) return;
    const row = event.target.closest<HTMLElement>("tr[data-id]");
    if (row === null || event.target.closest("a") !== null) return;
    const id = Number(row.dataset.id);
    activate(id);
    // Text selected for copying does not select rigs.
    const isMarking = event.target.closest("input") === null && String(getSelection()) !== "";
    if (selectable && !isMarking) toggleSelected(rows, id, event.shiftKey);
  };
  const nameRem = useMemo(() => nameWidth(rows), [rows]);
  const widthOf = (key: ColumnKey): number => (key === "name" ? nameRem : columns[key].width);
  const width = keys.reduce((sum, key) => sum + widthOf(key), selectable ? 2.75 : 0);
  return (
    <div ref={scroller} class="rigs-scroll" onScroll={({ currentTarget }) => leaveAt(search, currentTarget.scrollTop)}>
      <table
        // biome-ignore lint/a11y/noNoninteractiveElementToInteractiveRole: its rows are moved to and selected by keyboard
        role="grid"
        class="rigs-table"
        aria-label={t.rigs.list}
        aria-describedby="rigs-keys"
        aria-rowcount={rows.length + 1}
        aria-multiselectable={selectable}
        style={{ "--least": `${width}rem` }}
        onKeyDown={onKeyDown}
        onMouseDown={(event) => {
          if (event.shiftKey) event.preventDefault();
        }}
        onClick={onClick}
        onFocusIn={({ target }) => {
          const focused = target instanceof HTMLElement ? target.closest<HTMLElement>("tr[data-id]") : null;
          if (focused !== null && Number(focused.dataset.id) !== current.current) activate(Number(focused.dataset.id));
        }}
      >
        <colgroup>
          {selectable ? <col style={{ "--width": "2.75rem" }} /> : null}
          {keys.map((key) => (
            <col key={key} style={{ "--width": `${widthOf(key)}rem` }} />
          ))}
        </colgroup>
        <thead>
          <tr aria-rowindex={1}>
            {selectable ? (
              <th scope="col" class="check">
                <SelectAll rows={rows} />
              </th>
            ) : null}
            {keys.map((key, place) => (
              <th
                key={key}
                scope="col"
                class={columns[key].isNumber ? "number" : key === "name" && place === 0 ? "name" : ""}
                aria-sort={sort === key ? (descending ? "descending" : "ascending") : undefined}
              >
                <button type="button" onClick={() => onSort(key)}>
                  <span>{t.rigs.columns[key]}</span>
                  {sort === key ? <Icon name={descending ? "down" : "up"} /> : null}
                </button>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          <Gap height={virtual.before} columns={keys.length + (selectable ? 1 : 0)} />
          {shown.map((row, index) => (
            <RowView
              key={row.id}
              row={row}
              index={first + index}
              keys={keys}
              tree={tree}
              selected={selectable ? chosen.has(row.id) : null}
              isTabStop={row.id === tabStop}
              search={search}
            />
          ))}
          <Gap height={virtual.after} columns={keys.length + (selectable ? 1 : 0)} />
        </tbody>
      </table>
    </div>
  );
}

export function SelectAll({ rows }: { rows: readonly Row[] }) {
  const box = useRef<HTMLInputElement>(null);
  const count = rows.reduce((sum, { id }) => sum + (selection.value.has(id) ? 1 : 0), 0);
  const isAll = count > 0 && count === rows.length;
  useEffect(() => {
    if (box.current !== null) box.current.indeterminate = count > 0 && !isAll;
  });
  return (
    <label class="check">
      <input
        ref={box}
        type="checkbox"
        checked={isAll}
        aria-label={t.rigs.selectAll}
        onChange={() => (isAll ? clearSelection() : selectAll(rows))}
      />
    </label>
  );
}

interface RowProps {
  readonly row: Row;
  readonly index: number;
  readonly keys: readonly ColumnKey[];
  readonly tree: GroupTree;
  /** Null: not selectable. */
  readonly selected: boolean | null;
  readonly isTabStop: boolean;
  readonly search: string;
}

/** Rendered again only after changes: a table shows 40 of them, often. */
class RowView extends Component<RowProps> {
  override shouldComponentUpdate({ row, index, keys, tree, selected, isTabStop, search }: RowProps): boolean {
    const { props } = this;
    return (
      row !== props.row ||
      index !== props.index ||
      keys !== props.keys ||
      tree !== props.tree ||
      selected !== props.selected ||
      isTabStop !== props.isTabStop ||
      search !== props.search
    );
  }

  override render({ row, index, keys, tree, selected, isTabStop, search }: RowProps) {
    return (
      <tr
        data-id={row.id}
        aria-rowindex={index + 2}
        aria-selected={selected ?? undefined}
        class={row.status === "Disconnected" ? "unreachable" : ""}
        tabIndex={isTabStop ? 0 : -1}
      >
        {selected === null ? null : (
          <td class="check">
            <label class="check">
              <input type="checkbox" checked={selected} tabIndex={-1} aria-label={t.rigs.select({ name: row.name })} />
            </label>
          </td>
        )}
        {keys.map((key, place) =>
          key === "name" ? (
            <th key={key} scope="row" class={place === 0 ? "name" : ""}>
              <RigLink row={row} search={search} tabIndex={-1} />
            </th>
          ) : (
            <td key={key} class={columns[key].isNumber ? "number" : ""}>
              {cellOf(key, row, tree)}
            </td>
          ),
        )}
      </tr>
    );
  }
}
