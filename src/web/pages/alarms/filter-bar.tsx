import { useEffect, useLayoutEffect, useRef, useState } from "preact/hooks";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Icon } from "../../parts/icon.tsx";
import { type Filters, severities, states } from "./list.ts";

/** ms after the last letter until the list is filtered. */
const settleMs = 150;

interface FilterBarProps {
  readonly filters: Filters;
  readonly sources: readonly string[];
  readonly onChange: (next: Partial<Filters>) => void;
}

export function FilterBar({ filters, sources, onChange }: FilterBarProps) {
  const [typed, setTyped] = useState(filters.text);
  const timer = useRef<ReturnType<typeof setTimeout> | undefined>(undefined);
  // A layout effect: an ordinary one starts some frames later, and would revert text typed until then.
  useLayoutEffect(() => {
    clearTimeout(timer.current);
    setTyped(filters.text);
  }, [filters.text]);
  useEffect(() => () => clearTimeout(timer.current), []);
  // The latest callback: another filter may be chosen while the text settles.
  const change = useRef(onChange);
  change.current = onChange;
  const type = (text: string) => {
    setTyped(text);
    clearTimeout(timer.current);
    timer.current = setTimeout(() => change.current({ text }), settleMs);
  };
  return (
    <search class="alarm-filters">
      <fieldset class="row choices">
        <legend class="visually-hidden">{t.alarms.state}</legend>
        {states.map((state) => (
          <button
            key={state}
            type="button"
            class="button small"
            aria-pressed={filters.state === state}
            onClick={() => onChange({ state })}
          >
            {t.alarms.states[state]}
          </button>
        ))}
      </fieldset>
      <select
        aria-label={t.alarms.severity}
        value={filters.severity ?? ""}
        onChange={({ currentTarget }) =>
          onChange({ severity: severities.find((each) => each === currentTarget.value) ?? null })
        }
      >
        <option value="">{t.alarms.anySeverity}</option>
        {severities.map((severity) => (
          <option key={severity} value={severity}>
            {t.severity[severity]}
          </option>
        ))}
      </select>
      <select
        aria-label={t.alarms.source}
        value={filters.source ?? ""}
        onChange={({ currentTarget }) => onChange({ source: currentTarget.value === "" ? null : currentTarget.value })}
      >
        <option value="">{t.alarms.anySource}</option>
        {filters.source === null || sources.includes(filters.source) ? null : (
          <option value={filters.source}>{filters.source}</option>
        )}
        {sources.map((source) => (
          <option key={source} value={source}>
            {source}
          </option>
        ))}
      </select>
      <input
        type="search"
        aria-label={t.alarms.search}
        placeholder={t.alarms.search}
        dir="auto"
        maxLength={200}
        value={typed}
        onInput={({ currentTarget }) => type(currentTarget.value)}
      />
      {filters.rig === null ? null : (
        <button type="button" class="button small" onClick={() => onChange({ rig: null })}>
          <bdi>{rigs.value.byId.get(filters.rig)?.name ?? `#${filters.rig}`}</bdi> <Icon name="close" />
          <span class="visually-hidden">{t.alarms.allRigs}</span>
        </button>
      )}
    </search>
  );
}
