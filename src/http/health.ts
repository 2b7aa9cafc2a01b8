import { heading, labelText, type Metric, sample } from "./exposition.ts";

const states = ["connected", "waiting", "disconnected"] as const;

/** The MQTT bridge of this service. */
export interface MqttStatus {
  /** `waiting`: another Rigbridge has its topics. */
  readonly state: (typeof states)[number];
  /** What is the matter with another Rigbridge at the same topics; null: there is none. */
  readonly detail: string | null;
}

export const mqttHealth = {
  type: "object",
  properties: { state: { type: "string", enum: states }, detail: { type: ["string", "null"] } },
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
    ...states.map((each) => sample(stateMetric.name, labelText({ state: each }), each === state)),
    heading(conflictMetric),
    sample(conflictMetric.name, "", detail !== null),
  ].join("");
