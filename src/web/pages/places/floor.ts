import type { Place } from "../../../contract/place-operations.ts";
import type { Row } from "../../live.ts";
import type { PlaceTree } from "../../places.ts";

/** A rig on the map; x and y, here and below: px of the left top corner. */
export interface Cell {
  readonly row: Row;
  readonly place: Place;
  readonly x: number;
  readonly y: number;
}

/** A rack, or another place with rigs of its own: its positions, and below them the rigs without one. */
export interface Block {
  readonly place: Place;
  readonly x: number;
  readonly y: number;
  /** px, also of its name. */
  readonly width: number;
  /** Positions. */
  readonly columns: number;
  readonly rows: number;
  /** px from the top of the map to the first position, below its name. */
  readonly gridY: number;
}

/** The row or building around the racks that follow. */
export interface Heading {
  readonly place: Place;
  /** Its path inside the place of the map. */
  readonly path: string;
  readonly y: number;
}

export interface Floor {
  /** px of a cell. */
  readonly size: number;
  readonly width: number;
  readonly height: number;
  readonly headings: readonly Heading[];
  readonly blocks: readonly Block[];
  /** Line by line, from left to right. */
  readonly cells: readonly Cell[];
}

/** px */
const headingHeight = 32;
const nameHeight = 24;
const gap = 16;
const stripGap = 8;
const leastWidth = 88;
/** px of a cell that has room for a name. */
export const named = 64;
/** px of a cell, of which the first that fits is used, else the smallest. */
const sizes = [named, 44, 32, 24, 18];
const smallest = 14;
/** px; a map that is higher is scrolled. */
const usualHeight = 620;

/** The rigs of each place, those inside it left out. */
export const byPlace = (rows: Iterable<Row>): ReadonlyMap<number, readonly Row[]> =>
  Map.groupBy(rows, ({ place }) => place ?? 0);

/** The map of a place with all places inside it, in cells as large as the width in px allows. */
export function floorOf(tree: PlaceTree, id: number, rows: ReadonlyMap<number, readonly Row[]>, width: number): Floor {
  const within = tree.within(id);
  const parts = tree.all
    .filter((place) => within.has(place.id))
    .flatMap((place) => partOf(place, rows.get(place.id) ?? []));
  for (const size of sizes) {
    const floor = laidOut(tree, id, parts, width, size);
    if (floor.height <= usualHeight && floor.width <= width) return floor;
  }
  return laidOut(tree, id, parts, width, smallest);
}

/** A rack, or another place with rigs of its own. */
export interface Part {
  readonly place: Place;
  /** Positions. */
  readonly columns: number;
  readonly rows: number;
  readonly positioned: readonly Row[];
  readonly others: readonly Row[];
}

/** Line by line, those without a position last. */
export function byPosition({ position: one }: Row, { position: other }: Row): number {
  if (one == null || other == null) return Number(one == null) - Number(other == null);
  return one.row - other.row || one.column - other.column;
}

/** Nothing for a place that only contains others. */
export function partOf(place: Place, rows: readonly Row[]): Part[] {
  if (place.kind !== "rack" && rows.length === 0 && place.columns === undefined && place.rows === undefined) return [];
  const positioned = rows.filter(({ position }) => position != null).sort(byPosition);
  let [mostRow, mostColumn] = [place.rows ?? 0, place.columns ?? 0];
  for (const { position } of positioned) {
    mostRow = Math.max(mostRow, position?.row ?? 0);
    mostColumn = Math.max(mostColumn, position?.column ?? 0);
  }
  const hasGrid = mostRow > 0 && mostColumn > 0;
  return [
    {
      place,
      rows: hasGrid ? mostRow : 0,
      columns: hasGrid ? mostColumn : 0,
      positioned,
      others: rows.filter(({ position }) => position == null),
    },
  ];
}

function laidOut(tree: PlaceTree, id: number, parts: readonly Part[], room: number, size: number): Floor {
  const headings: Heading[] = [];
  const blocks: Block[] = [];
  const cells: Cell[] = [];
  const own = tree.get(id);
  let around: number | null = id;
  let [x, y, bottom, width] = [0, 0, 0, room];
  const newLine = (): void => {
    x = 0;
    y = bottom === 0 ? 0 : bottom + gap;
  };
  for (const part of parts) {
    const { place, rows, columns, positioned, others } = part;
    const next = place.kind === "rack" && place.id !== id ? place.parentId : place.id;
    if (next !== around) {
      newLine();
      around = next;
      const heading = tree.get(next);
      if (heading !== undefined && heading.id !== id) {
        headings.push({ place: heading, path: heading.path.slice((own?.path.length ?? -1) + 1), y });
        y += headingHeight;
      }
    }
    const fitting = Math.max(1, Math.floor(room / size));
    const inStrip = columns > 0 ? columns : Math.min(others.length, fitting, Math.max(4, squareOf(others.length)));
    const blockWidth = Math.max(leastWidth, Math.max(columns, inStrip) * size);
    if (x > 0 && x + blockWidth > room) newLine();
    const gridY = place.id === id ? y : y + nameHeight;
    for (const row of positioned)
      if (row.position != null)
        cells.push({ row, place, x: x + (row.position.column - 1) * size, y: gridY + (row.position.row - 1) * size });
    const stripY = gridY + rows * size + (rows > 0 && others.length > 0 ? stripGap : 0);
    for (const [index, row] of others.entries())
      cells.push({ row, place, x: x + (index % inStrip) * size, y: stripY + Math.floor(index / inStrip) * size });
    blocks.push({ place, x, y, width: blockWidth, columns, rows, gridY });
    bottom = Math.max(bottom, stripY + (others.length === 0 ? 0 : Math.ceil(others.length / inStrip) * size));
    width = Math.max(width, x + blockWidth);
    x += blockWidth + gap;
  }
  cells.sort((one, other) => one.y - other.y || one.x - other.x);
  return { size, width, height: bottom, headings, blocks, cells };
}

const squareOf = (count: number): number => Math.ceil(Math.sqrt(count));

/** The cell at a point, px from the left top corner of the map. */
export const cellAt = ({ cells, size }: Floor, x: number, y: number): Cell | undefined =>
  cells.find((cell) => x >= cell.x && x < cell.x + size && y >= cell.y && y < cell.y + size);

export type Direction = "ArrowLeft" | "ArrowRight" | "ArrowUp" | "ArrowDown";

/**
 * The cell before or after one in its line, and from the end of a line that of the next one, so that every cell is
 * reached; or the nearest above or below, one straight ahead before one aside. Undefined at the edge of the map.
 */
export function neighbourOf({ cells }: Floor, from: Cell, direction: Direction): Cell | undefined {
  if (direction === "ArrowLeft" || direction === "ArrowRight") {
    const index = cells.indexOf(from) + (direction === "ArrowLeft" ? -1 : 1);
    return cells[index < 0 ? cells.length : index];
  }
  const sign = direction === "ArrowUp" ? -1 : 1;
  let nearest: Cell | undefined;
  let least = Number.POSITIVE_INFINITY;
  for (const cell of cells) {
    const ahead = sign * (cell.y - from.y);
    const distance = ahead + 4 * Math.abs(cell.x - from.x);
    if (ahead > 0 && distance < least) [nearest, least] = [cell, distance];
  }
  return nearest;
}
