import type { Group, Miner } from "../../contract/resources.ts";
import { type DisplayUnit, groupState, type MinerState } from "../miner-state.ts";
import {
  type Components,
  type DeviceConfig,
  diagnostic,
  energy,
  eventEntity,
  hashrateIn,
  measurement,
  notificationTypes,
  power,
  sensor,
  temperature,
  toggle,
} from "./component.ts";
import { type DeviceContext, device, farmId, groupId } from "./device.ts";
import type { PreviousComponents } from "./entities.ts";

/** The device of a group: sums over its miners, and one switch for all that have one. */
export function groupConfig(
  { id, name }: Group,
  miners: readonly Miner[],
  display: DisplayUnit | null,
  via: string | null,
  previous: PreviousComponents,
  context: DeviceContext,
): DeviceConfig {
  const topics = context.topics.group(id);
  const isSwitched =
    previous.has("mining") || miners.some(({ controls }) => controls.some(({ key }) => key === "mining"));
  return device(
    {
      id: groupId(context.base, id),
      info: { name, model: "Group of miners", ...(via === null ? {} : { via_device: via }) },
      state: topics.state,
      availability: null,
      components: {
        ...(isSwitched
          ? { mining: toggle("mining", topics.setProperty("mining"), { name: null, device_class: "switch" }) }
          : {}),
        ...sums(groupState(name, miners, display, null), display, previous, context),
      },
    },
    context,
  );
}

const farmName = "Mining farm";

/** The device of the whole farm, through which all others are connected. */
export function farmConfig(
  miners: readonly Miner[],
  display: DisplayUnit | null,
  previous: PreviousComponents,
  context: DeviceContext,
): DeviceConfig {
  const { base, topics, version } = context;
  return device(
    {
      id: farmId(base),
      info: { name: farmName, model: "Rigbridge", sw_version: version },
      state: topics.summary,
      availability: null,
      components: {
        ...sums(groupState(farmName, miners, display, null), display, previous, context),
        event: eventEntity(topics.notification, notificationTypes, { name: "Notification", icon: "mdi:bell" }),
      },
    },
    context,
  );
}

/** Sums over the miners of a group, or over all. */
function sums(
  state: MinerState,
  display: DisplayUnit | null,
  previous: PreviousComponents,
  { currency }: DeviceContext,
): Components {
  const count = (field: string, name: string) => ({
    [field]: sensor(field, { name, ...measurement, ...diagnostic }),
  });
  const money = (field: string, name: string) => {
    const unit = { unit_of_measurement: `${currency ?? "money"}/d` };
    const isKnown = state[field] !== null || previous.has(field);
    return isKnown ? { [field]: sensor(field, { name, ...unit, ...measurement, ...diagnostic }) } : {};
  };
  const rate = (unit: string) => ({
    hashrate: sensor("hashrate_display", { name: "Hash rate", ...hashrateIn(unit) }),
  });
  return {
    ...(display === null ? {} : rate(display.name)),
    power: sensor("power", { name: "Power", ...power, ...measurement }),
    energy: sensor("energy_kwh", { name: "Energy", ...energy, state_class: "total_increasing" }),
    temperature: sensor("temperature", { name: "Highest temperature", ...temperature, ...diagnostic }),
    ...count("miners", "Miners"),
    ...count("miners_mining", "Miners at work"),
    ...count("miners_offline", "Miners offline"),
    ...count("miners_in_error", "Miners in error"),
    ...money("revenue", "Revenue per day"),
    ...money("profit", "Profit per day"),
  };
}
