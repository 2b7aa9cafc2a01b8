import { z } from "zod";
import { secret } from "./secrets.ts";
import { JsonPath, Topic } from "./topic.ts";

/** How a plug may be used. */
const use = {
  cutPower: z
    .boolean()
    .default(false)
    .describe("stop and start the rig with its plug if there is no other way to stop it"),
  delay: z
    .number()
    .min(0)
    .max(45)
    .default(10)
    .describe("seconds between stopping the rig and cutting its power, for it to cool down"),
};

export const HttpPlugSettings = z.strictObject({
  type: z.enum(["shelly", "tasmota"]).describe("the plug's HTTP API"),
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  channel: z.int().min(0).max(15).default(0).describe("the output, counted from 0"),
  username: z.string().max(200).optional().describe("user name for the plug; absent = admin"),
  password: secret(z.string().max(200).optional()).describe("password for the plug"),
  ...use,
});
export type HttpPlugSettings = z.infer<typeof HttpPlugSettings>;

const topic = Topic.describe("the MQTT topic");
const path = JsonPath.optional().describe(
  "path of the value in the JSON payload, like ENERGY.Power; absent = the whole payload",
);
const TopicValue = z.union([Topic, z.strictObject({ topic, path })]);
const payload = z.string().min(1).max(1000);

/** In the form that is returned. */
export const HttpPlug = HttpPlugSettings.omit({ password: true });

export const MqttPlugSettings = z.strictObject({
  type: z.literal("mqtt").describe("MQTT, over the broker of the MQTT bridge"),
  topics: z
    .strictObject({
      set: Topic.describe("topic that switches it"),
      state: TopicValue.describe("topic of its on/off state, or topic and path"),
      power: TopicValue.optional().describe(
        "topic of the measured power in W, or topic and path; absent = not measured",
      ),
      energy: z
        .union([
          Topic,
          z.strictObject({
            topic,
            path,
            unit: z.enum(["kWh", "Wh"]).default("kWh").describe("unit of the counter"),
          }),
        ])
        .optional()
        .describe("topic of the energy counter in kWh, or topic, path and unit; absent = not counted"),
    })
    .describe("the plug's topics"),
  payloads: z
    .strictObject({
      on: payload.default("ON").describe("payload that switches it on"),
      off: payload.default("OFF").describe("payload that switches it off"),
    })
    .prefault({})
    .describe("payloads of the plug"),
  ...use,
});
export type MqttPlugSettings = z.infer<typeof MqttPlugSettings>;

/** The plug that supplies a rig, and how it may be used. Source: `supply` in the additions. */
export const PlugSettings = z.discriminatedUnion("type", [HttpPlugSettings, MqttPlugSettings]);
export type PlugSettings = z.infer<typeof PlugSettings>;

/** The outlet of a PDU, as the plug of the rig that the settings of the PDU name; not part of any input. */
export interface OutletSupply {
  readonly type: "outlet";
  /** Key of the PDU. */
  readonly device: string;
  readonly outlet: number;
  readonly cutPower: boolean;
  readonly delay: number;
}

/** What powers a rig. */
export type Supply = PlugSettings | OutletSupply;
