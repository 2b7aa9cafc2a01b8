import { button, make } from "./elements.js";
import { rigsIn } from "./settings.js";

/** The search for rigs: networks, progress and results. */
export function scan(page) {
  const { search } = page;
  const input = make("input", {
    type: "text",
    id: "rb-networks",
    class: "form-control",
    autocomplete: "off",
    placeholder: "this machine's own networks",
    "aria-describedby": "rb-networks-help",
    value: search.networks,
    oninput: ({ target }) => {
      search.networks = target.value;
    },
    onkeydown: (event) => {
      if (event.key !== "Enter" || search.isRunning) return;
      // The same key press would activate the button that is focused next.
      event.preventDefault();
      void run(page);
    },
  });
  const start = button("Search", () => void run(page), {
    id: "rb-scan",
    kind: "btn-primary",
    hidden: search.isRunning,
  });
  const stop = button("Stop", () => void page.request("/scan/stop"), { id: "rb-scan-stop", hidden: !search.isRunning });
  const state = make("div", { id: "rb-scan-state" });
  const found = make("div");
  let drawn = "";
  search.draw = () => {
    start.hidden = search.isRunning;
    stop.hidden = !search.isRunning;
    state.replaceChildren(...progress(page));
    // A button about to be clicked stays in place while only the count changes.
    const fresh = search.found.filter(({ address }) => !isListed(page, address));
    const addresses = fresh.map(({ address }) => address).join();
    if (addresses === drawn) return;
    drawn = addresses;
    const focused = document.activeElement?.id;
    found.replaceChildren(...offers(page, fresh));
    if (focused) document.getElementById(focused)?.focus();
  };
  search.draw();
  return make(
    "div",
    { class: "rb-scan" },
    make(
      "div",
      { class: "rb-field" },
      make("label", { class: "form-label", for: "rb-networks" }, "Search for rigs"),
      make("div", { class: "rb-line" }, input, start, stop),
      make(
        "div",
        { id: "rb-networks-help", class: "form-text rb-quiet" },
        "like 192.168.1.0/24, 192.168.1.10-192.168.1.80, or 192.168.1.7:8080 for XMRig; private networks only",
      ),
    ),
    state,
    found,
  );
}

async function run(page) {
  const { search } = page;
  Object.assign(search, { isRunning: true, scanned: 0, total: 0, found: [], notes: [], error: null, isDone: false });
  search.draw();
  page.root.querySelector("#rb-scan-stop").focus();
  try {
    Object.assign(search, await page.request("/scan", { networks: search.networks }), { isDone: true });
  } catch (error) {
    search.error = error.message;
  }
  search.isRunning = false;
  const hadFocus = document.activeElement?.id === "rb-scan-stop" || document.activeElement === document.body;
  search.draw();
  if (hadFocus) page.root.querySelector("#rb-scan")?.focus();
}

function progress(page) {
  const { search } = page;
  const lines = [];
  if (search.error !== null) lines.push(make("p", { class: "rb-wrong", role: "alert" }, search.error));
  if (search.isRunning) {
    const max = search.total || 1;
    lines.push(make("progress", { max, value: search.scanned, "aria-label": "Addresses scanned" }));
    lines.push(make("span", { class: "small" }, ` ${search.scanned} of ${search.total} addresses`));
  }
  if (search.isDone) lines.push(make("p", { role: "status" }, outcome(page)));
  for (const note of search.notes) lines.push(make("p", { class: "rb-quiet" }, note));
  return lines;
}

/** Rigs that were found and are not in the list yet. */
function offers(page, fresh) {
  if (fresh.length === 0) return [];
  const all = button(`Add all ${fresh.length}`, () => page.addRigs(fresh), { id: "rb-add-all", kind: "btn-primary" });
  return [
    ...(fresh.length > 1 ? [all] : []),
    make("ul", { class: "rb-found" }, ...fresh.map((rig) => offer(page, rig))),
  ];
}

function outcome(page) {
  const { found, scanned, wasStopped } = page.search;
  const rigs = found.length === 0 ? "No rigs" : `${found.length} rig${found.length === 1 ? "" : "s"}`;
  const listed = found.filter(({ address }) => isListed(page, address)).length;
  const added = listed === 0 ? "" : listed === found.length ? ", all of them added" : `, ${listed} of them added`;
  const advice = found.length === 0 ? ". Rigs that are off or in another network are not found" : added;
  return `${rigs} found at ${scanned} address${scanned === 1 ? "" : "es"}${wasStopped ? ", stopped before the end" : ""}${advice}.`;
}

function offer(page, rig) {
  const { address, what, hostname, note } = rig;
  const text = [make("strong", {}, what), ` ${address}`, hostname === null ? "" : ` (${hostname})`];
  const add = button("Add", () => page.addRigs([rig]), {
    id: `rb-add-${address.replace(/\W+/g, "-")}`,
    kind: "btn-primary",
    "aria-label": `Add ${what} at ${address}`,
  });
  return make(
    "li",
    { class: "rb-offer" },
    make("span", {}, ...text, note === null ? null : make("div", { class: "rb-quiet" }, note)),
    add,
  );
}

/** The same for all ways of writing an address. */
export const plain = (address) =>
  String(address ?? "")
    .replace(/^http:\/\//, "")
    .replace(/:80$/, "")
    .toLowerCase();

const isListed = (page, address) => rigsIn(page.settings).some((rig) => plain(rig?.address) === plain(address));
