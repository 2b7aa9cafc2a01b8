import { useState } from "preact/hooks";
import { t } from "../../../language.ts";
import { durationParts, durationUnits, type Json } from "../schema.ts";
import type { ControlProps } from "./control.ts";
import { NumberInput } from "./number.tsx";

/** A number and its unit. */
export function DurationInput({ attributes, value, onValue }: ControlProps) {
  const parts = durationParts(value);
  const [unit, setUnit] = useState(parts?.unit ?? "m");
  const shownUnit = parts?.unit ?? unit;
  const write = (amount: Json, of: string) =>
    onValue(typeof amount === "number" ? `${amount}${of}` : amount === null ? null : String(amount));
  return (
    <span class="with-unit">
      <NumberInput
        attributes={attributes}
        value={parts === null ? value : parts.amount}
        onValue={(amount) => write(amount, shownUnit)}
      />
      <select
        aria-label={t.form.unit}
        value={shownUnit}
        onChange={({ currentTarget }) => {
          setUnit(currentTarget.value);
          if (parts !== null) write(parts.amount, currentTarget.value);
        }}
      >
        {durationUnits.map((each) => (
          <option key={each} value={each}>
            {t.form.units[each]}
          </option>
        ))}
      </select>
    </span>
  );
}
