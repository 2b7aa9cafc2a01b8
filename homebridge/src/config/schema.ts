import { HttpPlugSettings } from "rigbridge";
import { z } from "zod";
import { platformName } from "../names.ts";

/**
 * What the `config.json` of Homebridge says for this plugin. `config.schema.json` is made from it
 * (`homebridge/scripts/config-schema.ts`), so titles and descriptions are those of the form.
 */
const line = (longest: number) =>
  z
    .string()
    .min(1)
    .max(longest)
    .refine((text) => !/\p{Cc}/u.test(text), "must be one line");
const name = line(200);
const secret = z.string().max(1000);

export const mains = ["outlet", "switch", "heater", "hidden"] as const;
export const sensors = ["temperature", "temperature_in", "temperature_out", "room_temperature"] as const;
export const momentaries = ["restart", "reboot"] as const;

/** How a rig is shown; each may be said for all rigs, and for one. */
const choices = {
  as: z.enum(mains).meta({ title: "Shown as", description: "heater needs a room; hidden = not at all" }),
  sensors: z
    .array(z.enum(sensors))
    .max(sensors.length)
    .meta({ title: "Temperature sensors", description: "they count when Siri is asked how warm a room is" }),
  fan: z.boolean().meta({ title: "Fan", description: "where it can be set" }),
  alarm: z.boolean().meta({ title: "Alarm", description: "a contact sensor that opens when something is wrong" }),
  switches: z.array(z.enum(momentaries)).max(momentaries.length).meta({
    title: "Momentary switches",
    description: "a scene that turns everything on presses them too",
  }),
};

export const RigChoices = z.strictObject({
  as: choices.as.default("outlet"),
  sensors: choices.sensors.default([]),
  fan: choices.fan.default(true),
  alarm: choices.alarm.default(false),
  switches: choices.switches.default([]),
});
export type RigChoices = z.infer<typeof RigChoices>;

/** HomeKit waits for a switch no longer than 9 s, so there is less time to cool down than elsewhere. */
const Plug = HttpPlugSettings.extend({
  delay: HttpPlugSettings.shape.delay
    .unwrap()
    .default(5)
    .describe(
      "seconds between telling the rig to stop and cutting its power; with more than 6 Home shows an error, though it is done",
    ),
});

export const RoomSettings = z
  .strictObject({
    name: name.meta({ title: "Room" }),
    target: z
      .number()
      .min(5)
      .max(35)
      .meta({ title: "Target", description: "°C that the room should have, until somebody sets another" }),
    roomTemperature: z
      .strictObject({
        url: z.string().min(1).max(2000).meta({
          title: "Address of the sensor",
          description: "web address that answers with the number as text, or with JSON",
        }),
        path: line(500).optional().meta({
          title: "Path",
          description: "where in the JSON the number stands, like sensors.0.value; empty = it is all of it",
        }),
        every: z.number().min(5).max(600).optional().meta({ title: "Seconds between two looks" }),
        headers: z
          .record(z.string(), z.string())
          .optional()
          .meta({ title: "Headers", description: "as Authorization: Bearer and a token; kept secret" }),
      })
      .meta({ title: "Room temperature" }),
    hysteresis: z.number().min(0.1).max(5).optional().meta({
      title: "Hysteresis",
      description: "°C below the target at which all heat is on, and above it at which all is off",
    }),
  })
  .meta({ title: "Heating" });

/** Where the rigs are that may have a key; without it, wherever. The settings page goes by it too. */
const inside = { "x-rigs": "inside" };
const elsewhere = { "x-rigs": "elsewhere" };

export const RigSettings = z.strictObject({
  address: z
    .string()
    .min(1)
    .max(300)
    .optional()
    .meta({
      title: "Address",
      description: "host, host:port or http(s)://host:port; for a rig that the plugin reads",
      ...inside,
    }),
  miner: name.optional().meta({
    title: "Miner",
    description: "name or uid that it has in the service; for a service elsewhere",
    ...elsewhere,
  }),
  name: name.optional().meta({ title: "Name", description: "empty = as the rig or the service calls it" }),
  as: choices.as.optional(),
  sensors: choices.sensors.optional(),
  fan: choices.fan.optional(),
  alarm: choices.alarm.optional(),
  switches: choices.switches.optional(),
  group: name.optional().meta({ title: "Group", description: "rigs of one group get an outlet together", ...inside }),
  username: z
    .string()
    .max(200)
    .optional()
    .meta({ title: "User", description: "for the rig's own login", ...inside }),
  password: z
    .string()
    .max(200)
    .optional()
    .meta({ title: "Password", description: "for the rig's own login", ...inside }),
  token: secret.optional().meta({ title: "Token", description: "the rig's access token, as XMRig has it", ...inside }),
  driver: z
    .string()
    .max(32)
    .optional()
    .meta({ title: "Driver", description: "only this is tried; empty = recognise", ...inside }),
  uid: z
    .string()
    .max(64)
    .optional()
    .meta({ title: "Id", description: "where the rig shows neither MAC nor serial; a-z, 0-9 and -", ...inside }),
  powerNameplate: z
    .number()
    .min(0)
    .max(100_000)
    .optional()
    .meta({ title: "Nameplate power", description: "W, where the rig reports none", ...inside }),
  interval: z
    .number()
    .min(1)
    .max(3600)
    .optional()
    .meta({ title: "Seconds between two reads", description: "empty = 10", ...inside }),
  offlineExpected: z.boolean().optional().meta({ title: "Off is no alarm" }),
  supply: Plug.optional().meta({
    title: "Plug",
    description: "the plug that it draws its power through",
    ...inside,
  }),
  heating: RoomSettings.optional().meta(inside),
});
export type RigSettings = z.infer<typeof RigSettings>;

/** What only a rig that is read here has; of others the service has it. */
export const ofRigsInside: readonly string[] = Object.entries(RigSettings.shape)
  .filter(([, schema]) => schema.meta()?.["x-rigs"] === inside["x-rigs"])
  .map(([key]) => key);

export const ServiceSettings = z
  .strictObject({
    url: z.string().min(1).max(2000).meta({ title: "Address", description: "like http://192.168.1.5:17790" }),
    key: secret.optional().meta({ title: "API key" }),
    user: name.optional().meta({ title: "User", description: "only what this user sees is shown" }),
    locale: z
      .string()
      .max(35)
      .optional()
      .meta({ title: "Locale", description: "in which another product writes its figures, like sv-SE" }),
    poll: z.number().min(1).max(3600).optional().meta({
      title: "Look every",
      description: "seconds, where it does not tell by itself what changes; 15 unless said",
    }),
  })
  .meta({ title: "Service elsewhere" });
export type ServiceSettings = z.infer<typeof ServiceSettings>;

export const GroupChoices = z
  .strictObject({
    as: z.enum(["outlet", "switch", "hidden"]).default("outlet").meta({ title: "Shown as" }),
    all: z.boolean().default(false).meta({ title: "One for all rigs" }),
    only: z
      .array(name)
      .min(1)
      .max(1000)
      .optional()
      .meta({ title: "Only these groups", description: "with their rigs; other rigs and groups are not shown" }),
  })
  .meta({ title: "Groups" });
export type GroupChoices = z.infer<typeof GroupChoices>;

export const Settings = z.strictObject({
  name: name.default(platformName).meta({ title: "Name", description: "in the log" }),
  service: ServiceSettings.optional(),
  rigs: z.array(RigSettings).max(10_000).default([]).meta({ title: "Rigs" }),
  defaults: RigChoices.prefault({}).meta({ title: "All rigs" }),
  groups: GroupChoices.prefault({}),
  alarm: z.boolean().default(true).meta({ title: "Alarm", description: "one contact sensor for all rigs" }),
  rules: z
    .array(name)
    .max(50)
    .default([])
    .meta({ title: "Manual rules", description: "of the service, each as a momentary switch" }),
  eve: z.boolean().default(true).meta({ title: "Eve", description: "watts and kWh for the app Eve and its like" }),
});
export type Settings = z.infer<typeof Settings>;
