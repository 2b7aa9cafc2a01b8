import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { mistakesAt, useForm } from "./context.ts";
import { Leaf } from "./leaf.tsx";
import { ListFields } from "./list.tsx";
import {
  emptyOf,
  groupsIn,
  hintOf,
  isObject,
  type Json,
  nameOf,
  optionOf,
  type Path,
  pathText,
  type Schema,
  type Shape,
  shapeOf,
} from "./schema.ts";

type ObjectShape = Extract<Shape, { kind: "object" }>;
type Values = Readonly<Record<string, Json>>;

/** The fields of an object: those that are required or given, and a menu of the others. */
export function ObjectFields({ shape, value, path }: { shape: ObjectShape; value: Values; path: Path }) {
  const { words, readOnly } = useForm();
  const groups = groupsIn(shape.properties, words.exactlyOne, value);
  const grouped = new Set(groups.flat());
  const keys = Object.keys(shape.properties);
  const isShown = (key: string): boolean => key in value || shape.required.includes(key);
  const absent = keys.filter((key) => {
    const schema = shape.properties[key];
    return schema !== undefined && !grouped.has(key) && !isShown(key) && words.isOffered(key, schema, value);
  });
  return (
    <>
      {keys.map((key) => {
        const schema = shape.properties[key];
        const group = groups.find(([first]) => first === key);
        if (schema === undefined) return null;
        if (group !== undefined)
          return <OneOf key={key} keys={group} properties={shape.properties} value={value} path={path} />;
        if (grouped.has(key) || !isShown(key)) return null;
        return (
          <Part
            key={key}
            name={key}
            schema={schema}
            value={value[key]}
            parent={value}
            path={[...path, key]}
            isOptional={!shape.required.includes(key)}
          />
        );
      })}
      {readOnly || absent.length === 0 ? null : <AddMenu keys={absent} properties={shape.properties} path={path} />}
    </>
  );
}

/** Adds one of the optional keys. */
function AddMenu({
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
              <small lang="en" dir="ltr">
                {hintOf(properties[key] ?? {}, words.label(key))}
              </small>
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

/** One of several keys, which is chosen first. */
function OneOf({
  keys,
  properties,
  value,
  path,
}: {
  keys: readonly string[];
  properties: Readonly<Record<string, Schema>>;
  value: Values;
  path: Path;
}) {
  const { root, words, set } = useForm();
  const given = keys.find((key) => key in value);
  const schema = given === undefined ? undefined : properties[given];
  const choose = (next: string) => {
    const [inner, empty] = [properties[next] ?? {}, () => emptyOf(properties[next] ?? {}, root, words.exactlyOne)];
    const others = Object.fromEntries(Object.entries(value).filter(([key]) => !keys.includes(key)));
    const isSame = schema !== undefined && shapeOf(schema, root).kind === shapeOf(inner, root).kind;
    set(path, { ...others, [next]: isSame && given !== undefined ? value[given] : empty() });
  };
  return (
    <div class="one-of">
      <label class="field">
        <span>{words.choice(keys)}</span>
        <select value={given ?? ""} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {given === undefined ? <option value="">–</option> : null}
          {keys.map((key) => (
            <option key={key} value={key}>
              {words.label(key)}
            </option>
          ))}
        </select>
      </label>
      {given === undefined || schema === undefined ? null : (
        <Part
          name={given}
          schema={schema}
          value={value[given]}
          parent={value}
          path={[...path, given]}
          isOptional={false}
        />
      )}
    </div>
  );
}

interface PartProps {
  readonly name: string;
  readonly schema: Schema;
  readonly value: Json;
  readonly parent: Json;
  readonly path: Path;
  readonly isOptional: boolean;
}

/** One key of an object, whatever its shape. */
function Part({ name, schema, value, parent, path, isOptional }: PartProps) {
  const { root, words, set, readOnly } = useForm();
  const shape = shapeOf(schema, root);
  const label = words.label(name);
  const remove =
    isOptional && !readOnly ? (
      <button
        type="button"
        class="button quiet small"
        aria-label={t.form.remove(label)}
        onClick={() => set(path, undefined)}
      >
        <Icon name="close" />
      </button>
    ) : null;
  const content = (() => {
    if (shape.kind === "list")
      return (
        <ListFields shape={shape} value={value} path={path}>
          {(item, place) => <Item name={name} schema={shape.items} value={item} path={place} />}
        </ListFields>
      );
    if (shape.kind === "object") return <ObjectFields shape={shape} value={isObject(value) ? value : {}} path={path} />;
    if (shape.kind === "union") return <UnionFields name={name} options={shape.options} value={value} path={path} />;
    if (shape.kind === "record")
      return <RecordFields schema={shape.values} value={isObject(value) ? value : {}} path={path} />;
    return null;
  })();
  if (content === null)
    return (
      <Leaf
        name={name}
        label={label}
        schema={schema}
        shape={shape}
        value={value}
        parent={parent}
        path={path}
        action={remove}
      />
    );
  return (
    <Group label={label} hint={hintOf(schema, label)} path={path} action={remove}>
      {content}
    </Group>
  );
}

/** One part of a list, whatever its shape. */
function Item({ name, schema, value, path }: { name: string; schema: Schema; value: Json; path: Path }) {
  const { root, words } = useForm();
  const shape = shapeOf(schema, root);
  if (shape.kind === "union") return <UnionFields name={name} options={shape.options} value={value} path={path} />;
  if (shape.kind === "object") return <ObjectFields shape={shape} value={isObject(value) ? value : {}} path={path} />;
  return (
    <Leaf
      name={name}
      label={words.label(name)}
      schema={schema}
      shape={shape}
      value={value}
      parent={undefined}
      path={path}
      action={null}
    />
  );
}

/** Parts that belong together, with their own heading and mistakes. */
function Group({
  label,
  hint,
  path,
  action,
  children,
}: {
  label: string;
  hint: string;
  path: Path;
  action: ComponentChildren;
  children: ComponentChildren;
}) {
  const { mistakes } = useForm();
  const problem = mistakesAt(mistakes, pathText(path), false);
  return (
    <fieldset class="form-group" data-path={pathText(path)}>
      <legend>
        <span>{label}</span> {action}
      </legend>
      <p class="hint" lang="en" dir="ltr">
        {hint}
      </p>
      <p class="field-problem" role={problem === undefined ? undefined : "alert"}>
        {problem}
      </p>
      {children}
    </fieldset>
  );
}

interface UnionProps {
  readonly name: string;
  readonly options: readonly Schema[];
  readonly value: Json;
  readonly path: Path;
}

/** One of several kinds, which is chosen first. */
function UnionFields({ name, options, value, path }: UnionProps) {
  const { root, words, set } = useForm();
  const names = options.map((option) => nameOf(option, root));
  const option = optionOf(value, options, root);
  const chosen = option === undefined ? "" : nameOf(option, root);
  const shape = option === undefined ? undefined : shapeOf(option, root);
  const choose = (next: string) => {
    const to = options[names.indexOf(next)];
    if (to === undefined) return;
    const fresh = emptyOf(to, root, words.exactlyOne);
    set(path, isObject(fresh) ? { ...fresh, ...keptOf(value, to) } : fresh);
  };
  /** What both kinds have, such as `headers`, is kept. */
  const keptOf = (before: Json, to: Schema): Values => {
    const target = shapeOf(to, root);
    if (!isObject(before) || target.kind !== "object") return {};
    return Object.fromEntries(Object.entries(before).filter(([key]) => target.required.includes(key)));
  };
  return (
    <>
      <label class="field union-kind">
        <span class="visually-hidden">{t.form.kind}</span>
        <select value={chosen} onChange={({ currentTarget }) => choose(currentTarget.value)}>
          {option === undefined ? <option value="">–</option> : null}
          {names.map((each) => (
            <option key={each} value={each}>
              {words.member(each, names)}
            </option>
          ))}
        </select>
      </label>
      {option === undefined && value !== null && value !== undefined ? (
        <pre dir="ltr">{JSON.stringify(value, null, 2)}</pre>
      ) : null}
      {shape === undefined || option === undefined ? null : shape.kind === "object" ? (
        <ObjectFields shape={shape} value={isObject(value) ? value : {}} path={path} />
      ) : shape.kind === "constant" ? null : (
        <Leaf
          name={name}
          label={words.label(name)}
          schema={option}
          shape={shape}
          value={value}
          parent={undefined}
          path={path}
          action={null}
        />
      )}
    </>
  );
}

/** Values by names that are free. */
function RecordFields({ schema, value, path }: { schema: Schema; value: Values; path: Path }) {
  const { root, words, set, readOnly } = useForm();
  const add = (form: HTMLInputElement) => {
    const key = form.value.trim();
    form.value = "";
    if (key !== "" && !(key in value)) set([...path, key], emptyOf(schema, root, words.exactlyOne));
  };
  const newKey = useRef<HTMLInputElement>(null);
  return (
    <>
      {Object.entries(value).map(([key, each]) => (
        <Part key={key} name={key} schema={schema} value={each} parent={value} path={[...path, key]} isOptional />
      ))}
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
