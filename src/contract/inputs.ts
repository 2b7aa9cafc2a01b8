import { z } from "zod";
import { bulkOrders } from "./bulk-orders.ts";
import { coinMistakes } from "./coin-mistakes.ts";
import { eventTypes } from "./events.ts";
import { naming } from "./form-kind.ts";
import { keyWording } from "./idempotency.ts";
import { Line } from "./line.ts";
import { didYouMean } from "./nearest.ts";
import { PlaceName } from "./places.ts";
import { PlugSettings } from "./plug-settings.ts";
import { type Mistake, namedMistakes } from "./problems.ts";
import { quantityIn } from "./quantity.ts";
import { isRecord } from "./record.ts";
import { Miner, minerStatuses, moneyPeriods, moneySubjects, Position, privileges, Uid } from "./resources.ts";
import { rowColumnNames } from "./rows.ts";
import { secret } from "./secrets.ts";
import { longestNumber } from "./site-numbers.ts";
import { SwitchingBody } from "./switching.ts";
import { switchWord } from "./triggers.ts";
import { wording } from "./wording.ts";

/**
 * The inputs of operations. Query and path parameters arrive as text and become numbers through codecs, so that "",
 * "0x10" and "1,5" are mistakes and not numbers. Bodies accept null for empty text, since real clients send it.
 */

/** A path or query parameter with its description and an example. */
export const parameter = <const T extends z.ZodType>(
  type: T,
  description: string,
  example: string | number | boolean,
) => type.meta({ description, examples: [example] });

/** An optional parameter that the documented API does not have. */
const extension = <const T extends z.ZodType>(type: T, description: string, example: string | number | boolean) =>
  parameter(type, `${description} (Rigbridge extension)`, example).optional();

/** One or more of these words, separated by commas; read as a list of unique words. */
const someOf = <const T extends string>(words: readonly T[], what: string) =>
  z
    .string()
    .max(2_000)
    .regex(new RegExp(`^(${words.join("|")})(,(${words.join("|")}))*$`), {
      error: ({ input }) => {
        const wrong = String(input)
          .split(",")
          .filter((word) => !words.some((each) => each === word));
        const hint = wrong[0] === undefined ? "" : didYouMean(wrong[0], words);
        return `must be one or more ${what}, separated by commas: ${words.join(", ")}${hint}`;
      },
    })
    .transform((text) =>
      [...new Set(text.split(","))].filter((word): word is T => words.some((each) => each === word)),
    );

const digits = (most: number) =>
  z.codec(
    z.string().regex(new RegExp(`^[0-9]{1,${most}}$`), `must be a whole number of 1 to ${most} digits`),
    z
      .int()
      .min(0)
      .max(10 ** most - 1),
    { decode: (text) => Number(text), encode: (id) => String(id) },
  );

/** An id: digits only, as in every path of the API document. Ids of other sites have more than ten. */
export const Id = digits(longestNumber);

/** The number of an event. */
const EventId = digits(15);

/** Decimal point, no thousands separators, never negative. */
export const Decimal = z.codec(
  z
    .string()
    .max(40)
    .regex(/^\d+(\.\d+)?([eE][+-]?\d{1,3})?$/, "must be a decimal number with a point, not negative, like 0.00012"),
  z.number().min(0),
  { decode: (digits) => Number(digits), encode: (number) => String(number) },
);

/** A number that people may write with a unit, like "2.5 kW", or with a decimal comma. */
const quantity = (unit: "W" | "°C", smallest: number) =>
  z.codec(
    z
      .string()
      .max(40)
      .superRefine((text, context) => {
        const number = quantityIn(text, unit);
        if (typeof number !== "number") context.addIssue({ code: "custom", message: number.text });
      }),
    z.number().min(smallest).max(10_000_000),
    {
      decode: (text) => {
        const number = quantityIn(text, unit);
        return typeof number === "number" ? number : Number.NaN;
      },
      encode: (number) => String(number),
    },
  );

export const Flag = z.codec(
  z
    .string()
    .max(20)
    .refine((word) => switchWord(word) !== null, "must be true or false"),
  z.boolean(),
  { decode: (word) => switchWord(word) === true, encode: (flag) => (flag ? "true" : "false") },
);

export { Line };

/** Text in a body: null means empty, absent means unchanged. */
const optionalLine = (max: number) =>
  Line(max)
    .nullish()
    .transform((line) => (line === null ? "" : line));

/** An id that is 0 or absent adds; any other updates. */
export const BodyId = z
  .int()
  .min(0)
  .max(10 ** longestNumber - 1)
  .nullish()
  .transform((id) => id ?? 0);

export const CoinName = z.string().regex(/^[A-Za-z0-9._-]{1,32}$/, "1 to 32 of A-Z, a-z, 0-9, dot, underscore, hyphen");

export const minerActions = [
  "reboot",
  "stop",
  "restart",
  "start",
  "add_pool",
  "change_pool",
  "apply_template",
  "rule",
  "set",
  "set_power_limit",
  "set_mode",
  "locate",
  "set_target_temperature",
  "set_room_temperature",
  "set_surplus",
] as const;
export type MinerAction = (typeof minerActions)[number];

/** The required parameters of each action. */
const needed = {
  reboot: [],
  stop: [],
  restart: [],
  start: [],
  add_pool: ["pool_id", "pool_type"],
  change_pool: ["pool_id", "pool_type"],
  apply_template: ["template_id"],
  rule: ["rule_id"],
  set: ["property", "value"],
  set_power_limit: ["watts"],
  set_mode: ["mode"],
  locate: ["on"],
  set_target_temperature: ["temperature"],
  set_room_temperature: ["temperature"],
  set_surplus: ["surplus"],
} as const satisfies Record<MinerAction, readonly string[]>;

const actionParameters = {
  pool_id: parameter(Id, "for add_pool and change_pool: Static ID of the pool or pool group", 3).optional(),
  pool_type: parameter(
    z.enum(["single", "group"]),
    "for add_pool and change_pool: whether pool_id is a pool or a pool group",
    "single",
  ).optional(),
  template_id: parameter(Id, "for apply_template: id of the managed template", 2).optional(),
  rule_id: parameter(
    z.union([Id, Line(200).min(1)]),
    "for rule: id of the rule, as in manualActionList, or its key (the key is a Rigbridge extension)",
    4,
  ).optional(),
  property: extension(z.string().max(40), "for set: the key of a control, as in the miner's `controls`", "fan"),
  value: extension(z.string().max(200), "for set: the control's new value, as text", "60"),
  watts: extension(quantity("W", 0), "for set_power_limit: W", 2400),
  mode: extension(z.string().max(100), "for set_mode: one of the control's `options`", "low"),
  on: extension(Flag, "for locate: whether the rig signals its location", true),
  temperature: extension(
    quantity("°C", -10_000_000),
    "°C: for set_target_temperature, the target of the room that this miner heats (5 to 35; survives a restart); for " +
      "set_room_temperature, the room's temperature (-40 to 60), if the configuration expects it from the API",
    21.5,
  ),
  surplus: extension(
    quantity("W", -10_000_000),
    "for set_surplus: W of solar surplus for the miner's whole group; negative = drawn from the grid",
    1500,
  ),
};

/** Each missing parameter is reported as a separate mistake. */
export const MinerActionQuery = z
  .object({
    action: parameter(z.enum(minerActions), "the action", "restart"),
    ...actionParameters,
    override: extension(
      Flag,
      "for start and set: also against a curtailment for safety, which then leaves this miner out and reports it",
      true,
    ),
  })
  .check(...Object.entries(actionParameters).map(([name]) => isThereWhenNeeded(name)));

function isThereWhenNeeded(name: string) {
  return z.refine<{ readonly action: MinerAction; readonly [name: string]: unknown }>(
    (query) => query[name] !== undefined || !actionsThatNeed(name).includes(query.action),
    {
      path: [name],
      error: `is required for ${actionsThatNeed(name).join(", ")}`,
      when: ({ issues }) => !issues.some(({ path }) => path?.[0] === name || path?.[0] === "action"),
    },
  );
}

function actionsThatNeed(name: string): MinerAction[] {
  return minerActions.filter((action) => needed[action].some((parameter) => parameter === name));
}

export const PoolActionQuery = z.object({
  action: parameter(z.enum(["remove", "disable", "enable", "prioritize"]), "the action", "prioritize"),
});
export const NotificationListQuery = z.object({
  since: extension(Id, "only notifications with a higher id than this", 1204),
});
export const AllNotificationsQuery = z.object({
  action: parameter(z.enum(["ack_all", "clear_all"]), "the action", "ack_all"),
});
export const NotificationsBody = z.strictObject({
  action: z.enum(["ack", "clear"]),
  ids: z.array(z.int().min(1)).min(1).max(20_000).describe("ids of notifications; those that are gone are ignored"),
});
export const NotificationQuery = z.object({ action: parameter(z.enum(["ack", "clear"]), "the action", "ack") });

/** Schemes of pool URLs; any other could make a rig or the service connect where it should not. */
const poolSchemes =
  /^(stratum(2)?\+(tcp|ssl|tls|tcps|udp)|stratum2?|stratum\+ssl|stratums|ssl|tls|tcp|daemon\+https?|daemon|https?):\/\//i;

export const PoolUrl = Line(512)
  .min(1, "is required")
  .refine(
    (url) => !url.includes("://") || poolSchemes.test(url),
    "must start with stratum+tcp://, stratum+ssl:// or a similar scheme",
  )
  .refine(
    (url) => /^([a-z0-9+]+:\/\/)?(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(:\d{1,5})?(\/\S*)?$/i.test(url),
    "must be scheme://host:port",
  );

/** The sites of a pool, pool group or template. It does nothing by itself, so that it can always be used here too. */
export const GetsIt = z
  .array(naming("runsAt", Line(200).min(1)))
  .max(200)
  .optional()
  .describe(
    "names of the other sites that get it, all for each of them; it can be used here in any case, also without `here`",
  );

export const PoolBody = z.object({
  id: BodyId,
  description: optionalLine(200),
  coinClass: z
    .enum(["PreDefined", "UserDefined", ""])
    .nullish()
    .transform((name) => name || undefined),
  coinShortName: optionalLine(32),
  coinAlgorithm: optionalLine(64),
  url: PoolUrl.optional(),
  workerName: optionalLine(256),
  walletAddress: optionalLine(256),
  plainWorkerPassword: secret(optionalLine(256)),
  runsAt: GetsIt,
});

export const PoolGroupBody = z.object({
  id: z
    .union([BodyId, Id])
    .optional()
    .transform((id) => id ?? 0),
  name: Line(200).min(1),
  pools: z.array(z.int().min(1)).max(100).optional(),
  runsAt: GetsIt,
});

const GroupOf = z
  .union([z.int().min(0), Line(200).min(1)])
  .describe("group: id, name or path; 0 = none (Rigbridge extension)");

export const HostBody = z.object({
  id: BodyId,
  description: optionalLine(200),
  hostname: Line(253).optional(),
  groupId: GroupOf.optional(),
});

export const AgentBody = z.object({ hostId: z.int().min(1).describe("the host that its agent runs on") });

const figureIn = (min: number, max: number, what: string) =>
  z.number().min(min).max(max).nullable().default(null).describe(what);

/** Ranges that no GPU exceeds; the limits of a given GPU are checked by its driver. */
const GpuTuningBody = z.object({
  algorithm: Line(100).min(1).nullable().default(null).describe("only while it mines this one; null = any"),
  bus: z.int().min(0).max(255).nullable().default(null).describe("number of its PCI bus; null = every other GPU"),
  powerLimit: figureIn(10, 2_000, "W"),
  coreClock: figureIn(100e6, 5e9, "Hz, locked"),
  memoryClock: figureIn(100e6, 30e9, "Hz, locked"),
  fan: figureIn(0, 100, "%"),
});

const IdleBody = z.object({
  processes: z.array(Line(200).min(1)).max(50).default([]).describe("names of processes"),
  load: figureIn(1, 100, "load of the processors by others, %"),
});

export const DownloadBody = z.object({
  sha256: z
    .string()
    .regex(/^[0-9a-fA-F]{64}$/, "must be 64 hexadecimal digits")
    .transform((sum) => sum.toLowerCase())
    .describe("the checksum that GET shows, which you have checked"),
});

export const ManagedMinerBody = z.object({
  id: BodyId,
  description: optionalLine(200),
  hostId: z.int().min(0).optional(),
  isPoolGroup: z.boolean().optional(),
  poolId: z.int().min(0).optional(),
  commandLineParams: secret(optionalLine(4000)),
  softwareAutoDownload: z.boolean().optional(),
  softwareType: optionalLine(100),
  softwarePath: optionalLine(1000),
  algorithm: optionalLine(100),
  dualAlgorithm: optionalLine(100),
  groupId: GroupOf.nullish().describe("null or absent = the group of the host"),
  gpuSettings: z
    .array(GpuTuningBody)
    .max(64)
    .optional()
    .describe("settings of GPUs while it runs (Rigbridge extension)"),
  switching: SwitchingBody.nullish().describe(
    "choices among which the service switches it, by profit or heat; null = none (Rigbridge extension)",
  ),
  idle: IdleBody.nullish().describe("other work on the host for which it waits; null = none (Rigbridge extension)"),
});

export const SaveManagedMinerQuery = z.object({
  dryRun: extension(
    Flag,
    "true saves nothing, and answers the managed miner as it would be: a new one with the id 0, with `note` if it could not run",
    true,
  ),
});

const coinFields = {
  profit: parameter(Decimal, "BTC per MH/s per day", 0.00000042).optional(),
  name: parameter(Line(100), "name, for a user-defined coin", "Invented coin").optional(),
  algorithm: parameter(z.string().max(64), "algorithm, for a user-defined coin; id or name", "SHA-256").optional(),
  difficulty: parameter(Decimal, "network difficulty, for a user-defined coin", 120_000).optional(),
  reward: parameter(Decimal, "block reward in coins, for a user-defined coin", 3.125).optional(),
  btc: parameter(Decimal, "price of one coin in BTC, for a user-defined coin", 0.00002).optional(),
  usd: parameter(Decimal, "price of one coin in US dollars, for a user-defined coin", 1.35).optional(),
  reset: extension(Flag, "true removes the profitability that was set by hand, so that the market sources apply", true),
};
export const CoinQuery = z.object(coinFields).superRefine(
  (given, context) => {
    for (const { path, message } of coinMistakes(given)) context.addIssue({ code: "custom", path: [path], message });
  },
  // The service, which knows the coin, checks combinations; beside other mistakes they are checked here.
  { when: ({ issues }) => issues.length > 0 },
);

const place = Line(64).nullable();
const tag = Line(64).min(1);
const seconds = z.number().min(1).max(86_400);

/** The settings of a miner; the same in a body and in the configuration file. */
export const minerFields = {
  name: Line(200).min(1).optional(),
  driver: z.string().max(32).optional().describe("use only this driver; absent = detect it"),
  username: z.string().max(200).optional(),
  password: secret(z.string().max(200).optional()),
  token: secret(z.string().max(1000).optional()),
  login: Line(200)
    .min(1)
    .optional()
    .describe("name of a login in the settings, in place of username, password and token"),
  interval: seconds.optional().describe("seconds between two reads"),
  powerNameplate: z.number().min(0).max(100_000).optional().describe("W, for a rig that does not report its power"),
  location: z
    .object({
      site: place.default(null),
      container: place.default(null),
      rack: place.default(null),
      slot: place.default(null),
    })
    .optional(),
  tags: z.array(tag).max(50).optional(),
  offlineExpected: z.boolean().optional().describe("being off does not raise a notification"),
};

const groupName = Line(400).min(1);
const group = z.union([z.int().min(0), groupName]).describe("id or name of a group; 0 = no group");

export const minerFieldNames = Miner.keyof().options;

/** Filters of the list of miners, all of which must match, and the fields to return. */
export const MinerListQuery = z.object({
  status: extension(
    someOf(minerStatuses, "statuses"),
    "only miners with one of these statuses, separated by commas",
    "Mining,Idle",
  ),
  group: extension(z.union([Id, groupName]), "only miners in this group (id or name) and its groups; 0 = no group", 1),
  tag: extension(tag, "only miners with this tag", "hall-1"),
  fields: extension(
    someOf(minerFieldNames, "fields of a miner"),
    "return only the id and these fields of each miner, separated by commas",
    "name,statusInfo,readings",
  ),
});

/** Maximum ids in `shown`: a few screens of a table. */
export const mostShown = 300;
const idText = /^([1-9]\d{0,9}(,[1-9]\d{0,9})*)?$/;
const shown = parameter(
  z
    .string()
    .max(11 * mostShown)
    .regex(idText, "must be ids of miners, separated by commas, or empty")
    .transform((text) => (text === "" ? [] : [...new Set(text.split(",").map(Number))]))
    .refine((ids) => ids.length <= mostShown, `must be at most ${mostShown} ids`),
  `with view=list: ids of the miners that a page shows now, at most ${mostShown}, separated by commas; may be empty. Every change of their rows is sent. Those of other miners are sent at once if something else than a figure changes, after a minute if a figure has moved by a twentieth or 2 °C, after ten minutes if it has moved at all`,
  "1000000001,1000000002",
).optional();

/** The list of miners as rows, for tables. */
export const MinerRowsQuery = z.object({
  view: parameter(z.literal("list"), "list: rows of a table instead of whole miners (Rigbridge extension)", "list"),
  since: extension(
    Line(100),
    "only what has changed since this `version` of the same request; the whole list if the version is unknown",
    "k2f0a9.176380000000000.5d41402a",
  ),
  status: MinerListQuery.shape.status,
  group: MinerListQuery.shape.group,
  tag: MinerListQuery.shape.tag,
  fields: extension(
    someOf(rowColumnNames, "fields of a row"),
    "return only the id and these fields of each row, separated by commas",
    "name,status,model",
  ),
  shown,
});

const placement = {
  placeId: z.int().min(1).nullable().optional().describe("its place, in place of location; null = none"),
  position: Position.nullable()
    .optional()
    .describe("where it is in its place; another place without one clears it, and so does null"),
};

export const AddMinerBody = z.object({
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  group: group.optional(),
  ...minerFields,
  ...placement,
  supply: PlugSettings.optional().describe("the plug that supplies it"),
});

export const ChangeMinerBody = z
  .object({
    address: z
      .string()
      .min(1)
      .max(300)
      .optional()
      .describe("a new host, port or scheme clears username, password, token and login unless they are given as well"),
    group: group.optional(),
    ...minerFields,
    ...placement,
    name: minerFields.name.unwrap().nullable().optional().describe("null: that of the rig"),
    driver: minerFields.driver.unwrap().nullable().optional().describe("use only this driver; null = detect it"),
    username: minerFields.username.unwrap().nullable().optional().describe("null removes it"),
    password: secret(z.string().max(200).nullable().optional().describe("null removes it")),
    token: secret(z.string().max(1000).nullable().optional().describe("null removes it")),
    login: minerFields.login
      .unwrap()
      .nullable()
      .optional()
      .describe("name of a login in the settings, in place of username, password and token; null removes it"),
    interval: seconds.nullable().optional().describe("seconds between two reads; null = as configured for all"),
    powerNameplate: minerFields.powerNameplate
      .unwrap()
      .nullable()
      .optional()
      .describe("W, for a rig that does not report its power; null removes it"),
    supply: PlugSettings.nullable().optional().describe("the plug that supplies it; null removes it"),
    repair: z
      .object({ note: Line(500).default("") })
      .nullable()
      .optional()
      .describe(
        "puts it in repair, with what is done with it: sums leave it out, it raises no alarms, and rules and schedules do nothing at it; null ends that. It is also taken of a miner of the configuration file, and of a managed one",
      ),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), "has nothing to change");

export const MinerNoteBody = z.object({ note: Line(500).min(1) });

export const GroupBody = z.object({
  name: Line(200).min(1),
  parentId: z.int().min(0).default(0),
  room: z.boolean().optional(),
});
export const ChangeGroupBody = z
  .object({ name: Line(200).min(1).optional(), parentId: z.int().min(0).optional(), room: z.boolean().optional() })
  .refine((body) => Object.values(body).some((value) => value !== undefined), "has nothing to change");

/** An ISO 8601 time with zone, or epoch milliseconds. */
export const Instant = z.union(
  [
    z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
    z
      .string()
      .regex(/^\d{1,15}$/)
      .transform(Number),
  ],
  "must be a time like 2026-01-31T12:00:00Z, or epoch milliseconds",
);

export const CommandsQuery = z.object({
  miner: parameter(z.union([Id, Uid]), "id or uid", 1).optional(),
  actor: parameter(
    z.string().max(200),
    "a user's name, or a front end: http, mqtt, node-red, homebridge, service, or mcp: and the MCP client's name",
    "anna",
  ).optional(),
  since: parameter(Instant, "ISO 8601 with zone, or epoch milliseconds", "2026-01-31T12:00:00Z").optional(),
  request: parameter(
    z.string().regex(/^[!-~]{1,255}$/, keyWording),
    "only the command of the caller's own request with this Idempotency-Key; none if it was not received",
    "0f3c",
  ).optional(),
});

export const BulkActionsQuery = z.object({
  request: parameter(
    z.string().regex(/^[!-~]{1,255}$/, keyWording),
    "only that of the caller's own request with this Idempotency-Key; none if it was not received",
    "0f3c",
  ).optional(),
});

export const RunsQuery = z.object({
  miner: parameter(Id, "only runs that concern this miner", 1).optional(),
  kind: parameter(z.enum(["rule", "schedule"]), "only what rules, or what schedules did", "rule").optional(),
  since: parameter(Instant, "ISO 8601 with zone, or epoch milliseconds", "2026-01-31T12:00:00Z").optional(),
});

const Key = z
  .string()
  .min(16, "needs at least 16 characters")
  .max(200)
  .regex(/^[\x21-\x7e]+$/, "must be printable ASCII without spaces");

/** Names of the front ends in the audit trail; no user may have one of them. */
export const frontEnds = ["http", "mqtt", "node-red", "homebridge", "service"] as const;

export const UserName = Line(200)
  .min(1)
  .refine((name) => !looksLikeFrontEnd(name), "is reserved for front ends and rules");

/** Compares like a human reader: "HTTP ", "http for anna" and full-width letters match too. */
function looksLikeFrontEnd(name: string): boolean {
  const plain = name
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .trim()
    .toLowerCase();
  // Actors of commands, like "rule:too-hot" and "mcp:claude-code".
  if (/^(rule|schedule|mcp):/.test(plain)) return true;
  return frontEnds.some((taken) => plain === taken || plain.startsWith(`${taken} for `));
}

/** Describes the query parameter `user_id`, which every operation accepts. */
export const userIdDescription =
  "Restricts the request to what this user may see and do; GET /api/user/{username} returns the id, and an unknown id " +
  "is answered with 404. It is a filter, not authentication: a client with the service's key may name any user. A " +
  "user's own API key implies their user_id; any other user_id with such a key is answered with 404.";

export const UserBody = z.object({
  id: BodyId,
  name: UserName.optional(),
  key: secret(Key.nullable().optional()).describe("the user's own API key; null removes it; it is never returned"),
  privilege: z.enum(privileges).optional().describe("default for a new user: view"),
  groups: z
    .array(z.int().min(1))
    .max(1000)
    .nullable()
    .optional()
    .describe("ids of the groups that the user sees; null = all"),
  pools: z
    .array(z.int().min(1))
    .max(1000)
    .nullable()
    .optional()
    .describe("Static IDs of the pools that the user sees; null = all"),
  centre: z
    .boolean()
    .optional()
    .describe("whether the key belongs to a centre, so that the log shows the people who act there; default: false"),
});

/** Fields of replies that are also available as tables. */
const csvFields = {
  format: parameter(
    z.enum(["json", "csv"]),
    "csv: the reply over HTTP is a table (RFC 4180); default: json",
    "csv",
  ).optional(),
  units: parameter(
    Flag,
    "true: the head of the table names units, and figures have the decimals that people read; default: false, plain figures in base units",
    true,
  ).optional(),
  bom: parameter(
    Flag,
    "true: the table begins with a byte order mark, as Excel needs it; default: false",
    true,
  ).optional(),
};

export const MinerExportQuery = z.object({ format: csvFields.format, bom: csvFields.bom });

export const HistoryQuery = z.object({
  from: parameter(
    Instant,
    "ISO 8601 with zone, or epoch milliseconds; default: 24 hours before `to`",
    "2026-01-31T12:00:00Z",
  ).optional(),
  to: parameter(Instant, "ISO 8601 with zone, or epoch milliseconds; default: now", "2026-02-01T12:00:00Z").optional(),
  step: parameter(
    Decimal,
    "seconds between two points, aligned to 1970; only whole steps are returned; at most ten years; 0 = every reading, at most 10,000; default: about 500 points",
    3600,
  ).optional(),
  ...csvFields,
});

export const RoomBody = z
  .strictObject({
    target: z.number().min(5).max(35).optional().describe("°C, of a room whose temperature is held; ends overrides"),
    power: z
      .number()
      .min(0)
      .max(10_000_000)
      .optional()
      .describe(
        "W that its rigs may take together, of a surplus at most (all that they can take = no limit); 0 stops them",
      ),
    on: z
      .boolean()
      .optional()
      .describe("false stops its rigs until they are switched on again; true ends overrides of a loop's rigs"),
    max: z
      .number()
      .min(0)
      .max(10_000_000)
      .nullable()
      .optional()
      .describe("W that its rigs may take together, no matter who sets them; null = no maximum; administrators only"),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), {
    error: "needs at least one of target, power, on and max",
  })
  .refine(({ power, on }) => power === undefined || on === undefined, {
    path: ["on"],
    error: "cannot be given together with power",
  });

export const SummaryHistoryQuery = HistoryQuery.extend({
  group: parameter(
    z.union([Id, groupName]),
    "only miners in this group (id or name) and its groups; 0 = no group; default: all that the caller sees",
    1,
  ).optional(),
  place: parameter(
    z.union([Id, z.string().min(1).max(400)]),
    "only miners in this site, building or row (id or path such as Texas/B1); for callers who see all groups",
    "Texas/B1",
  ).optional(),
  algorithm: parameter(
    z.string().min(1).max(64),
    "id or name of the algorithm of the hash rate; default: the one that most miners mined in this time",
    "sha256",
  ).optional(),
});

const LocalDate = z.iso.date("must be a date like 2026-11-22");

export const MoneyQuery = z.object({
  from: parameter(LocalDate, "first local date; default: 30 days, or 12 months, before `to`", "2026-11-01").optional(),
  to: parameter(LocalDate, "last local date, included; default: today", "2026-11-30").optional(),
  by: parameter(z.enum(moneyPeriods), "length of the periods; default: day", "day").optional(),
  of: parameter(z.enum(moneySubjects), "what each row is about; default: miner", "miner").optional(),
  ...csvFields,
});

export const PricesQuery = z.object({
  miner: parameter(
    z.union([Id, Uid]),
    "id or uid: the prices that this miner pays; default: the general ones",
    1,
  ).optional(),
  group: parameter(Id, "id: the prices of this group", 1).optional(),
  from: parameter(
    Instant,
    "ISO 8601 with zone, or epoch milliseconds; default: now",
    "2026-11-22T00:00:00Z",
  ).optional(),
  to: parameter(
    Instant,
    "ISO 8601 with zone, or epoch milliseconds; default: 36 hours after `from`; at most 31 days after it",
    "2026-11-23T00:00:00Z",
  ).optional(),
});

export const TryQuery = z.object({
  from: parameter(
    Instant,
    "ISO 8601 with zone, or epoch milliseconds; default: 24 hours before `to`, at most 31 days",
    "2026-01-31T12:00:00Z",
  ).optional(),
  to: parameter(Instant, "ISO 8601 with zone, or epoch milliseconds; default: now", "2026-02-01T12:00:00Z").optional(),
});

export const UpcomingQuery = z.object({
  days: parameter(Decimal.pipe(z.number().min(0).max(31)), "how many days ahead, at most 31; default: 7", 7).optional(),
});

const eventOrList = "must be a whole number of 1 to 15 digits, or the version of a list";

/** A list's version: the run of the service, the last event at that time, and the request. */
export const ListVersion = z
  .string()
  .max(100)
  .regex(/^[0-9a-z]{1,16}\.[0-9]{1,15}\.[0-9a-f]{1,16}$/, eventOrList);

export const EventsQuery = z.object({
  after: parameter(
    z.union([EventId, ListVersion], eventOrList),
    "resume after this event, as with the header Last-Event-ID, or after the list with this `version`",
    1204,
  ).optional(),
  types: parameter(
    someOf(eventTypes, "types of events"),
    "only events of these types, separated by commas, and `reset`; default: all",
    "miner,miner-removed,summary",
  ).optional(),
});

export const RowEventsQuery = EventsQuery.extend({
  view: parameter(z.literal("list"), "list: `miner` events carry a row instead of the whole miner", "list"),
  fields: parameter(
    someOf(rowColumnNames, "fields of a row"),
    "only the id and these fields of each row, separated by commas",
    "name,status,model",
  ).optional(),
  shown,
});

export const DiscoveryBody = z.object({
  networks: z
    .array(z.string().min(1).max(60))
    .max(64)
    .optional()
    .describe(
      "like 192.168.1.0/24, or 192.168.1.0/24:8080 for an additional port; default: scan.networks, else the machine's networks",
    ),
  yes: z.boolean().default(false).describe("also scan networks that are larger than /16 or not private"),
});

const isListedId = (id: unknown): id is number => Number.isSafeInteger(id) && Number(id) >= 0;
const isGroup = (group: unknown): group is number | string => isListedId(group) || groupName.safeParse(group).success;

/** Up to 100,000 entries. Reports only the first wrong ones; zod's own list would report them all. */
const some = <T>(isOne: (each: unknown) => each is T, message: string, items: object) =>
  z
    .array(z.unknown())
    .min(1)
    .max(100_000)
    .superRefine((given, context) => {
      let wrong = 0;
      for (let index = 0; index < given.length; index += 1) {
        if (isOne(given[index])) continue;
        context.addIssue({ code: "custom", path: [index], message });
        wrong += 1;
        if (wrong === namedMistakes) return;
      }
    })
    .transform((given) => given.filter(isOne))
    .meta({ items });

const idItem = { type: "integer", minimum: 0 };
const someIds = some(isListedId, "must be an id, a whole number from 0 on", idItem);
const someGroups = some(isGroup, "must be an id, a whole number from 0 on, or the name of a group", {
  anyOf: [idItem, { type: "string", minLength: 1, maxLength: 400 }],
});

export type MinerActionInput = z.output<typeof MinerActionQuery>;

const actionParameterNames = Object.keys(actionParameters);

/** Checks a bulk action with the schema for one miner, whose parameters are text; returns the action or the mistakes. */
export function bulkAction({ action, parameters, orReboot }: BulkActionInput): {
  readonly action: MinerActionInput | null;
  readonly mistakes: readonly Mistake[];
} {
  const given = Object.entries(parameters).filter(([, value]) => value !== undefined);
  const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const { data = null, error } = MinerActionQuery.safeParse({ ...texts, action }, { error: wording });
  const unknown = given.filter(([name]) => !actionParameterNames.includes(name));
  const mistakes = [
    ...(error?.issues ?? []).map(({ path: [name], message }) => ({
      path: name === "action" ? "action" : `parameters.${String(name)}`,
      message,
    })),
    ...unknown.map(([name]) => ({
      path: `parameters.${name}`,
      message: `is not known; there are ${actionParameterNames.join(", ")}`,
    })),
    ...(orReboot && action !== "restart" ? [{ path: "orReboot", message: "is only for the action restart" }] : []),
  ];
  return { action: mistakes.length === 0 ? data : null, mistakes };
}

interface BulkActionInput {
  readonly action: string;
  readonly parameters: Readonly<Record<string, string | number | boolean | undefined>>;
  readonly orReboot?: boolean | undefined;
}

/** An action for many miners, which exactly one of `miners`, `groups`, `places` and `all` selects. */
export const BulkBody = z
  .object({
    action: z.enum(minerActions),
    parameters: z
      .record(z.string().max(40), z.union([z.string().max(200), z.number(), z.boolean()]))
      .default({})
      .describe("further parameters of the action, as in the query of POST /api/miners/{id}"),
    orReboot: z
      .boolean()
      .optional()
      .describe("for restart: reboot rigs that cannot restart only their mining software"),
    miners: someIds.optional().describe("ids"),
    groups: someGroups.optional().describe("ids or names, nested groups included; 0 = miners without a group"),
    places: z
      .array(PlaceName)
      .min(1)
      .max(1_000)
      .optional()
      .describe("ids or paths such as Texas/B1, with the places inside them"),
    all: z.literal(true).optional(),
    parallel: z.int().min(1).max(256).default(16).describe("rigs that are sent the action at once"),
    delay: z.number().min(0).max(3600).default(0).describe("seconds between two starts"),
    order: z
      .enum(bulkOrders)
      .optional()
      .describe(
        "which miners are first: those with the most J per hash, the least profit or the most power, unknown ones last; absent = as listed",
      ),
    dryRun: z.boolean().default(false).describe("report what would be done and what that changes, and do nothing"),
  })
  .superRefine(
    (body, context) => {
      for (const { path, message } of bulkAction(body).mistakes)
        context.addIssue({ code: "custom", path: path.split("."), message });
    },
    {
      when: ({ value, issues }) =>
        isRecord(value) && !issues.some(({ path }) => path?.[0] === "action" || path?.[0] === "parameters"),
    },
  )
  .refine(
    ({ miners, groups, places, all }) =>
      [miners, groups, places, all].filter((each) => each !== undefined).length === 1,
    "name exactly one of miners, groups, places and all",
  );
