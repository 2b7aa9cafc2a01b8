import { z } from "zod";
import { Duration } from "./duration.ts";
import { asked, naming, onlyWith } from "./form-kind.ts";
import { Line } from "./inputs.ts";
import { didYouMean } from "./nearest.ts";
import { ReasonCode } from "./readings.ts";
import { minerStatuses } from "./resources.ts";
import { Key } from "./steps.ts";
import { TimeZone } from "./time-zone.ts";
import { JsonPath, Topic } from "./topic.ts";

/** The readings that conditions compare, with their units. Unlike those of a miner, all of them are numbers. */
export const numberReadings = {
  hashrate: "H/s",
  hashrateAverage: "H/s",
  hashrateExpected: "H/s",
  power: "W",
  powerLimit: "W",
  efficiency: "J/H",
  energy: "Wh",
  temperature: "°C, of the hottest board",
  chipTemperature: "°C, of the hottest chip",
  temperatureIn: "°C",
  temperatureOut: "°C",
  psuTemperature: "°C",
  fanRpm: "rpm, of the slowest fan",
  fanPercent: "%, of the fastest fan",
  boards: "boards that hash",
  chips: "chips that work",
  chipsExpected: "chips that the rig has",
  uptime: "s since mining started",
  bestShare: "difficulty",
  foundBlocks: "blocks",
  revenue: "money per day",
  cost: "money per day",
  profit: "money per day",
  price: "money per kWh of electricity",
  poolHashrate: "H/s, as the pool sees it (`pools[].view`)",
  poolRejected: "shares that the pool has rejected",
  poolBalance: "coins that the pool owes",
} as const satisfies Record<string, string>;
export type NumberReading = keyof typeof numberReadings;

/** Readings that conditions compare with `equals`. */
export const wordReadings = ["mode", "algorithm", "mining", "locate"] as const;
export type WordReading = (typeof wordReadings)[number];

/** The readings whose median of the last hour is kept. */
export const medianReadings = ["hashrate", "power", "temperature"] as const;
export type MedianReading = (typeof medianReadings)[number];

/** Momentary events of a miner. */
export const momentaryEvents = ["best_share", "block_found", "back_online"] as const;

const readingNames = Object.keys(numberReadings).filter((name): name is NumberReading =>
  Object.hasOwn(numberReadings, name),
);
const allReadings: readonly string[] = [...readingNames, ...wordReadings];

const percent = z.string().regex(/^\d{1,4}(\.\d{1,3})?%$/);
const Amount = asked("share", z.union([z.number(), percent], 'must be a number, or a share like "80%"'));
const Word = z.union([z.string().max(200), z.number(), z.boolean()], "must be a text, a number or true or false");
const bounds = {
  above: Amount.optional().describe('true above this number or share, like 85 or "110%"'),
  below: Amount.optional().describe('true below this number or share, like 3 or "80%"'),
  clear: Amount.optional().describe("once true, it stays true until the reading is back at this value (hysteresis)"),
};

interface Bounds {
  readonly above?: number | string | undefined;
  readonly below?: number | string | undefined;
  readonly equals?: string | number | boolean | undefined;
  readonly clear?: number | string | undefined;
}

/** The number of an amount: a share is a factor. */
export const amountOf = (amount: number | string): number =>
  typeof amount === "number" ? amount : Number(amount.slice(0, -1)) / 100;
export const isShare = (amount: number | string | undefined): boolean => typeof amount === "string";

/** The path and mistake of a condition's bounds. */
function boundMistakes({ above, below, equals, clear }: Bounds, context: z.core.$RefinementCtx): void {
  const add = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const given = [above, below, equals].filter((each) => each !== undefined);
  if (given.length !== 1) add("above", "needs exactly one of above, below and equals");
  const bound = above ?? below;
  if (clear === undefined || bound === undefined) {
    if (clear !== undefined) add("clear", "is only for above and below");
    return;
  }
  if (isShare(clear) !== isShare(bound)) add("clear", "must be a share if the bound is one, and a number if it is not");
  else if (above !== undefined && amountOf(clear) > amountOf(above)) add("clear", "must not be higher than above");
  else if (below !== undefined && amountOf(clear) < amountOf(below)) add("clear", "must not be lower than below");
}

const shares = ({ above, below }: Bounds): boolean => isShare(above) || isShare(below);

export const weekdays = ["mon", "tue", "wed", "thu", "fri", "sat", "sun"] as const;
const day = `(?:${weekdays.join("|")})`;
const Days = asked(
  "days",
  z
    .array(
      z
        .string()
        .max(7)
        .regex(new RegExp(`^${day}(?:-${day})?$`), "must be a day like mon, or days like mon-fri"),
    )
    .min(1)
    .max(7),
).describe("days on which it begins, like mon-fri; absent = every day");
const Clock = z
  .string()
  .max(5)
  .regex(/^(?:[01]\d|2[0-3]):[0-5]\d$/, 'must be a time of day like "22:00", in quotes');
const ZoneOption = TimeZone.optional().describe("time zone, such as Europe/Stockholm; absent = that of display");
const CronText = z.string().min(1).max(100).describe('five or six fields of cron, like "0 22 * * mon-fri"');

/** Hours of the week; `to` before `from` is on the next day. */
export const Weekly = z.strictObject({
  days: Days.optional(),
  from: Clock.describe("when it begins"),
  to: Clock.describe("when it ends; the same as `from` is 24 hours later"),
  timeZone: ZoneOption,
});
export type Weekly = z.infer<typeof Weekly>;

const listed = <T extends z.ZodType>(each: T, most = 50) =>
  z
    .union([each, z.array(each).min(1).max(most)])
    .transform((some): z.output<T>[] => (Array.isArray(some) ? some : [some]));

const lowerStatuses = minerStatuses.map((status) => status.toLowerCase());

export const StatusWord = z.enum(lowerStatuses, {
  error: ({ input }) =>
    `must be one of ${lowerStatuses.join(", ")}${typeof input === "string" ? didYouMean(input, lowerStatuses) : ""}`,
});
export const DeviceState = z.enum(["sick", "dead"]);

/** The kinds of condition, each with its own key. */
export const conditionKinds = {
  reading: z
    .strictObject({
      reading: z
        .enum([...readingNames, ...wordReadings], {
          error: ({ input }) =>
            `must be one of ${allReadings.join(", ")}${typeof input === "string" ? didYouMean(input, allReadings) : ""}`,
        })
        .describe("the reading that is compared"),
      ...bounds,
      equals: Word.optional().describe("true if the reading equals this"),
      of: z
        .enum([...readingNames, "median1h"])
        .optional()
        .describe("what a share is of: another reading, or the reading's own median of the last hour"),
    })
    .superRefine((condition, context) => {
      boundMistakes(condition, context);
      const { reading, of } = condition;
      const isWord = wordReadings.some((word) => word === reading);
      const add = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
      if (isWord && condition.equals === undefined) add("reading", `${reading} is compared with equals`);
      if (shares(condition) && of === undefined)
        add("of", 'is required for a share, like "80%": hashrateExpected, median1h or another reading');
      if (!shares(condition) && of !== undefined) add("of", 'is only for a share, like "80%"');
      if (of === "median1h" && !medianReadings.some((each) => each === reading))
        add("of", `can be median1h only for ${medianReadings.join(", ")}`);
    }),
  rate: z
    .strictObject({
      rate: z.enum(["rejected", "hardwareErrors"]).describe("how fast rejected shares or hardware errors come"),
      ...bounds,
      over: Duration(60, 86_400).default(600).describe("time over which they are counted, like 10m"),
    })
    .superRefine(boundMistakes),
  state: z.strictObject({
    state: listed(StatusWord).describe("statuses of a miner, one of which it has"),
  }),
  offline: z.strictObject({ offline: z.boolean().describe("whether it cannot be reached, or can") }),
  reason: z.strictObject({ reason: listed(ReasonCode).describe("why it does not hash") }),
  pool: z
    .strictObject({
      pool: z.enum(["dead", "wrong"]).describe("no pool answers, or it mines at none of those wanted"),
      wanted: onlyWith("pool", ["wrong"], listed(naming("pool", Line(200).min(1))).optional()).describe(
        "names of pools that are wanted; absent = all pools known here",
      ),
    })
    .refine(({ pool, wanted }) => pool === "wrong" || wanted === undefined, {
      path: ["wanted"],
      error: "is only for pool: wrong",
    }),
  device: z.strictObject({
    device: listed(DeviceState).describe("a board, card or processor of it is in this state"),
  }),
  event: z.strictObject({ event: z.enum(momentaryEvents).describe("what happens for a moment") }),
  topic: z
    .strictObject({
      topic: Topic.describe("MQTT topic whose value is compared"),
      path: JsonPath.optional().describe("path of the value in JSON, such as sensors.0.value"),
      above: z.number().optional().describe("true above this number"),
      below: z.number().optional().describe("true below this number"),
      equals: Word.optional().describe("true if the value is this"),
      clear: z.number().optional().describe("once true, it stays true until the value is back here"),
      maxAge: Duration(1, 7 * 86_400)
        .optional()
        .describe("how old the value may be, like 10m; absent = any age"),
    })
    .superRefine(boundMistakes),
  hook: z.strictObject({ hook: Key.describe("name of a web hook of hooks that comes in") }),
  weekly: z.strictObject({ weekly: Weekly.describe("true in these hours of the week") }),
  time: z.strictObject({ time: Clock.describe("a time of day"), days: Days.optional(), timeZone: ZoneOption }),
  cron: z.strictObject({ cron: CronText, timeZone: ZoneOption }),
};
type Kind = keyof typeof conditionKinds;
const kindNames = Object.keys(conditionKinds).filter((name): name is Kind => Object.hasOwn(conditionKinds, name));

export type Condition = z.output<(typeof conditionKinds)[Kind]>;
export type ConditionOf<K extends Kind> = z.output<(typeof conditionKinds)[K]>;

/** Conditions that need software on a miner's machine, which this version does not have. */
const ofHosts = ["host", "load", "process"];

/** One sentence with all mistakes of a condition: zod would report those of every kind. */
function conditionMistakes({ input, errors }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string {
  if (typeof input !== "object" || input === null || Array.isArray(input))
    return `must be a condition, an object with one of ${kindNames.join(", ")}`;
  const given = Object.keys(input);
  const host = given.find((key) => ofHosts.includes(key));
  if (host !== undefined) return `${host} is not available yet: this version runs nothing on the hosts of miners`;
  const named = kindNames.filter((kind) => given.includes(kind));
  const [kind, second] = named;
  if (kind === undefined)
    return `is not a known condition; there are ${kindNames.join(", ")}${didYouMean(given[0] ?? "", kindNames)}`;
  if (second !== undefined) return `has both ${kind} and ${second}; write a condition for each`;
  const fields = Object.keys(conditionKinds[kind].shape);
  return (errors[kindNames.indexOf(kind)] ?? [])
    .flatMap((issue) =>
      issue.code === "unrecognized_keys"
        ? issue.keys.map((key) => `${key} is not known${didYouMean(key, fields) || `; known: ${fields.join(", ")}`}`)
        : [`${issue.path.join(".")} ${issue.message}`],
    )
    .join("; ");
}

export const Condition: z.ZodType<Condition> = z.union(
  kindNames.map((kind): (typeof conditionKinds)[Kind] => conditionKinds[kind]),
  { error: conditionMistakes },
);

const list: z.ZodType<Condition[]> = z.array(Condition).min(1).max(20);
const oneList = ({ all, any }: { all?: unknown; any?: unknown }) => (all === undefined) !== (any === undefined);
const needsOne = "needs exactly one of all and any";

/** Conditions inside conditions. */
interface InnerCondition {
  all?: Condition[] | undefined;
  any?: Condition[] | undefined;
}
/** Exported because the API document describes it as a separate schema. */
export const Inner: z.ZodType<InnerCondition> = z
  .strictObject({ all: list.optional().describe("all of these"), any: list.optional().describe("one of these") })
  // Else zod would report the keys of a condition as unknown keys of this one.
  .refine(oneList, { error: needsOne, abort: true });
export type Entry = Condition | InnerCondition;
const entry: z.ZodType<Entry> = z.union([Condition, Inner], {
  error: ({ input, errors = [] }) => {
    const isInner = typeof input === "object" && input !== null && ("all" in input || "any" in input);
    const found = errors[isInner ? 1 : 0] ?? [];
    if (isInner && found.some(({ path }) => path.length > 1))
      return found.map(({ path, message }) => `${pathText(path)} ${message}`).join("; ");
    return found.map(({ path, message }) => `${path.join(".")} ${message}`.trim()).join("; ");
  },
});
const pathText = (path: readonly PropertyKey[]): string =>
  path
    .reduce<string>((text, step) => (typeof step === "number" ? `${text}[${step}]` : `${text}.${String(step)}`), "")
    .slice(1);

const longest = 30 * 86_400;

/** When a rule holds. */
export interface When {
  all?: Entry[] | undefined;
  any?: Entry[] | undefined;
  /** s. */
  for?: number | undefined;
  clearFor?: number | undefined;
  where?: string | undefined;
}
export const When: z.ZodType<When> = z
  .strictObject({
    all: z.array(entry).min(1).max(20).optional().describe("all of these conditions"),
    any: z.array(entry).min(1).max(20).optional().describe("one of these conditions"),
    for: Duration(0, longest).optional().describe("how long they must hold before the rule fires, like 2m"),
    clearFor: Duration(0, longest).optional().describe("how long they must not hold before the rule clears, like 1m"),
    where: z
      .string()
      .min(1)
      .max(1000)
      .optional()
      .describe("expression in CEL over miner, reading and rule, tested last"),
  })
  .refine(oneList, needsOne);

/** Every condition of a rule. */
export const conditionsIn = ({ all, any }: Pick<When, "all" | "any">): Condition[] =>
  [...(all ?? []), ...(any ?? [])].flatMap((each) =>
    isInner(each) ? [...(each.all ?? []), ...(each.any ?? [])] : [each],
  );

export const isInner = (each: Entry): each is InnerCondition => "all" in each || "any" in each;

/** Whether a condition is only momentarily true. */
export const isMomentary = (condition: Condition): boolean =>
  "event" in condition || "hook" in condition || "time" in condition || "cron" in condition;

/** Whether a condition concerns no single miner. */
export const isOfFarm = (condition: Condition): boolean =>
  "hook" in condition ||
  "time" in condition ||
  "cron" in condition ||
  "weekly" in condition ||
  "topic" in condition ||
  ("reading" in condition && condition.reading === "price");

export { CronText, Days, ZoneOption };
