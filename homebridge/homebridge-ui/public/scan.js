import { button, make } from "./elements.js";

/** The search for rigs: where, how far it is, and what was found. */
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
  });
  const start = button("Search", () => void run(page), {
    id: "rb-scan",
    kind: "btn-primary",
    hidden: search.isRunning,
  });
  const stop = button("Stop", () => void page.request("/scan/stop"), { id: "rb-scan-stop", hidden: !search.isRunning });
  const state = make("div", { id: "rb-scan-state" });
  search.draw = () => {
    start.hidden = search.isRunning;
    stop.hidden = !search.isRunning;
    state.replaceChildren(...results(page));
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
        "like 192.168.1.0/24, 192.168.1.10-192.168.1.80, or 192.168.1.7:8080 for an XMRig; private networks only",
      ),
    ),
    state,
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

function results(page) {
  const { search } = page;
  const lines = [];
  if (search.error !== null) lines.push(make("p", { class: "rb-wrong", role: "alert" }, search.error));
  if (search.isRunning) {
    const max = search.total || 1;
    lines.push(make("progress", { max, value: search.scanned, "aria-label": "Addresses looked at" }));
    lines.push(make("span", { class: "small" }, ` ${search.scanned} of ${search.total} addresses`));
  }
  if (search.isDone) lines.push(make("p", { role: "status" }, outcome(search)));
  for (const note of search.notes) lines.push(make("p", { class: "rb-quiet" }, note));
  if (search.found.length > 0)
    lines.push(make("ul", { class: "rb-found" }, ...search.found.map((rig) => foundRig(page, rig))));
  const fresh = search.found.filter(({ address }) => !isListed(page, address));
  if (fresh.length > 1)
    lines.push(button(`Add all ${fresh.length}`, () => page.addRigs(fresh), { kind: "btn-primary" }));
  return lines;
}

function outcome({ found, scanned, wasStopped }) {
  const rigs = found.length === 0 ? "No rig" : `${found.length} rig${found.length === 1 ? "" : "s"}`;
  const advice = found.length === 0 ? ". A rig that is off, or in another network, is not found" : "";
  return `${rigs} found at ${scanned} address${scanned === 1 ? "" : "es"}${wasStopped ? ", stopped before the end" : ""}${advice}.`;
}

function foundRig(page, rig) {
  const { address, what, hostname, note } = rig;
  const text = [make("strong", {}, what), ` ${address}`, hostname === null ? "" : ` (${hostname})`];
  const added = isListed(page, address)
    ? make("span", { class: "rb-quiet" }, "added")
    : button("Add", () => page.addRigs([rig]), { kind: "btn-primary", "aria-label": `Add ${what} at ${address}` });
  return make(
    "li",
    { class: "rb-offer" },
    make("span", {}, ...text, note === null ? null : make("div", { class: "rb-quiet" }, note)),
    added,
  );
}

/** Addresses are typed in several ways. */
export const plain = (address) =>
  String(address ?? "")
    .replace(/^http:\/\//, "")
    .replace(/:80$/, "")
    .toLowerCase();

const isListed = (page, address) => (page.settings.rigs ?? []).some((rig) => plain(rig.address) === plain(address));
