import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";

interface Option {
  readonly id: string;
  readonly name: string;
  /** Why it cannot be chosen; absent or null: it can be. */
  readonly whyNot?: string | null;
}

interface SelectProps {
  readonly label: string;
  readonly value: string;
  readonly options: readonly Option[];
  /** The label for no choice; absent: a choice is required. */
  readonly none?: string;
  readonly noneValue?: string;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

/** One of a list. The present value stays an option, even if the list no longer has it. */
export const Select = ({ label, value, options, none, noneValue = "", problem, onChange }: SelectProps) => (
  <Field label={label} problem={problem}>
    {(control) => (
      <select {...control} value={value} onChange={({ currentTarget }) => onChange(currentTarget.value)}>
        {none === undefined ? null : <option value={noneValue}>{none}</option>}
        {value === noneValue || options.some(({ id }) => id === value) ? null : <option value={value}>{value}</option>}
        {options.map(({ id, name, whyNot = null }) => (
          <option key={id} value={id} disabled={whyNot !== null}>
            {whyNot === null ? name : t.hosts.notChosen({ name, why: whyNot })}
          </option>
        ))}
      </select>
    )}
  </Field>
);

interface TextProps {
  readonly label: string;
  readonly hint?: string;
  readonly value: string;
  readonly maxLength: number;
  readonly ltr?: boolean;
  readonly problem: string | undefined;
  readonly onChange: (value: string) => void;
}

export const Text = ({ label, hint, value, maxLength, ltr = false, problem, onChange }: TextProps) => (
  <Field label={label} hint={hint} problem={problem}>
    {(control) => (
      <input
        {...control}
        value={value}
        maxLength={maxLength}
        dir={ltr ? "ltr" : "auto"}
        autocomplete="off"
        spellcheck={false}
        onInput={({ currentTarget }) => onChange(currentTarget.value)}
      />
    )}
  </Field>
);
