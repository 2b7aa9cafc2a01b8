import { useRef } from "preact/hooks";
import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { useForm } from "./context.ts";
import { emptyOf, hintOf, type Path, pathText, type Schema } from "./schema.ts";

/** Adds one of the optional keys. */
export function AddMenu({
  keys,
  properties,
  path,
}: {
  keys: readonly string[];
  properties: Readonly<Record<string, Schema>>;
  path: Path;
}) {
  const { root, words, set } = useForm();
  const menu = useRef<HTMLDetailsElement>(null);
  const add = (key: string) => {
    const place = [...path, key];
    set(place, emptyOf(properties[key] ?? {}, root, words.exactlyOne));
    if (menu.current !== null) menu.current.open = false;
    focusAt(place);
  };
  return (
    <details class="add-menu" ref={menu}>
      <summary>
        <Icon name="plus" /> {t.form.add}
      </summary>
      <ul>
        {keys.map((key) => (
          <li key={key}>
            <button type="button" class="button quiet" onClick={() => add(key)}>
              <span>{words.label(key)}</span>
              <small dir="auto">{hintOf(properties[key] ?? {}, words.label(key))}</small>
            </button>
          </li>
        ))}
      </ul>
    </details>
  );
}

/** Moves the focus to the first control at a place, once it is rendered. */
function focusAt(path: Path): void {
  requestAnimationFrame(() => {
    const place = document.querySelector(`[data-path="${CSS.escape(pathText(path))}"]`);
    place?.querySelector<HTMLElement>("input, select, textarea, summary")?.focus();
  });
}
