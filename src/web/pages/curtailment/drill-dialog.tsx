import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { CurtailmentPlan } from "../../../contract/curtailment.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { NumberInput } from "../../parts/schema-form/fields/number.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";

interface DrillDialogProps {
  readonly plan: CurtailmentPlan;
  readonly onDrilled: () => void;
  readonly onClose: () => void;
}

/** Tries a plan: a dry drill only reads its rigs, and its report is shown at once. */
export function DrillDialog({ plan: { key, name }, onDrilled, onClose }: DrillDialogProps) {
  const { route } = useLocation();
  const [dry, setDry] = useState(true);
  const [minutes, setMinutes] = useState<Json>(10);
  const drill = async () => {
    const lasts = typeof minutes === "number" ? minutes * 60 : Number.NaN;
    const { id } = await call("drillCurtailmentPlan", { key, dry, lasts });
    onDrilled();
    onClose();
    if (dry && may("getCurtailmentReport")) route(link(`curtailment/${id}`));
  };
  return (
    <FormDialog
      title={t.curtailment.drillTitle({ name })}
      verb={dry ? t.curtailment.drill : t.curtailment.drillReal}
      onSubmit={drill}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <fieldset class="plain">
            <legend class="visually-hidden">{t.curtailment.drill}</legend>
            <label class="switch">
              <input type="radio" name="dry" checked={dry} onChange={() => setDry(true)} /> {t.curtailment.dryText}
            </label>
            <label class="switch">
              <input type="radio" name="dry" checked={!dry} onChange={() => setDry(false)} /> {t.curtailment.realText}
            </label>
          </fieldset>
          {dry ? null : (
            <Field label={t.curtailment.minutes} problem={wrong("lasts")}>
              {(attributes) => <NumberInput attributes={attributes} value={minutes} onValue={setMinutes} />}
            </Field>
          )}
        </>
      )}
    </FormDialog>
  );
}
