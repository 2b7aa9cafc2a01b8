import { button, folding, make, rememberOpen, section } from "./elements.js";
import { field } from "./fields.js";
import { lastRun } from "./last-run.js";
import { showMistakes } from "./mistakes.js";
import { rigs } from "./rigs.js";
import { cleaned, rigsIn } from "./settings.js";
import { source } from "./source.js";

const { homebridge } = window;

/** After the last key press, before the settings are checked. */
const checkDelayMs = 250;

/** The plugin keeps a block's data under its name. */
const nameOf = ({ name }) => name ?? "Rigbridge";

/** Homebridge runs one block of a platform per bridge, and ignores those after one without a child bridge. */
const bridgeless =
  "Each of these needs a child bridge: Homebridge ignores those that follow one without. " +
  "Save, then set up the child bridges in the plugin's menu.";

/** The settings page. Input is passed to Homebridge only once the plugin finds no mistakes in it. */
class Page {
  root = document.getElementById("rigbridge");
  summary = make("div", { class: "rb-summary", role: "status" });
  schema;
  /** As Homebridge stores them. */
  blocks = [];
  index = 0;
  /** The block being edited. */
  settings = {};
  mode = "inside";
  isConfigured = false;
  /** null before the first check. */
  mistakes = null;
  /** Settings that were switched off or belong to the other mode, so that they can be restored. */
  putAside = new Map();
  open = new Set();
  services = null;
  drawServices = () => {};
  tried = null;
  status = null;
  search = {
    networks: "",
    isRunning: false,
    isDone: false,
    found: [],
    notes: [],
    error: null,
    scanned: 0,
    total: 0,
    draw: () => {},
  };
  #keys = new WeakMap();
  #lastKey = 0;
  #timer;
  #checks = 0;

  async start() {
    const [blocks, { schema }] = await Promise.all([homebridge.getPluginConfig(), homebridge.getPluginConfigSchema()]);
    this.schema = schema;
    this.blocks = blocks;
    homebridge.addEventListener("scan", ({ data }) => {
      if (!this.search.isRunning) return;
      Object.assign(this.search, data);
      this.search.draw();
    });
    this.root.removeAttribute("aria-busy");
    await this.edit(0);
    this.services = await this.request("/services").catch(() => []);
    this.drawServices();
  }

  /** Starts editing one of the blocks. */
  async edit(index) {
    this.index = index;
    this.settings = structuredClone(this.blocks[index] ?? { name: "Rigbridge" });
    this.mode = this.settings.service === undefined ? "inside" : "elsewhere";
    this.putAside.clear();
    this.tried = null;
    this.mistakes = null;
    this.summary.replaceChildren();
    // The status of a block that was removed is out of date.
    const isSetUp = this.blocks[index] !== undefined;
    this.status = isSetUp ? await this.request("/status", { name: this.settings.name }).catch(() => null) : null;
    for (const part of this.root.querySelectorAll("details")) part.open = false;
    this.draw();
    await this.#check(false);
  }

  request(path, body) {
    return homebridge.request(path, body);
  }

  /** Identifies a rig while the page is open. */
  keyOf(rig) {
    if (!this.#keys.has(rig)) {
      this.#lastKey += 1;
      this.#keys.set(rig, `rig ${this.#lastKey}`);
    }
    return this.#keys.get(rig);
  }

  changed() {
    homebridge.disableSaveButton();
    this.summary.setAttribute("aria-busy", "true");
    this.#checks += 1;
    clearTimeout(this.#timer);
    this.#timer = setTimeout(() => void this.#check(true), checkDelayMs);
  }

  /** For changes that add or remove fields. */
  redraw() {
    this.draw();
    this.changed();
  }

  /** Choosing a heater adds its room. */
  chosen(path, value) {
    const rig = path[0] === "rigs" ? this.settings.rigs[path[1]] : undefined;
    if (path[2] === "as" && value === "heater" && this.mode === "inside") rig.heating ??= {};
    if (path.at(-1) === "as") this.redraw();
  }

  switchTo(mode, isDrawn = true) {
    if (mode === this.mode) return;
    this.putAside.set(this.mode, { service: this.settings.service, rigs: this.settings.rigs });
    const { service, rigs: before } = this.putAside.get(mode) ?? {};
    this.mode = mode;
    this.settings.rigs = before ?? [];
    if (mode === "elsewhere") this.settings.service = service ?? {};
    else delete this.settings.service;
    if (isDrawn) this.redraw();
  }

  addRigs(found) {
    this.settings.rigs = [...rigsIn(this.settings)];
    for (const { address, hostname } of found) {
      const rig = { ...(address === undefined ? {} : { address }), ...(hostname ? { name: hostname } : {}) };
      this.settings.rigs.push(rig);
      if (address === undefined) this.open.add(this.keyOf(rig));
    }
    this.redraw();
    const isBlank = found[0].address === undefined;
    const next = isBlank ? null : this.root.querySelector(".rb-found button");
    (next ?? this.root.querySelector(`.rb-rig:last-of-type ${isBlank ? "input" : "summary"}`)).focus();
  }

  removeRig(index) {
    this.settings.rigs.splice(index, 1);
    this.redraw();
    (this.root.querySelectorAll(".rb-rig > summary")[index] ?? this.root.querySelector("#rb-add-rig")).focus();
  }

  draw() {
    rememberOpen(this);
    const focused = document.activeElement?.id;
    this.root.replaceChildren(
      ...this.#blockChoice(),
      source(this),
      ...lastRun(this),
      rigs(this),
      this.#rest(),
      this.summary,
    );
    if (focused) document.getElementById(focused)?.focus();
    if (this.mistakes !== null) showMistakes(this, this.mistakes);
  }

  /** All settings other than the source and the rigs, in the schema's order. */
  #rest() {
    const { properties } = this.schema;
    const suggestions = { rules: this.tried?.rules ?? [], groups: this.tried?.groups ?? [] };
    const folds = ["defaults", "groups"].map((key) => {
      const keys = Object.keys(properties[key].properties);
      const fields = keys.map((each) => field(this, [key, each], each === "only" ? suggestions.groups : []));
      return folding(
        this,
        key,
        properties[key].title,
        { class: "rb-fold" },
        make("div", { class: "rb-grid", "data-path": key }, ...fields, make("div", { class: "rb-mistake" })),
      );
    });
    const placed = ["service", "rigs", "defaults", "groups"];
    const others = Object.keys(properties).filter((key) => !placed.includes(key));
    const isObject = (key) => properties[key].properties !== undefined;
    return section(
      "Appearance in Home",
      ...folds,
      folding(
        this,
        "more",
        "More",
        { class: "rb-fold" },
        make(
          "div",
          { class: "rb-grid" },
          ...others.filter((key) => !isObject(key)).map((key) => field(this, [key], suggestions[key])),
        ),
        ...others.filter(isObject).map((key) => field(this, [key])),
        make(
          "div",
          { class: "rb-line" },
          button("Add another setup", () => void this.#another()),
          this.blocks.length > 1 ? button("Remove this setup", () => void this.#remove()) : null,
        ),
        make(
          "div",
          { class: "form-text rb-quiet" },
          "Each setup has its own child bridge: for more than 140 rigs, or for another service.",
        ),
      ),
    );
  }

  /** The choice between several setups. */
  #blockChoice() {
    if (this.blocks.length < 2) return [];
    const isBridged = this.blocks.slice(0, -1).every(({ _bridge }) => _bridge !== undefined);
    const options = this.blocks.map(({ name }, index) =>
      make("option", { value: index, selected: index === this.index }, name ?? `Rigbridge ${index + 1}`),
    );
    const select = make(
      "select",
      {
        id: "rb-block",
        class: "form-select custom-select",
        onchange: ({ target }) => void this.#switchBlock(Number(target.value)),
      },
      ...options,
    );
    return [
      make("div", { class: "rb-field" }, make("label", { class: "form-label", for: "rb-block" }, "Setup"), select),
      ...(isBridged ? [] : [make("p", { class: "rb-note" }, bridgeless)]),
    ];
  }

  /** Whether the input has been passed to Homebridge; its mistakes are shown otherwise. */
  async #isKept() {
    clearTimeout(this.#timer);
    await this.#check(true);
    if (this.mistakes?.length === 0) return true;
    this.draw();
    this.summary.querySelector("button")?.focus();
    return false;
  }

  async #switchBlock(index) {
    if (await this.#isKept()) await this.edit(index);
  }

  async #another() {
    if (!(await this.#isKept())) return;
    const names = this.blocks.map(nameOf);
    let number = 2;
    while (names.includes(`Rigbridge ${number}`)) number += 1;
    const block = { platform: this.blocks[0]?.platform ?? "Rigbridge", name: `Rigbridge ${number}` };
    const blocks = this.blocks.length === 0 ? [cleaned(this.settings).config] : this.blocks;
    await this.#pass([...blocks, block]);
    await this.edit(this.blocks.length - 1);
  }

  async #remove() {
    clearTimeout(this.#timer);
    await this.#pass(this.blocks.filter((_, index) => index !== this.index));
    await this.edit(0);
  }

  /** Has the plugin check the settings, and passes them to Homebridge if there are no mistakes. */
  async #check(isChanged) {
    this.#checks += 1;
    const number = this.#checks;
    const { config, onPage } = cleaned(this.settings);
    const isNamed = this.mode === "inside" || config.service?.url !== undefined;
    const unnamed = isNamed ? [] : [{ path: "service.url", message: "is missing" }];
    let answer;
    try {
      answer = await this.request("/check", config);
    } catch (error) {
      answer = {
        isConfigured: true,
        mistakes: [{ path: "", message: `The settings cannot be checked: ${error.message}` }],
      };
    }
    if (number !== this.#checks) return;
    this.summary.removeAttribute("aria-busy");
    const found = isNamed ? answer.mistakes : [];
    const isOther = (block, index) => index !== this.index && nameOf(block) === nameOf(config);
    const duplicates = this.blocks.some(isOther) ? [{ path: "name", message: "is already used by another setup" }] : [];
    this.isConfigured = answer.isConfigured;
    this.mistakes = [...unnamed, ...found, ...duplicates].map(({ path, message }) => ({
      path: onPage(path),
      message: onPage(message),
    }));
    showMistakes(this, this.mistakes);
    if (this.mistakes.length > 0) {
      homebridge.disableSaveButton();
      return;
    }
    if (isChanged) await this.#pass(this.blocks.length === 0 ? [config] : this.blocks.with(this.index, config));
    if (number === this.#checks) homebridge.enableSaveButton();
  }

  /** Homebridge merges new settings into existing ones, so removed keys are passed as undefined. */
  async #pass(blocks) {
    const whole = blocks.map((block, index) => {
      const gone = Object.keys(this.blocks[index] ?? {}).map((key) => [key, undefined]);
      return { ...Object.fromEntries(gone), ...block };
    });
    this.blocks = await homebridge.updatePluginConfig(whole);
  }
}

homebridge.addEventListener("ready", () => {
  const page = new Page();
  page.start().catch((error) => {
    page.root.replaceChildren(
      make("p", { class: "rb-wrong", role: "alert" }, `The settings cannot be shown: ${error.message}`),
    );
  });
});
