/* Shared by the editors of all Rigbridge nodes; each loads it before its own script. */
window.rigbridge ??= (() => {
  const catalogue = "@rigbridge/node-red/rigbridge-service";
  const translate = (key, words) => RED._(`${catalogue}:${key}`, words);

  /**
   * The beginning of a node's definition: its name in the palette, and its label unless the node has another. Adds the
   * fields name and service to its dialog, here because Node-RED makes the list of services before it calls `oneditprepare`.
   */
  function head(type) {
    const field = (name, key) =>
      `<div class="form-row">
        <label for="node-input-${name}" data-i18n="${catalogue}:${key}"></label>
        <input type="text" id="node-input-${name}">
      </div>`;
    // The template that Node-RED uses. Reinstalling the package without reloading the editor adds another.
    const dialog = $(`script[data-template-name="${type}"]`).first();
    const own = dialog.text();
    if (!own.includes('id="node-input-service"'))
      dialog.text(field("name", "rigbridge-service.name") + field("service", "field.service") + own);
    return {
      paletteLabel() {
        return this._(`${type}.palette`);
      },
      label() {
        return this.name || this._(`${type}.palette`);
      },
      labelStyle() {
        return this.name ? "node_label_italic" : "";
      },
    };
  }

  /** Checks the field of the chosen scope; a node without an input gets no value from a message. */
  const neededFor = (scope, { hasInput = true } = {}) =>
    function (value) {
      return this.scope !== scope || (value !== "" && (hasInput || this[`${scope}Type`] !== "msg"));
    };

  /** The miners or the group that a node is for; empty for all. */
  const who = ({ scope, group, miners }) => (scope === "all" ? "" : scope === "group" ? group : miners);

  /** ms that a list is cached. */
  const cacheMs = 10_000;
  const cache = new Map();

  /** A list of the service chosen in the dialog; empty if it cannot be read, since fields also take free text. */
  const list = (what) => ofService((id) => `rigbridge/services/${id}/${what}`);

  /** The list at `path(id)` of the chosen service; empty if none is chosen, or if its changes are not deployed. */
  async function ofService(path, query = {}) {
    const service = RED.nodes.node($("#node-input-service").val() ?? "");
    return !service || service.changed ? [] : get(path(encodeURIComponent(service.id)), query);
  }

  /** A list of the runtime; never rejects. */
  function get(path, query = {}) {
    const address = `${path}?${new URLSearchParams(query)}`;
    const before = cache.get(address);
    if (before !== undefined && Date.now() - before.at < cacheMs) return before.answer;
    const answer = new Promise((resolve) => {
      $.getJSON(address)
        .done((answered) => {
          // The service may not be connected yet, so an empty list is not cached.
          if (answered.length === 0) cache.delete(address);
          resolve(answered);
        })
        .fail(() => {
          cache.delete(address);
          resolve([]);
        });
    });
    cache.set(address, { at: Date.now(), answer });
    return answer;
  }

  /** A row of the dialog: a label and a field. */
  function row(field, label, input) {
    const id = `node-input-${field}`;
    return $("<div>", { class: "form-row" }).append($("<label>", { for: id, text: label }), " ", input.attr("id", id));
  }

  /** A field of the dialog with fixed options. */
  function select(node, field, options) {
    const input = $("<select>").css("width", "70%");
    for (const [value, text] of options) input.append($("<option>", { value, text }));
    return input.val(node[field] ?? options[0][0]);
  }

  const sources = ["msg", "flow", "global", "env", "jsonata"];

  /**
   * Makes `#node-input-<field>` a typed field, with its type in `<field>Type`. `complete(text)` returns suggestions
   * `[{value, label?, hint?, isGrey?, isMatch?}]` or a promise of them; `types` adds to text and the sources; a node
   * without an input has no `msg`.
   */
  function typed(node, field, { complete, types = [], hasInput = true } = {}) {
    const input = $(`#node-input-${field}`).val(node[field] ?? "");
    const typeField = $("<input>", { type: "hidden", id: `node-input-${field}Type` }).val(
      node[`${field}Type`] ?? "str",
    );
    input.after(typeField);
    const text = { value: "str", label: translate("editor.text"), icon: "red/images/typedInput/az.svg" };
    if (complete !== undefined)
      text.autoComplete = (typedText, done) => {
        Promise.resolve(complete(typedText)).then((offers) => done(matching(offers, typedText).map(completion)));
      };
    input.typedInput({
      default: "str",
      typeField,
      types: [text, ...types, ...(hasInput ? sources : sources.slice(1))],
    });
    input.typedInput("type", typeField.val() || "str");
    // The widget's own "width" would fix the current pixels, even if the dialog is resized.
    input.next(".red-ui-typedInput-container").css("width", "70%");
    return input;
  }

  /** The suggestions that match the text; all of them if the field already holds one. */
  function matching(offers, typedText) {
    const wanted = typedText.trim().toLowerCase();
    const isMatching = ({ value, label = "", hint = "", isMatch = false }) =>
      isMatch || `${value} ${label} ${hint}`.toLowerCase().includes(wanted);
    return offers.some(({ value }) => value.toLowerCase() === wanted) ? offers : offers.filter(isMatching);
  }

  function completion({ value, label = value, hint = "", isGrey = false }) {
    const element = $("<div>", { class: `rigbridge-offer${isGrey ? " rigbridge-grey" : ""}` });
    element.append($("<span>", { text: label }), $("<span>", { class: "rigbridge-hint", text: hint }));
    return { value, label: element };
  }

  /** Completes the last of several names separated by commas. */
  function lastOf(text, offers) {
    const cut = text.lastIndexOf(",") + 1;
    const before = text.slice(0, cut);
    const wanted = text.slice(cut).trim().toLowerCase();
    const open = offers.filter(({ value, hint }) => `${value} ${hint}`.toLowerCase().includes(wanted));
    return open.map((offer) => ({
      ...offer,
      label: offer.value,
      isMatch: true,
      value: `${before}${before === "" ? "" : " "}${offer.value}`,
    }));
  }

  const minerOffers = async () =>
    (await list("miners")).map(({ value, model, address, group, status }) => ({
      value,
      label: value,
      hint: [model, group, address, status].filter((part) => part !== "").join(" · "),
    }));

  const groupOffers = async () => (await list("groups")).map(({ value }) => ({ value, label: value }));

  /** Builds the fields scope, miners and group in `#rigbridge-miner-fields`; calls `changed` when they change. */
  function minerFields(node, changed = () => undefined, { hasInput = true } = {}) {
    const scopes = ["miners", "group", "all"].map((scope) => [scope, translate(`editor.scope-${scope}`)]);
    const scope = select(node, "scope", scopes);
    const input = (placeholder) => $("<input>", { type: "text", placeholder });
    const miners = row("miners", translate("field.miners"), input(translate("editor.name-of-miner")));
    const group = row("group", translate("field.group"), input(""));
    const note = $("<div>", { class: "rigbridge-note", role: "status", text: translate("editor.no-lists") }).hide();
    $("#rigbridge-miner-fields").append(row("scope", translate("field.scope"), scope), miners, group, note);
    typed(node, "miners", { complete: async (text) => lastOf(text, await minerOffers()), hasInput }).on("change", () =>
      changed(),
    );
    typed(node, "group", { complete: groupOffers, hasInput }).on("change", () => changed());
    // Node-RED validates again only when a field of the original dialog changes.
    miners.add(group).on("change", "input", () => $("#node-input-name").trigger("change"));
    const showNote = async () => {
      const isListed = (await list("miners")).length > 0;
      note.toggle(!isListed && scope.val() !== "all");
    };
    const show = () => {
      miners.toggle(scope.val() === "miners");
      group.toggle(scope.val() === "group");
      showNote();
      changed();
    };
    scope.on("change", show);
    $("#node-input-service").on("change", showNote);
    show();
  }

  /** The miner fields' current values, as a query; empty for a field that takes its value from elsewhere. */
  function chosen() {
    const text = (field) =>
      $(`#node-input-${field}`).typedInput("type") === "str" ? $(`#node-input-${field}`).typedInput("value") : "";
    return { scope: $("#node-input-scope").val(), miners: text("miners"), group: text("group") };
  }

  /** Builds the fields of the queue in `#rigbridge-queue-fields`. */
  function queueFields(node) {
    const queues = ["none", "latest", "all"].map((queue) => [queue, translate(`editor.queue-${queue}`)]);
    const queue = select(node, "queue", queues);
    const figure = (field, usual, unit) => {
      const input = $("<input>", { type: "number", min: 1 })
        .css("width", "80px")
        .val(node[field] ?? usual);
      return row(field, translate(`field.${field}`), input).append($("<span>", { text: ` ${unit}` }));
    };
    const most = figure("queueCount", 100, translate("editor.messages"));
    const age = figure("queueAge", 60, translate("editor.seconds"));
    $("#rigbridge-queue-fields").append(row("queue", translate("field.queue"), queue), most, age);
    const show = () => {
      most.toggle(queue.val() === "all");
      age.toggle(queue.val() !== "none");
    };
    queue.on("change", show);
    show();
  }

  const loginNames = ["username", "password", "token"];

  /** The credentials of single rigs, by a number after the name, as the runtime declares them. */
  const rigCredentials = () =>
    Object.fromEntries(
      Array.from({ length: 1000 }, (_, index) => index + 1).flatMap((login) =>
        loginNames.map((name) => [`${name}_${login}`, { type: name === "username" ? "text" : "password" }]),
      ),
    );

  /** The service of all examples, which do not contain it: Node-RED would ask what to do with it at each further import. */
  const exampleService = "5b1f0c72d4a8e936";

  /** An imported example uses the service that is there; without one, it adds one at the default address. */
  RED.events.on("nodes:add", (node) => {
    if (node.service !== exampleService || !node.type.startsWith("rigbridge-")) return;
    let service = RED.nodes.node(exampleService);
    if (!service) {
      RED.nodes.eachConfig((config) => {
        if (config.type === "rigbridge-service") service ||= config;
      });
      service ||= addExampleService();
      node.service = service.id;
    }
    if (!service.users.includes(node)) service.users.push(node);
  });

  function addExampleService() {
    const type = "rigbridge-service";
    const definition = RED.nodes.getType(type);
    const values = Object.entries(definition.defaults).map(([name, { value }]) => [name, structuredClone(value)]);
    RED.nodes.add({
      ...Object.fromEntries(values),
      id: exampleService,
      type,
      _def: definition,
      users: [],
      changed: true,
      url: "http://127.0.0.1:17790",
    });
    return RED.nodes.node(exampleService);
  }

  $("<link>", { rel: "stylesheet", href: "resources/@rigbridge/node-red/rigbridge.css" }).appendTo("head");

  return {
    translate,
    head,
    neededFor,
    who,
    list,
    ofService,
    get,
    row,
    select,
    typed,
    minerFields,
    chosen,
    queueFields,
    loginNames,
    rigCredentials,
  };
})();
