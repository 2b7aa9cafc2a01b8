export const mqttStates = ["connected", "waiting", "disconnected"] as const;

/** The MQTT bridge of a service. */
export interface MqttStatus {
  /** `waiting`: another Rigbridge has its topics. */
  readonly state: (typeof mqttStates)[number];
  /** The conflict with another Rigbridge at the same topics; null: there is none. */
  readonly detail: string | null;
}
