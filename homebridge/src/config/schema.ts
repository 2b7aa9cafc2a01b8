import { HttpPlugSettings } from "rigbridge";
import { z } from "zod";
import { platformName } from "../names.ts";

/**
 * The plugin's block in Homebridge's `config.json`. `config.schema.json` is generated from it
 * (`homebridge/scripts/config-schema.ts`), so titles and descriptions are those of the form.
 */
const line = (maxLength: number) =>
  z
    .string()
    .min(1)
    .max(maxLength)
    .refine((text) => !/\p{Cc}/u.test(text), "must be a single line");
const name = line(200);
const secret = z.string().max(1000);

export const mains = ["outlet", "switch", "heater", "hidden"] as const;
export const sensors = ["temperature", "temperature_in", "temperature_out", "room_temperature"] as const;
export const momentaries = ["restart", "reboot"] as const;

/** How a rig is shown; each may be set for all rigs and for one. */
const choices = {
  as: z.enum(mains).meta({ title: "Shown as", description: "heater requires a room; hidden = not shown at all" }),
  sensors: z
    .array(z.enum(sensors))
    .max(sensors.length)
    .meta({ title: "Temperature sensors", description: "Siri includes them when asked for the temperature of a room" }),
  fan: z.boolean().meta({ title: "Fan", description: "if its speed can be set" }),
  power: z.boolean().meta({ title: "Power slider", description: "if its power can be set to more than off and on" }),
  alarm: z.boolean().meta({ title: "Alarm", description: "a contact sensor that opens when something is wrong" }),
  switches: z.array(z.enum(momentaries)).max(momentaries.length).meta({
    title: "Momentary switches",
    description: "a scene that turns everything on triggers them too",
  }),
};

export const RigChoices = z.strictObject({
  as: choices.as.default("outlet"),
  sensors: choices.sensors.default([]),
  fan: choices.fan.default(true),
  power: choices.power.default(true),
  alarm: choices.alarm.default(false),
  switches: choices.switches.default([]),
});
export type RigChoices = z.infer<typeof RigChoices>;

/** HomeKit waits at most 9 s for a switch, so the time to cool down is shorter than in the service. */
const Plug = HttpPlugSettings.extend({
  delay: HttpPlugSettings.shape.delay
    .unwrap()
    .default(5)
    .describe(
      "seconds between telling the rig to stop and cutting its power; above 6, Home shows an error although the command succeeds",
    ),
});

export const RoomSettings = z
  .strictObject({
    name: name.meta({ title: "Room" }),
    target: z
      .number()
      .min(5)
      .max(35)
      .meta({ title: "Target", description: "°C to keep the room at until another target is set" }),
    roomTemperature: z
      .strictObject({
        url: z.string().min(1).max(2000).meta({
          title: "Sensor address",
          description: "URL that returns the temperature as plain text or as JSON",
        }),
        path: line(500).optional().meta({
          title: "Path",
          description: "where the number is in the JSON, like sensors.0.value; empty = the JSON is the number",
        }),
        every: z.number().min(5).max(600).optional().meta({ title: "Seconds between readings" }),
        headers: z
          .record(z.string(), z.string())
          .optional()
          .meta({ title: "Headers", description: "like Authorization: Bearer and a token; kept secret" }),
      })
      .meta({ title: "Room temperature" }),
    hysteresis: z.number().min(0.1).max(5).optional().meta({
      title: "Hysteresis",
      description: "°C below the target at which all heat is on, and above it at which all heat is off",
    }),
  })
  .meta({ title: "Heating" });

/** Which rigs may have a setting: those that the plugin reads, or those of an existing service; neither = all. */
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
      description: "host, host:port or http(s)://host:port of a rig that the plugin reads",
      ...inside,
    }),
  miner: name.optional().meta({
    title: "Miner",
    description: "its name or uid in the existing service",
    ...elsewhere,
  }),
  name: name.optional().meta({ title: "Name", description: "empty = the name reported by the rig or the service" }),
  as: choices.as.optional(),
  sensors: choices.sensors.optional(),
  fan: choices.fan.optional(),
  power: choices.power.optional(),
  alarm: choices.alarm.optional(),
  switches: choices.switches.optional(),
  group: name.optional().meta({ title: "Group", description: "rigs of the same group share an outlet", ...inside }),
  username: z
    .string()
    .max(200)
    .optional()
    .meta({ title: "User name", description: "for logging in to the rig", ...inside }),
  password: z
    .string()
    .max(200)
    .optional()
    .meta({ title: "Password", description: "for logging in to the rig", ...inside }),
  token: secret.optional().meta({ title: "Token", description: "the rig's access token, as in XMRig", ...inside }),
  driver: z
    .string()
    .max(32)
    .optional()
    .meta({ title: "Driver", description: "the only driver to try; empty = detect automatically", ...inside }),
  uid: z
    .string()
    .max(64)
    .optional()
    .meta({
      title: "ID",
      description: "for a rig that reports neither MAC nor serial number; a-z, 0-9 and -",
      ...inside,
    }),
  powerNameplate: z
    .number()
    .min(0)
    .max(100_000)
    .optional()
    .meta({ title: "Nameplate power", description: "W, for a rig that does not report its power", ...inside }),
  interval: z
    .number()
    .min(1)
    .max(3600)
    .optional()
    .meta({ title: "Seconds between reads", description: "empty = 10", ...inside }),
  offlineExpected: z.boolean().optional().meta({ title: "No alarm while off" }),
  supply: Plug.optional().meta({
    title: "Plug",
    description: "the smart plug that powers the rig",
    ...inside,
  }),
  heating: RoomSettings.optional().meta(inside),
});
export type RigSettings = z.infer<typeof RigSettings>;

/** Keys only for rigs that the plugin reads; for other rigs the service has them. */
export const insideOnly: readonly string[] = Object.entries(RigSettings.shape)
  .filter(([, schema]) => schema.meta()?.["x-rigs"] === inside["x-rigs"])
  .map(([key]) => key);

export const ServiceSettings = z
  .strictObject({
    url: z.string().min(1).max(2000).meta({
      title: "Address",
      description: "like http://192.168.1.5:17790; several with commas: the first that answers is used",
    }),
    key: secret.optional().meta({ title: "API key" }),
    user: name.optional().meta({ title: "User", description: "show only what this user of the service can see" }),
    locale: z
      .string()
      .max(35)
      .optional()
      .meta({ title: "Locale", description: "the locale in which Awesome Miner formats numbers, like sv-SE" }),
    poll: z.number().min(1).max(3600).optional().meta({
      title: "Poll interval",
      description: "seconds, for a service that does not report changes automatically; empty = 15",
    }),
  })
  .meta({ title: "Existing service" });
export type ServiceSettings = z.infer<typeof ServiceSettings>;

export const GroupChoices = z
  .strictObject({
    as: z.enum(["outlet", "switch", "hidden"]).default("outlet").meta({ title: "Shown as" }),
    all: z.boolean().default(false).meta({ title: "A group of all rigs" }),
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
  name: name.default(platformName).meta({ title: "Name", description: "shown in the log" }),
  service: ServiceSettings.optional(),
  rigs: z.array(RigSettings).max(10_000).default([]).meta({ title: "Rigs" }),
  defaults: RigChoices.prefault({}).meta({ title: "All rigs" }),
  groups: GroupChoices.prefault({}),
  alarm: z.boolean().default(true).meta({ title: "Alarm", description: "one contact sensor for all rigs" }),
  rules: z
    .array(name)
    .max(50)
    .default([])
    .meta({ title: "Manual rules", description: "rules of the service, each shown as a momentary switch" }),
  eve: z.boolean().default(true).meta({ title: "Eve", description: "watts and kWh for Eve and similar apps" }),
});
export type Settings = z.infer<typeof Settings>;
