import { z } from "zod";
import { type Language, languages } from "../messages/languages.ts";
import { HttpHeaders, WebAddress } from "./http-request.ts";
import { Line } from "./inputs.ts";
import { isRecord } from "./record.ts";
import { severities } from "./resources.ts";
import { holdsSecrets, secret, withoutSecrets } from "./secrets.ts";
import { Key } from "./steps.ts";
import { TimeZone } from "./time-zone.ts";

/** A channel that notifications are sent to, as in the configuration file and the API. */
const text = Line(500).min(1);
const time = z.string().regex(/^([01]\d|2[0-3]):[0-5]\d$/, "must be a time such as 22:00");

/** A secret that the channel requires. */
const needed = (what: string) =>
  secret(
    z
      .string({ error: ({ input }) => (input === undefined ? `is missing: ${what}` : undefined) })
      .min(1)
      .max(500)
      .regex(/^[\x20-\x7e]+$/, "must be one line of printable ASCII")
      .describe(`${what}; kept secret`),
  );

const Quiet = z.strictObject({
  from: time.describe("start of the quiet hours, such as 22:00"),
  to: time.describe("end of the quiet hours, such as 07:00"),
  timeZone: TimeZone.optional().describe("time zone, such as Europe/Stockholm; absent = that of display"),
  except: z
    .enum(["warning", "critical", "none"])
    .default("critical")
    .describe("the lowest severity that is sent even then; none = nothing is sent"),
});

const kind = "which service it is";

const common = {
  key: Key.describe("key of the channel, which rules and the command line use; keys are unique"),
  from: z.enum(severities).default("warning").describe("the lowest severity that is sent"),
  groups: z
    .array(Line(200).min(1))
    .min(1)
    .optional()
    .describe("names of the groups whose miners it reports, including the groups inside; absent = everything"),
  sharedWith: z
    .array(Line(200).min(1))
    .min(1)
    .optional()
    .describe(
      "names of the groups whose administrators may send to it with their rules, including the groups inside; absent = only users with access to everything may",
    ),
  language: z
    .enum(Object.keys(languages) as [Language, ...Language[]])
    .optional()
    .describe("language of what Rigbridge says in its messages; texts of rules stay as written; absent = English"),
  quiet: Quiet.optional().describe("hours in which messages wait; absent = none"),
};

/** Mistakes in the settings that every type has. A discriminated union does not check them if the type is unknown. */
export const commonIssues = (fields: unknown, error: z.core.$ZodErrorMap): readonly z.core.$ZodIssue[] =>
  z.object(common).safeParse(fields, { error }).error?.issues ?? [];

export const ChannelSettings = z.discriminatedUnion("type", [
  z.strictObject({
    type: z.literal("ntfy").describe(kind),
    ...common,
    url: WebAddress.default("https://ntfy.sh").describe("address of the ntfy server"),
    topic: needed("the topic, which on a public server is a password"),
    token: secret(text.optional()).describe("access token, such as tk_...; absent = none"),
  }),
  z.strictObject({
    type: z.literal("telegram").describe(kind),
    ...common,
    url: WebAddress.default("https://api.telegram.org").describe("address of the Bot API"),
    token: needed("the bot's token"),
    chat: z.union([text, z.int()], "must be the id of a chat").describe("id of the chat"),
  }),
  z.strictObject({
    type: z.literal("pushover").describe(kind),
    ...common,
    url: WebAddress.default("https://api.pushover.net").describe("address of the API"),
    token: needed("the application's API token"),
    user: needed("the user key"),
  }),
  z.strictObject({
    type: z.literal("discord").describe(kind),
    ...common,
    url: secret(WebAddress.describe("URL of the web hook; kept secret")),
  }),
  z.strictObject({
    type: z.literal("slack").describe(kind),
    ...common,
    url: secret(WebAddress.describe("URL of the web hook; kept secret")),
  }),
  z.strictObject({
    type: z.literal("gotify").describe(kind),
    ...common,
    url: WebAddress.describe("address of the Gotify server"),
    token: needed("the application's token"),
  }),
  z.strictObject({
    type: z.literal("matrix").describe(kind),
    ...common,
    url: WebAddress.describe("address of the home server"),
    token: needed("the access token"),
    room: text.describe("id of the room, such as !abc:example.org"),
  }),
  z.strictObject({
    type: z.literal("apprise").describe(kind),
    ...common,
    url: WebAddress.describe("address of the Apprise API"),
    config: needed("the key of the stored configuration"),
    tag: text.optional().describe("tag of the services to notify; absent = all"),
  }),
  z.strictObject({
    type: z.literal("webhook").describe(kind),
    ...common,
    url: WebAddress.describe("address that receives the JSON; only its host is shown"),
    secret: needed("the secret that signs each message"),
  }),
  z.strictObject({
    type: z.literal("mail").describe(kind),
    ...common,
    host: Line(253).min(1).describe("the mail server"),
    port: z.int().min(1).max(65_535).default(587).describe("port of the mail server"),
    security: z
      .enum(["starttls", "tls", "none"])
      .default("starttls")
      .describe("encryption: starttls (usually port 587), tls (port 465) or none"),
    username: text.optional().describe("user name at the mail server; absent = no login"),
    password: secret(text.optional()).describe("password at the mail server"),
    sender: z.email("must be a mail address").describe("address that it is sent from"),
    to: z.array(z.email("must be a mail address")).min(1).max(20).describe("addresses that it is sent to"),
  }),
  z.strictObject({
    type: z.literal("http").describe(kind),
    ...common,
    url: secret(WebAddress.describe("web address; it may name values, such as {{title}}; kept secret")),
    method: z.enum(["POST", "PUT", "PATCH", "GET"]).default("POST").describe("HTTP method"),
    headers: HttpHeaders.default({}).describe("headers of the request; kept secret"),
    body: secret(
      z
        .string()
        .max(10_000)
        .default('{"title":"{{title}}","message":"{{message}}","severity":"{{severity}}"}')
        .describe("body; it may name values: title, message, severity, event, time, id, count, miner, group"),
    ),
    success: z
      .strictObject({
        status: z.array(z.int().min(200).max(299)).min(1).optional().describe("statuses; absent = 200 to 299"),
        contains: text.optional().describe("a text that the answer contains; absent = any answer"),
      })
      .prefault({})
      .describe("when a message counts as delivered"),
    retry: z
      .strictObject({
        statuses: z
          .array(z.int().min(300).max(599))
          .default([408, 425, 429, 500, 502, 503, 504])
          .describe("statuses after which it is sent again; others are final"),
        first: z.number().min(1).max(3600).default(5).describe("seconds until the first repeat; they double"),
        longest: z.number().min(1).max(21_600).default(600).describe("most seconds between two repeats"),
        repeatable: z
          .boolean()
          .default(false)
          .describe("whether the receiver ignores a repeat of the same {{id}}, so that sending it twice is safe"),
      })
      .prefault({})
      .describe("when it is sent again"),
  }),
]);
export type ChannelSettings = z.output<typeof ChannelSettings>;

/** The settings of a channel without its secrets, which are "". */
export function shownSettings(settings: ChannelSettings): Record<string, unknown> {
  const kind = ChannelSettings.options.find(({ shape }) => shape.type.value === settings.type);
  const shown = kind === undefined ? null : withoutSecrets(kind, settings);
  // The path of a web hook may hold a key.
  const host = settings.type === "webhook" ? { url: new URL(settings.url).origin } : {};
  return isRecord(shown) ? { ...shown, ...host } : {};
}

/**
 * The settings of all types of channels. The service checks which of them belong to the given type, with the checks of the
 * configuration file, so that all mistakes are reported at once.
 */
function settingsOfAllTypes(left: readonly string[]): z.ZodObject<Record<string, z.ZodType<unknown>>> {
  const names = new Set(ChannelSettings.options.flatMap(({ shape }) => Object.keys(shape)));
  const fields = [...names]
    .filter((name) => !left.includes(name))
    .map((name) => {
      const having = ChannelSettings.options.flatMap(({ shape }) => {
        const schema = Object.entries(shape).find(([each]) => each === name)?.[1];
        return schema === undefined ? [] : [{ schema, type: shape.type.value, text: schema.description ?? "" }];
      });
      const types = having.map(({ type }) => type);
      const [only, other] = new Set(having.map(({ text }) => text));
      const where = having.length === ChannelSettings.options.length ? "" : `${types.join(", ")}: `;
      const text =
        other === undefined ? `${where}${only}` : having.map((each) => `${each.type}: ${each.text}`).join("; ");
      const schema = z
        .unknown()
        .optional()
        .describe(name === "type" ? `${text}: ${types.join(", ")}` : text);
      return [name, having.some((each) => holdsSecrets(each.schema)) ? secret(schema) : schema];
    });
  return z.looseObject(Object.fromEntries(fields));
}

export const ChannelBody = settingsOfAllTypes([]);
/** The changed settings; null removes one. The key cannot change, since rules and the outbox refer to it. */
export const ChannelPatch = settingsOfAllTypes(["key", "type"]);

/**
 * A channel and its deliveries. Users without access to everything receive the channels that they may use, without
 * settings and deliveries.
 */
export const ChannelState = z.object({
  id: z.int(),
  key: z.string(),
  type: z.string().describe("such as ntfy, telegram or mail"),
  owner: z.enum(["file", "store"]).describe("file = declared by the configuration file; store = added over the API"),
  problem: z.string().nullable().describe("why it is not used; null = it is used"),
  host: z.string().describe("the server that gets the messages, without anything secret"),
  from: z.enum(severities).describe("the lowest severity that is sent"),
  groups: z.array(z.string()).nullable().describe("the groups whose miners it reports; null = everything"),
  sharedWith: z
    .array(z.string())
    .nullable()
    .describe("the groups whose administrators may use it in their rules; null = only users with access to everything"),
  quiet: z.string().nullable().describe("hours in which messages wait, such as 22:00-07:00; null = none"),
  settings: z.record(z.string(), z.unknown()).describe("all its settings; secrets are empty texts"),
  waiting: z.int().describe("notifications that are not sent yet"),
  lastSentUtc: z.iso.datetime().nullable().describe("when a message was last delivered; null if none is known"),
  lastError: z.string().nullable().describe("why messages wait or were last not delivered; null after a delivery"),
  notDelivered: z
    .array(z.object({ timeUtc: z.iso.datetime(), title: z.string(), message: z.string(), error: z.string() }))
    .describe("notifications that were given up, newest first, at most 20"),
});
export type ChannelState = z.infer<typeof ChannelState>;
