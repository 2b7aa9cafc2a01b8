import { button, make, section } from "./elements.js";
import { field } from "./fields.js";

/** Where the rigs come from: an existing service, or the plugin itself. */
export function source(page) {
  const choices = [
    ["inside", "Rigs by address", "the plugin reads them itself"],
    ["elsewhere", "An existing service", "a Rigbridge or Awesome Miner that already manages the rigs"],
  ];
  const radios = choices.map(([mode, text, help]) => {
    const id = `rb-mode-${mode}`;
    const input = make("input", {
      type: "radio",
      class: "form-check-input",
      name: "rb-mode",
      id,
      checked: page.mode === mode,
      "aria-describedby": `${id}-help`,
      onchange: () => page.switchTo(mode),
    });
    return make(
      "div",
      { class: "form-check" },
      input,
      make("label", { class: "form-check-label", for: id }, text),
      make("div", { id: `${id}-help`, class: "form-text rb-quiet" }, help),
    );
  });
  return section(
    "Source of the rigs",
    make(
      "fieldset",
      { class: "rb-field" },
      make("legend", { class: "visually-hidden rb-hidden" }, "Source of the rigs"),
      ...radios,
    ),
    foundServices(page),
    page.mode === "elsewhere" ? serviceFields(page) : null,
  );
}

/** Services that answer. They come first, since their users have their rigs there. */
function foundServices(page) {
  const place = make("div", { class: "rb-services", role: "status" });
  // Runs automatically: the search takes seconds, and its end must not disturb a user who is already typing.
  page.drawServices = () => place.replaceChildren(...servicesFound(page));
  page.drawServices();
  return place;
}

function servicesFound(page) {
  const { services } = page;
  const used = page.mode === "elsewhere" ? page.settings.service?.url : undefined;
  const lines = [];
  if (services === null) lines.push(make("p", { class: "rb-quiet" }, "Searching for services…"));
  else if (services.length === 0 && page.mode === "elsewhere")
    lines.push(make("p", { class: "rb-quiet" }, "No service was found in this network; enter its address."));
  for (const { url, name, version, kind } of services ?? []) {
    const what = kind === "rigbridge" ? `Rigbridge ${version ?? ""}` : "Awesome Miner";
    const use = () => {
      page.switchTo("elsewhere", false);
      page.settings.service = { ...page.settings.service, url };
      page.redraw();
      page.root.querySelector("#rb-service-key")?.focus();
    };
    lines.push(
      make(
        "div",
        { class: "rb-offer" },
        make("span", {}, make("strong", {}, `${what.trim()} on ${name}`), ` ${url}`),
        url === used
          ? make("span", { class: "rb-quiet" }, "in use")
          : button("Use", use, { kind: "btn-primary", "aria-label": `Use ${url}` }),
      ),
    );
  }
  return lines;
}

function serviceFields(page) {
  const result = make("div", { id: "rb-tried", role: "status", class: "rb-result" });
  result.append(...triedLines(page.tried));
  const test = async () => {
    result.replaceChildren("Testing…");
    try {
      page.tried = await page.request("/try", page.settings.service ?? {});
    } catch (error) {
      page.tried = { error: error.message };
    }
    // The names of the service's rigs, groups and rules become suggestions.
    page.redraw();
  };
  const keys = Object.keys(page.schema.properties.service.properties);
  // A result does not apply to changed input.
  const forget = () => {
    page.tried = null;
    result.replaceChildren();
  };
  return make(
    "fieldset",
    { class: "rb-group", "data-path": "service", oninput: forget },
    make("legend", { class: "h6" }, "Service"),
    make("div", { class: "rb-grid" }, ...keys.map((key) => field(page, ["service", key]))),
    make("div", { class: "rb-mistake" }),
    button("Test", test, { id: "rb-test", kind: "btn-primary" }),
    result,
  );
}

function triedLines(tried) {
  if (tried === null) return [];
  if (tried.error !== undefined) return [make("div", { class: "rb-wrong" }, tried.error)];
  const names = tried.miners.slice(0, 20).map(({ name }) => name);
  const more = tried.miners.length > names.length ? ` and ${tried.miners.length - names.length} more` : "";
  return [
    make("div", { class: "rb-right" }, `The service answers: ${tried.text}.`),
    tried.mayControl ? null : make("div", { class: "rb-wrong" }, "This key is read-only: it cannot switch anything."),
    names.length === 0 ? null : make("div", { class: "rb-quiet" }, names.join(", ") + more),
  ].filter((line) => line !== null);
}
