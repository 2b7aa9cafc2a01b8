import type { ActingLease } from "../contract/lease.ts";
import { type MqttStatus, mqttStates } from "../contract/mqtt-status.ts";
import { familyText, heading, labelText, type Metric, sample } from "../metrics/exposition.ts";

export const mqttHealth = {
  type: "object",
  properties: { state: { type: "string", enum: mqttStates }, detail: { type: ["string", "null"] } },
  required: ["state", "detail"],
} as const;

const stateMetric: Metric = {
  name: "rigbridge_mqtt_state",
  type: "gauge",
  help: "1 for the state of the MQTT bridge; waiting: another Rigbridge has its topics.",
};
const conflictMetric: Metric = {
  name: "rigbridge_mqtt_conflict",
  type: "gauge",
  help: "1 while another Rigbridge uses the same MQTT topics.",
};

export const mqttSamples = ({ state, detail }: MqttStatus): string =>
  [
    heading(stateMetric),
    ...mqttStates.map((each) => sample(stateMetric.name, labelText({ state: each }), each === state)),
    heading(conflictMetric),
    sample(conflictMetric.name, "", detail !== null),
  ].join("");

/** Of the lease by which one service of a site is active; they are those of the active one. */
export const leaseSamples = (lease: ActingLease): string =>
  [
    {
      metric: { name: "rigbridge_lease_active", type: "gauge", help: "1 while this service may act." } as const,
      value: Number(lease.mayAct()),
    },
    {
      metric: {
        name: "rigbridge_lease_epoch",
        type: "gauge",
        help: "Rises whenever another service becomes the active one.",
      } as const,
      value: lease.epoch,
    },
    {
      metric: {
        name: "rigbridge_lease_age_seconds",
        type: "gauge",
        help: "Since the lease was renewed: it ends at 3.",
      } as const,
      value: lease.age() / 1000,
    },
  ]
    .map(({ metric, value }) => familyText({ metric, samples: [[{}, value]] }))
    .join("");
