import { commandsFor, controllableIn, type EntityCommand } from "../../mqtt/home-assistant/entity-commands.ts";
import type { Component } from "../../mqtt/home-assistant-message.ts";
import type { Subscriber } from "../../mqtt/mosquitto.ts";
import { until } from "../../until.ts";
import { type AnnouncedEntity, devicesAt } from "./announced.ts";
import type { HomeAssistant } from "./instance.ts";

interface Commanded {
  /** The actions that were called, such as `switch.turn_off mining`. */
  readonly name: string;
  /** What went wrong; null if nothing did. */
  readonly wrong: string | null;
}

/** ms: some rigs restart for a command, and are read again after that. */
const patience = 90_000;

/**
 * Calls the actions of an entity of each kind, as a user of Home Assistant does: of each component's id those on the first
 * rig that has it. The state that Home Assistant then shows comes from a new reading of the rig, since Rigbridge publishes
 * none other.
 */
export async function commandEntities(
  { home, client }: { home: HomeAssistant; client: Subscriber },
  entities: readonly AnnouncedEntity[],
): Promise<Commanded[]> {
  const registry = await home.registry();
  const states = await home.states();
  const usable = new Set(
    entities
      .filter(({ isEnabled, uniqueId }) => {
        const state = states.get(registry.get(uniqueId)?.entity_id ?? "")?.state;
        return isEnabled && state !== undefined && state !== "unavailable";
      })
      .map(({ uniqueId }) => uniqueId),
  );
  const taken = new Set<string>();
  const restarted = new Set<string>();
  const byDevice = [...devicesAt(client)].map(([device, payload]) => ({
    device,
    components: controllableIn(payload).filter(({ id, whole }) => {
      const kind = `${scopeOf(device)} ${whole.platform} ${id.replace(/\d+/, "N")}`;
      if (taken.has(kind) || !usable.has(String(whole.unique_id))) return false;
      // Rigbridge itself is restarted before.
      if (whole.device_class === "restart" && scopeOf(device) !== "rig") return false;
      // A rig that restarts answers nothing for a while: the next such button is that of another rig.
      if (whole.device_class === "restart" && restarted.has(device)) return false;
      if (whole.device_class === "restart") restarted.add(device);
      taken.add(kind);
      return true;
    }),
  }));
  const commandDevice = async ({ device, components }: (typeof byDevice)[number]): Promise<Commanded[]> => {
    const said: Commanded[] = [];
    for (const component of components) {
      const entity = registry.get(String(component.own.unique_id))?.entity_id;
      if (entity !== undefined) said.push(...(await commandEntity(home, client, component, entity, scopeOf(device))));
    }
    return said;
  };
  // Each rig gets its commands one after the other; the rigs do not wait for each other, but groups and the farm do for all.
  const rigs = byDevice.filter(({ device }) => scopeOf(device) === "rig");
  const results = (await Promise.all(rigs.map(commandDevice))).flat();
  for (const each of byDevice) if (!rigs.includes(each)) results.push(...(await commandDevice(each)));
  return results;
}

type Scope = "rig" | "group" | "other";
const scopeOf = (device: string): Scope => {
  if (/_miner_/.test(device)) return "rig";
  return /_group_/.test(device) ? "group" : "other";
};

interface Action {
  readonly action: string;
  readonly data: Record<string, unknown>;
  /** Whether the entity's state is as it should be. */
  readonly isDone: (state: string) => boolean;
}

async function commandEntity(
  home: HomeAssistant,
  client: Subscriber,
  component: Component,
  entity: string,
  scope: Scope,
): Promise<Commanded[]> {
  const { whole, id } = component;
  const published = typeof whole.state_topic === "string" ? client.last(whole.state_topic) : undefined;
  const answersAt = responseTopic(String(whole.command_topic ?? whole.temperature_command_topic));
  const said: Commanded[] = [];
  for (const { action, data, isDone } of actionsFor(component, published ?? "{}")) {
    const name = scope === "rig" ? `${action} ${id}` : `${action} ${entity}`;
    const from = client.received.length;
    const { status, text } = await home.call(action, { entity_id: entity, ...data });
    if (status !== 200) {
      said.push({ name, wrong: `${name} of ${entity} answered ${status}: ${text}` });
      continue;
    }
    const state = async () => (await home.states()).get(entity)?.state ?? "";
    const answers = () => client.received.slice(from).filter(({ topic }) => topic === answersAt);
    const answered = () => answers().some(({ payload }) => /"status": ?"ok"/.test(payload));
    const isShown = async () => isDone(await state());
    // A farm stays on while it has rigs that cannot be switched.
    const isWhole = scope === "other" && whole.platform === "switch";
    const done = whole.platform === "button" || isWhole ? answered : isShown;
    const wrong = await until(done, name, { timeoutMs: patience }).then(
      () => null,
      async () =>
        `${name} ${JSON.stringify(data)} of ${entity}: after ${patience / 1000} s it is ${await state()}, and Rigbridge answered ${
          answers()
            .map(({ payload }) => payload)
            .join(" ") || "nothing"
        }`,
    );
    said.push({ name, wrong });
  }
  return said;
}

/** Where Rigbridge answers a command; a button has no state, so the rig has accepted it when that says so. */
const responseTopic = (command: string): string =>
  [...command.split("/").slice(0, command.endsWith("/set") ? -2 : -1), "response"].join("/");

function actionsFor(component: Component, published: string): Action[] {
  const { whole } = component;
  if (whole.platform === "climate") return climateActions(whole.modes);
  return commandsFor(component, published).map((command) =>
    actionOf(String(whole.platform), whole.payload_on, command),
  );
}

function actionOf(platform: string, on: unknown, { payload, becomes }: EntityCommand): Action {
  switch (platform) {
    case "switch":
      return payload === on
        ? { action: "switch.turn_on", data: {}, isDone: (state) => state === "on" }
        : { action: "switch.turn_off", data: {}, isDone: (state) => state === "off" };
    case "number":
      return {
        action: "number.set_value",
        data: { value: Number(payload) },
        // A rig with steps takes the one below.
        isDone: (state) =>
          Number(state) === Number(payload) || (becomes?.field === "power_target" && Number(state) <= Number(payload)),
      };
    case "select":
      return { action: "select.select_option", data: { option: payload }, isDone: (state) => state === payload };
    default:
      return { action: "button.press", data: {}, isDone: () => true };
  }
}

const climateActions = (modes: unknown): Action[] => [
  { action: "climate.set_temperature", data: { temperature: 22.5 }, isDone: () => true },
  { action: "climate.turn_off", data: {}, isDone: (state) => state === "off" },
  {
    action: "climate.turn_on",
    data: {},
    isDone: (state) => state !== "off" && Array.isArray(modes) && modes.includes(state),
  },
];
