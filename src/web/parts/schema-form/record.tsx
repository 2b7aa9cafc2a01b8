import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { useForm } from "./context.ts";
import { emptyOf, type Path, type Schema, type Values } from "./schema.ts";

/** Values by arbitrary names. */
export function RecordFields({
  schema,
  value,
  path,
  children,
}: {
  schema: Schema;
  value: Values;
  path: Path;
  /** Renders one of its values. */
  children: (key: string) => ComponentChildren;
}) {
  const { root, words, set, readOnly } = useForm();
  const add = (form: HTMLInputElement) => {
    const key = form.value.trim();
    form.value = "";
    if (key !== "" && !(key in value)) set([...path, key], emptyOf(schema, root, words.exactlyOne));
  };
  const newKey = useRef<HTMLInputElement>(null);
  return (
    <>
      {Object.keys(value).map(children)}
      {readOnly ? null : (
        <span class="with-unit">
          <input
            ref={newKey}
            aria-label={t.form.newKey}
            placeholder={t.form.newKey}
            autocomplete="off"
            dir="ltr"
            onKeyDown={(event) => {
              if (event.key !== "Enter") return;
              event.preventDefault();
              add(event.currentTarget);
            }}
          />
          <button
            type="button"
            class="button"
            aria-label={t.form.add}
            onClick={() => (newKey.current === null ? undefined : add(newKey.current))}
          >
            <Icon name="plus" />
          </button>
        </span>
      )}
    </>
  );
}
