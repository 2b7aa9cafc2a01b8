import { useMemo } from "preact/hooks";
import type { z } from "zod";
import type { ReadyMadeRule, RuleInfo } from "../../../contract/rules.ts";
import { withHints } from "../../hints.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { Editor } from "../../parts/schema-form/editor.tsx";
import type { ControlProps } from "../../parts/schema-form/fields/control.ts";
import { Control } from "../../parts/schema-form/leaf.tsx";
import {
  changedAt,
  isObject,
  type Json,
  readable,
  type Schema,
  type Shape,
  schemaOfText,
  shapeOf,
} from "../../parts/schema-form/schema.ts";
import { type Definition, filledIn, forPeople, patchOf } from "./definition.ts";
import { ofSites, readReferences } from "./references.ts";
import { ruleSentence } from "./sentence/index.ts";
import { labelOf, namesIn, ruleWords } from "./words.ts";

interface RuleEditorProps {
  /** Null: a new rule. */
  readonly rule: RuleInfo | null;
  readonly readyMade: z.infer<typeof ReadyMadeRule> | undefined;
  readonly readOnly: string | null;
  /** Receives the whole new rule, or the changes. */
  readonly onSave: (settings: Definition) => Promise<void>;
}

/** The initial value of a new rule. */
const firstRule: Definition = {
  name: "",
  when: { all: [{ reading: "temperature", above: null }], for: "2m" },
  do: [{ notify: "all", text: "" }],
};

/** The schemas of the contract, and the names for rules; for all editors of this page. */
export const useEditorData = () =>
  useLoaded(async (signal) => {
    const [schemas, references] = await Promise.all([withHints(import("virtual:schemas")), readReferences(signal)]);
    return { schemas, words: ruleWords(references, schemas.readingUnits) };
  }, []);

export function RuleEditor({ rule, readyMade, readOnly, onSave }: RuleEditorProps) {
  const data = useEditorData();
  return (
    <Loading from={data}>
      {({ schemas, words }) => (
        <Loaded
          rule={rule}
          readyMade={readyMade}
          readOnly={readOnly}
          onSave={onSave}
          words={words}
          whole={schemas.rule}
        />
      )}
    </Loading>
  );
}

function Loaded({
  rule,
  readyMade,
  readOnly,
  onSave,
  words,
  whole,
}: RuleEditorProps & { words: ReturnType<typeof ruleWords>; whole: Schema }) {
  const isNew = rule === null;
  // A ready-made rule is chosen earlier, and a key cannot be changed.
  const hidden = [...(isNew ? [] : ["key"]), "use", "with", ...ofSites()];
  const schema = useMemo(() => forPeople(whole, hidden), [whole, hidden.join()]);
  const written = JSON.stringify(rule?.definition ?? null);
  const saved = useMemo((): Definition => {
    if (rule === null) return readyMade === undefined ? firstRule : { use: readyMade.key, with: valuesOf(readyMade) };
    const definition = readable(rule.definition, whole, whole);
    return isObject(definition) ? definition : {};
  }, [written, readyMade?.key, whole]);
  return (
    <Editor
      schema={schema}
      saved={saved}
      words={words}
      readOnly={readOnly}
      isNew={isNew}
      verb={t.rules.save}
      sentence={(value) => ruleSentence(filledIn(value, readyMade?.definition), namesIn(words))}
      onSave={(settings) => onSave(isNew ? settings : patchOf(saved, settings))}
    >
      {readyMade === undefined
        ? undefined
        : (value, onValue) => (
            <Values
              readyMade={readyMade}
              value={value}
              onValue={onValue}
              words={words}
              whole={whole}
              disabled={readOnly !== null}
            />
          )}
    </Editor>
  );
}

/** The required values of a ready-made rule; the others have defaults. */
function valuesOf(readyMade: z.infer<typeof ReadyMadeRule>): Definition {
  return Object.fromEntries(
    Object.entries(defaultsOf(readyMade))
      .filter(([, value]) => value === null)
      .map(([key]) => [key, ""]),
  );
}

const defaultsOf = ({ definition }: z.infer<typeof ReadyMadeRule>): Definition =>
  isObject(definition.with) ? definition.with : {};

/** The values of a ready-made rule; an empty one means the default. */
function Values({
  readyMade,
  value,
  onValue,
  words,
  disabled,
  whole,
}: {
  whole: Schema;
  readyMade: z.infer<typeof ReadyMadeRule>;
  value: Json;
  onValue: (value: Json) => void;
  words: ReturnType<typeof ruleWords>;
  disabled: boolean;
}) {
  const defaults = Object.entries(defaultsOf(readyMade));
  if (defaults.length === 0 || !isObject(value)) return null;
  const given = isObject(value.with) ? value.with : {};
  const set = (key: string, usual: Json, next: Json) => {
    const isUsual = next === null || (next === "" && usual !== null);
    const changed = changedAt(given, [key], isUsual ? undefined : next);
    const isEmpty = isObject(changed) && Object.keys(changed).length === 0;
    onValue(changedAt(value, ["with"], isEmpty ? undefined : changed));
  };
  return (
    <fieldset class="form-group" disabled={disabled}>
      <legend>{t.rules.values}</legend>
      <p class="hint">{t.rules.ofUse}</p>
      <div class="form-item">
        {defaults.map(([key, usual]) => (
          <Field
            key={key}
            label={labelOf(key)}
            hint={
              usual === null
                ? t.rules.required
                : t.rules.usual({ value: nameOfValue(usual, shapeOfValue(readyMade, key, usual, whole), words) })
            }
          >
            {(attributes) => (
              <ValueControl
                name={key}
                shape={shapeOfValue(readyMade, key, usual, whole)}
                attributes={attributes}
                value={given[key]}
                onValue={(next) => set(key, usual, next)}
                words={words}
              />
            )}
          </Field>
        ))}
      </div>
    </fieldset>
  );
}

/** How a value of a ready-made rule is asked for: as its place in the rule is. */
function shapeOfValue({ definition }: z.infer<typeof ReadyMadeRule>, key: string, usual: Json, whole: Schema): Shape {
  if (typeof usual === "number") return { kind: "number", whole: false, min: null, max: null };
  const schema = schemaOfText(definition, `$${key}`, whole, whole);
  const shape = schema === undefined ? undefined : shapeOf(schema, whole);
  if (shape?.kind === "names") return { kind: "name", of: shape.of };
  if (shape?.kind === "share") return { kind: "share", number: false };
  return shape?.kind === "name" || shape?.kind === "duration"
    ? shape
    : { kind: "text", long: false, options: [], secret: false };
}

function nameOfValue(value: Json, shape: Shape, words: ReturnType<typeof ruleWords>): string {
  const text = String(value);
  return (shape.kind === "name" ? words.directory(shape.of, {})?.nameOf(text) : undefined) ?? text;
}

function ValueControl({
  name,
  shape,
  words,
  ...control
}: ControlProps & { name: string; shape: Shape; words: ReturnType<typeof ruleWords> }) {
  const directory = shape.kind === "name" ? words.directory(shape.of, {}) : null;
  return (
    <Control
      {...control}
      name={name}
      label={labelOf(name)}
      shape={shape}
      unit={null}
      suggestions={[]}
      directory={directory}
    />
  );
}
