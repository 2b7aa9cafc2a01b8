import { button, folding, make, section } from "./elements.js";
import { field, idOf, optionalGroup, spaced } from "./fields.js";
import { plain, scan } from "./scan.js";
import { isRig, rigsIn } from "./settings.js";

/** The sections of a rig's settings; those in no list are under "More". */
const main = ["address", "miner", "name", "group"];
const inHome = ["as", "sensors", "fan", "power", "alarm", "switches"];
const optional = [
  ["heating", "Heats a room"],
  ["supply", "Has a smart plug"],
];
const login = ["username", "password", "token"];
const placed = [...main, ...inHome, ...optional.map(([key]) => key), ...login];

export function rigs(page) {
  const isInside = page.mode === "inside";
  // An entry that is not a rig has no card; its mistakes are shown below the others.
  const cards = rigsIn(page.settings).map((rig, index) => (isRig(rig) ? card(page, rig, index) : null));
  const isList = Array.isArray(page.settings.rigs ?? []);
  const add = button(isInside ? "Add a rig" : "Add settings for a rig", () => page.addRigs([{}]), {
    id: "rb-add-rig",
    kind: "btn-primary",
  });
  const hint = isInside
    ? null
    : make(
        "p",
        { class: "rb-quiet" },
        'The rigs of the service are shown as set under "All rigs" below. Add rigs here to show them differently.',
      );
  return section(
    "Rigs",
    isInside ? scan(page) : hint,
    make("div", { "data-path": isList ? "rigs" : undefined }, ...cards, make("div", { class: "rb-mistake" })),
    add,
  );
}

function card(page, rig, index) {
  const path = ["rigs", index];
  const { properties } = page.schema.properties.rigs.items;
  const isHere = (key) => (properties[key]["x-rigs"] ?? page.mode) === page.mode;
  const fieldOf = (key) => field(page, [...path, key], suggestionsFor(page, key));
  const grid = (keys) => make("div", { class: "rb-grid" }, ...keys.filter(isHere).map(fieldOf));
  const fold = (title, keys) =>
    keys.some(isHere) ? folding(page, `${page.keyOf(rig)} ${title}`, title, { class: "rb-fold" }, grid(keys)) : null;
  const rest = Object.keys(properties).filter((key) => !placed.includes(key));
  const title = make("span", { class: "rb-title" }, rigTitle(rig));
  const count = make("span", { class: "rb-count" });
  const body = make(
    "div",
    { class: "rb-body" },
    make("div", { class: "rb-mistake" }),
    ...reasons(page, rig),
    grid(main),
    make("fieldset", { class: "rb-group" }, make("legend", { class: "h6" }, "In Home"), grid(inHome)),
    ...optional.filter(([key]) => isHere(key)).map(([key, question]) => optionalGroup(page, [...path, key], question)),
    fold("Login", login),
    fold("More", rest),
    button("Remove this rig", () => page.removeRig(index), { "aria-label": `Remove ${rigTitle(rig)}` }),
  );
  body.addEventListener("input", () => {
    title.textContent = rigTitle(rig);
  });
  return folding(
    page,
    page.keyOf(rig),
    make("span", {}, title, " ", shownAs(page, rig), " ", count),
    { class: "rb-rig", "data-path": `rigs[${index}]`, id: idOf(path) },
    body,
  );
}

export const rigTitle = ({ name, address, miner }) => {
  const where = address ?? miner;
  if (name === undefined && where === undefined) return "A new rig";
  return name === undefined || where === undefined ? (name ?? where) : `${name} · ${where}`;
};

function suggestionsFor(page, key) {
  if (key === "miner") return (page.tried?.miners ?? []).map(({ name }) => name);
  if (key === "group") return rigsIn(page.settings).flatMap((rig) => (rig?.group ? [rig.group] : []));
  return [];
}

/** Its accessory when the plugin last ran. */
const accessoryOf = ({ status }, { address, miner, name }) =>
  status?.accessories.find(
    ({ key, host, name: title }) =>
      (address !== undefined && host !== null && plain(host) === plain(address)) ||
      (address !== undefined && host?.startsWith(`${plain(address)}:`)) ||
      (miner !== undefined && (key === `rig:${miner}` || title === (name ?? miner))),
  );

function shownAs(page, rig) {
  const services = accessoryOf(page, rig)?.services ?? [];
  const words = services.map((name) => spaced(name.replace(/v2$/, "")).toLowerCase());
  return make("span", { class: "rb-shown rb-quiet" }, words.length === 0 ? "" : `in Home: ${words.join(", ")}`);
}

/** Why it is not shown as set. A note starts with its rig's name, which may itself start with another rig's name. */
function reasons(page, rig) {
  const begins = (note) => (name) => note.startsWith(`${name} `);
  const names = namesOf(page, rig);
  const others = rigsIn(page.settings)
    .filter(isRig)
    .flatMap((other) => namesOf(page, other));
  const isAbout = (note) => {
    const name = longest(names.filter(begins(note)));
    return name !== undefined && longest(others.filter(begins(note))) === name;
  };
  return (page.status?.notes ?? []).filter(isAbout).map((note) => make("p", { class: "rb-note small" }, note));
}

const namesOf = (page, rig) => [rig.name, rig.miner, accessoryOf(page, rig)?.name].filter((name) => name !== undefined);

const longest = (names) => names.toSorted((one, other) => other.length - one.length)[0];
