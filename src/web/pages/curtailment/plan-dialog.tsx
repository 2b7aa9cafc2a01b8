import { useState } from "preact/hooks";
import type { CurtailmentPlan } from "../../../contract/curtailment.ts";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { say } from "../../parts/messages.tsx";
import { NumberInput } from "../../parts/schema-form/fields/number.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { type FormState, fieldText } from "../../parts/use-form.ts";
import { type Manner, MannerFields } from "./manner-fields.tsx";
import { chosenOf, ScopeFields, scopeOf } from "./scope-fields.tsx";
import { chosenTarget, TargetField, targetOf } from "./target-field.tsx";

interface PlanDialogProps {
  /** Null: a new one. */
  readonly plan: CurtailmentPlan | null;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** Numbers of a plan, by their paths; kW a minute for a change in power, s for times. */
type Pace = Readonly<Record<(typeof paceFields)[number], Json>>;

const paceFields = [
  "ramp.parallel",
  "ramp.wattsPerMinute",
  "ramp.deadline",
  "restore.parallel",
  "restore.wattsPerMinute",
  "restore.wait",
] as const;

const paceOf = ({ ramp, restore }: Pick<CurtailmentPlan, "ramp" | "restore">): Pace => ({
  "ramp.parallel": ramp.parallel,
  "ramp.wattsPerMinute": kilowatts(ramp.wattsPerMinute),
  "ramp.deadline": ramp.deadline,
  "restore.parallel": restore.parallel,
  "restore.wattsPerMinute": kilowatts(restore.wattsPerMinute),
  "restore.wait": restore.wait,
});

const kilowatts = (watts: number | undefined): Json => (watts === undefined ? undefined : watts / 1000);

/** The service's own defaults. */
const usual = { ramp: { parallel: 250, deadline: 300 }, restore: { parallel: 25, wait: 0 } };

/** Adds a plan, or changes one; curtailments that have begun stay as they are. */
export function PlanDialog({ plan, onSaved, onClose }: PlanDialogProps) {
  const [scope, setScope] = useState(chosenOf(plan?.scope));
  const [target, setTarget] = useState(
    plan === null ? ({ kind: "reduce", amount: undefined } as const) : chosenTarget(plan.target),
  );
  const [manner, setManner] = useState<Manner>({
    order: plan?.order ?? "efficiency",
    level: plan?.level ?? "setpoint",
  });
  const [pace, setPace] = useState(paceOf(plan ?? usual));
  const [safety, setSafety] = useState(plan?.safety ?? false);
  const save = async (data: FormData) => {
    const name = fieldText(data, "name");
    const only = scopeOf(scope, plan?.scope);
    const rest = { target: targetOf(target) ?? { all: true as const }, ...manner, ...pacesOf(pace), safety };
    if (plan === null)
      await call("addCurtailmentPlan", {
        key: fieldText(data, "key"),
        ...(name === "" ? {} : { name }),
        ...(only === undefined ? {} : { scope: only }),
        ...rest,
      });
    else
      await call("changeCurtailmentPlan", {
        key: plan.key,
        name: name === "" ? null : name,
        scope: only ?? null,
        ...rest,
      });
    say(t.curtailment.planSaved);
    onSaved();
  };
  return (
    <FormDialog
      title={plan === null ? t.curtailment.addPlan : t.curtailment.editTitle({ name: plan.name })}
      onSubmit={save}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          {plan === null ? (
            <Field label={t.curtailment.key} hint={t.curtailment.keyHint} problem={wrong("key")}>
              {(control) => (
                <input
                  {...control}
                  name="key"
                  required
                  maxLength={64}
                  autocomplete="off"
                  spellcheck={false}
                  dir="ltr"
                />
              )}
            </Field>
          ) : null}
          <Field label={t.curtailment.name} problem={wrong("name")}>
            {(control) => (
              <input
                {...control}
                name="name"
                maxLength={200}
                autocomplete="off"
                dir="auto"
                defaultValue={plan === null || plan.name === plan.key ? "" : plan.name}
              />
            )}
          </Field>
          <ScopeFields value={scope} onValue={setScope} wrong={wrong} />
          <TargetField value={target} onValue={setTarget} problem={wrong("target")} />
          <MannerFields value={manner} onValue={setManner} />
          <PaceFields value={pace} onValue={setPace} wrong={wrong} />
          <label class="switch">
            <input
              type="checkbox"
              checked={safety}
              onChange={({ currentTarget }) => setSafety(currentTarget.checked)}
            />
            {t.curtailment.safetyText}
          </label>
        </>
      )}
    </FormDialog>
  );
}

interface PaceFieldsProps {
  readonly value: Pace;
  readonly onValue: (value: Pace) => void;
  readonly wrong: FormState["wrong"];
}

const PaceFields = ({ value, onValue, wrong }: PaceFieldsProps) => (
  <details>
    <summary>{t.curtailment.pace}</summary>
    {paceFields.map((path) => (
      <Field key={path} label={t.curtailment.paces[labelOf[path]]} problem={wrong(path)}>
        {(attributes) => (
          <NumberInput
            attributes={attributes}
            value={value[path]}
            onValue={(number) => onValue({ ...value, [path]: number })}
          />
        )}
      </Field>
    ))}
  </details>
);

const labelOf = {
  "ramp.parallel": "rampParallel",
  "ramp.wattsPerMinute": "rampPower",
  "ramp.deadline": "deadline",
  "restore.parallel": "restoreParallel",
  "restore.wattsPerMinute": "restorePower",
  "restore.wait": "wait",
} as const satisfies Record<(typeof paceFields)[number], keyof typeof t.curtailment.paces>;

/** What is not a number goes to the service, which names the mistake; an empty limit is none. */
function pacesOf(pace: Pace): Pick<Input<"addCurtailmentPlan">, "ramp" | "restore"> {
  const number = (path: (typeof paceFields)[number]): number => {
    const value = pace[path];
    return typeof value === "number" ? value : Number.NaN;
  };
  const limit = (path: "ramp.wattsPerMinute" | "restore.wattsPerMinute") =>
    pace[path] === undefined || pace[path] === null ? {} : { wattsPerMinute: number(path) * 1000 };
  return {
    ramp: { parallel: number("ramp.parallel"), deadline: number("ramp.deadline"), ...limit("ramp.wattsPerMinute") },
    restore: { parallel: number("restore.parallel"), wait: number("restore.wait"), ...limit("restore.wattsPerMinute") },
  };
}
