import type { RefObject } from "preact";
import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../language.ts";
import { Stale, Status } from "../../parts/status.tsx";
import { useVirtual } from "../../parts/virtual.ts";
import { link } from "../../route.ts";
import { useShownRows } from "../../shown-rows.ts";
import { cellOf } from "./columns.tsx";
import { lastOpened, leaveAt, topAgain } from "./left-at.ts";
import { RigLink } from "./rig-link.tsx";
import { selection, toggleSelected } from "./selection.ts";
import { type ListProps, rem } from "./table.tsx";

const cardRem = 20;
const gapRem = 0.75;
const mostFigures = 8;

/** The number of cards that fit side by side into a width, px. */
const lanesIn = (width: number): number =>
  Math.max(1, Math.floor((width + gapRem * rem()) / ((cardRem + gapRem) * rem())));

/** Remembers the scroll position of the page. */
function usePageScroll(search: string): void {
  useEffect(() => {
    const onScroll = () => {
      if (location.pathname === link("rigs")) leaveAt(search, scrollY);
    };
    addEventListener("scroll", onScroll, { passive: true });
    return () => removeEventListener("scroll", onScroll);
  }, [search]);
}

/**
 * The number of columns, and px from the top of the page to the first card. A separate function, so that it keeps no
 * earlier rows.
 */
function useLanes(place: RefObject<HTMLElement | null>): { readonly lanes: number; readonly margin: number } {
  const [lanes, setLanes] = useState(1);
  const [margin, setMargin] = useState(0);
  // The start of the list depends on the content above it.
  useLayoutEffect(() => {
    const element = place.current;
    if (element === null) return;
    setLanes(lanesIn(element.clientWidth));
    setMargin(Math.round(element.getBoundingClientRect().top + scrollY));
  });
  useLayoutEffect(() => {
    const resized = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setLanes(lanesIn(entry.contentRect.width));
    });
    if (place.current !== null) resized.observe(place.current);
    return () => resized.disconnect();
  }, []);
  return { lanes, margin };
}

/** The rigs as cards, in as many columns as fit. */
export function RigCards({ rows, keys, tree, selectable, search }: ListProps) {
  const place = useRef<HTMLDivElement>(null);
  const { lanes, margin } = useLanes(place);
  const figures = keys.filter((key) => key !== "name" && key !== "status").slice(0, mostFigures);
  // Head, status, figures in two columns, padding.
  const size = (2.75 + 1.75 + 2.75 * Math.ceil(figures.length / 2) + 1.4 + gapRem) * rem();
  const virtual = useVirtual({ count: Math.ceil(rows.length / lanes), size, margin, overscan: 4 });
  const isPlaced = useRef(false);
  // Runs after the shell, which scrolls every new page to its top. Once, but without a dependency list, which would
  // keep the present rows.
  useEffect(() => {
    const element = place.current;
    if (element === null || isPlaced.current) return;
    isPlaced.current = true;
    const index = rows.findIndex(({ id }) => id === lastOpened());
    const begin = element.getBoundingClientRect().top + scrollY;
    const start = index < 0 ? null : begin + Math.floor(index / lanesIn(element.clientWidth)) * size;
    scrollTo(0, topAgain(search, { start, size, visible: innerHeight }));
  });
  usePageScroll(search);
  const first = (virtual.items[0]?.index ?? 0) * lanes;
  const shown = rows.slice(first, ((virtual.items.at(-1)?.index ?? -1) + 1) * lanes);
  useShownRows(rows, first, first + shown.length - 1);
  return (
    <div ref={place}>
      <div style={{ blockSize: `${virtual.before}px` }} />
      <ul
        class="rigs-cards"
        aria-label={t.rigs.list}
        style={{ gridTemplateColumns: `repeat(${lanes}, minmax(0, 1fr))` }}
      >
        {shown.map((row, index) => (
          <li
            key={row.id}
            class={`card rig-card ${selection.value.has(row.id) ? "selected" : ""}`}
            aria-setsize={rows.length}
            aria-posinset={first + index + 1}
            style={{ blockSize: `${size - gapRem * rem()}px` }}
          >
            <header>
              {selectable ? (
                <label class="check">
                  <input
                    type="checkbox"
                    checked={selection.value.has(row.id)}
                    aria-label={t.rigs.select({ name: row.name })}
                    onClick={(event) => toggleSelected(rows, row.id, event.shiftKey)}
                  />
                </label>
              ) : null}
              <RigLink row={row} search={search} />
            </header>
            <p class="rig-card-status">
              <Status status={row.status} reason={row.reason} />{" "}
              {row.repair === null ? null : <small>{t.repair.title} </small>}
              <Stale readAt={row.readAt} />
            </p>
            <dl>
              {figures.map((key) => (
                <div key={key}>
                  <dt>{t.rigs.columns[key]}</dt>
                  <dd>{cellOf(key, row, tree)}</dd>
                </div>
              ))}
            </dl>
          </li>
        ))}
      </ul>
      <div style={{ blockSize: `${virtual.after}px` }} />
    </div>
  );
}
