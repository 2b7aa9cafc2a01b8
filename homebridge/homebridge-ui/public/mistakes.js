import { button, make } from "./elements.js";
import { titleOf } from "./fields.js";
import { rigTitle } from "./rigs.js";
import { partsOf, rigsIn, schemaAt, setValue, textOf, valueAt } from "./settings.js";

/** Shows each mistake (`{path, message}`) at its field, and all of them at the end of the page. */
export function showMistakes(page, mistakes) {
  for (const place of page.root.querySelectorAll(".rb-mistake")) place.replaceChildren();
  for (const control of page.root.querySelectorAll("[aria-invalid]")) {
    control.removeAttribute("aria-invalid");
    control.classList.remove("is-invalid");
  }
  const placed = mistakes.map((mistake) => ({ ...mistake, ...placeOf(page, mistake) })).toSorted(byPlace);
  for (const mistake of placed) showAt(page, mistake);
  for (const card of page.root.querySelectorAll(".rb-rig")) {
    const count = placed.filter(({ element }) => card.contains(element)).length;
    card.querySelector(".rb-count").textContent = count === 0 ? "" : counted(count);
  }
  showAll(page, placed);
}

export const counted = (count) => `${count} mistake${count === 1 ? "" : "s"}`;

/** In the order of the page; mistakes without a place on it come last. */
function byPlace({ element: one }, { element: other }) {
  if (one === null || other === null) return Number(one === null) - Number(other === null);
  const { DOCUMENT_POSITION_FOLLOWING: following, DOCUMENT_POSITION_PRECEDING: preceding } = Node;
  const place = one.compareDocumentPosition(other);
  return Number((place & preceding) !== 0) - Number((place & following) !== 0);
}

/** The field of a path, or the nearest element around it. */
function placeOf(page, { path }) {
  const parts = partsOf(path);
  for (let length = parts.length; length > 0; length -= 1) {
    const element = page.root.querySelector(`[data-path="${CSS.escape(textOf(parts.slice(0, length)))}"]`);
    if (element !== null) return { element, isField: length === parts.length };
  }
  return { element: null, isField: false };
}

function showAt(page, { element, isField, path, message }) {
  const place = element?.querySelector(":scope > .rb-mistake, :scope > .rb-body > .rb-mistake");
  if (!place) return;
  place.append(make("div", {}, isField ? message : `${path} ${message}`, isField ? null : removal(page, path)));
  if (!isField) return;
  const control = element.querySelector("input, select") ?? element;
  control.setAttribute("aria-invalid", "true");
  control.classList.add("is-invalid");
}

/** A setting that has no field can only be removed. */
function removal(page, path) {
  const parts = partsOf(path);
  if (valueAt(page.settings, parts) === undefined) return null;
  const remove = () => {
    setValue(page.settings, parts, undefined);
    page.redraw();
  };
  return button("Remove", remove, { "aria-label": `Remove ${path}` });
}

function showAll(page, placed) {
  const { summary } = page;
  summary.classList.toggle("rb-wrong", placed.length > 0);
  if (placed.length === 0) {
    summary.replaceChildren(
      page.isConfigured
        ? "The settings are valid."
        : "Nothing is set up. Add a rig or a service; until then the plugin does nothing.",
    );
    return;
  }
  const lines = placed.map(({ element, isField, path, message }) => {
    const go = () => {
      for (let around = element; around !== null; around = around.parentElement?.closest("details") ?? null)
        if (around.tagName === "DETAILS") around.open = true;
      (element?.querySelector("input, select, button") ?? element)?.focus();
    };
    const text = `${named(page, path)} ${message}`;
    const content = element === null ? [text, removal(page, path)] : [button(text, go, { kind: "rb-link" })];
    return make("li", { "data-mistake": path, "data-field": isField ? path : undefined }, ...content);
  });
  summary.replaceChildren(
    make("p", {}, `${counted(placed.length)}. Correct them to save the settings.`),
    make("ul", {}, ...lines),
  );
}

/** A path in the page's words: `Garage, Heating, Target:`. */
function named(page, path) {
  const parts = partsOf(path);
  const [first, index] = parts;
  const isRig = first === "rigs" && typeof index === "number";
  const value = isRig ? rigsIn(page.settings)[index] : undefined;
  const rig = isRig ? [typeof value === "object" ? rigTitle(value) : String(value)] : [];
  const start = isRig ? 2 : 0;
  const titles = parts.slice(start).map((step, place) => {
    const schema = schemaAt(page.schema, parts.slice(0, start + place + 1));
    return schema === undefined || typeof step === "number" ? String(step) : titleOf(schema, [step]);
  });
  const all = [...rig, ...titles];
  return all.length === 0 ? "" : `${all.join(", ")}:`;
}
