import { useState } from "preact/hooks";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import type { Catalogue } from "./miner-data.ts";

interface HostPickerProps {
  readonly hosts: Catalogue["hosts"];
  readonly chosen: ReadonlySet<number>;
  readonly disabled: boolean;
  readonly onChange: (chosen: ReadonlySet<number>) => void;
}

/** Chooses hosts, one by one or all that a filter shows. */
export function HostPicker({ hosts, chosen, disabled, onChange }: HostPickerProps) {
  const [filter, setFilter] = useState("");
  const wanted = filter.trim().toLocaleLowerCase();
  const shown = hosts.filter(({ name }) => name.toLocaleLowerCase().includes(wanted));
  const choose = (ids: readonly number[], isWanted: boolean) => {
    const next = new Set(chosen);
    for (const id of ids) {
      if (isWanted) next.add(id);
      else next.delete(id);
    }
    onChange(next);
  };
  const all = shown.map(({ id }) => id);
  return (
    <fieldset class="host-picker" disabled={disabled}>
      <legend class="visually-hidden">{t.menu.hosts}</legend>
      <input
        type="search"
        aria-label={t.hosts.several.filter}
        placeholder={t.hosts.several.filter}
        value={filter}
        onInput={({ currentTarget }) => setFilter(currentTarget.value)}
      />
      <label class="switch">
        <input
          type="checkbox"
          checked={all.length > 0 && all.every((id) => chosen.has(id))}
          disabled={all.length === 0}
          onChange={({ currentTarget }) => choose(all, currentTarget.checked)}
        />
        {counted(all.length, t.hosts.several.all)}
      </label>
      <ul>
        {shown.map(({ id, name, limits }) => (
          <li key={id}>
            <label class="switch">
              <input
                type="checkbox"
                checked={chosen.has(id)}
                onChange={({ currentTarget }) => choose([id], currentTarget.checked)}
              />
              <bdi>{name}</bdi>
            </label>
            {limits === null ? <small class="hint">{t.hosts.several.away}</small> : null}
          </li>
        ))}
      </ul>
      <p class="hint" role="status">
        {counted(chosen.size, t.hosts.several.chosen)}
      </p>
    </fieldset>
  );
}
