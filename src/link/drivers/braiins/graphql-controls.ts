import { type OfferedControl, range, toggle, trigger } from "../../controls.ts";
import type { BraiinsGraphql } from "./graphql.ts";
import type { LegacySettings } from "./graphql-readings.ts";

/** W; "numeric values (min. 100 and max. 5000)" of `psu_power_limit` in Braiins' own configuration guide. */
const limits = { min: 100, max: 5_000 };

/** With `apply: true` BOSminer applies a setting at once and restarts its tuning. */
const tuned = { lasting: true, restartsMining: true, seconds: 180 } as const;
const cooled = { lasting: true, restartsMining: false, seconds: 30 } as const;

/** The settings of the web interface of Braiins OS up to 25.05. Each mutation names only the field that changes. */
export function legacyControls(
  graphql: BraiinsGraphql,
  settings: LegacySettings,
  shown: { readonly locate: boolean | null },
): OfferedControl[] {
  return [
    {
      control: trigger("restart", { lasting: false, restartsMining: true, seconds: 120 }),
      set: (_, signal) => graphql.mutate("restart", mutations.restart, {}, signal),
    },
    {
      control: trigger("reboot", { lasting: false, restartsMining: true, seconds: 180 }),
      set: (_, signal) => graphql.mutate("reboot", mutations.reboot, {}, signal),
    },
    {
      control: toggle("locate", shown.locate, { lasting: false, restartsMining: false, seconds: 5 }),
      set: (on, signal) => graphql.mutate("locate", mutations.locate, { enable: on === true }, signal),
    },
    ...(settings.powerTarget === null ? [] : [powerLimit(graphql, settings.powerTarget)]),
    ...cooling(graphql, settings),
  ];
}

export const mutations = {
  start: "mutation{bosminer{start{__typename ...on BosminerError{message}}}}",
  stop: "mutation{bosminer{stop{__typename ...on BosminerError{message}}}}",
  restart: "mutation{bosminer{restart{__typename ...on BosminerError{message}}}}",
  reboot: "mutation{bos{reboot{__typename ...on BosError{message}}}}",
  locate: "mutation($enable:Boolean!){bos{setFaultLight(enable:$enable){__typename}}}",
  power:
    "mutation($watts:Int!){bosminer{config{updateAutotuning(input:{powerTarget:$watts},apply:true)" +
    "{__typename ...on AutotuningError{message} ...on AttributeError{message}}}}}",
  cooling:
    "mutation($input:TempAndFansIn!){bosminer{config{updateTempAndFans(input:$input,apply:true)" +
    "{__typename ...on TempAndFansError{message} ...on AttributeError{message}}}}}",
} as const;

const powerLimit = (graphql: BraiinsGraphql, value: number): OfferedControl => ({
  control: range("power_limit", { unit: "W", ...limits, step: 1, value }, tuned),
  set: (watts, signal) => graphql.mutate("the power target", mutations.power, { watts }, signal),
});

/** Only where the fans follow a temperature or a fixed speed: immersion and hydro rigs have none. */
function cooling(graphql: BraiinsGraphql, settings: LegacySettings): OfferedControl[] {
  const { coolingMode, fanPercent, targetTemperature, hotTemperature } = settings;
  const automatic = coolingMode === "AUTO";
  if (!automatic && coolingMode !== "MANUAL") return [];
  const mutate = (input: Readonly<Record<string, unknown>>, signal: AbortSignal) =>
    graphql.mutate("the cooling settings", mutations.cooling, { input }, signal);
  const fan: OfferedControl = {
    control: range(
      "fan",
      { unit: "%", min: 0, max: 100, step: 1, value: automatic ? "auto" : fanPercent, options: ["auto"] },
      cooled,
    ),
    set: (value, signal) => mutate(value === "auto" ? { mode: "AUTO" } : { mode: "MANUAL", speed: value }, signal),
  };
  if (!automatic || targetTemperature === null || hotTemperature === null) return [fan];
  return [
    fan,
    {
      control: range(
        "temperature_target",
        { unit: "°C", min: 0, max: hotTemperature, step: 1, value: targetTemperature },
        cooled,
      ),
      set: (value, signal) => mutate({ mode: "AUTO", targetTemp: value }, signal),
    },
  ];
}
