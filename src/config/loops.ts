import { z } from "zod";
import { Line } from "../contract/inputs.ts";
import { secret } from "../contract/secrets.ts";
import { JsonPath, Topic } from "../contract/topic.ts";

/** What the file says of loops that steer the power of rigs: rooms that they heat, and a surplus that they follow. */
const name = Line(100).min(1);
const seconds = z.number().min(0).max(86_400);
const minOn = seconds.optional().describe("seconds that a rig of it mines at least; absent = as power says");
const minOff = seconds.optional().describe("seconds that a rig of it stands at least; absent = as power says");

/** Where a value comes from: one of a web address, a topic and the API. */
export const SourceSettings = z
  .strictObject({
    url: z
      .url({ protocol: /^https?$/, error: "must be a web address like http://192.168.1.5/api/temperature" })
      .max(2000)
      .refine((url) => !/^[a-z]+:\/\/[^/?#]*@/i.test(url), "must hold no password; put it into headers")
      .optional()
      .describe("web address that answers with the number as text, or with JSON"),
    path: JsonPath.optional().describe(
      "where in the JSON the number stands, like sensors.0.value; absent = it is all of it",
    ),
    every: z.number().min(5).max(600).default(30).describe("seconds between two looks at the address"),
    headers: z
      .record(
        z.string().regex(/^[!#$%&'*+.^_`|~\w-]{1,100}$/, "is no name of a header"),
        secret(
          z
            .string()
            .max(4000)
            .regex(/^[\x20-\x7e]*$/, "printable ASCII in one line"),
        ),
      )
      .default({})
      .describe("headers to ask with, as Authorization: Bearer and a token; kept secret"),
    topic: Topic.optional().describe("topic at the broker of the MQTT bridge, where the number is said, or JSON"),
    api: z.literal(true).optional().describe("true = an action of the HTTP API tells it"),
  })
  .refine(
    ({ url, topic, api }) => [url, topic, api].filter((source) => source !== undefined).length === 1,
    "needs exactly one of url, topic and api",
  )
  .refine(({ url, headers }) => url !== undefined || Object.keys(headers).length === 0, {
    error: "takes headers only beside url",
  })
  .refine(({ api, path }) => api === undefined || path === undefined, { error: "takes no path beside api" });
export type SourceSettings = z.infer<typeof SourceSettings>;

export const HeatingSettings = z
  .strictObject({
    name: name.describe("what the room is called; names are unique"),
    group: name.optional().describe("name of the group that heats it, with the groups inside it"),
    miner: name.optional().describe("name or uid of the one miner that heats it"),
    target: z.number().min(5).max(35).describe("°C that it should have, until somebody sets another"),
    roomTemperature: SourceSettings.describe("where its temperature in °C comes from"),
    hysteresis: z
      .number()
      .min(0.1)
      .max(5)
      .default(0.5)
      .describe("°C below the target at which all heat is on, and above it at which all is off"),
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
    name: name.describe("what it is called; names are unique"),
    group: name.describe("name of the group that follows, with the groups inside it"),
    surplus: SourceSettings.describe("where the surplus in W comes from; negative = drawn from the grid"),
    measures: z
      .enum(["export", "import", "available"])
      .default("export")
      .describe(
        "export, import = what the grid meter sees while the rigs run, counted positive when it goes out or when it comes in; " +
          "available = what would be left if the rigs were off",
      ),
    reserve: z.number().min(0).max(1_000_000).default(0).describe("W that are kept back"),
    order: z
      .array(name)
      .max(10_000)
      .optional()
      .describe("names or uids of miners, the first is served first; those not named come after, as they are listed"),
    dwell: seconds.default(120).describe("seconds for which there has to be enough before a rig is given more"),
    minOn,
    minOff,
  })
  .refine(({ measures, surplus }) => measures !== "import" || surplus.api === undefined, {
    path: ["measures"],
    error: "cannot be import beside surplus.api: what the action set_surplus tells is positive for export",
  });
export type FollowSettings = z.infer<typeof FollowSettings>;

/** One, or a list of them. */
const oneOrMore = <T extends z.ZodType>(each: T) =>
  z
    .union([each, z.array(each).max(1000)], "must be a mapping of keys, or a list of them")
    .transform((some): z.output<T>[] => (Array.isArray(some) ? some : [some]));

export const Heatings = oneOrMore(HeatingSettings).default([]);
export const Follows = oneOrMore(FollowSettings).default([]);
