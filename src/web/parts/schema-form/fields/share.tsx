import { useState } from "preact/hooks";
import { t } from "../../../language.ts";
import type { Json } from "../schema.ts";
import type { ControlProps } from "./control.ts";
import { NumberInput, numberIn } from "./number.tsx";

/** A share like "80%"; if numbers are possible too, the unit is chosen beside it. */
export function ShareInput({
  attributes,
  value,
  onValue,
  unit,
  number,
}: ControlProps & { unit: string | null; number: boolean }) {
  const isShare = typeof value === "string" && value.endsWith("%");
  const [chosen, setChosen] = useState(!number || isShare);
  const asShare = value === null || value === undefined ? chosen : isShare;
  const amount = isShare ? numberIn(value.slice(0, -1)) : value;
  const write = (next: Json, share: boolean) => onValue(typeof next === "number" && share ? `${next}%` : next);
  return (
    <span class="with-unit">
      <NumberInput attributes={attributes} value={amount} onValue={(next) => write(next, asShare)} />
      {number ? (
        <select
          aria-label={t.form.unit}
          value={asShare ? "%" : ""}
          onChange={({ currentTarget }) => {
            const share = currentTarget.value === "%";
            setChosen(share);
            if (amount !== null) write(amount, share);
          }}
        >
          <option value="">{unit ?? t.form.plain}</option>
          <option value="%">%</option>
        </select>
      ) : (
        <span>%</span>
      )}
    </span>
  );
}
