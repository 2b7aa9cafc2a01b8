import { t } from "../../../language.ts";
import { useForm } from "../context.ts";
import { type ControlProps, textOf } from "./control.ts";

/** A secret, which the service never returns. */
export const SecretInput = ({ attributes, value, onValue }: ControlProps) => (
  <input
    {...attributes}
    type="password"
    autocomplete="new-password"
    placeholder={useForm().isNew ? undefined : t.form.kept}
    value={textOf(value)}
    onInput={({ currentTarget }) => onValue(currentTarget.value)}
  />
);
