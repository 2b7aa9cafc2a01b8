import type { ComponentChildren } from "preact";
import { t } from "../../language.ts";
import { Field } from "../field.tsx";
import { mistakesAt, useForm } from "./context.ts";
import {
  type ControlAttributes,
  DurationInput,
  NumberInput,
  ScalarInput,
  SecretInput,
  ShareInput,
  TextInput,
  TimeInput,
  WordsInput,
} from "./controls.tsx";
import { hintOf, type Json, type Path, pathText, type Schema, type Shape } from "./schema.ts";

interface LeafProps {
  readonly name: string;
  readonly label: string;
  readonly schema: Schema;
  readonly shape: Shape;
  readonly value: Json;
  readonly parent: Json;
  readonly path: Path;
  readonly action: ComponentChildren;
}

/** A value without parts: one labelled control. */
export function Leaf({ name, label, schema, shape, value, parent, path, action }: LeafProps) {
  const { words, mistakes, set } = useForm();
  const unit = words.unit(name, parent);
  const onValue = (next: Json) => set(path, next);
  if (shape.kind === "flag")
    return (
      <div class="field" data-path={pathText(path)}>
        <span class="field-head">
          <label class="switch">
            <input
              type="checkbox"
              checked={value === true}
              onChange={({ currentTarget }) => onValue(currentTarget.checked)}
            />
            {label}
          </label>
          {action}
        </span>
        <p class="hint" lang="en" dir="ltr">
          {hintOf(schema, label)}
        </p>
        <p class="field-problem">{mistakesAt(mistakes, pathText(path), true)}</p>
      </div>
    );
  if (shape.kind === "choices") return <Choices {...{ name, label, schema, shape, value, path, action }} />;
  return (
    <div data-path={pathText(path)}>
      <Field
        label={unit === null || shape.kind === "share" ? label : `${label} (${unit})`}
        hint={
          <span lang="en" dir="ltr">
            {hintOf(schema, label)}
            {rangeOf(shape)}
          </span>
        }
        problem={mistakesAt(mistakes, pathText(path), true)}
        action={action}
      >
        {(attributes) => (
          <Control
            {...{ name, label, shape, value, unit, attributes, onValue }}
            suggestions={words.suggestions(name, parent)}
          />
        )}
      </Field>
    </div>
  );
}

const rangeOf = (shape: Shape): string =>
  shape.kind !== "number" || shape.min === null || shape.max === null ? "" : ` (${shape.min}–${shape.max})`;

function Control({
  name,
  label,
  shape,
  value,
  unit,
  suggestions,
  attributes,
  onValue,
}: Pick<LeafProps, "name" | "label" | "shape" | "value"> & {
  unit: string | null;
  suggestions: readonly string[];
  attributes: ControlAttributes;
  onValue: (value: Json) => void;
}) {
  const { words } = useForm();
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
    case "words":
      return <WordsInput {...common} suggestions={suggestions} name={label} />;
    case "choice":
      return (
        <select
          {...attributes}
          value={String(value ?? "")}
          onChange={({ currentTarget }) => onValue(currentTarget.value)}
        >
          {shape.options.includes(String(value)) ? null : (
            <option value={String(value ?? "")}>{String(value ?? "–")}</option>
          )}
          {shape.options.map((option) => (
            <option key={option} value={option}>
              {words.option(name, option)}
            </option>
          ))}
        </select>
      );
    case "text":
      if (shape.secret) return <SecretInput {...common} />;
      if (!shape.long) return <TextInput {...common} suggestions={[...shape.options, ...suggestions]} />;
      return (
        <textarea
          {...attributes}
          rows={3}
          dir="auto"
          value={String(value ?? "")}
          onInput={({ currentTarget }) => onValue(currentTarget.value)}
        />
      );
    default:
      return <output>{t.form.asText}</output>;
  }
}

/** Any number of the options. */
function Choices({
  name,
  label,
  schema,
  shape,
  value,
  path,
  action,
}: Omit<LeafProps, "shape" | "parent"> & { shape: Extract<Shape, { kind: "choices" }> }) {
  const { words, mistakes, set } = useForm();
  // One of them may stand without a list.
  const chosen = Array.isArray(value)
    ? value.map(String)
    : value === undefined || value === null
      ? []
      : [String(value)];
  const change = (option: string, isOn: boolean) =>
    set(
      path,
      shape.options.filter((each) => (each === option ? isOn : chosen.includes(each))),
    );
  return (
    <fieldset class="field form-choices" data-path={pathText(path)}>
      <legend>
        <span>{label}</span> {action}
      </legend>
      <div class="row">
        {shape.options.map((option) => (
          <label key={option} class="switch">
            <input
              type="checkbox"
              checked={chosen.includes(option)}
              onChange={({ currentTarget }) => change(option, currentTarget.checked)}
            />
            {words.option(name, option)}
          </label>
        ))}
      </div>
      <p class="hint" lang="en" dir="ltr">
        {hintOf(schema, label)}
      </p>
      <p class="field-problem">{mistakesAt(mistakes, pathText(path), true)}</p>
    </fieldset>
  );
}
