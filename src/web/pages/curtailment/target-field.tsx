import type { CurtailmentTarget } from "../../../contract/curtailment.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { NumberInput } from "../../parts/schema-form/fields/number.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";

export const targetKinds = ["reduce", "limit", "share", "all"] as const;

/** `amount`: kW, or percent of a share. `of`: the target of the plan. */
export interface ChosenTarget {
  readonly kind: (typeof targetKinds)[number] | "plan";
  readonly amount: Json;
}

export function chosenTarget({ reduce, limit, share }: CurtailmentTarget): ChosenTarget {
  if (reduce !== undefined) return { kind: "reduce", amount: reduce / 1000 };
  if (limit !== undefined) return { kind: "limit", amount: limit / 1000 };
  return share === undefined ? { kind: "all", amount: undefined } : { kind: "share", amount: share };
}

/** The target of a request; undefined for that of the plan. What is not a number goes to the service, which names the mistake. */
export function targetOf({ kind, amount }: ChosenTarget): CurtailmentTarget | undefined {
  const value = typeof amount === "number" ? amount : Number.NaN;
  switch (kind) {
    case "plan":
      return undefined;
    case "all":
      return { all: true };
    case "share":
      return { share: value };
    default:
      return { [kind]: value * 1000 };
  }
}

interface TargetFieldProps {
  readonly value: ChosenTarget;
  readonly onValue: (value: ChosenTarget) => void;
  /** What that of the plan is, where it can be left so. */
  readonly ofPlan?: string | undefined;
  readonly problem: string | undefined;
}

/** What the rigs may take together: a kind, and its amount. */
export function TargetField({ value, onValue, ofPlan, problem }: TargetFieldProps) {
  const kinds = ofPlan === undefined ? targetKinds : (["plan", ...targetKinds] as const);
  const hasAmount = value.kind !== "all" && value.kind !== "plan";
  return (
    <>
      <Field label={t.curtailment.target} problem={hasAmount ? undefined : problem}>
        {(control) => (
          <select
            {...control}
            value={value.kind}
            onChange={({ currentTarget }) =>
              onValue({ ...value, kind: kinds[currentTarget.selectedIndex] ?? "reduce" })
            }
          >
            {kinds.map((kind) => (
              <option key={kind} value={kind}>
                {kind === "plan" ? t.curtailment.asPlanned({ target: ofPlan ?? "" }) : t.curtailment.kinds[kind]}
              </option>
            ))}
          </select>
        )}
      </Field>
      {hasAmount ? (
        <Field label={value.kind === "share" ? t.curtailment.percent : t.curtailment.kilowatts} problem={problem}>
          {(attributes) => (
            <NumberInput
              attributes={attributes}
              value={value.amount}
              onValue={(amount) => onValue({ ...value, amount })}
            />
          )}
        </Field>
      ) : null}
    </>
  );
}
