import { z } from "zod";

/** The plug that a rig draws its power through, and what it may be used for. Source: `supply` in the additions. */
export const Supply = z.strictObject({
  type: z
    .enum(["shelly", "tasmota"], {
      error: ({ input }) =>
        input === "mqtt" ? "mqtt comes with the MQTT bridge, which is not there yet; use shelly or tasmota" : undefined,
    })
    .describe("what it speaks, over HTTP"),
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  channel: z.int().min(0).max(15).default(0).describe("which of its outputs, from 0"),
  username: z.string().max(200).optional().describe("for the plug's own login; absent = admin"),
  password: z.string().max(200).optional().describe("for the plug's own login"),
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
});
export type Supply = z.infer<typeof Supply>;
