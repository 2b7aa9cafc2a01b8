import { z } from "zod";
import { CodedText } from "./coded-text.ts";
import { Duration } from "./duration.ts";
import { asked, naming, type Reference } from "./form-kind.ts";
import { Line } from "./inputs.ts";
import { SiteCopy } from "./owned.ts";
import { PlaceName } from "./places.ts";
import { CronText, conditionsIn, isMomentary, Weekly, When, ZoneOption } from "./rule-conditions.ts";
import { Key, Steps } from "./steps.ts";

/**
 * Rules, schedules and maintenance windows, as in the configuration file and the API. References are checked by
 * `src/config/rule-checks.ts`.
 */
const name = Line(200).min(1);
const names = (of: Reference, what: string) => z.array(naming(of, name)).min(1).max(1000).optional().describe(what);

const places = {
  groups: names("group", "names of groups; those inside are included"),
  tags: names("tag", "tags, one of which a miner has"),
  miners: names("miner", "names or uids of miners"),
  sites: names("site", "sites of the miners' locations"),
  racks: names("rack", "racks of the miners' locations"),
  places: z
    .array(PlaceName)
    .min(1)
    .max(1000)
    .optional()
    .describe("places by id or path, such as Texas/B1; those inside are included"),
};

/** The miners that match every given key, except those of `not`. */
export const Scope = z.strictObject({
  ...places,
  not: z.strictObject(places).optional().describe("miners that are left out: those that fit any of these keys"),
});
export type Scope = z.output<typeof Scope>;
export type Places = Omit<Scope, "not">;

const runsAt = z
  .array(naming("runsAt", name))
  .min(1)
  .max(200)
  .optional()
  .describe(
    "names of the other sites that act by it, all for each of them, here for this service; absent = here alone",
  );

const share = asked(
  "share",
  z.string().regex(/^(?:100|\d{1,2}(?:\.\d{1,2})?)%$/, 'must be a share from "0%" to "100%"'),
).describe("share of these miners");
const longest = 30 * 86_400;

/** The keys of a rule; keys given with a ready-made rule override its own. */
const ruleFields = {
  enabled: z.boolean().optional().describe("whether it is evaluated; absent = yes"),
  runsAt,
  scope: Scope.optional().describe("which miners; absent = all"),
  when: When.optional().describe("its conditions; absent: it is run by hand or by another rule"),
  limit: z
    .strictObject({
      repeat: Duration(0, longest).optional().describe("shortest time between two firings, like 30m"),
      perDay: z.int().min(1).max(10_000).optional().describe("firings in 24 hours"),
      per: z
        .enum(["miner", "rule"])
        .optional()
        .describe("whether each miner or the whole rule is counted; absent = miner"),
    })
    .optional()
    .describe("how often it acts at most"),
  guard: z
    .union(
      [
        z.literal(false),
        z.strictObject({ share, within: Duration(1, 86_400).optional().describe("like 5m, the default") }),
      ],
      "must be false, or a mapping with share and within",
    )
    .optional()
    .describe("if more of these miners than this are affected at once, nothing is done and you are asked"),
  again: z
    .strictObject({
      after: Duration(1, 86_400).describe("time before its second action, like 10s; each later wait is twice as long"),
      longest: Duration(1, 86_400).optional().describe("longest wait, like 5m, the default"),
      times: z.int().min(2).max(100).describe("number of actions after which it gives up, until it has cleared"),
    })
    .optional()
    .describe("it acts again while its conditions hold; absent: it acts once until it has cleared"),
  inhibitedBy: z
    .array(naming("rule", Key))
    .min(1)
    .max(20)
    .optional()
    .describe("rules that hold this one while they fire"),
  do: Steps.optional(),
  onClear: Steps.optional().describe("steps that are run once its conditions no longer hold"),
  onGiveUp: Steps.optional().describe("steps that run once if its last action has not helped either"),
  manual: z.boolean().optional().describe("people can run it for a miner; absent = only if it has no conditions"),
  safety: z.boolean().optional().describe("its power settings go before those of people"),
};

const withValues = z
  .record(z.string().max(40), z.union([z.number(), name]))
  .optional()
  .describe("for use: the values of a ready-made rule, like temperature: 80");

const ruleShape = {
  key: Key.optional().describe("unique name for other rules, and for its place in the audit; absent = its name"),
  name: name.optional().describe("name for people; absent = its key"),
  use: Key.optional().describe("key of a ready-made rule, whose keys are overridden by those given here"),
  with: withValues,
  ...ruleFields,
};

export interface RuleSettings extends z.output<z.ZodObject<typeof ruleShape>> {}

function ruleMistakes(rule: RuleSettings, context: z.core.$RefinementCtx): void {
  const add = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (rule.key === undefined && rule.name === undefined && rule.use === undefined)
    add("key", "is required, or name, or use");
  if (rule.use !== undefined) return;
  if (rule.with !== undefined) add("with", "is only for a ready-made rule, with use");
  if (rule.do === undefined && rule.when !== undefined) add("do", "is required: a rule with conditions does something");
  if (rule.do === undefined && rule.onClear !== undefined) add("onClear", "is only for a rule with `do`");
  if (rule.onGiveUp !== undefined && rule.again === undefined) add("onGiveUp", "is only for a rule with `again`");
  if (rule.when === undefined) {
    for (const key of ["onClear", "guard", "inhibitedBy", "again"] as const)
      if (key !== "guard" && rule[key] !== undefined) add(key, "is only for a rule with `when`");
    return;
  }
  const momentary = conditionsIn(rule.when).some(isMomentary);
  if (momentary && (rule.when.for !== undefined || rule.when.clearFor !== undefined))
    add("when", "`for` and `clearFor` do not go with a condition that is true only for a moment");
  if (momentary && rule.again !== undefined)
    add("again", "cannot be combined with a condition that is true only for a moment");
  if (momentary && rule.onClear !== undefined)
    add("onClear", "cannot be combined with a condition that is true only for a moment");
}

export const RuleSettings: z.ZodType<RuleSettings> = z.strictObject(ruleShape).superRefine(ruleMistakes);

const price = z
  .strictObject({
    below: z.number().optional().describe("money per kWh"),
    above: z.number().optional().describe("money per kWh"),
  })
  .refine(({ below, above }) => below !== undefined || above !== undefined, "needs below, above or both");

const scheduleShape = {
  key: Key.describe("unique name of the schedule"),
  name: name.optional().describe("name for people; absent = its key"),
  enabled: z.boolean().optional().describe("whether it begins at its times; absent = yes"),
  runsAt,
  weekly: Weekly.optional().describe("hours of the week"),
  cron: CronText.optional(),
  timeZone: ZoneOption,
  lasts: Duration(60, 7 * 86_400)
    .optional()
    .describe("for cron: how long it lasts, like 2h; absent = it has no end"),
  price: price.optional().describe("while the electricity price is there"),
  scope: Scope.optional().describe("which miners; absent = all"),
  do: Steps,
  onEnd: Steps.optional().describe("steps that are run at its end"),
};

export interface ScheduleSettings extends z.output<z.ZodObject<typeof scheduleShape>> {}

function scheduleMistakes(schedule: ScheduleSettings, context: z.core.$RefinementCtx): void {
  const add = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  const kinds = [schedule.weekly, schedule.cron, schedule.price].filter((each) => each !== undefined);
  if (kinds.length !== 1) add("weekly", "needs exactly one of weekly, cron and price");
  if (schedule.cron === undefined && schedule.lasts !== undefined) add("lasts", "is only for cron");
  if (schedule.cron === undefined && schedule.timeZone !== undefined)
    add("timeZone", "is only for cron; weekly has its own");
  if (schedule.cron !== undefined && schedule.lasts === undefined && schedule.onEnd !== undefined)
    add("onEnd", "needs an end: set lasts");
}

export const ScheduleSettings: z.ZodType<ScheduleSettings> = z
  .strictObject(scheduleShape)
  .superRefine(scheduleMistakes);

const instant = z.iso
  .datetime({ offset: true, error: "must be a time with its zone, like 2026-05-01T18:00:00Z" })
  .max(40);

/** A time in which rules do nothing for some miners, and their notifications are silenced. */
const windowShape = {
  name: name.describe("what is done there"),
  from: instant.optional().describe("when it begins; absent = at once"),
  until: instant.describe("when it ends"),
  groups: places.groups,
  racks: places.racks,
  sites: places.sites,
  places: places.places,
  miners: places.miners,
  runsAt,
};

export interface MaintenanceSettings extends z.output<z.ZodObject<typeof windowShape>> {}
export const MaintenanceSettings: z.ZodType<MaintenanceSettings> = z
  .strictObject(windowShape)
  .refine(({ from, until }) => from === undefined || Date.parse(from) < Date.parse(until), {
    path: ["until"],
    error: "must be after from",
  });

// Requests and answers of the API.

/** The id or the key. */
export const RuleId = z
  .string()
  .min(1)
  .max(64)
  .regex(/^[A-Za-z0-9][^/?#]*$/, "must be an id or a key");

type Patch<T> = { [K in keyof T]?: T[K] | null | undefined };
export interface RulePatch extends Patch<Omit<RuleSettings, "key" | "use">> {}
export interface SchedulePatch extends Patch<ScheduleSettings> {}

const isChange = (body: object): boolean => Object.values(body).some((value) => value !== undefined);
const nothing = "has nothing to change";

/** The keys of a shape, each of which may be absent, or null to remove it. */
const patchOf = <T extends Readonly<Record<string, z.ZodType>>>(shape: T) =>
  z
    .strictObject(
      Object.fromEntries(
        Object.entries(shape).map(([key, field]) => [key, field.nullish().describe(field.description ?? "")]),
      ) as { [K in keyof T]: z.ZodOptional<z.ZodNullable<T[K]>> },
    )
    .refine(isChange, nothing);

export const RulePatch: z.ZodType<RulePatch> = patchOf({ ...ruleFields, name: ruleShape.name, with: withValues });
export const SchedulePatch: z.ZodType<SchedulePatch> = patchOf(scheduleShape);

const id = z.int();
const text = z.string();
const time = z.iso.datetime();

export const traceOutcomes = ["done", "failed", "unknown", "running", "held", "cleared", "missed", "seen"] as const;

const lastRun = z
  .object({ time, outcome: z.enum(traceOutcomes), message: text })
  .nullable()
  .describe("its newest run; null if it has none, or concerned a miner that the caller does not see");

/** Without the values of headers, which may be secrets. */
const definition = z
  .record(text, z.unknown())
  .describe("as it was written, with durations in seconds and without the headers of web hooks");

const owners = {
  owner: z
    .enum(["file", "store", "centre"])
    .describe(
      "file: declared by the configuration file, which alone changes it; centre: pushed by a centre, where it is changed",
    ),
  centre: text.optional().describe("the user of the centre that owns it; absent if none does"),
  sites: z
    .array(SiteCopy)
    .optional()
    .describe("the sites of its runsAt, at the service that shows them; absent without any"),
};

const head = {
  id,
  key: text,
  name: text,
  enabled: z.boolean(),
  ...owners,
  makerId: id.nullable().describe("the user whose access it has; null = everything"),
  problem: text.nullable().describe("why it is not evaluated although it is enabled; null if nothing is wrong"),
};

export const RuleInfo = z.object({
  ...head,
  manual: z.boolean(),
  use: text.nullable().describe("the ready-made rule that it is; null for others"),
  pending: z.int().describe("miners for which its conditions hold, but not for long enough"),
  firing: z.int().describe("miners for which it fires"),
  held: z.int().describe("of those, miners for which it is held back"),
  nextTime: time.nullable().describe("when the next of its times comes; null if it has none"),
  lastRun,
  definition,
});
export interface RuleInfo extends z.infer<typeof RuleInfo> {}

export const ReadyMadeRule = z.object({ key: text, name: text, description: text, definition });

export const RuleList = z.object({
  rules: z.array(RuleInfo),
  readyMade: z.array(ReadyMadeRule).describe("rules to start from, off until one is added with `use`"),
});
export interface RuleList extends z.infer<typeof RuleList> {}

export const ScheduleInfo = z.object({
  ...head,
  active: z.boolean().describe("it has begun and not ended yet"),
  nextStart: time.nullable().describe("null if it is unknown"),
  nextEnd: time.nullable().describe("null if it has none"),
  lastRun,
  definition,
});
export interface ScheduleInfo extends z.infer<typeof ScheduleInfo> {}

export const Upcoming = z.object({
  scheduleId: id,
  key: text,
  name: text,
  start: time,
  end: time.nullable(),
});
export type Upcoming = z.infer<typeof Upcoming>;

export const MaintenanceWindow = z.object({
  id,
  name: text,
  ...owners,
  from: time.nullable(),
  until: time,
  active: z.boolean(),
  miners: z.int().describe("miners that it covers"),
  definition,
});
export type MaintenanceWindow = z.infer<typeof MaintenanceWindow>;

/** One run of a rule or schedule. */
export const RuleRun = z.object({
  id,
  time,
  run: id
    .nullable()
    .optional()
    .describe("the run of its steps, which the cause of each command names; null if it has none"),
  minerId: id.nullable().describe("null if it concerned no single miner"),
  outcome: z.enum(traceOutcomes),
  message: text,
  heldBy: text.nullable().describe("what held it back; null if nothing did"),
  conditions: z.array(
    z.object({
      condition: text,
      value: z.union([text, z.number(), z.boolean()]).nullable().describe("null if it is unknown"),
      holds: z.boolean().nullable(),
    }),
  ),
  actions: z.array(z.object({ action: text, minerId: id.nullable(), state: text, message: text })),
  coded: z
    .object({ message: CodedText.nullable(), heldBy: CodedText.nullable() })
    .optional()
    .describe("message and heldBy by code; absent, or null, for texts without one"),
});
export type RuleRun = z.infer<typeof RuleRun>;
export const RuleRuns = z.object({ runs: z.array(RuleRun).describe("newest first, at most 1,000") });

/** A run in the combined list of all rules and schedules. */
export const OwnedRun = RuleRun.extend({
  kind: z.enum(["rule", "schedule"]),
  ownerId: id.describe("id of the rule or schedule"),
  key: text,
  name: text,
});
export type OwnedRun = z.infer<typeof OwnedRun>;
export const RunList = z.object({ runs: z.array(OwnedRun).describe("newest first, at most 1,000") });

export const TryReply = z.object({
  from: time,
  to: time,
  miners: z.int().describe("miners that were tried"),
  firings: z
    .array(
      z.object({
        minerId: id,
        time,
        clearedAt: time.nullable(),
        limited: z.boolean().describe("held back by a limit"),
        guarded: z.boolean().describe("held back by its guard"),
      }),
    )
    .describe("when it would have fired, oldest first, at most 1,000"),
  guard: z
    .object({
      allowed: z.int().describe("number of miners at which it holds back"),
      most: z.int().describe("most miners at once"),
      held: z.int().describe("firings that it would have held back"),
    })
    .nullable()
    .describe("null if it has none, or its scope is too small for one"),
  where: z
    .object({ true: z.int(), false: z.int(), unknown: z.int() })
    .nullable()
    .describe(
      "results of the expression with their counts, while the other conditions held or were unknown; null without one",
    ),
  notes: z.array(text).describe("what the stored history does not contain"),
  codedNotes: z.array(CodedText).optional().describe("the same by code, in the same order"),
});
export type TryReply = z.infer<typeof TryReply>;
