import { z } from "zod";
import { HttpHeaders, WebAddress } from "../contract/http-request.ts";
import { Line } from "../contract/inputs.ts";
import { JsonPath, Topic } from "../contract/topic.ts";

/** The control loops for the power of rigs: rooms that they heat, and a power surplus that they follow. */
const name = Line(100).min(1);
const seconds = z.number().min(0).max(86_400);
const minOn = seconds.optional().describe("minimum seconds that a rig mines; absent = that of power");
const minOff = seconds.optional().describe("minimum seconds that a rig is stopped; absent = that of power");

/** The limit on the total power of a room's rigs. */
export const RoomMaximum = z.number().min(0).max(10_000_000).describe("W that the rigs of the room may take together");

/** The source of a value: a web address, a topic or the API. */
export const SourceSettings = z
  .strictObject({
    url: WebAddress.optional().describe("web address that returns the number as text, or JSON"),
    path: JsonPath.optional().describe(
      "path of the number in the JSON, such as sensors.0.value; absent = the JSON is the number",
    ),
    every: z.number().min(5).max(600).default(30).describe("seconds between two requests"),
    headers: HttpHeaders.default({}).describe(
      "headers of the request, such as Authorization: Bearer and a token; kept secret",
    ),
    topic: Topic.optional().describe("topic at the broker of the MQTT bridge, with the number as text, or JSON"),
    api: z.literal(true).optional().describe("true = set by an action of the HTTP API"),
  })
  .refine(
    ({ url, topic, api }) => [url, topic, api].filter((source) => source !== undefined).length === 1,
    "needs exactly one of url, topic and api",
  )
  .refine(({ url, headers }) => url !== undefined || Object.keys(headers).length === 0, {
    error: "can have headers only with url",
  })
  .refine(({ api, path }) => api === undefined || path === undefined, { error: "cannot have path with api" });
export type SourceSettings = z.infer<typeof SourceSettings>;

export const HeatingSettings = z
  .strictObject({
    name: name.describe("name of the room; names are unique"),
    group: name.optional().describe("name of the group that heats it, including the groups inside"),
    miner: name.optional().describe("name or uid of the one miner that heats it"),
    target: z.number().min(5).max(35).describe("target in °C, until a user sets another"),
    roomTemperature: SourceSettings.describe("source of its temperature in °C"),
    hysteresis: z
      .number()
      .min(0.1)
      .max(5)
      .default(0.5)
      .describe("°C below the target at which heating is fully on, and above it at which it is off"),
    max: RoomMaximum.optional().describe(
      "W that its rigs may take together, no matter who sets them; absent = as an administrator sets it over the API",
    ),
    minOn,
    minOff,
  })
  .refine(
    ({ group, miner }) => (group === undefined) !== (miner === undefined),
    "needs exactly one of group and miner",
  );
export type HeatingSettings = z.infer<typeof HeatingSettings>;

export const FollowSettings = z
  .strictObject({
    name: name.describe("name of the surplus; names are unique"),
    group: name.describe("name of the group that follows it, including the groups inside"),
    surplus: SourceSettings.describe("source of the surplus in W; negative = drawn from the grid"),
    measures: z
      .enum(["export", "import", "available"])
      .default("export")
      .describe(
        "export, import = what the grid meter shows while the rigs run, positive for export or for import; " +
          "available = what would be left with the rigs off",
      ),
    reserve: z.number().min(0).max(1_000_000).default(0).describe("W to keep in reserve"),
    order: z
      .array(name)
      .max(10_000)
      .optional()
      .describe("names or uids of miners in order of priority; all others follow in the order of the list of miners"),
    dwell: seconds.default(120).describe("seconds that the surplus must last before a rig gets more power"),
    minOn,
    minOff,
  })
  .refine(({ measures, surplus }) => measures !== "import" || surplus.api === undefined, {
    path: ["measures"],
    error: "cannot be import with surplus.api, since set_surplus is positive for export",
  });
export type FollowSettings = z.infer<typeof FollowSettings>;

/** One, or a list of them. */
const oneOrMore = <T extends z.ZodType>(each: T) =>
  z
    .union([each, z.array(each).max(1000)], "must be a mapping of keys, or a list of them")
    .transform((some): z.output<T>[] => (Array.isArray(some) ? some : [some]));

export const Heatings = oneOrMore(HeatingSettings).default([]);
export const Follows = oneOrMore(FollowSettings).default([]);
