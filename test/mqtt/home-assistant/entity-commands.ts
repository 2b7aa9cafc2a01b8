import { type Component, isRecord, isRemoval, jsonOf, readMessage } from "../home-assistant-message.ts";

/** A user's command to an entity, as Home Assistant publishes it at the announced topic. */
export interface EntityCommand {
  readonly topic: string;
  readonly payload: string;
  /** The expected state; null for a button. */
  readonly becomes: { readonly field: string; readonly value: string | number } | null;
}

/**
 * The components of a device that take commands. Those that restart mining come late, since some rigs refuse another
 * power setting for a while after that; restarts come last.
 */
export function controllableIn(config: string): Component[] {
  const all = readMessage(config)?.components ?? [];
  const tellable = all.filter(({ own, whole }) => !isRemoval(own) && choices[String(whole.platform)] !== undefined);
  return tellable.toSorted((a, b) => lateness(a) - lateness(b));
}

/** Commands that change this state. A switch gets two: one to change, one to change back. */
export function commandsFor(component: Component, state: string): EntityCommand[] {
  const current = jsonOf(state);
  if (!isRecord(current)) throw new Error("the state is not a JSON object");
  return choices[String(component.whole.platform)]?.(component, current) ?? [];
}

const lateness = ({ id, whole: { device_class: of } }: Component): number => {
  if (of === "restart") return 2;
  return id === "mining" ? 1 : 0;
};

type State = Readonly<Record<string, unknown>>;

const choices: Readonly<Record<string, (component: Component, state: State) => EntityCommand[]>> = {
  switch: ({ whole }, state) => {
    const { payload_on: on, payload_off: off, value_template: template, command_topic: topic } = whole;
    const isOn = state[fieldOf(template)] === on;
    return [command(topic, template, isOn ? off : on), command(topic, template, isOn ? on : off)];
  },
  number: ({ whole }, state) => {
    const { min, max, step, value_template: template, command_topic: topic } = whole;
    return [command(topic, template, lower(Number(min), Number(max), Number(step), state[fieldOf(template)]))];
  },
  select: ({ whole }, state) => {
    const { options, value_template: template, command_topic: topic } = whole;
    const present = state[fieldOf(template)];
    // A stopped rig would refuse the commands to other entities.
    const others = Array.isArray(options) ? options.filter((option) => option !== present && option !== "off") : [];
    return [command(topic, template, others[0])];
  },
  button: ({ whole }) => [{ ...command(whole.command_topic, "", whole.payload_press), becomes: null }],
  climate: ({ whole }) => {
    const { temperature_command_topic: topic, temperature_command_template: commandTemplate } = whole;
    const target = command(topic, whole.temperature_state_template, 22.5);
    return [{ ...target, payload: String(commandTemplate).replace("{{ value }}", target.payload) }];
  },
};

const command = (topic: unknown, template: unknown, value: unknown): EntityCommand => ({
  topic: String(topic),
  payload: String(value),
  becomes: { field: fieldOf(template), value: typeof value === "number" ? value : String(value) },
});

const fieldOf = (template: unknown): string => /^\{\{ value_json\.(\w+) \}\}$/.exec(String(template))?.[1] ?? "";

/** A quarter less than now, in whole steps; the middle of the range if that is unknown or not less. */
function lower(min: number, max: number, step: number, present: unknown): number {
  const steps = (value: number): number => Number((min + Math.floor((value - min) / step) * step).toFixed(3));
  const less = typeof present === "number" ? steps(Math.max(min, present * 0.75)) : null;
  return less === null || less === present ? steps((min + max) / 2) : less;
}
