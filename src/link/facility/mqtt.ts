import {
  type FacilityQuantity,
  facilityQuantities,
  type MqttDevice,
  type TopicValue,
} from "../../contract/facility-settings.ts";
import { needsMessages } from "../../contract/messages.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import { mqttPlug } from "../plugs/mqtt-plug.ts";
import { valueIn } from "../quantity.ts";
import { type FacilityContext, type FacilityLink, type Measured, plausibleRanges } from "./facility-link.ts";
import { numberOrProblem } from "./values.ts";

/** Values that are older are no longer read: as those of plugs over MQTT. */
const maxAgeMs = 600_000;

/** A device that publishes its readings; a fan is switched like a plug over MQTT, and its state read like that of one. */
export function mqttDevice({ topics, payloads }: MqttDevice, context: FacilityContext): FacilityLink {
  const { messages, now } = context;
  const closing = new AbortController();
  const last = new Map<FacilityQuantity, { readonly measured: Measured; readonly at: number }>();
  const state = topics.state;
  const plug =
    state === undefined
      ? null
      : mqttPlug(
          // Without `set` it is never switched, so no topic is published to.
          { type: "mqtt", topics: { set: topics.set ?? state.topic, state }, payloads, cutPower: false, delay: 0 },
          context,
        );
  const listen = (quantity: FacilityQuantity, { topic, path }: TopicValue): void => {
    const stop = messages.listen(topic, ({ payload, at }) => {
      const value = valueIn(payload, path);
      // A message without the value, such as one about another reading, says nothing about it.
      if (value !== undefined) last.set(quantity, { measured: numberOrProblem(value, path ?? topic), at });
    });
    closing.signal.addEventListener("abort", stop);
  };
  for (const quantity of facilityQuantities) {
    const source = topics[quantity];
    if (source !== undefined) listen(quantity, source);
  }
  const at =
    (state ?? facilityQuantities.map((quantity) => topics[quantity]).find((each) => each !== undefined))?.topic ?? "";

  return {
    at,
    ranges: plausibleRanges,
    read: async (signal) => {
      if (!messages.isConfigured)
        throw new RigbridgeError("rig.unreachable", `a device of the driver mqtt ${needsMessages}`);
      const values = new Map(
        [...last]
          .filter(([, value]) => now() - value.at <= maxAgeMs)
          .map(([quantity, { measured }]) => [quantity, measured]),
      );
      const on = plug === null ? null : await stateOf(() => plug.read(signal), values.size > 0);
      if (values.size === 0 && on === null)
        throw new RigbridgeError("rig.unreachable", `${at} has not reported anything for 10 minutes`);
      return { values, on, outlets: [] };
    },
    ...(plug === null || topics.set === undefined
      ? {}
      : { run: (on: boolean, signal: AbortSignal) => plug.switch(on, signal) }),
    close: () => {
      closing.abort();
      plug?.close();
    },
  };
}

/** Its state; null if only that is silent. */
async function stateOf(read: () => Promise<{ readonly on: boolean }>, hasOthers: boolean): Promise<boolean | null> {
  try {
    return (await read()).on;
  } catch (error) {
    if (hasOthers && error instanceof RigbridgeError && error.code === "rig.unreachable") return null;
    throw error;
  }
}
