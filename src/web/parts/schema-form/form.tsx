import { useMemo } from "preact/hooks";
import type { Mistake } from "../../api.ts";
import { t } from "../../language.ts";
import { FormContext, type FormState, type FormWords } from "./context.ts";
import { ObjectFields } from "./parts.tsx";
import { placeWords } from "./place-words.ts";
import { changedAt, isObject, type Json, type Schema, shapeOf } from "./schema.ts";
import "./schema-form.css";

interface SchemaFormProps {
  /** The schema of an object; its definitions include those of all its parts. */
  readonly schema: Schema;
  readonly value: Json;
  readonly onValue: (value: Json) => void;
  readonly words: FormWords;
  readonly mistakes: readonly Mistake[];
  readonly readOnly?: boolean;
  /** Whether nothing is stored yet. */
  readonly isNew?: boolean;
}

/**
 * A form generated from a JSON schema: every value that the schema describes can be entered. Optional parts are added
 * on demand, and the service's mistakes appear at their place.
 */
export function SchemaForm({
  schema,
  value,
  onValue,
  words,
  mistakes,
  readOnly = false,
  isNew = false,
}: SchemaFormProps) {
  const state = useMemo<FormState>(
    () => ({
      root: schema,
      words,
      mistakes,
      readOnly,
      isNew,
      set: (path, next) => onValue(changedAt(value, path, next)),
    }),
    [schema, value, onValue, words, mistakes, readOnly, isNew],
  );
  const shape = shapeOf(schema, schema);
  if (shape.kind !== "object") throw new TypeError("the schema of a form is that of an object");
  return (
    <FormContext.Provider value={state}>
      <fieldset class="schema-form" disabled={readOnly}>
        <ObjectFields shape={shape} value={isObject(value) ? value : {}} path={[]} />
      </fieldset>
    </FormContext.Provider>
  );
}

interface MistakeListProps {
  readonly mistakes: readonly Mistake[];
  readonly words: Pick<FormWords, "label">;
}

/** All mistakes, each with its place in the words of the form. */
export function MistakeList({ mistakes, words }: MistakeListProps) {
  if (mistakes.length === 0) return null;
  return (
    <div class="banner bad mistakes" role="alert">
      <p>{t.form.mistakes}</p>
      <ul>
        {mistakes.map(({ path, message }) => (
          <li key={`${path} ${message}`}>
            {path === "" ? null : (
              <>
                <strong dir="auto">{placeWords(path, words)}</strong>
                {": "}
              </>
            )}
            <span dir="auto">{message}</span>
          </li>
        ))}
      </ul>
    </div>
  );
}
