/** An element with attributes. Functions like `onclick` become listeners; undefined and false are left out. */
export function make(name, attributes = {}, ...children) {
  const element = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) {
    if (value === undefined || value === false) continue;
    if (typeof value === "function") element.addEventListener(key.slice(2), value);
    else element.setAttribute(key, value === true ? "" : String(value));
  }
  element.append(...children.flat().filter((child) => child !== null && child !== undefined));
  return element;
}

export const button = (text, onclick, { kind = "rb-button", ...attributes } = {}) =>
  make("button", { type: "button", class: `btn ${kind}`, onclick, ...attributes }, text);

/** A section of the page with a heading. */
export function section(title, ...children) {
  const id = `rb-section-${title.toLowerCase().replace(/\W+/g, "-")}`;
  return make(
    "section",
    { class: "rb-section", "aria-labelledby": id },
    make("h2", { id, class: "h5" }, title),
    ...children,
  );
}

/** A collapsible section; the page remembers by `key` which ones are open. */
export const folding = (page, key, title, attributes, ...children) =>
  make(
    "details",
    { ...attributes, "data-fold": key, open: page.open.has(key) },
    make("summary", {}, title),
    ...children,
  );

/** Remembers which sections are open. Read before a redraw, since the browser's toggle event comes too late. */
export function rememberOpen(page) {
  for (const { open, dataset } of page.root.querySelectorAll("details[data-fold]")) {
    if (open) page.open.add(dataset.fold);
    else page.open.delete(dataset.fold);
  }
}
