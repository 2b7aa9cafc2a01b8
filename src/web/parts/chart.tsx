import { useEffect, useId, useMemo, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import { dateTime, dayMonth, hourMinute, shortDateTime } from "../format.ts";
import { t } from "../language.ts";
import { theme } from "../theme.ts";
import { None } from "./empty-state.tsx";
import type { Known } from "./load.tsx";
import { Scroll } from "./scroll.tsx";

export interface Series {
  readonly name: string;
  /** One value for each time; null is a gap. */
  readonly values: readonly (number | null)[];
  /** `largest`: the largest value on an axis, whose unit all others use. */
  readonly format: (value: number | null, largest?: number) => string;
  /** A colour of the palette, 1 to 6. */
  readonly colour?: 1 | 2 | 3 | 4 | 5 | 6;
  readonly shape?: "line" | "area" | "steps" | "bars";
  /** Series with the same scale share an axis; the first two scales have axes. */
  readonly scale?: string;
}

interface ChartProps {
  /** Its values come from the service, so it may report that there are none. */
  readonly known: Known;
  readonly title: string;
  /** Epoch ms, ascending. */
  readonly times: readonly number[];
  readonly series: readonly Series[];
  readonly height?: number;
  /** Epoch ms that the axis spans; default: from the first to the last time. */
  readonly span?: readonly [from: number, to: number];
  /** Reserves the space of a second axis, so that its times align with those of a chart that has one. */
  readonly secondAxis?: boolean;
  /** Epoch ms of the present, if the chart includes later times: marked by a line. */
  readonly present?: number;
  /** The surrounding page shows the title already; screen readers read it. */
  readonly titleHidden?: boolean;
}

/** Curves over time. A sentence and a table describe the picture, for readers who cannot see it. */
export function Chart({
  known,
  title,
  times,
  series,
  height = 220,
  span,
  present,
  secondAxis = false,
  titleHidden = false,
}: ChartProps) {
  const place = useRef<HTMLDivElement>(null);
  const id = useId();
  const made = useRef<uPlot | undefined>(undefined);
  const newest = useRef<Drawn>({ times, series, height, span, present, secondAxis });
  newest.current = { times, series, height, span, present, secondAxis };
  // New values update the existing picture; other curves need a new one.
  const looks = JSON.stringify([times.length < 2, height, series.map(({ values, ...look }) => look)]);
  useEffect(() => {
    made.current?.setData(dataOf(newest.current));
  }, [times, series, span?.[0], span?.[1]]);
  useEffect(() => {
    const element = place.current;
    if (element === null || newest.current.times.length === 0) return undefined;
    let ended = false;
    const resized = new ResizeObserver(() => {
      const width = element.clientWidth;
      if (width !== made.current?.width) made.current?.setSize({ width, height });
    });
    const show = () =>
      loadPlot()
        .then((Plot) => {
          if (ended) return;
          made.current = draw(Plot, element, newest);
          resized.observe(element);
        })
        // While the service is offline, the picture cannot be loaded; the sentence and the table remain.
        .catch(() => undefined);
    const near = new IntersectionObserver(
      (entries) => {
        if (!entries.some(({ isIntersecting }) => isIntersecting)) return;
        near.disconnect();
        void show();
      },
      { rootMargin: drawnAhead },
    );
    near.observe(element);
    // The system's colour scheme, and paper.
    const media = ["(prefers-color-scheme: dark)", "print"].map((query) => matchMedia(query));
    const repaint = () => made.current?.redraw();
    for (const each of media) each.addEventListener("change", repaint);
    return () => {
      ended = true;
      near.disconnect();
      resized.disconnect();
      for (const each of media) each.removeEventListener("change", repaint);
      made.current?.destroy();
      made.current = undefined;
    };
  }, [looks, times.length === 0]);
  const chosenTheme = theme.value;
  useEffect(() => made.current?.redraw(), [chosenTheme]);
  return (
    <figure class="chart" aria-labelledby={id}>
      <figcaption id={id}>
        <span class={titleHidden ? "visually-hidden" : ""}>{title}</span>
        {times.length === 0 ? <None known={known}>{t.chart.empty}</None> : null}
        {times.length === 0
          ? null
          : series.map((each, index) => (
              <span key={each.name} class="chart-summary">
                <span class="chart-key" style={{ background: `var(--series-${colourOf(each, index)})` }} />{" "}
                {summaryOf(each, valueIndex(times, present))}
              </span>
            ))}
      </figcaption>
      {times.length === 0 ? null : (
        <div ref={place} class="chart-picture" aria-hidden="true" dir="ltr" style={{ minBlockSize: `${height}px` }} />
      )}
      {times.length === 0 ? null : <TableBehind times={times} series={series} />}
    </figure>
  );
}

const colourOf = ({ colour }: Series, index: number): number => colour ?? (index % 4) + 1;

/** The index of the present; null if the chart does not include it. */
const valueIndex = (times: readonly number[], present: number | undefined): number | null =>
  present === undefined ? null : times.findLastIndex((time) => time <= present);

/** "Power: last 3 120 W, between 2 900 W and 3 250 W". */
function summaryOf({ name, values, format }: Series, present: number | null): string {
  const measured = values.filter((value) => value !== null);
  const last = measured.at(-1);
  if (last === undefined) return t.chart.nothing({ name });
  let [least, most] = [last, last];
  for (const value of measured) {
    if (value < least) least = value;
    if (value > most) most = value;
  }
  if (present !== null)
    return t.chart.now({ name, value: format(values[present] ?? null), least: format(least), most: format(most) });
  return format(least) === format(most)
    ? `${name}: ${format(last)}`
    : t.chart.summary({ name, last: format(last), least: format(least), most: format(most) });
}

/** Maximum rows of the table. */
const mostRows = 200;

/** Its rows are created when the table is opened: they would be most of the page's layout. */
function TableBehind(chart: Pick<ChartProps, "times" | "series">) {
  const [isOpen, setOpen] = useState(false);
  return (
    <details onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>{t.chart.table}</summary>
      {isOpen ? <ChartTable {...chart} /> : null}
    </details>
  );
}

function ChartTable({ times, series }: Pick<ChartProps, "times" | "series">) {
  const rows = useMemo(() => {
    const step = Math.max(1, Math.ceil(times.length / mostRows));
    return times.flatMap((time, index) => (index % step === 0 ? [{ time, index }] : []));
  }, [times]);
  return (
    <Scroll name={t.chart.table}>
      <table>
        <thead>
          <tr>
            <th scope="col">{t.chart.time}</th>
            {series.map(({ name }) => (
              <th key={name} scope="col" class="number">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ time, index }) => (
            <tr key={time}>
              <th scope="row">{dateTime(time)}</th>
              {series.map(({ name, values, format }) => (
                <td key={name} class="number">
                  {format(values[index] ?? null)}
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface Drawn extends Pick<ChartProps, "times" | "series"> {
  readonly height: number;
  readonly secondAxis: boolean;
  readonly span: ChartProps["span"];
  readonly present: ChartProps["present"];
}

const dataOf = ({ times, series }: Drawn): uPlot.AlignedData => [
  times.map((time) => time / 1000),
  ...series.map(({ values }) => [...values]),
];

const axisPx = 70;

/** A chart is drawn once it is less than a screen away: on a phone most are far below the visible part. */
const drawnAhead = "100% 0px";

/** Resolves in a new task, so that a page with several charts handles input in between. */
async function loadPlot(): Promise<typeof uPlot> {
  const [{ default: Plot }] = await Promise.all([import("uplot"), import("uplot/dist/uPlot.min.css")]);
  await new Promise((resolve) => setTimeout(resolve));
  return Plot;
}

/** Values and formats may change later, the curves may not. */
function draw(Plot: typeof uPlot, element: HTMLElement, newest: { readonly current: Drawn }): uPlot {
  const { times, series, height, secondAxis } = newest.current;
  // A canvas supports neither custom properties nor light-dark().
  const colour = (name: string) => () => {
    element.style.color = `var(${name})`;
    return getComputedStyle(element).color;
  };
  const line = (number: number) => colour(`--series-${number}`);
  const keys = series.map(colourOf);
  const scales = [...new Set(series.map(({ scale }) => scale ?? "y"))];
  const formatOf = (scale: string) =>
    newest.current.series.find((each) => (each.scale ?? "y") === scale)?.format ?? String;
  const { bars, stepped } = Plot.paths;
  // The first and the last bar need half of their width beside them.
  const hasBars = series.some(({ shape }) => shape === "bars");
  const pathOf = ({ shape }: Series) =>
    shape === "bars" ? bars?.({ size: [0.8, 60] }) : shape === "steps" ? stepped?.({ align: 1 }) : undefined;
  return new Plot(
    {
      width: element.clientWidth,
      height,
      padding: [null, secondAxis ? axisPx : null, null, null],
      // Hours in the format of the language.
      fmtDate: () => (date: Date) => shortDateTime(date.getTime()),
      cursor: { drag: { x: false, y: false } },
      hooks: { draw: [(chart) => drawPresent(chart, newest.current.present, colour("--ink")())] },
      // The legend shows the values below the pointer; the newest values stand above the picture.
      legend: { live: true, markers: { width: 0, fill: (_, index) => `var(--series-${keys[index - 1] ?? 1})` } },
      scales: {
        x: {
          time: true,
          range: (_, least, most) => {
            const [from, to] = newest.current.span ?? [least * 1000, most * 1000];
            const margin = hasBars ? (to - from) / Math.max(1, newest.current.times.length - 1) / 2 : 0;
            return [(from - margin) / 1000, (to + margin) / 1000];
          },
        },
        ...Object.fromEntries(scales.map((scale, index) => [scale, { range: fromZero(index === 0 ? 0.05 : 0.3) }])),
      },
      axes: [
        {
          stroke: colour("--ink-soft"),
          grid: { stroke: colour("--line"), width: 1 },
          ticks: { show: false },
          space: 80,
          size: 30,
          values: (_, splits) => splits.map((split) => tickText(split * 1000, (splits.at(-1) ?? 0) - (splits[0] ?? 0))),
        },
        ...scales.slice(0, 2).map((scale, index) => ({
          scale,
          side: (index === 0 ? 3 : 1) as 1 | 3,
          size: axisPx,
          stroke: colour("--ink-soft"),
          grid: { show: index === 0, stroke: colour("--line"), width: 1 },
          ticks: { show: false },
          values: (_: uPlot, splits: number[]) => {
            const largest = Math.max(...splits.map(Math.abs));
            return splits.map((split) => formatOf(scale)(split, largest));
          },
        })),
      ],
      series: [
        { label: t.chart.time, value: (_, seconds) => (seconds === null ? "–" : dateTime(seconds * 1000)) },
        ...series.map((each, index) => {
          const number = keys[index] ?? 1;
          const paths = pathOf(each);
          return {
            label: each.name,
            scale: each.scale ?? "y",
            stroke: line(number),
            width: 1.5,
            points: { show: times.length < 2 },
            value: (_: uPlot, value: number | null) => (newest.current.series[index] ?? each).format(value),
            ...(paths === undefined ? {} : { paths }),
            ...(each.shape === "area" || each.shape === "bars" ? { fill: colour(`--series-${number}-soft`) } : {}),
          };
        }),
      ],
    },
    dataOf(newest.current),
    element,
  );
}

/**
 * An axis from 0, so that changes appear in proportion. `room`: share above the highest value; a second axis has more,
 * so that related curves (power and hash rate) do not hide each other.
 */
const fromZero =
  (room: number) =>
  (_: uPlot, least: number | null, most: number | null): [number, number] => {
    const [bottom, top] = [Math.min(0, least ?? 0), Math.max(0, most ?? 0)];
    const size = top - bottom;
    return [bottom === 0 ? 0 : bottom - size * 0.05, size === 0 ? bottom + 1 : top === 0 ? 0 : top + size * room];
  };

/** A dashed line at the present. */
function drawPresent(chart: uPlot, present: number | undefined, colour: string): void {
  if (present === undefined) return;
  const { ctx, bbox } = chart;
  const at = chart.valToPos(present / 1000, "x", true);
  ctx.save();
  ctx.strokeStyle = colour;
  ctx.setLineDash([4, 4]);
  ctx.beginPath();
  ctx.moveTo(at, bbox.top);
  ctx.lineTo(at, bbox.top + bbox.height);
  ctx.stroke();
  ctx.restore();
}

const dayMs = 86_400_000;

/** The label of a tick (epoch ms) in a span (s): the hour up to two days, otherwise the day. */
const tickText = (time: number, span: number): string => (span * 1000 <= 2 * dayMs ? hourMinute(time) : dayMonth(time));
