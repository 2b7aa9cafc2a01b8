import { z } from "zod";
import { secret } from "./secrets.ts";
import { JsonPath, Topic } from "./topic.ts";

/** What a plug may be used for. */
const use = {
  cutPower: z
    .boolean()
    .default(false)
    .describe("stop and start the rig by its plug, where it cannot be stopped otherwise"),
  delay: z
    .number()
    .min(0)
    .max(45)
    .default(10)
    .describe("seconds between telling the rig to stop and cutting its power, for it to cool down"),
};

export const HttpPlugSettings = z.strictObject({
  type: z.enum(["shelly", "tasmota"]).describe("what it speaks, over HTTP"),
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  channel: z.int().min(0).max(15).default(0).describe("which of its outputs, from 0"),
  username: z.string().max(200).optional().describe("for the plug's own login; absent = admin"),
  password: secret(z.string().max(200).optional()).describe("for the plug's own login"),
  ...use,
});
export type HttpPlugSettings = z.infer<typeof HttpPlugSettings>;

const topic = Topic.describe("the topic");
const path = JsonPath.optional().describe("where in its JSON the value stands, like ENERGY.Power; absent = all of it");
const TopicValue = z.union([Topic, z.strictObject({ topic, path })]);
const payload = z.string().min(1).max(1000);

export const MqttPlugSettings = z.strictObject({
  type: z.literal("mqtt").describe("what it speaks: messages at the broker of the MQTT bridge"),
  topics: z
    .strictObject({
      set: Topic.describe("where it is told to switch"),
      state: TopicValue.describe("where it says whether it is on: a topic, or topic and path"),
      power: TopicValue.optional().describe(
        "where it says what is drawn through it, in W; absent = it does not measure",
      ),
      energy: z
        .union([
          Topic,
          z.strictObject({
            topic,
            path,
            unit: z.enum(["kWh", "Wh"]).default("kWh").describe("what it counts in"),
          }),
        ])
        .optional()
        .describe("where it says what it has counted, in kWh; absent = it does not count"),
    })
    .describe("its topics"),
  payloads: z
    .strictObject({
      on: payload.default("ON").describe("what switches it on"),
      off: payload.default("OFF").describe("what switches it off"),
    })
    .prefault({})
    .describe("what it is told"),
  ...use,
});
export type MqttPlugSettings = z.infer<typeof MqttPlugSettings>;

/** The plug that a rig draws its power through, and what it may be used for. Source: `supply` in the additions. */
export const PlugSettings = z.discriminatedUnion("type", [HttpPlugSettings, MqttPlugSettings]);
export type PlugSettings = z.infer<typeof PlugSettings>;
