import { type MqttStatus, mqttStates } from "../contract/mqtt-status.ts";
import { heading, labelText, type Metric, sample } from "../metrics/exposition.ts";

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
