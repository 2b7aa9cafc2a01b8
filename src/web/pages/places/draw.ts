import { type Floor, named } from "./floor.ts";
import { isColoured, type Shade, shades } from "./shades.ts";

/** Colours of the page's scheme, as a canvas takes them. */
export interface Palette {
  readonly shades: Readonly<Record<Shade, string>>;
  readonly ink: string;
  readonly line: string;
}

/** The colours as the page has them now; a custom property alone would be `light-dark(…)`. */
export function paletteOf(probe: HTMLElement): Palette {
  const read = (property: string): string => {
    probe.style.color = `var(${property})`;
    return getComputedStyle(probe).color;
  };
  return {
    shades: Object.fromEntries(shades.map((shade) => [shade, read(`--map-${shade}`)])) as Record<Shade, string>,
    ink: read("--ink"),
    line: read("--line"),
  };
}

/** Positions up to which empty ones are drawn: more would be a grey area. */
const mostEmpty = 5_000;
/** Canvas pixels that browsers of phones still allow. */
const mostPixels = 16_000_000;
/** px */
const swatchSize = 16;
const nameHeight = 18;

/** Draws the map. `shadeAt`: the shade of each cell, in their order. */
export function drawFloor(canvas: HTMLCanvasElement, floor: Floor, shadeAt: readonly Shade[], palette: Palette): void {
  const { width, height, size, cells, blocks } = floor;
  const scale = Math.min(devicePixelRatio, Math.sqrt(mostPixels / Math.max(1, width * height)));
  const [across, down] = [Math.round(width * scale), Math.round(height * scale)];
  if (canvas.width !== across || canvas.height !== down) [canvas.width, canvas.height] = [across, down];
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(scale, 0, 0, scale, 0, 0);
  context.clearRect(0, 0, width, height);
  context.lineWidth = 1;
  context.strokeStyle = palette.line;
  const isSparse = blocks.reduce((sum, block) => sum + block.columns * block.rows, 0) <= mostEmpty;
  context.beginPath();
  for (const { x, gridY, columns, rows } of blocks) {
    if (!isSparse && rows > 0) context.rect(x + 0.5, gridY + 0.5, columns * size - 1, rows * size - 1);
    for (let index = 0; isSparse && index < columns * rows; index += 1) {
      const [column, row] = [index % columns, Math.floor(index / columns)];
      context.rect(x + column * size + 1.5, gridY + row * size + 1.5, size - 3, size - 3);
    }
  }
  context.stroke();
  const cellHeight = size < named ? size : size - nameHeight;
  drawShades(
    context,
    cells.map(({ x, y }, index) => ({
      shade: shadeAt[index] ?? "unknown",
      x: x + 1,
      y: y + 1,
      width: size - 2,
      height: cellHeight - 2,
    })),
    palette,
  );
  if (size < named) return;
  context.fillStyle = palette.ink;
  context.font = "11px system-ui, sans-serif";
  for (const { row, x, y } of cells) context.fillText(cut(context, row.name, size - 4), x + 2, y + size - 6);
}

/** Draws one shade into a canvas of the legend. */
export function drawSwatch(canvas: HTMLCanvasElement, shade: Shade, palette: Palette): void {
  const size = Math.round(swatchSize * devicePixelRatio);
  [canvas.width, canvas.height] = [size, size];
  const context = canvas.getContext("2d");
  if (context === null) return;
  context.setTransform(devicePixelRatio, 0, 0, devicePixelRatio, 0, 0);
  drawShades(context, [{ shade, x: 0.5, y: 0.5, width: swatchSize - 1, height: swatchSize - 1 }], palette);
}

interface Box {
  readonly x: number;
  readonly y: number;
  readonly width: number;
  readonly height: number;
}

interface ShadedBox extends Box {
  readonly shade: Shade;
}

/** A path for each colour: thousands of single rectangles would take several times as long. */
function drawShades(context: CanvasRenderingContext2D, boxes: readonly ShadedBox[], palette: Palette): void {
  for (const [shade, own] of Map.groupBy(boxes, (box) => box.shade)) {
    context.beginPath();
    for (const { x, y, width, height } of own) context.rect(x, y, width, height);
    context.fillStyle = palette.shades[shade];
    context.fill();
    context.beginPath();
    for (const box of own) drawPattern(context, shade, box);
    context.strokeStyle = palette.ink;
    context.lineWidth = Math.min(2.5, Math.max(1, (own[0]?.width ?? 0) / 14));
    context.stroke();
  }
}

/** Adds to the path what identifies a shade without its colour: offline, stopped, unknown and bad. */
function drawPattern(context: CanvasRenderingContext2D, shade: Shade, { x, y, width, height }: Box): void {
  const line = (fromX: number, fromY: number, toX: number, toY: number): void => {
    context.moveTo(x + fromX * width, y + fromY * height);
    context.lineTo(x + toX * width, y + toY * height);
  };
  if (shade === "offline") {
    line(0.1, 0.1, 0.9, 0.9);
    line(0.1, 0.9, 0.9, 0.1);
  } else if (shade === "stopped") line(0.2, 0.5, 0.8, 0.5);
  else if (shade === "unknown") {
    line(0, 0.5, 0.5, 0);
    line(0, 1, 1, 0);
    line(0.5, 1, 1, 0.5);
  }
  if (shade === "bad") context.rect(x + 0.35 * width, y + 0.35 * height, 0.3 * width, 0.3 * height);
  else if (!isColoured(shade)) context.rect(x + 0.5, y + 0.5, width - 1, height - 1);
}

function cut(context: CanvasRenderingContext2D, text: string, width: number): string {
  let shown = text.slice(0, 20);
  while (shown.length > 1 && context.measureText(shown).width > width) shown = shown.slice(0, -1);
  return shown;
}
