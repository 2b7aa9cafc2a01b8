import type { Control, ControlKey, ControlValue } from "../../../contract/readings.ts";
import type { Command, Miner } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";

/** What a control of the page sends. */
export type ActionInput = Omit<Input<"minerAction">, "id">;

const unknownEffect = { lasting: false, restartsMining: true, seconds: 0 } as const;
const bare = { unit: null, min: null, max: null, step: null, options: null } as const;

/**
 * The controls of a rig: reported ones, and those that only its `can...` flags announce, for servers without
 * `controls`.
 */
export function controlsOf({ controls, canStop, canStart, canRestart, canReboot, isRunning }: Miner): Control[] {
  const has = (key: ControlKey) => controls.some((control) => control.key === key);
  const trigger = (key: ControlKey): Control => ({ key, kind: "trigger", ...bare, value: null, ...unknownEffect });
  return [
    ...(!has("mining") && (canStop || canStart)
      ? [{ key: "mining", kind: "switch", ...bare, value: isRunning, ...unknownEffect } as const]
      : []),
    ...controls,
    ...(!has("restart") && canRestart ? [trigger("restart")] : []),
    ...(!has("reboot") && canReboot ? [trigger("reboot")] : []),
  ];
}

/** The action that sets a control to a value. */
export function actionFor(key: ControlKey, value: ControlValue): ActionInput {
  if (key === "mining") return { action: value === true ? "start" : "stop" };
  if (key === "restart" || key === "reboot") return { action: key };
  return { action: "set", property: key, value: String(value) };
}

/** Whether it stops the rig, so that it can be undone for a while. */
export function stopsMining(control: Pick<Control, "key" | "options">, value: ControlValue): boolean {
  if (control.key === "mining") return value === false;
  if (control.key === "mode") return value === "sleep";
  const watts = choicesOf(control).find((choice) => choice.value === value)?.watts ?? value;
  return control.key === "power_target" && watts === 0;
}

/** The value that a command sets a control to; undefined if it concerns another one. */
export function wantedBy({ action, parameters }: Command, key: ControlKey): ControlValue | undefined {
  const { property, value, watts, mode, on } = parameters;
  if (action === "set") return property === key ? value : undefined;
  if (action === "start" || action === "stop") return key === "mining" ? action === "start" : undefined;
  if (action === "restart" || action === "reboot") return action === key ? true : undefined;
  if (action === "set_power_limit") return key === "power_limit" ? watts : undefined;
  if (action === "set_mode") return key === "mode" ? mode : undefined;
  return action === "locate" && key === "locate" ? on : undefined;
}

/** ms for which the result of a command is shown beside its control. */
const recentMs = 15 * 60_000;

/** The newest command about a control, unless it ended long ago. */
export function latestFor(commands: readonly Command[], key: ControlKey, now: number): Command | undefined {
  const found = commands.find((command) => wantedBy(command, key) !== undefined);
  return found === undefined || now - Date.parse(found.updated) > recentMs ? undefined : found;
}

export interface Choice {
  readonly value: string;
  readonly label: string;
  /** W; null for a word. */
  readonly watts: number | null;
}

/** The choices of a control. A power is sent as its number. */
export const choicesOf = ({ options }: Pick<Control, "options">): Choice[] =>
  (options ?? []).map((option) =>
    typeof option === "string"
      ? { value: option, label: option, watts: null }
      : { value: option.label, label: option.label, watts: option.watts },
  );
