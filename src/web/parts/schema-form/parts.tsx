import { t } from "../../language.ts";
import { Icon } from "../icon.tsx";
import { AddMenu } from "./add-menu.tsx";
import { useForm } from "./context.ts";
import { Group } from "./group.tsx";
import { Leaf } from "./leaf.tsx";
import { ListFields } from "./list.tsx";
import { RecordFields } from "./record.tsx";
import {
  emptyOf,
  groupsIn,
  hintOf,
  isObject,
  isOffered,
  type Json,
  nameOf,
  optionOf,
  type Path,
  type Schema,
  type Shape,
  shapeOf,
  type Values,
} from "./schema.ts";

type ObjectShape = Extract<Shape, { kind: "object" }>;

/** The fields of an object: those required or present, and a menu of the others. */
export function ObjectFields({ shape, value, path }: { shape: ObjectShape; value: Values; path: Path }) {
  const { words, readOnly } = useForm();
  const groups = groupsIn(shape.properties, words.exactlyOne, value);
  const grouped = new Set(groups.flat());
  const keys = Object.keys(shape.properties);
  const isShown = (key: string): boolean => key in value || shape.required.includes(key);
  const absent = keys.filter((key) => {
    const schema = shape.properties[key];
    return schema !== undefined && !grouped.has(key) && !isShown(key) && isOffered(schema, value);
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

/** One of several keys; the key is chosen first. */
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

/** One key of an object, of any shape. */
function Part({ name, schema, value, parent, path, isOptional }: PartProps) {
  const { root, words, set, readOnly } = useForm();
  const shape = shapeOf(schema, root);
  const label = words.label(name);
  const remove =
    isOptional && !readOnly ? (
      <button
        type="button"
        class="button quiet small"
        aria-label={t.form.remove({ name: label })}
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
    if (shape.kind === "record") {
      const values = isObject(value) ? value : {};
      return (
        <RecordFields schema={shape.values} value={values} path={path}>
          {(key) => (
            <Part
              key={key}
              name={key}
              schema={shape.values}
              value={values[key]}
              parent={values}
              path={[...path, key]}
              isOptional
            />
          )}
        </RecordFields>
      );
    }
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

/** One item of a list, of any shape. */
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

interface UnionProps {
  readonly name: string;
  readonly options: readonly Schema[];
  readonly value: Json;
  readonly path: Path;
}

/** One of several kinds; the kind is chosen first. */
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
  /** Fields common to both kinds, such as `headers`, are kept. */
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
