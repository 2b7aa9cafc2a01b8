import type { Group, ManualAction, Miner } from "../../contract/resources.ts";
import { type DisplayUnit, groupState, type MinerState } from "../miner-state.ts";
import type { ThingTopics } from "../topics.ts";
import {
  button,
  type Components,
  type DeviceConfig,
  diagnostic,
  energy,
  eventEntity,
  hashrateIn,
  mainSwitch,
  measurement,
  notificationTypes,
  power,
  sensor,
  temperature,
  toggle,
} from "./component.ts";
import { type DeviceContext, device, farmId, groupId } from "./device.ts";
import type { PreviousComponents } from "./entities.ts";

/** The device of a group: sums over its miners, and one switch for all switchable ones. */
export function groupConfig(
  { id, name }: Group,
  miners: readonly Miner[],
  display: DisplayUnit | null,
  via: string | null,
  previous: PreviousComponents,
  context: DeviceContext,
): DeviceConfig {
  const topics = context.topics.group(id);
  return device(
    {
      id: groupId(context.base, id),
      info: { name, model: "Group of miners", ...(via === null ? {} : { via_device: via }) },
      state: topics.state,
      availability: null,
      components: {
        ...switchOf(miners, topics, previous),
        ...sums(groupState(name, miners, display, null), display, previous, context),
      },
    },
    context,
  );
}

/** The device of the whole farm, through which all others are connected. */
export function farmConfig(
  miners: readonly Miner[],
  display: DisplayUnit | null,
  previous: PreviousComponents,
  context: DeviceContext,
): DeviceConfig {
  const { base, topics, version, farmName, page } = context;
  return device(
    {
      id: farmId(base),
      info: {
        name: farmName,
        model: "Rigbridge",
        sw_version: version,
        ...(page === undefined ? {} : { configuration_url: page }),
      },
      state: topics.summary,
      availability: null,
      components: {
        ...switchOf(miners, topics.farm, previous),
        ...sums(groupState(farmName, miners, display, null), display, previous, context),
        ...ruleButtons(context.rules, topics.farm),
        notifications: sensor("unacknowledged", {
          name: "Open notifications",
          icon: "mdi:bell-badge",
          state_topic: topics.notifications,
          ...measurement,
          ...diagnostic,
        }),
        alarms: sensor("alarms", {
          name: "Alarms",
          icon: "mdi:alarm-light",
          state_topic: topics.notifications,
          ...measurement,
          ...diagnostic,
        }),
        event: eventEntity(topics.notification, notificationTypes, { name: "Notification", icon: "mdi:bell" }),
      },
    },
    context,
  );
}

/** One switch for all switchable miners. */
const switchOf = (miners: readonly Miner[], topics: ThingTopics, previous: PreviousComponents): Components =>
  previous.has("mining") || miners.some(({ controls }) => controls.some(({ key }) => key === "mining"))
    ? { mining: toggle("mining", topics.setProperty("mining"), mainSwitch) }
    : {};

/** A button for each manual rule, which runs it on the miners that it applies to. */
const ruleButtons = (rules: readonly ManualAction[], { action }: ThingTopics): Components =>
  Object.fromEntries(
    rules.map(({ id, name }) => [
      `rule_${id}`,
      button(action, JSON.stringify({ action: "rule", rule_id: id }), { name, icon: "mdi:playlist-play" }),
    ]),
  );

/** Sums over the miners of a group, or over all. */
function sums(
  state: MinerState,
  display: DisplayUnit | null,
  previous: PreviousComponents,
  { currency }: DeviceContext,
): Components {
  const count = (field: string, name: string, icon: string) => ({
    [field]: sensor(field, { name, icon, ...measurement, ...diagnostic }),
  });
  const isKnown = (field: string) => state[field] !== null || previous.has(field);
  const money = (field: string, name: string) => {
    const unit = { unit_of_measurement: `${currency ?? "money"}/d`, icon: "mdi:cash" };
    return isKnown(field) ? { [field]: sensor(field, { name, ...unit, ...measurement, ...diagnostic }) } : {};
  };
  const rate = (unit: string) => ({
    hashrate: sensor("hashrate_display", { name: "Hash rate", ...hashrateIn(unit) }),
  });
  return {
    ...(display === null ? {} : rate(display.name)),
    power: sensor("power", { name: "Power", ...power, ...measurement }),
    energy: sensor("energy_kwh", { name: "Energy", ...energy, state_class: "total_increasing" }),
    temperature: sensor("temperature", { name: "Highest temperature", ...temperature, ...diagnostic }),
    ...count("miners", "Miners", "mdi:server"),
    ...count("miners_mining", "Miners at work", "mdi:pickaxe"),
    ...count("miners_offline", "Miners offline", "mdi:lan-disconnect"),
    ...count("miners_in_error", "Miners in error", "mdi:alert"),
    ...count("miners_in_repair", "Miners in repair", "mdi:wrench"),
    ...money("revenue", "Revenue per day"),
    ...money("profit", "Profit per day"),
    ...(isKnown("profit") ? count("miners_without_profit", "Miners of unknown profit", "mdi:cash-remove") : {}),
  };
}
