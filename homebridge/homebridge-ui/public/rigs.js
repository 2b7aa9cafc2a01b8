import { button, folding, make, section } from "./elements.js";
import { field, idOf, optionalGroup } from "./fields.js";
import { plain, scan } from "./scan.js";

/** What a rig has of its own, by where it comes from; what is in no list is for both, under "More". */
const inHome = ["as", "sensors", "fan", "alarm", "switches"];
const layouts = {
  inside: {
    main: ["address", "name", "group"],
    optional: [
      ["heating", "It heats a room"],
      ["supply", "It has a plug that can be switched"],
    ],
    folded: [["Login", ["username", "password", "token"]]],
    left: ["miner"],
  },
  elsewhere: {
    main: ["miner", "name"],
    optional: [],
    folded: [],
    left: [
      "address",
      "group",
      "username",
      "password",
      "token",
      "driver",
      "uid",
      "powerNameplate",
      "interval",
      "supply",
      "heating",
    ],
  },
};

export function rigs(page) {
  const isInside = page.mode === "inside";
  const cards = (page.settings.rigs ?? []).map((rig, index) => card(page, rig, index));
  const add = button(isInside ? "Add a rig" : "Add settings of a rig", () => page.addRigs([{}]), {
    id: "rb-add-rig",
    kind: "btn-primary",
  });
  const hint = isInside
    ? null
    : make(
        "p",
        { class: "rb-quiet" },
        "All rigs of the service are shown as said for all rigs; here stand those that are not.",
      );
  return section(
    "Rigs",
    isInside ? scan(page) : hint,
    make("div", { "data-path": "rigs" }, ...cards, make("div", { class: "rb-mistake" })),
    add,
  );
}

function card(page, rig, index) {
  const path = ["rigs", index];
  const { main, optional, folded, left } = layouts[page.mode];
  const fields = (keys) =>
    make("div", { class: "rb-grid" }, ...keys.map((key) => field(page, [...path, key], suggestionsFor(page, key))));
  const placed = [...main, ...inHome, ...optional.map(([key]) => key), ...folded.flatMap(([, keys]) => keys), ...left];
  const rest = Object.keys(page.schema.properties.rigs.items.properties).filter((key) => !placed.includes(key));
  const fold = (title, keys) =>
    keys.length === 0 ? null : folding(page, `${page.keyOf(rig)} ${title}`, title, { class: "rb-fold" }, fields(keys));
  const title = make("span", { class: "rb-title" }, rigTitle(rig));
  const count = make("span", { class: "rb-count" });
  const body = make(
    "div",
    { class: "rb-body" },
    make("div", { class: "rb-mistake" }),
    ...reasons(page, rig),
    fields(main),
    make("fieldset", { class: "rb-group" }, make("legend", { class: "h6" }, "In Home"), fields(inHome)),
    ...optional.map(([key, question]) => optionalGroup(page, [...path, key], question)),
    ...folded.map(([name, keys]) => fold(name, keys)),
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
  if (key === "group") return (page.settings.rigs ?? []).flatMap(({ group }) => (group ? [group] : []));
  return [];
}

/** What it was in Home when the plugin last ran. */
const accessoryOf = ({ status }, { address, miner, name }) =>
  status?.accessories.find(
    ({ key, host, name: shown }) =>
      (address !== undefined && host !== null && plain(host) === plain(address)) ||
      (address !== undefined && host?.startsWith(`${plain(address)}:`)) ||
      (miner !== undefined && (key === `rig:${miner}` || shown === (name ?? miner))),
  );

function shownAs(page, rig) {
  const services = accessoryOf(page, rig)?.services ?? [];
  const words = services.map((name) => name.replace(/([a-z])([A-Z])/g, "$1 $2").toLowerCase());
  return make("span", { class: "rb-shown rb-quiet" }, words.length === 0 ? "" : `in Home: ${words.join(", ")}`);
}

/** Why it is not shown, or not as it is wanted. */
function reasons(page, rig) {
  const names = [rig.name, rig.miner, accessoryOf(page, rig)?.name].filter((name) => name !== undefined);
  const notes = (page.status?.notes ?? []).filter((note) => names.some((name) => note.startsWith(`${name} `)));
  return notes.map((note) => make("p", { class: "rb-note small" }, note));
}
