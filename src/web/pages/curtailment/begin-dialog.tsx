import { useId, useRef, useState } from "preact/hooks";
import type { CurtailmentPlan, CurtailmentPreview } from "../../../contract/curtailment.ts";
import type { Input } from "../../../contract/service.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { FormProblem } from "../../parts/form-problem.tsx";
import { say } from "../../parts/messages.tsx";
import { TimeInput } from "../../parts/schema-form/fields/time.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { fieldText, useForm } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { type Manner, MannerFields } from "./manner-fields.tsx";
import { Preview } from "./preview.tsx";
import { type ChosenScope, ScopeFields, scopeOf } from "./scope-fields.tsx";
import { type ChosenTarget, TargetField, targetOf } from "./target-field.tsx";
import { targetText } from "./words.ts";

interface BeginDialogProps {
  readonly plans: readonly CurtailmentPlan[];
  /** The plan that is chosen first. */
  readonly plan: CurtailmentPlan | null;
  readonly onBegun: () => void;
  readonly onClose: () => void;
}

/** Begins a curtailment, after its preview. */
export function BeginDialog({ plans, plan: first, onBegun, onClose }: BeginDialogProps) {
  const id = useId();
  const [plan, setPlan] = useState(first);
  const [scope, setScope] = useState<ChosenScope>({});
  const [target, setTarget] = useState<ChosenTarget>({
    kind: first === null ? "reduce" : "plan",
    amount: undefined,
  });
  const [manner, setManner] = useState<Manner>({ order: "efficiency", level: "setpoint" });
  const [until, setUntil] = useState<Json>(undefined);
  const [preview, setPreview] = useState<CurtailmentPreview | null>(null);
  /** What the preview is of: it is what is begun. */
  const previewed = useRef<Input<"previewCurtailment"> | null>(null);
  /** The same for each try, so that an answer that is lost begins nothing twice. */
  const key = useRef(crypto.randomUUID());
  // What Enter does: nothing is begun without a look at the preview.
  const step = useRef<"preview" | "begin">("preview");

  /** A preview is of what it was asked for. */
  const changing =
    <V,>(set: (value: V) => void) =>
    (value: V) => {
      set(value);
      previewed.current = null;
      setPreview(null);
    };
  const wanted = (): Input<"previewCurtailment"> => {
    const chosen = targetOf(target);
    if (plan !== null) return { plan: plan.key, ...(chosen === undefined ? {} : { target: chosen }) };
    const only = scopeOf(scope);
    return { ...(only === undefined ? {} : { scope: only }), target: chosen, ...manner };
  };
  const form = useForm(async (data) => {
    if (step.current === "preview") {
      const asked = wanted();
      previewed.current = asked;
      key.current = crypto.randomUUID();
      const found = await call("previewCurtailment", asked);
      // Something else may have been chosen meanwhile.
      if (previewed.current === asked) setPreview(found);
      return;
    }
    if (previewed.current === null) return;
    const reason = fieldText(data, "reason");
    await call("startCurtailment", {
      ...previewed.current,
      key: key.current,
      reason,
      ...(typeof until === "string" ? { until } : {}),
    });
    say(t.curtailment.hasBegun);
    onBegun();
    onClose();
  });
  const { wrong, busy, submit } = form;
  return (
    <Dialog
      title={may("startCurtailment") ? t.curtailment.begin : t.curtailment.preview}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button
            type="submit"
            form={id}
            class="button"
            disabled={busy}
            onClick={() => {
              step.current = "preview";
            }}
          >
            {t.curtailment.preview}
          </button>
          {may("startCurtailment") ? (
            <button
              type="submit"
              form={id}
              class="button primary"
              disabled={busy || preview === null}
              onClick={() => {
                step.current = "begin";
              }}
            >
              {t.curtailment.beginNow}
            </button>
          ) : null}
        </>
      }
    >
      <form id={id} class="dialog-form" onSubmit={submit}>
        {plans.length === 0 ? null : (
          <Field label={t.curtailment.plan} problem={wrong("plan")}>
            {(control) => (
              <select
                {...control}
                value={plan?.key ?? ""}
                onChange={({ currentTarget }) => {
                  const chosen = plans[currentTarget.selectedIndex - 1] ?? null;
                  setPlan(chosen);
                  setTarget({ kind: chosen === null ? "reduce" : "plan", amount: undefined });
                  setPreview(null);
                }}
              >
                <option value="">{t.curtailment.withoutPlan}</option>
                {plans.map(({ key, name }) => (
                  <option key={key} value={key}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        )}
        {plan === null ? <ScopeFields value={scope} onValue={changing(setScope)} wrong={wrong} /> : null}
        <TargetField
          value={target}
          onValue={changing(setTarget)}
          ofPlan={plan === null ? undefined : targetText(plan.target)}
          problem={wrong("target")}
        />
        {plan === null ? <MannerFields value={manner} onValue={changing(setManner)} /> : null}
        {may("startCurtailment") ? (
          <>
            <Field label={t.curtailment.untilWhen} hint={t.curtailment.untilHint} problem={wrong("until")}>
              {(attributes) => <TimeInput attributes={attributes} value={until} onValue={setUntil} />}
            </Field>
            <Field label={t.curtailment.reason} problem={wrong("reason")}>
              {(control) => <input {...control} name="reason" maxLength={200} dir="auto" autocomplete="off" />}
            </Field>
          </>
        ) : null}
        {preview === null ? null : <Preview {...preview} />}
        <FormProblem of={form} />
      </form>
    </Dialog>
  );
}
