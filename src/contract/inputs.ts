import { z } from "zod";
import type { Mistake } from "./problems.ts";
import { privileges, Uid } from "./resources.ts";
import { Supply } from "./supply.ts";
import { wording } from "./wording.ts";

/**
 * What requests carry. Queries and path parameters arrive as text and become numbers through codecs, so that "",
 * "0x10" and "1,5" are mistakes and not numbers. Bodies are tolerant of null where text is empty, as real clients send it.
 */

const digits = (most: number) =>
  z.codec(
    z.string().regex(new RegExp(`^[0-9]{1,${most}}$`), `must be a whole number of 1 to ${most} digits`),
    z
      .int()
      .min(0)
      .max(10 ** most - 1),
    { decode: (text) => Number(text), encode: (id) => String(id) },
  );

/** Digits only, as in every path of the document. */
export const Id = digits(10);

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

/** The same, and negative too. */
export const Signed = z.codec(
  z
    .string()
    .max(40)
    .regex(/^-?\d+(\.\d+)?([eE][+-]?\d{1,3})?$/, "must be a decimal number with a point, like -120.5"),
  z.number().min(-10_000_000).max(10_000_000),
  { decode: (digits) => Number(digits), encode: (number) => String(number) },
);

export const Flag = z.codec(z.enum(["true", "false"]), z.boolean(), {
  decode: (word) => word === "true",
  encode: (flag) => (flag ? "true" : "false"),
});

/** A line of text that people read: no control characters. */
export const Line = (max: number) =>
  z
    .string()
    .max(max)
    .regex(/^[^\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069]*$/u, "must be one line without control characters");

/** Text of a body that a client may send as null when it is empty; absent means "leave as it is". */
const optionalLine = (max: number) =>
  Line(max)
    .nullish()
    .transform((line) => (line === null ? "" : line));

/** id 0 or absent adds; a known id updates. */
const BodyId = z
  .int()
  .min(0)
  .max(9_999_999_999)
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

/** Which parameters an action cannot do without. */
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
  pool_id: Id.optional().describe("Static ID of the pool, for add_pool and change_pool"),
  pool_type: z.enum(["single", "group"]).optional(),
  template_id: Id.optional(),
  rule_id: Id.optional(),
  property: z.string().max(40).optional().describe("a control's key, for set (ours)"),
  value: z.string().max(200).optional().describe("for set (ours)"),
  watts: Decimal.optional().describe("for set_power_limit (ours)"),
  mode: z.string().max(100).optional().describe("for set_mode (ours)"),
  on: Flag.optional().describe("for locate (ours)"),
  temperature: Signed.optional().describe(
    "°C, for set_target_temperature (5 to 35: what the room that this miner heats should have; survives a restart) and " +
      "set_room_temperature (-40 to 60: what it has, where the configuration leaves that to the API) (ours)",
  ),
  surplus: Signed.optional().describe(
    "W, for set_surplus: what there is for the group that this miner follows the sun with, negative = drawn from the " +
      "grid; said to any miner of the group it is for all of it (ours)",
  ),
};

/** Each missing parameter is a mistake of its own, beside whatever else is wrong. */
export const MinerActionQuery = z
  .object({ action: z.enum(minerActions), ...actionParameters })
  .check(...Object.entries(actionParameters).map(([name]) => isThereWhenNeeded(name)));

function isThereWhenNeeded(name: string) {
  return z.refine<{ readonly action: MinerAction; readonly [name: string]: unknown }>(
    (query) => query[name] !== undefined || !actionsThatNeed(name).includes(query.action),
    {
      path: [name],
      error: `is required for ${actionsThatNeed(name).join(" and ")}`,
      when: ({ issues }) => !issues.some(({ path }) => path?.[0] === name || path?.[0] === "action"),
    },
  );
}

function actionsThatNeed(name: string): MinerAction[] {
  return minerActions.filter((action) => needed[action].some((parameter) => parameter === name));
}

export const PoolActionQuery = z.object({ action: z.enum(["remove", "disable", "enable", "prioritize"]) });
export const AllNotificationsQuery = z.object({ action: z.enum(["ack_all", "clear_all"]) });
export const NotificationQuery = z.object({ action: z.enum(["ack", "clear"]) });

/** Schemes that a pool URL may have; everything else could make a rig, or us, call somewhere it should not. */
const poolSchemes =
  /^(stratum(2)?\+(tcp|ssl|tls|tcps|udp)|stratum2?|stratum\+ssl|stratums|ssl|tls|tcp|daemon\+https?|daemon|https?):\/\//i;

export const PoolUrl = Line(512)
  .min(1, "is required")
  .refine(
    (url) => !url.includes("://") || poolSchemes.test(url),
    "must start with stratum+tcp://, stratum+ssl:// or the like",
  )
  .refine(
    (url) => /^([a-z0-9+]+:\/\/)?(\[[0-9a-f:.]+\]|[^\s:/?#@[\]]+)(:\d{1,5})?(\/\S*)?$/i.test(url),
    "must be scheme://host:port",
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
  plainWorkerPassword: optionalLine(256),
});

export const PoolGroupBody = z.object({
  id: z
    .union([BodyId, Id])
    .optional()
    .transform((id) => id ?? 0),
  name: Line(200).min(1),
  pools: z.array(z.int().min(1)).max(100).optional(),
});

export const HostBody = z.object({ id: BodyId, description: optionalLine(200), hostname: Line(253).optional() });

export const ManagedMinerBody = z.object({
  id: BodyId,
  description: optionalLine(200),
  hostId: z.int().min(0).optional(),
  isPoolGroup: z.boolean().optional(),
  poolId: z.int().min(0).optional(),
  commandLineParams: optionalLine(4000),
  softwareAutoDownload: z.boolean().optional(),
  softwareType: optionalLine(100),
  softwarePath: optionalLine(1000),
  algorithm: optionalLine(100),
  dualAlgorithm: optionalLine(100),
});

export const TemplateBody = z.object({ id: BodyId, name: Line(200).min(1) });

export const CoinQuery = z.object({
  profit: Decimal.optional().describe("BTC per MH/s per day"),
  name: Line(100).optional(),
  algorithm: z.string().max(64).optional(),
  difficulty: Decimal.optional(),
  reward: Decimal.optional(),
  btc: Decimal.optional(),
  usd: Decimal.optional(),
});

const place = Line(64).nullable();
const tag = Line(64).min(1);
const seconds = z.number().min(1).max(86_400);

/** What a person says of a miner; the same in a body and in the configuration file. */
export const minerFields = {
  name: Line(200).min(1).optional(),
  driver: z.string().max(32).optional().describe("only this driver is tried; absent = recognise"),
  username: z.string().max(200).optional(),
  password: z.string().max(200).optional(),
  token: z.string().max(1000).optional(),
  interval: seconds.optional().describe("seconds between two reads"),
  location: z
    .object({
      site: place.default(null),
      container: place.default(null),
      rack: place.default(null),
      slot: place.default(null),
    })
    .optional(),
  tags: z.array(tag).max(50).optional(),
  offlineExpected: z.boolean().optional().describe("off is no alarm"),
};

const group = z.union([z.int().min(0), Line(200).min(1)]).describe("id or name of a group; 0 = none");

export const AddMinerBody = z.object({
  address: z.string().min(1).max(300).describe("host, host:port or http(s)://host:port"),
  group: group.optional(),
  ...minerFields,
  supply: Supply.optional().describe("the plug that it draws its power through"),
});

export const ChangeMinerBody = z
  .object({
    address: z.string().min(1).max(300).optional(),
    group: group.optional(),
    ...minerFields,
    supply: Supply.nullable().optional().describe("the plug that it draws its power through; null = none any more"),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), "names nothing to change");

export const GroupBody = z.object({ name: Line(200).min(1), parentId: z.int().min(0).default(0) });
export const ChangeGroupBody = z
  .object({ name: Line(200).min(1).optional(), parentId: z.int().min(0).optional() })
  .refine((body) => body.name !== undefined || body.parentId !== undefined, "names nothing to change");

/** An ISO 8601 time with zone, or epoch milliseconds. */
export const Instant = z
  .union(
    [
      z.iso.datetime({ offset: true }).transform((text) => Date.parse(text)),
      z
        .string()
        .regex(/^\d{1,15}$/)
        .transform(Number),
    ],
    "must be a time like 2026-01-31T12:00:00Z, or epoch milliseconds",
  )
  .describe("ISO 8601 with zone, or epoch milliseconds");

export const CommandsQuery = z.object({
  miner: z.union([Id, Uid]).optional().describe("id or uid"),
  actor: z.string().max(200).optional(),
  since: Instant.optional(),
});

const Key = z
  .string()
  .min(16, "needs at least 16 characters")
  .max(200)
  .regex(/^[\x21-\x7e]+$/, "printable ASCII without spaces");

/** What the audit calls those who are no user; nobody else may be called so. */
export const frontEnds = ["http", "mqtt", "node-red", "homebridge", "service"] as const;

export const UserName = Line(200)
  .min(1)
  .refine((name) => !looksLikeFrontEnd(name), "is the name of a front end");

/** As people read it: "HTTP ", "http for anna" and full-width letters too. */
function looksLikeFrontEnd(name: string): boolean {
  const plain = name
    .normalize("NFKC")
    .replace(/\p{Cf}/gu, "")
    .trim()
    .toLowerCase();
  return frontEnds.some((taken) => plain === taken || plain.startsWith(`${taken} for `));
}

/** Of the query parameter `user_id`, which every operation takes. */
export const userIdDescription =
  "The reply holds only what this user may see, and only what this user may do is done; GET /api/user/{username} " +
  "gives the id, and an unknown one is answered with 404. It is a filter, not a proof: whoever has the service's key " +
  "may look through anyone's eyes. A user's own API key implies it; another user_id beside such a key is unknown.";

export const UserBody = z.object({
  id: BodyId,
  name: UserName.optional(),
  key: Key.nullable().optional().describe("the user's own API key; null takes it away; it is never shown again"),
  privilege: z.enum(privileges).optional().describe("view when a user is added without"),
  groups: z.array(z.int().min(1)).max(1000).nullable().optional().describe("ids of what the user sees; null = all"),
  pools: z.array(z.int().min(1)).max(1000).nullable().optional().describe("Static IDs; null = all"),
});

export const HistoryQuery = z.object({
  from: Instant.optional().describe("default: 24 hours before `to`"),
  to: Instant.optional().describe("default: now"),
  step: Decimal.optional().describe(
    "seconds between two points, counted from 1970 and each given whole; 0 = every reading; default: some 500 points",
  ),
});

export const EventsQuery = z.object({
  after: EventId.optional().describe("resume behind this event, as the header Last-Event-ID does"),
});

export const DiscoveryBody = z.object({
  networks: z
    .array(z.string().min(1).max(60))
    .max(64)
    .optional()
    .describe(
      "like 192.168.1.0/24, or 192.168.1.0/24:8080 for one more port; default: scan.networks, else the machine's own",
    ),
  yes: z.boolean().default(false).describe("also networks that are larger than /16 or not private"),
});

const some = z.array(z.int().min(0)).min(1).max(100_000);

const isObject = (value: unknown): value is object =>
  typeof value === "object" && value !== null && !Array.isArray(value);

export type MinerActionInput = z.output<typeof MinerActionQuery>;

const actionParameterNames = Object.keys(actionParameters);

/** The action of a bulk action by the same schema as for one miner, whose parameters come as text; or what is wrong. */
export function bulkAction({ action, parameters }: BulkActionInput): {
  readonly action: MinerActionInput | null;
  readonly mistakes: readonly Mistake[];
} {
  const given = Object.entries(parameters);
  const texts = Object.fromEntries(given.map(([name, value]) => [name, String(value)]));
  const { data = null, error } = MinerActionQuery.safeParse({ ...texts, action }, { error: wording });
  const unknown = given.filter(([name]) => !actionParameterNames.includes(name)).slice(0, 20);
  const mistakes = [
    ...(error?.issues ?? []).map(({ path: [name], message }) => ({
      path: name === "action" ? "action" : `parameters.${String(name)}`,
      message,
    })),
    ...unknown.map(([name]) => ({
      path: `parameters.${name}`,
      message: `is not known; there are ${actionParameterNames.join(", ")}`,
    })),
  ];
  return { action: mistakes.length === 0 ? data : null, mistakes };
}

interface BulkActionInput {
  readonly action: string;
  readonly parameters: Readonly<Record<string, string | number | boolean>>;
}

/** An action for many miners; exactly one of `miners`, `groups` and `all` says which. */
export const BulkBody = z
  .object({
    action: z.enum(minerActions),
    parameters: z
      .record(z.string().max(40), z.union([z.string().max(200), z.number(), z.boolean()]))
      .default({})
      .describe("what the action takes beside, as in the query of POST /api/miners/{id}"),
    miners: some.optional().describe("ids"),
    groups: some.optional().describe("ids; with the groups inside them; 0 = the miners in no group"),
    all: z.literal(true).optional(),
    parallel: z.int().min(1).max(256).default(16).describe("rigs told at once"),
    delay: z.number().min(0).max(3600).default(0).describe("seconds between two starts"),
    dryRun: z.boolean().default(false).describe("says what would be done, and does nothing"),
  })
  .superRefine(
    (body, context) => {
      for (const { path, message } of bulkAction(body).mistakes)
        context.addIssue({ code: "custom", path: path.split("."), message });
    },
    {
      when: ({ value, issues }) =>
        isObject(value) && !issues.some(({ path }) => path?.[0] === "action" || path?.[0] === "parameters"),
    },
  )
  .refine(
    ({ miners, groups, all }) => [miners, groups, all].filter((each) => each !== undefined).length === 1,
    "name exactly one of miners, groups and all",
  );
