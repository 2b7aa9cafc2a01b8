import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { byName, counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { TypedInput } from "../../parts/typed-input.tsx";
import { facetCounts, none } from "./filter.ts";
import type { GroupTree } from "./groups.ts";
import { valueText } from "./part-text.ts";
import {
  allRigs,
  type FacetKey,
  facetKeys,
  type Range,
  type RangeKey,
  rangeKeys,
  statuses,
  toggled,
  type View,
  withRange,
} from "./view.ts";

interface FiltersProps {
  readonly view: View;
  readonly change: (view: View) => void;
  readonly all: readonly Row[];
  readonly listed: number;
  readonly tree: GroupTree;
  readonly onClose: () => void;
  /** Shown above the filters. */
  readonly children: ComponentChildren;
}

/** All filters, each value with the number of matching rigs. */
export function FiltersDialog({ view, change, all, listed, tree, onClose, children }: FiltersProps) {
  return (
    <Dialog
      title={t.rigs.filter}
      onClose={onClose}
      actions={
        <>
          <button
            type="button"
            class="button"
            onClick={() => change({ ...view, text: "", facets: allRigs.facets, ranges: allRigs.ranges })}
          >
            {t.rigs.clearFilters}
          </button>
          <button type="button" class="button primary" onClick={onClose}>
            {counted(listed, t.rigs.showCount)}
          </button>
        </>
      }
    >
      {children}
      <div class="filters">
        {facetKeys.map((key) => (
          <Facet key={key} name={key} view={view} change={change} all={all} tree={tree} />
        ))}
        {rangeKeys.map((key) => (
          <RangeFilter key={key} name={key} view={view} change={change} />
        ))}
      </div>
    </Dialog>
  );
}

const mostValues = 40;
const searchedFrom = 12;

type FacetProps = Pick<FiltersProps, "view" | "change" | "all" | "tree"> & { readonly name: FacetKey };

function Facet({ name, view, change, all, tree }: FacetProps) {
  const chosen = view.facets[name] ?? [];
  const [open, setOpen] = useState(chosen.length > 0 || name === "status");
  return (
    <details open={open} onToggle={({ currentTarget }) => setOpen(currentTarget.open)}>
      <summary>
        {t.rigs.filters[name]}
        {chosen.length === 0 ? null : <span class="count">{number(chosen.length)}</span>}
      </summary>
      {open ? <Values name={name} view={view} change={change} all={all} tree={tree} /> : null}
    </details>
  );
}

function Values({ name, view, change, all, tree }: FacetProps) {
  const [words, setWords] = useState("");
  const chosen = view.facets[name] ?? [];
  const counts = facetCounts(all, view, name, tree);
  for (const value of chosen) if (!counts.has(value)) counts.set(value, 0);
  const values = [...counts]
    .map(([value, count]) => ({ value, count, text: valueText(name, value, tree) }))
    .sort((one, other) => orderOf(name, one.value, other.value) || byName(one.text, other.text));
  const found = values.filter(({ text }) => text.toLowerCase().includes(words.trim().toLowerCase()));
  return (
    <fieldset>
      <legend class="visually-hidden">{t.rigs.filters[name]}</legend>
      {values.length < searchedFrom ? null : (
        <input
          type="search"
          value={words}
          placeholder={t.rigs.findValue}
          aria-label={t.rigs.findValue}
          onInput={({ currentTarget }) => setWords(currentTarget.value)}
        />
      )}
      {found.slice(0, mostValues).map(({ value, count, text }) => (
        <label key={value} class="value">
          <input type="checkbox" checked={chosen.includes(value)} onChange={() => change(toggled(view, name, value))} />
          <bdi>{text}</bdi>
          <span class="count">{number(count)}</span>
        </label>
      ))}
      {found.length <= mostValues ? null : <p class="hint">{counted(found.length - mostValues, t.rigs.moreValues)}</p>}
    </fieldset>
  );
}

const order: readonly string[] = statuses;

/** Statuses in counting order, unknown values last. */
function orderOf(key: FacetKey, one: string, other: string): number {
  const place = (value: string): number => (key === "status" ? order.indexOf(value) : value === none ? 1 : 0);
  return place(one) - place(other);
}

function RangeFilter({ name, view, change }: Pick<FiltersProps, "view" | "change"> & { name: RangeKey }) {
  const range: Range = view.ranges[name] ?? { min: null, max: null };
  const factor = name === "performance" ? 100 : 1;
  const set = (text: string, part: keyof Range) => {
    const value = text.trim() === "" ? null : Number(text) / factor;
    if (value === null || Number.isFinite(value)) change(withRange(view, name, { ...range, [part]: value }));
  };
  const input = (part: keyof Range, label: string) => (
    <Field label={label}>
      {(control) => (
        <TypedInput
          {...control}
          type="number"
          step="any"
          value={range[part] === null ? "" : String(Number(((range[part] ?? 0) * factor).toFixed(4)))}
          onCommit={(text) => set(text, part)}
        />
      )}
    </Field>
  );
  return (
    <details open={view.ranges[name] !== undefined}>
      <summary>{t.rigs.filters[name]}</summary>
      <fieldset class="range">
        <legend class="visually-hidden">{t.rigs.filters[name]}</legend>
        {input("min", t.rigs.from)}
        {input("max", t.rigs.below)}
      </fieldset>
    </details>
  );
}
