import { useState } from "preact/hooks";
import type { Curtailment } from "../../../contract/curtailment.ts";
import { targetWatts } from "../../../contract/target-watts.ts";
import { call } from "../../api.ts";
import { power } from "../../format.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { say } from "../../parts/messages.tsx";
import { TimeInput } from "../../parts/schema-form/fields/time.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import { may } from "../../session.ts";
import { chosenTarget, TargetField, targetOf } from "./target-field.tsx";

interface ChangeProps {
  readonly curtailment: Pick<Curtailment, "id" | "reason" | "cause" | "target" | "until" | "ended" | "power">;
  readonly onChanged: () => void;
}

/** Asks for another target or end, while the curtailment lasts and the user may change it. The limit of a place sets that of its own. */
export function ChangeButton({ curtailment, onChanged }: ChangeProps) {
  const [isOpen, setOpen] = useState(false);
  const { ended, cause } = curtailment;
  if (!isOpen && (ended !== null || cause === "limit" || !may("changeCurtailment"))) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setOpen(true)}>
        {t.curtailment.change}
      </button>
      {isOpen ? <ChangeDialog curtailment={curtailment} onChanged={onChanged} onClose={() => setOpen(false)} /> : null}
    </>
  );
}

function ChangeDialog({ curtailment, onChanged, onClose }: ChangeProps & { readonly onClose: () => void }) {
  const { id, reason, power: watts } = curtailment;
  // As it was when the dialog was opened: what the user leaves as it is is not sent.
  const [before] = useState({ target: chosenTarget(curtailment.target), until: curtailment.until });
  const [target, setTarget] = useState(before.target);
  const [until, setUntil] = useState<Json>(before.until);
  const save = async () => {
    const changes = {
      ...(target === before.target ? {} : { target: targetOf(target) }),
      ...(until === before.until ? {} : { until: typeof until === "string" ? until : null }),
    };
    if (Object.keys(changes).length > 0) {
      await call("changeCurtailment", { id, ...changes });
      say(t.curtailment.isChanged);
      onChanged();
    }
    onClose();
  };
  const wanted = targetWatts(targetOf(target) ?? curtailment.target, watts.baseline) ?? 0;
  const facts = [
    [t.curtailment.baseline, watts.baseline],
    [t.curtailment.now, watts.now],
    [t.curtailment.target, wanted],
  ] as const;
  return (
    <FormDialog title={t.curtailment.editTitle({ name: reason })} onSubmit={save} onClose={onClose}>
      {(wrong) => (
        <>
          <TargetField value={target} onValue={setTarget} problem={wrong("target")} />
          <p class="curtail-facts">
            {facts.map(([name, value]) => (
              <span key={name}>
                {name}: {power(Number.isNaN(value) ? null : value)}
              </span>
            ))}
          </p>
          <Field label={t.curtailment.untilWhen} hint={t.curtailment.untilHint} problem={wrong("until")}>
            {(attributes) => <TimeInput attributes={attributes} value={until} onValue={setUntil} />}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
