import type { ComponentChildren } from "preact";
import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { mistakesAt, useForm } from "./context.ts";
import { emptyOf, type Json, type Path, pathText, type Shape } from "./schema.ts";

interface ListProps {
  readonly shape: Extract<Shape, { kind: "list" }>;
  readonly value: Json;
  readonly path: Path;
  /** Renders one of its parts. */
  readonly children: (item: Json, path: Path) => ComponentChildren;
}

/** A list whose order can be changed. */
export function ListFields({ shape, value, path, children }: ListProps) {
  const { root, words, mistakes, readOnly, set } = useForm();
  const items: readonly Json[] = Array.isArray(value) ? value : [];
  const move = (from: number, to: number) => {
    const rest = items.filter((_, index) => index !== from);
    set(path, [...rest.slice(0, to), items[from], ...rest.slice(to)]);
  };
  const button = (icon: "up" | "down" | "trash", label: string, isOff: boolean, act: () => void) => (
    <button type="button" class="button quiet small" aria-label={label} disabled={isOff} onClick={act}>
      <Icon name={icon} />
    </button>
  );
  return (
    <>
      <ol class="form-list">
        {items.map((each, index) => {
          const place = [...path, index];
          const problem = mistakesAt(mistakes, pathText(place), false);
          return (
            <li key={index} data-path={pathText(place)}>
              <div class="form-item">
                {children(each, place)}
                <p class="field-problem" role={problem === undefined ? undefined : "alert"}>
                  {problem}
                </p>
              </div>
              {readOnly ? null : (
                <span class="form-item-actions">
                  {button("up", t.form.up({ place: index + 1 }), index === 0, () => move(index, index - 1))}
                  {button("down", t.form.down({ place: index + 1 }), index === items.length - 1, () =>
                    move(index, index + 1),
                  )}
                  {button("trash", t.form.removeItem({ place: index + 1 }), items.length <= shape.least, () =>
                    set(
                      path,
                      items.filter((_, other) => other !== index),
                    ),
                  )}
                </span>
              )}
            </li>
          );
        })}
      </ol>
      {readOnly || items.length >= shape.most ? null : (
        <button
          type="button"
          class="button small"
          onClick={() => set(path, [...items, emptyOf(shape.items, root, words.exactlyOne)])}
        >
          <Icon name="plus" /> {items.length === 0 ? t.form.addFirst : t.form.addItem}
        </button>
      )}
    </>
  );
}
