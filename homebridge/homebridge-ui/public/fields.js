import { button, make } from "./elements.js";
import { schemaAt, setValue, textOf, valueAt } from "./settings.js";

/** Form fields generated from the settings' schema: titles, descriptions, choices and types. */

/** The field for the setting at a path; `suggestions` are offered while typing. */
export function field(page, path, suggestions = []) {
  const schema = schemaAt(page.schema, path);
  const common = page.schema.properties.defaults.properties[path.at(-1)];
  const isOwn = path[0] === "rigs" && path.length === 3 && common !== undefined && schema.default === undefined;
  const about = {
    page,
    path,
    schema,
    id: idOf(path),
    suggestions,
    common: isOwn ? commonValue(page, path.at(-1)) : undefined,
  };
  if (schema.type === "boolean") return isOwn ? choice(about, yesAndNo) : tick(about);
  if (schema.enum !== undefined)
    return choice(
      about,
      schema.enum.map((value) => [value, spaced(value)]),
    );
  if (schema.items?.enum !== undefined) return ticks(about);
  if (schema.type === "array") return lines(about);
  if (schema.properties !== undefined) return group(page, path);
  if (schema.additionalProperties !== undefined) return pairs(about);
  return typed(about);
}

/** The fields of an object, under its title. */
export function group(page, path) {
  const schema = schemaAt(page.schema, path);
  return box(path, make("legend", { class: "h6" }, titleOf(schema, path)), fieldsOf(page, path));
}

/** An optional object, with a checkbox that adds it. */
export function optionalGroup(page, path, question) {
  const id = `${idOf(path)}-there`;
  const isThere = valueAt(page.settings, path) !== undefined;
  const check = make("input", {
    type: "checkbox",
    class: "form-check-input",
    id,
    checked: isThere,
    onchange: ({ target }) => {
      const key = textOf(path);
      if (!target.checked) page.putAside.set(key, valueAt(page.settings, path));
      setValue(page.settings, path, target.checked ? (page.putAside.get(key) ?? {}) : undefined);
      page.redraw();
    },
  });
  const legend = make(
    "legend",
    { class: "h6 form-check" },
    check,
    make("label", { class: "form-check-label", for: id }, question),
  );
  return isThere ? box(path, legend, fieldsOf(page, path)) : box(path, legend);
}

const fieldsOf = (page, path) => {
  const keys = Object.keys(schemaAt(page.schema, path).properties);
  return make("div", { class: "rb-grid" }, ...keys.map((key) => field(page, [...path, key])));
};

const box = (path, legend, ...children) =>
  make("fieldset", { class: "rb-group", "data-path": textOf(path) }, legend, ...children, mistakeAt(idOf(path)));

export const idOf = (path) => `rb-${textOf(path).replace(/\W+/g, "-")}`;

export const titleOf = (schema, path) => schema.title ?? spaced(String(path.at(-1)));

/** Names that do not explain themselves. */
const words = {
  temperature: "Hottest part",
  temperature_in: "Incoming air or liquid",
  temperature_out: "Outgoing air or liquid",
};

/** `cutPower` as "Cut power". */
export const spaced = (name) => {
  if (Object.hasOwn(words, name)) return words[name];
  const text = name
    .replace(/([a-z])([A-Z])/g, "$1 $2")
    .replaceAll("_", " ")
    .toLowerCase();
  return text.charAt(0).toUpperCase() + text.slice(1);
};

const commonValue = (page, key) =>
  page.settings.defaults?.[key] ?? page.schema.properties.defaults.properties[key].default;

const inWords = (value) => {
  if (typeof value === "boolean") return value ? "yes" : "no";
  if (Array.isArray(value))
    return value.length === 0 ? "none" : value.map((each) => spaced(each).toLowerCase()).join(", ");
  return spaced(String(value)).toLowerCase();
};

/** The place for a field's mistakes. */
const mistakeAt = (id) => make("div", { id: `${id}-mistake`, class: "rb-mistake" });

const helpOf = ({ schema, id }) =>
  schema.description === undefined
    ? null
    : make("div", { id: `${id}-help`, class: "form-text rb-quiet" }, schema.description);

/** The ids of the texts that a screen reader reads with a control. */
const described = ({ schema, id }) => (schema.description === undefined ? `${id}-mistake` : `${id}-help ${id}-mistake`);

function put({ page, path }, value) {
  setValue(page.settings, path, value);
  page.changed();
}

const labelled = (about, ...controls) =>
  make(
    "div",
    { class: "rb-field", "data-path": textOf(about.path) },
    make("label", { class: "form-label", for: about.id }, titleOf(about.schema, about.path)),
    ...controls,
    helpOf(about),
    mistakeAt(about.id),
  );

const inGroup = (about, ...controls) =>
  make(
    "fieldset",
    {
      class: "rb-field",
      "data-path": textOf(about.path),
      id: about.id,
      tabindex: "-1",
      "aria-describedby": described(about),
    },
    make("legend", { class: "form-label" }, titleOf(about.schema, about.path)),
    ...controls,
    helpOf(about),
    mistakeAt(about.id),
  );

const secrets = ["password", "token", "key"];

/** Text or a number. Text in a number field is kept, so that the plugin reports it as a mistake. */
function typed(about) {
  const { page, path, schema, id, suggestions } = about;
  const isNumber = schema.type === "number" || schema.type === "integer";
  const input = make("input", {
    id,
    class: "form-control",
    type: secrets.includes(path.at(-1)) ? "password" : "text",
    autocomplete: secrets.includes(path.at(-1)) ? "new-password" : "off",
    autocapitalize: "off",
    spellcheck: "false",
    inputmode: isNumber ? "decimal" : undefined,
    placeholder: schema.default,
    list: suggestions.length > 0 ? `${id}-list` : undefined,
    "aria-describedby": described(about),
    value: valueAt(page.settings, path) ?? "",
    oninput: ({ target: { value } }) => put(about, isNumber ? numberIn(value) : value === "" ? undefined : value),
  });
  return labelled(about, input, suggestions.length > 0 ? suggested(`${id}-list`, suggestions) : null);
}

const suggested = (id, values) =>
  make("datalist", { id }, ...[...new Set(values)].map((value) => make("option", { value })));

function numberIn(text) {
  const plain = text.trim().replace(",", ".");
  if (plain === "") return undefined;
  return Number.isFinite(Number(plain)) ? Number(plain) : text;
}

function tick(about) {
  const { page, path, schema, id } = about;
  const input = make("input", {
    id,
    type: "checkbox",
    class: "form-check-input",
    checked: valueAt(page.settings, path) ?? schema.default ?? false,
    "aria-describedby": described(about),
    onchange: ({ target: { checked } }) => put(about, checked === (schema.default ?? false) ? undefined : checked),
  });
  const label = make("label", { class: "form-check-label", for: id }, titleOf(schema, path));
  const { path: at } = about;
  return make(
    "div",
    { class: "rb-field", "data-path": textOf(at) },
    make("div", { class: "form-check" }, input, label),
    helpOf(about),
    mistakeAt(id),
  );
}

const yesAndNo = [
  [true, "Yes"],
  [false, "No"],
];

/** One of several choices; a rig may use the setting for all rigs. */
function choice(about, choices) {
  const { page, path, schema, id, common } = about;
  const present = valueAt(page.settings, path) ?? schema.default;
  const empty = common === undefined ? "Choose" : `Same as all rigs (${inWords(common)})`;
  const options = [
    ...(schema.default === undefined ? [make("option", { value: "" }, empty)] : []),
    ...choices.map(([value, text]) => make("option", { value: String(value), selected: value === present }, text)),
  ];
  const select = make(
    "select",
    {
      id,
      class: "form-select custom-select",
      "aria-describedby": described(about),
      onchange: ({ target }) => {
        const [value] = choices.find(([each]) => String(each) === target.value) ?? [undefined];
        put(about, value === schema.default ? undefined : value);
        page.chosen(path, value);
      },
    },
    ...options,
  );
  // A value that is not among the choices is neither hidden nor changed.
  if (present !== undefined && !choices.some(([value]) => value === present))
    select.append(make("option", { value: "", selected: true, disabled: true }, String(present)));
  return labelled(about, select);
}

/** Any number of several choices. */
function ticks(about) {
  const { page, path, schema, id, common } = about;
  const present = () => valueAt(page.settings, path);
  const isShared = common !== undefined && present() === undefined;
  const boxes = schema.items.enum.map((value) => {
    const input = make("input", {
      type: "checkbox",
      class: "form-check-input",
      id: `${id}-${value}`,
      checked: (present() ?? common ?? schema.default ?? []).includes(value),
      disabled: isShared,
      onchange: ({ target: { checked } }) => {
        const others = (present() ?? []).filter((each) => each !== value);
        put(about, checked ? [...others, value] : others);
      },
    });
    return checkLine(input, spaced(value));
  });
  if (common === undefined) return inGroup(about, ...boxes);
  const shared = make("input", {
    type: "checkbox",
    class: "form-check-input",
    id: `${id}-common`,
    checked: isShared,
    onchange: ({ target: { checked } }) => {
      put(about, checked ? undefined : [...common]);
      page.redraw();
    },
  });
  return inGroup(about, checkLine(shared, `Same as all rigs (${inWords(common)})`), ...(isShared ? [] : boxes));
}

const checkLine = (input, text) =>
  make("div", { class: "form-check" }, input, make("label", { class: "form-check-label", for: input.id }, text));

/** Texts, one per line. */
function lines(about) {
  const { page, path, schema, id, suggestions } = about;
  const list = make("div", { class: "rb-lines" });
  const values = () => [...list.querySelectorAll("input")].map(({ value }) => value).filter((value) => value !== "");
  const keep = () => put(about, values().length === 0 ? undefined : values());
  const name = titleOf(schema, path);
  const add = (value) => {
    const input = make("input", {
      type: "text",
      class: "form-control",
      autocomplete: "off",
      "aria-label": name,
      list: suggestions.length > 0 ? `${id}-list` : undefined,
      value,
      oninput: keep,
    });
    const remove = () => {
      line.remove();
      more.focus();
      keep();
    };
    const line = make(
      "div",
      { class: "rb-line" },
      input,
      button("Remove", remove, { "aria-label": `Remove ${value || "this line"}` }),
    );
    list.append(line);
    return input;
  };
  const more = button("Add", () => add("").focus(), { "aria-label": `Add to ${name}` });
  for (const value of valueAt(page.settings, path) ?? []) add(value);
  return inGroup(about, list, suggestions.length > 0 ? suggested(`${id}-list`, suggestions) : null, more);
}

/** Names with secret values, like request headers. */
function pairs(about) {
  const { page, path } = about;
  const list = make("div", { class: "rb-lines" });
  const keep = () => {
    const entries = [...list.children].map((line) => [...line.querySelectorAll("input")].map(({ value }) => value));
    const named = entries.filter(([name]) => name !== "");
    put(about, named.length === 0 ? undefined : Object.fromEntries(named));
  };
  const add = (name, value) => {
    const common = { class: "form-control", autocomplete: "off", oninput: keep };
    const input = make("input", { ...common, type: "text", "aria-label": "Header name", value: name });
    const secret = make("input", {
      ...common,
      type: "password",
      autocomplete: "new-password",
      "aria-label": "Header value",
      value,
    });
    const remove = () => {
      line.remove();
      more.focus();
      keep();
    };
    const line = make("div", { class: "rb-line" }, input, secret, button("Remove", remove));
    list.append(line);
    return input;
  };
  const more = button("Add", () => add("", "").focus(), { "aria-label": "Add a header" });
  for (const [name, value] of Object.entries(valueAt(page.settings, path) ?? {})) add(name, value);
  return inGroup(about, list, more);
}
