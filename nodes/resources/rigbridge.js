/* What the editors of all Rigbridge nodes share; each loads it before its own script. */
window.rigbridge ??= (() => {
  const catalogue = "@rigbridge/node-red/rigbridge-service";
  const say = (key, words) => RED._(`${catalogue}:${key}`, words);

  /** ms for which a list is taken to hold. */
  const holds = 10_000;
  const known = new Map();

  /**
   * A list of the service that is chosen in the dialog, as /rigbridge/services/:id/:list gives it; empty where it cannot
   * be asked, so that fields take free text.
   */
  const list = (what) => ofService((id) => `rigbridge/services/${id}/${what}`);

  /** Any list about the service that is chosen, `path(id)`; empty where none is, or it is not deployed as it is now. */
  async function ofService(path, query = {}) {
    const service = RED.nodes.node($("#node-input-service").val() ?? "");
    return !service || service.changed ? [] : get(path(encodeURIComponent(service.id)), query);
  }

  /** Any list of ours, by its path; never rejects. */
  function get(path, query = {}) {
    const address = `${path}?${new URLSearchParams(query)}`;
    const before = known.get(address);
    if (before !== undefined && Date.now() - before.at < holds) return before.answer;
    const answer = new Promise((resolve) => {
      $.getJSON(address)
        .done((answered) => {
          // The service may not be connected yet, so it is asked anew the next time.
          if (answered.length === 0) known.delete(address);
          resolve(answered);
        })
        .fail(() => {
          known.delete(address);
          resolve([]);
        });
    });
    known.set(address, { at: Date.now(), answer });
    return answer;
  }

  /** A row of the dialog with a label and one field. */
  function row(field, label, input) {
    const id = `node-input-${field}`;
    return $("<div>", { class: "form-row" }).append($("<label>", { for: id, text: label }), " ", input.attr("id", id));
  }

  /** A field of the dialog that chooses one of some words. */
  function select(node, field, options) {
    const input = $("<select>").css("width", "70%");
    for (const [value, text] of options) input.append($("<option>", { value, text }));
    return input.val(node[field] ?? options[0][0]);
  }

  const sources = ["msg", "flow", "global", "env", "jsonata"];

  /**
   * Makes a typed field of `#node-input-<field>`, with its type in `<field>Type`. `complete(text)` gives what is offered
   * for a text: `[{value, label?, hint?, isGrey?, isMatch?}]`, or a promise of it; `types` come beside text and the
   * sources; a node without an input has no `msg`.
   */
  function typed(node, field, { complete, types = [], hasInput = true } = {}) {
    const input = $(`#node-input-${field}`).val(node[field] ?? "");
    const typeField = $("<input>", { type: "hidden", id: `node-input-${field}Type` }).val(
      node[`${field}Type`] ?? "str",
    );
    input.after(typeField);
    const text = { value: "str", label: say("editor.text"), icon: "red/images/typedInput/az.svg" };
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
    // Its own "width" would keep the pixels that 70 % are now, whatever becomes of the dialog.
    input.next(".red-ui-typedInput-container").css("width", "70%");
    return input;
  }

  /** What is offered for what is typed: all of it where the field holds one of them already. */
  function matching(offers, typedText) {
    const wanted = typedText.trim().toLowerCase();
    const fits = ({ value, label = "", hint = "", isMatch = false }) =>
      isMatch || `${value} ${label} ${hint}`.toLowerCase().includes(wanted);
    return offers.some(({ value }) => value.toLowerCase() === wanted) ? offers : offers.filter(fits);
  }

  function completion({ value, label = value, hint = "", isGrey = false }) {
    const element = $("<div>", { class: `rigbridge-offer${isGrey ? " rigbridge-grey" : ""}` });
    element.append($("<span>", { text: label }), $("<span>", { class: "rigbridge-hint", text: hint }));
    return { value, label: element };
  }

  /** Completes the last of several names with commas between. */
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

  /**
   * Builds the fields that say for which miners a node is (scope, miners, group) in `#rigbridge-miner-fields`; `changed`
   * is called whenever they change.
   */
  function minerFields(node, changed = () => undefined, { hasInput = true } = {}) {
    const scopes = ["miners", "group", "all"].map((scope) => [scope, say(`editor.scope-${scope}`)]);
    const scope = select(node, "scope", scopes);
    const input = (placeholder) => $("<input>", { type: "text", placeholder });
    const miners = row("miners", say("field.miners"), input(say("editor.name-of-miner")));
    const group = row("group", say("field.group"), input(""));
    const note = $("<div>", { class: "rigbridge-note", role: "status", text: say("editor.no-lists") }).hide();
    $("#rigbridge-miner-fields").append(row("scope", say("field.scope"), scope), miners, group, note);
    typed(node, "miners", { complete: async (text) => lastOf(text, await minerOffers()), hasInput }).on("change", () =>
      changed(),
    );
    typed(node, "group", { complete: groupOffers, hasInput }).on("change", () => changed());
    // Node-RED checks the fields again when one changes that stood in the dialog from the beginning.
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

  /** For which miners the dialog's fields are now, as a query; text that comes from a message says nothing. */
  function chosen() {
    const text = (field) =>
      $(`#node-input-${field}`).typedInput("type") === "str" ? $(`#node-input-${field}`).typedInput("value") : "";
    return { scope: $("#node-input-scope").val(), miners: text("miners"), group: text("group") };
  }

  /** Builds the fields of what happens while the service is away in `#rigbridge-queue-fields`. */
  function queueFields(node) {
    const queues = ["none", "latest", "all"].map((queue) => [queue, say(`editor.queue-${queue}`)]);
    const queue = select(node, "queue", queues);
    const figure = (field, usual, unit) => {
      const input = $("<input>", { type: "number", min: 1 })
        .css("width", "80px")
        .val(node[field] ?? usual);
      return row(field, say(`field.${field}`), input).append($("<span>", { text: ` ${unit}` }));
    };
    const most = figure("queueCount", 100, say("editor.messages"));
    const age = figure("queueAge", 60, say("editor.seconds"));
    $("#rigbridge-queue-fields").append(row("queue", say("field.queue"), queue), most, age);
    const show = () => {
      most.toggle(queue.val() === "all");
      age.toggle(queue.val() !== "none");
    };
    queue.on("change", show);
    show();
  }

  $("<link>", { rel: "stylesheet", href: "resources/@rigbridge/node-red/rigbridge.css" }).appendTo("head");

  return { say, list, ofService, get, row, select, typed, minerFields, chosen, queueFields };
})();
