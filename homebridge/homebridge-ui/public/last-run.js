import { folding, make, section } from "./elements.js";

/** More notes than this are collapsed. */
const maxOpenNotes = 5;

/** What the plugin showed in Home in its last run, or why it showed nothing. */
export function lastRun(page) {
  if (page.status === null) return [];
  const { at, problem, accessories, notes } = page.status;
  const count = `${accessories.length} accessor${accessories.length === 1 ? "y" : "ies"}`;
  const list = make("ul", { class: "small" }, ...notes.map((note) => make("li", {}, note)));
  const isLong = notes.length > maxOpenNotes;
  const content = isLong ? folding(page, "notes", `${notes.length} notes`, { class: "rb-fold" }, list) : list;
  return [
    section(
      "In Home now",
      make("p", {}, problem ?? count, make("span", { class: "rb-quiet" }, ` since ${new Date(at).toLocaleString()}`)),
      notes.length === 0 ? null : content,
    ),
  ];
}
