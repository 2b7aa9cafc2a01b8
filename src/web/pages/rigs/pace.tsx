import { type BulkOrder, bulkOrders } from "../../../contract/bulk-orders.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { TypedInput } from "../../parts/typed-input.tsx";

export interface PaceValue {
  /** Concurrent rigs. */
  readonly parallel: number;
  /** s between two starts. */
  readonly delay: number;
  readonly order: BulkOrder;
}

interface PaceProps {
  readonly value: PaceValue;
  readonly change: (part: Partial<PaceValue>) => void;
}

/** The pace of a bulk action, and which rigs are first. */
export const Pace = ({ value, change }: PaceProps) => (
  <details class="pace">
    <summary>{t.rigs.pace}</summary>
    <p class="hint">{t.rigs.paceHint}</p>
    <div class="range">
      <NumberField
        label={t.rigs.parallel}
        min={1}
        max={256}
        step={1}
        value={value.parallel}
        onNumber={(parallel) => change({ parallel: Math.round(parallel) })}
      />
      <NumberField
        label={t.rigs.delay}
        min={0}
        max={3600}
        step="any"
        value={value.delay}
        onNumber={(delay) => change({ delay })}
      />
    </div>
    <Field label={t.rigs.order}>
      {(control) => (
        <select
          {...control}
          value={value.order}
          onChange={({ currentTarget }) => change({ order: bulkOrders[currentTarget.selectedIndex] ?? "listed" })}
        >
          {bulkOrders.map((order) => (
            <option key={order} value={order}>
              {t.rigs.orders[order]}
            </option>
          ))}
        </select>
      )}
    </Field>
  </details>
);

interface NumberFieldProps {
  readonly label: string;
  readonly min: number;
  readonly max: number;
  readonly step: number | "any";
  readonly value: number;
  readonly onNumber: (value: number) => void;
}

/** Clamps the number to the range and ignores invalid text. */
function NumberField({ label, value, onNumber, ...limits }: NumberFieldProps) {
  const commit = (text: string): void => {
    const number = Number(text);
    if (text.trim() !== "" && Number.isFinite(number)) onNumber(Math.max(limits.min, Math.min(limits.max, number)));
  };
  return (
    <Field label={label}>
      {(control) => <TypedInput {...control} {...limits} type="number" value={String(value)} onCommit={commit} />}
    </Field>
  );
}
