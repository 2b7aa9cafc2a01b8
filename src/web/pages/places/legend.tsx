import { useEffect, useRef } from "preact/hooks";
import { number, percent, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { statuses } from "../../parts/status.tsx";
import { drawSwatch, type Palette } from "./draw.ts";
import { type Measure, ofStatus, type Shade, scales } from "./shades.ts";

interface LegendProps {
  readonly measure: Measure;
  readonly palette: Palette | null;
}

/** What each colour and each pattern means. */
export const Legend = ({ measure, palette }: LegendProps) => (
  <ul class="place-legend" aria-label={t.places.legend}>
    {entriesOf(measure).map(({ shade, text }) => (
      <li key={text}>
        <Swatch shade={shade} palette={palette} />
        {text}
      </li>
    ))}
  </ul>
);

interface Entry {
  readonly shade: Shade;
  readonly text: string;
}

function entriesOf(measure: Measure): Entry[] {
  if (measure === "state") return statuses.map((status) => ({ shade: ofStatus[status], text: t.status[status] }));
  const { bounds, shades } = scales[measure];
  const show = (value: number): string => (measure === "temperature" ? temperature(value) : percent(value));
  return [
    ...shades.map((shade, index) => {
      const [from, below] = [bounds[index - 1], bounds[index]];
      if (from === undefined) return { shade, text: t.rigs.under({ below: show(below ?? 0) }) };
      if (below === undefined) return { shade, text: t.rigs.atLeast({ from: show(from) }) };
      const least = measure === "temperature" ? number(from) : number(100 * from);
      return { shade, text: `${least}–${show(below)}` };
    }),
    { shade: "unknown", text: t.shell.unknown },
    { shade: "stopped", text: t.status.Stopped },
    { shade: "offline", text: t.status.Disconnected },
  ];
}

/** Drawn as the cells are, so that both have the same pattern. */
function Swatch({ shade, palette }: { shade: Shade; palette: Palette | null }) {
  const canvas = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (canvas.current !== null && palette !== null) drawSwatch(canvas.current, shade, palette);
  }, [shade, palette]);
  return <canvas ref={canvas} class="place-swatch" />;
}
