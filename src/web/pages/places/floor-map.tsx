import { useEffect, useLayoutEffect, useMemo, useRef, useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import { t } from "../../language.ts";
import { type Rigs, rigs } from "../../live.ts";
import type { PlaceTree } from "../../places.ts";
import { link } from "../../route.ts";
import { useShownRows } from "../../shown-rows.ts";
import { rigAddress } from "../rigs/rig-link.tsx";
import { Details, sentenceOf } from "./details.tsx";
import { drawFloor } from "./draw.ts";
import { byPlace, type Cell, cellAt, type Direction, type Floor, floorOf, neighbourOf } from "./floor.ts";
import { Legend } from "./legend.tsx";
import { type Measure, mediansOf, shadeOf } from "./shades.ts";
import { usePalette } from "./use-palette.ts";

interface MapProps {
  readonly tree: PlaceTree;
  readonly id: number;
  readonly measure: Measure;
}

/** The rigs of a place where they stand, coloured by a measure. One tab stop; arrow keys move between rigs. */
export function FloorMap({ tree, id, measure }: MapProps) {
  const probe = useRef<HTMLDivElement>(null);
  const canvas = useRef<HTMLCanvasElement>(null);
  const marker = useRef<HTMLSpanElement>(null);
  const width = useWidth(probe);
  const palette = usePalette(probe);
  const state: Rigs = rigs.value;
  const rows = useMemo(() => byPlace(state.byId.values()), [state]);
  const floor = useMemo(() => floorOf(tree, id, rows, width), [tree, id, rows, width]);
  const medians = useMemo(() => mediansOf(state.byId.values()), [state]);
  const shown = useMemo(() => floor.cells.map(({ row }) => row), [floor]);
  useShownRows(shown, 0, shown.length - 1);
  useEffect(() => {
    if (canvas.current === null || palette === null) return;
    const shadeAt = shown.map((row) => shadeOf(measure, row, medians));
    drawFloor(canvas.current, floor, shadeAt, palette);
  }, [floor, shown, medians, measure, palette]);

  const [active, setActive] = useState<number | null>(null);
  const [spoken, setSpoken] = useState("");
  const { route } = useLocation();
  const search = `?place=${id}`;
  const cell = useMemo(() => floor.cells.find(({ row }) => row.id === active) ?? null, [floor, active]);
  const byKeys = useRef(false);
  // Once the marker is at its new place.
  useLayoutEffect(() => {
    if (byKeys.current) marker.current?.scrollIntoView({ block: "nearest", inline: "nearest" });
    byKeys.current = false;
  }, [cell]);
  const goTo = (next: Cell | undefined) => {
    if (next === undefined) return;
    byKeys.current = true;
    setActive(next.row.id);
    setSpoken(sentenceOf(next, medians));
  };
  const onKeyDown = (event: KeyboardEvent) => {
    const { key } = event;
    if (key === "Enter" && cell !== null) route(rigAddress(cell.row.id, search));
    else if (key === "Home" || key === "End") goTo(floor.cells.at(key === "Home" ? 0 : -1));
    else if (isDirection(key)) goTo(cell === null ? floor.cells[0] : neighbourOf(floor, cell, key));
    else return;
    event.preventDefault();
  };
  const cellOf = ({ clientX, clientY }: MouseEvent): Cell | undefined => {
    const box = canvas.current?.getBoundingClientRect();
    return box && cellAt(floor, clientX - box.left, clientY - box.top);
  };
  const onClick = (event: MouseEvent) => {
    const pressed = cellOf(event);
    if (pressed === undefined) return;
    // A finger has not seen yet what it is about: its first tap shows that.
    const isTouch = event instanceof PointerEvent && event.pointerType === "touch";
    if (isTouch && pressed.row.id !== active) setActive(pressed.row.id);
    else route(rigAddress(pressed.row.id, search));
  };
  return (
    <section class="place-map" aria-label={t.places.map}>
      <Legend measure={measure} palette={palette} />
      <div ref={probe} class="place-scroll">
        {/* From left to right in every language: column 1 is the left one. */}
        <div class="place-floor" dir="ltr" style={{ width: `${floor.width}px`, height: `${floor.height}px` }}>
          <div
            role="application"
            // biome-ignore lint/a11y/noNoninteractiveTabindex: its cells are moved to and opened by keyboard
            tabIndex={0}
            aria-label={t.places.map}
            aria-describedby="place-keys"
            onKeyDown={onKeyDown}
            onFocus={() => cell ?? goTo(floor.cells[0])}
            onPointerMove={(event) => {
              if (event.pointerType !== "touch") setActive(cellOf(event)?.row.id ?? active);
            }}
            onClick={onClick}
          >
            <canvas ref={canvas} style={{ width: `${floor.width}px`, height: `${floor.height}px` }} />
          </div>
          {cell === null ? null : (
            <span ref={marker} class="place-marker" aria-hidden="true" style={boxOf(cell, floor.size)} />
          )}
          <Names floor={floor} id={id} />
        </div>
      </div>
      <p id="place-keys" class="visually-hidden">
        {t.places.keys}
      </p>
      <p class="visually-hidden" role="status">
        {spoken}
      </p>
      <Details cell={cell} medians={medians} search={search} />
    </section>
  );
}

const isDirection = (key: string): key is Direction => key.startsWith("Arrow");

const boxOf = ({ x, y }: Pick<Cell, "x" | "y">, size: number) => ({
  left: `${x}px`,
  top: `${y}px`,
  width: `${size}px`,
  height: `${size}px`,
});

/** The names of rows and racks over the map, as links to their own maps. */
const Names = ({ floor, id }: { floor: Floor; id: number }) => (
  <>
    {floor.headings.map(({ place, path, y }) => (
      <a key={place.id} class="place-heading" href={link(`places/${place.id}`)} style={{ top: `${y}px` }}>
        <bdi>{path}</bdi>
      </a>
    ))}
    {floor.blocks.map(({ place, x, y, width }) =>
      place.id === id ? null : (
        <a
          key={place.id}
          class="place-rack"
          href={link(`places/${place.id}`)}
          title={place.path}
          style={{ left: `${x}px`, top: `${y}px`, width: `${width}px` }}
        >
          <bdi>{place.name}</bdi>
        </a>
      ),
    )}
  </>
);

/** px; 0 until it is rendered. */
function useWidth(of: { readonly current: HTMLElement | null }): number {
  const [width, setWidth] = useState(0);
  useLayoutEffect(() => {
    const resized = new ResizeObserver(([entry]) => {
      if (entry !== undefined) setWidth(Math.floor(entry.contentRect.width));
    });
    if (of.current !== null) {
      setWidth(of.current.clientWidth);
      resized.observe(of.current);
    }
    return () => resized.disconnect();
  }, []);
  return width;
}
