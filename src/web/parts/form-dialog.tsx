import type { ComponentChildren } from "preact";
import { useId } from "preact/hooks";
import { t } from "../language.ts";
import { Dialog } from "./dialog.tsx";
import { FormProblem } from "./form-problem.tsx";
import { type FormState, useForm } from "./use-form.ts";

interface FormDialogProps {
  readonly title: string;
  /** Label of the submit button; "Save" if absent. */
  readonly verb?: string;
  /** Sends the form. Mistakes appear at their fields, the rest at the end of the form. */
  readonly onSubmit: (form: FormData) => Promise<unknown>;
  readonly onClose: () => void;
  /** The fields. */
  readonly children: (wrong: FormState["wrong"]) => ComponentChildren;
}

/** A dialog with a form to submit. */
export function FormDialog({ title, verb = t.shell.save, onSubmit, onClose, children }: FormDialogProps) {
  const id = useId();
  const form = useForm(onSubmit);
  const { wrong, busy, submit } = form;
  return (
    <Dialog
      title={title}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button type="submit" form={id} class="button primary" disabled={busy}>
            {verb}
          </button>
        </>
      }
    >
      <form id={id} class="dialog-form" onSubmit={submit}>
        {children(wrong)}
        <FormProblem of={form} />
      </form>
    </Dialog>
  );
}
