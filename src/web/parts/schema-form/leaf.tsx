import { t } from "../../language.ts";
import { Field } from "../field.tsx";
import { type Directory, mistakesAt, useForm } from "./context.ts";
import { singleDays, weekdays } from "./days.ts";
import { ChoiceInput } from "./fields/choice.tsx";
import { Choices } from "./fields/choices.tsx";
import type { ControlAttributes, LeafProps } from "./fields/control.ts";
import { DurationInput } from "./fields/duration.tsx";
import { Flag } from "./fields/flag.tsx";
import { LongTextInput } from "./fields/long-text.tsx";
import { NameInput } from "./fields/name.tsx";
import { NamesInput } from "./fields/names.tsx";
import { NumberInput } from "./fields/number.tsx";
import { ScalarInput } from "./fields/scalar.tsx";
import { SecretInput } from "./fields/secret.tsx";
import { ShareInput } from "./fields/share.tsx";
import { TextInput } from "./fields/text.tsx";
import { TimeInput } from "./fields/time.tsx";
import { WordsInput } from "./fields/words.tsx";
import { hintOf, type Json, pathText, type Shape } from "./schema.ts";

/** A value without parts: one labelled control. */
export function Leaf({ name, label, schema, shape, value, parent, path, action }: LeafProps) {
  const { words, mistakes, set } = useForm();
  const unit = words.unit(name, parent);
  const onValue = (next: Json) => set(path, next);
  if (shape.kind === "flag") return <Flag label={label} schema={schema} value={value} path={path} action={action} />;
  if (shape.kind === "choices")
    return (
      <Choices name={name} label={label} schema={schema} shape={shape} value={value} path={path} action={action} />
    );
  if (shape.kind === "days")
    return (
      <Choices
        name={name}
        label={label}
        schema={schema}
        shape={{ kind: "choices", options: weekdays }}
        value={singleDays(value)}
        path={path}
        action={action}
      />
    );
  return (
    <div data-path={pathText(path)}>
      <Field
        label={unit === null || shape.kind === "share" ? label : `${label} (${unit})`}
        hint={
          <span dir="auto">
            {hintOf(schema, label)}
            {rangeOf(shape)}
          </span>
        }
        problem={mistakesAt(mistakes, pathText(path), true)}
        action={action}
      >
        {(attributes) => (
          <Control
            name={name}
            label={label}
            shape={shape}
            value={value}
            unit={unit}
            attributes={attributes}
            onValue={onValue}
            suggestions={words.suggestions(name, parent)}
            directory={shape.kind === "name" || shape.kind === "names" ? words.directory(shape.of, parent) : null}
          />
        )}
      </Field>
    </div>
  );
}

const rangeOf = (shape: Shape): string =>
  shape.kind !== "number" || shape.min === null || shape.max === null ? "" : ` (${shape.min}–${shape.max})`;

const openNames = (directory: Directory | null): readonly string[] =>
  directory?.choices().map(({ value }) => String(value)) ?? [];

/** The control of a value, by its shape. */
export function Control({
  name,
  label,
  shape,
  value,
  unit,
  suggestions,
  directory,
  attributes,
  onValue,
}: Pick<LeafProps, "name" | "label" | "shape" | "value"> & {
  unit: string | null;
  suggestions: readonly string[];
  directory: Directory | null;
  attributes: ControlAttributes;
  onValue: (value: Json) => void;
}) {
  const common = { attributes, value, onValue };
  switch (shape.kind) {
    case "number":
      return <NumberInput {...common} />;
    case "duration":
      return <DurationInput {...common} />;
    case "share":
      return <ShareInput {...common} unit={unit} number={shape.number} />;
    case "time":
      return <TimeInput {...common} />;
    case "scalar":
      return <ScalarInput {...common} suggestions={suggestions} />;
    case "name":
      if (directory === null || directory.isOpen) return <TextInput {...common} suggestions={openNames(directory)} />;
      return <NameInput {...common} directory={directory} />;
    case "names":
      if (directory !== null && !directory.isOpen) return <NamesInput {...common} directory={directory} />;
      return <WordsInput {...common} suggestions={openNames(directory)} name={label} />;
    case "words":
      return <WordsInput {...common} suggestions={suggestions} name={label} />;
    case "choice":
      return <ChoiceInput {...common} name={name} options={shape.options} />;
    case "text":
      if (shape.secret) return <SecretInput {...common} />;
      if (!shape.long) return <TextInput {...common} suggestions={[...shape.options, ...suggestions]} />;
      return <LongTextInput {...common} />;
    default:
      return <output>{t.form.asText}</output>;
  }
}
