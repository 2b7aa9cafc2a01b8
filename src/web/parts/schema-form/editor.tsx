import type { ComponentChildren } from "preact";
import { useLayoutEffect, useMemo, useState } from "preact/hooks";
import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { useDirty, useUnsaved } from "../unsaved.tsx";
import { useForm } from "../use-form.ts";
import type { FormWords } from "./context.ts";
import { MistakeList, SchemaForm } from "./form.tsx";
import { isObject, type Json, type Schema, type Values } from "./schema.ts";
import { type Masked, masked, unmasked } from "./secrets.ts";

interface EditorProps {
  readonly schema: Schema;
  /** The saved value, or the initial value of a new one. */
  readonly saved: Json;
  readonly words: FormWords;
  /** Why it cannot be changed; null if it can. */
  readonly readOnly: string | null;
  /** Whether it can be saved without a change. */
  readonly isNew: boolean;
  readonly verb: string;
  /** Rejects with the service's mistakes. */
  readonly onSave: (value: Readonly<Record<string, Json>>) => Promise<void>;
  /** Buttons and their messages, beside the save button. */
  readonly beside?: ((value: Json) => ComponentChildren) | undefined;
  /** The value as a sentence. */
  readonly sentence?: ((value: Values) => string) | undefined;
  /** Fields above the form, for data outside the schema. */
  readonly children?: ((value: Json, onValue: (value: Json) => void) => ComponentChildren) | undefined;
  /** The same, below the form. */
  readonly below?: EditorProps["children"];
}

type Yaml = typeof import("yaml");

/** The same value as a form and as YAML; mistakes appear at their field. */
export function Editor({
  schema,
  saved,
  words,
  readOnly,
  isNew,
  verb,
  onSave,
  beside,
  sentence,
  children,
  below,
}: EditorProps) {
  const [value, setValue] = useState(saved);
  const [text, setText] = useState<string | null>(null);
  const [broken, setBroken] = useState<string | null>(null);
  const { busy, mistakes, problem, submit } = useForm(async () => {
    if (!isObject(value) || broken !== null) return;
    await onSave(value);
    keep(JSON.stringify(value));
  });
  const [yaml, setYaml] = useState<Yaml | null>(null);
  const before = useMemo(() => JSON.stringify(saved), [saved]);
  // Starts from the latest save, made here or elsewhere. A layout effect: an ordinary one starts some frames later, and
  // would revert text typed until then.
  useLayoutEffect(() => setValue(saved), [before]);
  const { dirty: differs, keep } = useDirty(JSON.stringify(value), before);
  const dirty = readOnly === null && differs;
  const guard = useUnsaved(dirty && !busy);

  const showText = async () => {
    const library = yaml ?? (await import("yaml"));
    setYaml(library);
    setText(library.stringify(masked(value, schema), { lineWidth: 100 }));
    setBroken(null);
  };
  const onText = (next: string) => {
    setText(next);
    const read = yaml === null ? null : readText(yaml, next);
    if (read === null) return;
    setBroken(read.problem);
    if (read.problem === null) setValue(unmasked(read.value, value, schema));
  };
  return (
    <form class="editor" onSubmit={submit} noValidate>
      {readOnly === null ? null : (
        <p class="banner">
          <Icon name="info" /> <span>{readOnly}</span>
        </p>
      )}
      {sentence === undefined || !isObject(value) ? null : <p class="editor-sentence">{sentence(value)}</p>}
      <div class="row editor-views">
        <button
          type="button"
          class="button small"
          aria-pressed={text === null}
          disabled={broken !== null}
          onClick={() => setText(null)}
        >
          {t.form.asForm}
        </button>
        <button type="button" class="button small" aria-pressed={text !== null} onClick={() => void showText()}>
          {t.form.text}
        </button>
      </div>
      {text === null ? (
        <>
          {children?.(value, setValue)}
          <SchemaForm
            schema={schema}
            value={value}
            onValue={setValue}
            words={words}
            mistakes={mistakes}
            readOnly={readOnly !== null}
            isNew={isNew}
          />
          {below?.(value, setValue)}
        </>
      ) : (
        <div class="field">
          <textarea
            class="mono editor-text"
            aria-label={t.form.text}
            aria-invalid={broken !== null}
            aria-describedby="editor-broken"
            rows={Math.min(40, Math.max(12, text.split("\n").length + 1))}
            spellcheck={false}
            dir="ltr"
            readOnly={readOnly !== null}
            value={text}
            onInput={({ currentTarget }) => onText(currentTarget.value)}
          />
          <p id="editor-broken" class="field-problem" role="alert">
            {broken === null ? null : t.form.brokenText({ why: broken })}
          </p>
        </div>
      )}
      <MistakeList mistakes={mistakes} words={words} />
      <p class="field-problem" role="alert">
        {mistakes.length === 0 ? problem : null}
      </p>
      {readOnly === null ? (
        <div class="editor-save">
          <button type="submit" class="button primary" disabled={busy || broken !== null || (!dirty && !isNew)}>
            {verb}
          </button>
          {broken === null ? beside?.(value) : null}
        </div>
      ) : null}
      {guard}
    </form>
  );
}

/** Far more than any rule. */
const longestText = 200_000;

function readText(yaml: Yaml, text: string): { readonly value: Masked; readonly problem: string | null } {
  if (text.length > longestText) return { value: null, problem: t.form.tooLong };
  const document = yaml.parseDocument(text, { prettyErrors: true });
  const [error] = document.errors;
  if (error !== undefined) return { value: null, problem: error.message.split("\n")[0] ?? "" };
  // Aliases could make a small text huge.
  const value: Json = document.toJS({ maxAliasCount: 20 });
  return isObject(value) ? { value, problem: null } : { value: null, problem: t.form.noObject };
}
