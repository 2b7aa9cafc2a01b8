import { type BulkOrder, bulkOrders } from "../../../contract/bulk-orders.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";

export const levels = ["setpoint", "off"] as const;

export interface Manner {
  readonly order: BulkOrder;
  readonly level: (typeof levels)[number];
}

interface MannerFieldsProps {
  readonly value: Manner;
  readonly onValue: (value: Manner) => void;
}

/** Which rigs are first, and whether they are lowered or stopped. */
export const MannerFields = ({ value, onValue }: MannerFieldsProps) => (
  <>
    <Field label={t.rigs.order}>
      {(control) => (
        <select
          {...control}
          value={value.order}
          onChange={({ currentTarget }) =>
            onValue({ ...value, order: bulkOrders[currentTarget.selectedIndex] ?? "efficiency" })
          }
        >
          {bulkOrders.map((order) => (
            <option key={order} value={order}>
              {t.rigs.orders[order]}
            </option>
          ))}
        </select>
      )}
    </Field>
    <Field label={t.curtailment.level}>
      {(control) => (
        <select
          {...control}
          value={value.level}
          onChange={({ currentTarget }) =>
            onValue({ ...value, level: levels[currentTarget.selectedIndex] ?? "setpoint" })
          }
        >
          {levels.map((level) => (
            <option key={level} value={level}>
              {t.curtailment.levels[level]}
            </option>
          ))}
        </select>
      )}
    </Field>
  </>
);
