import { z } from "zod";
import { bulkOrders } from "./bulk-orders.ts";
import type { Table } from "./csv.ts";
import { CurtailmentTarget, mostWatts } from "./curtailment-target.ts";
import { Duration } from "./duration.ts";
import { Flag, Line, parameter } from "./inputs.ts";
import { Scope } from "./rules.ts";
import { Key } from "./steps.ts";

/**
 * Curtailment: the rigs of a scope take less power for a time. The power is that of the rigs together, as read, and the
 * rigs that an event has lowered or stopped get back what they had when it ends.
 */

export { CurtailmentTarget } from "./curtailment-target.ts";

const watts = z.number();
const count = z.int();
const time = z.iso.datetime();
const day = 86_400;

/** How a rig takes less: `setpoint`: the lowest power that it can be set to, and a stop only if that is not enough. */
export const curtailmentLevels = ["setpoint", "off"] as const;

const parallel = z.int().min(1).max(1_000);
const wattsPerMinute = z.number().min(1).max(mostWatts);

export const CurtailmentRamp = z.strictObject({
  parallel: parallel.default(250).describe("rigs that are sent a command at once"),
  wattsPerMinute: wattsPerMinute.optional().describe("W that are given up in a minute at most; absent = no limit"),
  deadline: Duration(1, day)
    .default(300)
    .describe("a rig that needs longer for a lower power, such as one that tunes itself, is stopped instead"),
});

export const CurtailmentRestore = z.strictObject({
  parallel: parallel.default(25).describe("rigs that are given back their power at once, spread over the places"),
  wattsPerMinute: wattsPerMinute.optional().describe("W that are taken up in a minute at most; absent = no limit"),
  wait: Duration(0, day).default(0).describe("time from its end until the first rig"),
});

const howItIsDone = {
  order: z
    .enum(bulkOrders)
    .describe("which rigs are first: those with the most J per hash, the least profit or the most power"),
  level: z
    .enum(curtailmentLevels)
    .describe("setpoint: rigs are set to their lowest power before any is stopped; off: they are stopped"),
  ramp: CurtailmentRamp,
  restore: CurtailmentRestore,
};

const name = Line(200).min(1);

const planFields = {
  name: name.optional().describe("name for people; absent = its key"),
  scope: Scope.optional().describe("which miners; absent = all"),
  target: CurtailmentTarget,
  order: howItIsDone.order.default("efficiency"),
  level: howItIsDone.level.default("setpoint"),
  ramp: CurtailmentRamp.prefault({}),
  restore: CurtailmentRestore.prefault({}),
  safety: z
    .boolean()
    .default(false)
    .describe("it takes precedence over people, and does not wait for the least time that a rig mines"),
};

export const CurtailmentPlanBody = z.strictObject({ key: Key.describe("unique name of the plan"), ...planFields });
export type CurtailmentPlanBody = z.output<typeof CurtailmentPlanBody>;

export const ChangeCurtailmentPlanBody = z
  .strictObject({
    name: planFields.name.nullable(),
    scope: planFields.scope.nullable(),
    target: CurtailmentTarget.optional(),
    order: howItIsDone.order.optional(),
    level: howItIsDone.level.optional(),
    ramp: CurtailmentRamp.optional(),
    restore: CurtailmentRestore.optional(),
    safety: z.boolean().optional(),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), "has nothing to change");

/** As `howItIsDone`, in replies: s. */
const howItGoes = {
  order: howItIsDone.order,
  level: howItIsDone.level,
  ramp: z.object({ parallel: count, wattsPerMinute: watts.optional(), deadline: z.number().describe("s") }),
  restore: z.object({ parallel: count, wattsPerMinute: watts.optional(), wait: z.number().describe("s") }),
};

export const CurtailmentPlan = z.object({
  key: z.string(),
  name: z.string(),
  scope: Scope.optional(),
  target: CurtailmentTarget,
  ...howItGoes,
  safety: z.boolean(),
  active: count.nullable().describe("id of its curtailment that has not ended; null = none"),
});
export interface CurtailmentPlan extends z.output<typeof CurtailmentPlan> {}

/** What is curtailed: by a plan, of which the target may be another, or on its own. */
const wanted = {
  plan: Key.optional().describe("key of a plan; scope, order, level, ramp and restore are those of the plan"),
  scope: Scope.optional().describe("without a plan: which miners; absent = all"),
  target: CurtailmentTarget.optional().describe("absent = that of the plan"),
  order: howItIsDone.order.optional(),
  level: howItIsDone.level.optional(),
  ramp: CurtailmentRamp.optional(),
  restore: CurtailmentRestore.optional(),
};

interface Wanted {
  readonly plan?: string | undefined;
  readonly target?: CurtailmentTarget | undefined;
}

function wantedMistakes(body: Wanted & object, context: z.core.$RefinementCtx): void {
  const add = (path: string, message: string) => context.addIssue({ code: "custom", path: [path], message });
  if (body.plan === undefined && body.target === undefined) add("target", "is required without a plan");
  if (body.plan === undefined) return;
  for (const key of ["scope", "order", "level", "ramp", "restore"])
    if (Object.hasOwn(body, key)) add(key, "is that of the plan; leave it out, or leave out plan");
}

export const CurtailmentPreviewBody = z.strictObject(wanted).superRefine(wantedMistakes);

const until = z.iso
  .datetime({ offset: true, error: "must be a time with its zone, like 2026-05-01T18:00:00Z" })
  .max(40)
  .describe("when it ends automatically");

export const CurtailmentBody = z
  .strictObject({
    ...wanted,
    reason: name.describe("why, for the list and the report"),
    until: until.optional(),
    key: Key.optional().describe("a second request with the key of a curtailment is answered with that curtailment"),
  })
  .superRefine(wantedMistakes);

export const ChangeCurtailmentBody = z
  .strictObject({
    target: CurtailmentTarget.optional(),
    until: until.nullable().optional().describe("when it ends automatically; null = when it is ended"),
  })
  .refine((body) => Object.values(body).some((value) => value !== undefined), "has nothing to change");

export const CurtailmentDrillBody = z.strictObject({
  dry: z.boolean().default(true).describe("true: the rigs are read and nothing is sent; false: they are curtailed"),
  lasts: Duration(60, day).default(600).describe("how long a real drill lasts"),
});

export const CurtailmentsQuery = z.object({
  active: parameter(Flag, "whether only those are listed that are not over", true).optional(),
  limit: parameter(z.coerce.number().int().min(1).max(1_000), "the most that are listed", 50).default(100),
});

/** What a curtailment would change, by the last readings. Power that was not measured counts as 0, and is never promised. */
export const CurtailmentPreview = z.object({
  power: z.object({
    now: watts.describe("W that the rigs of the scope take, as far as it is known"),
    target: watts.describe("W that they may take"),
    after: watts.describe("W that they would take; more than target if there is not enough to give up"),
    unknown: count.describe("rigs that mine and whose power is not known"),
  }),
  lowered: count.describe("rigs that would be set to less power"),
  stopped: count.describe("rigs that would be stopped"),
  seconds: z
    .object({ half: z.number(), most: z.number(), all: z.number() })
    .nullable()
    .describe(
      "seconds until 50, 90 and 100 % of the change in power, if each rig takes the time that its control states; null = nothing changes",
    ),
  revenueLost: z
    .number()
    .nullable()
    .describe("revenue per hour of what the rigs would mine less, in the display currency; null = not known for any"),
  currency: z.string().describe("ISO 4217"),
  leftOut: z
    .array(z.object({ code: z.string(), message: z.string(), miners: count }))
    .describe("why rigs of the scope could not be curtailed now, the most frequent first"),
});
export type CurtailmentPreview = z.infer<typeof CurtailmentPreview>;

/**
 * `curtailing`: rigs are lowered and stopped until the target is reached; `holding`: it is reached, or no rig is left that
 * could give up more; `restoring`: it has ended, and the rigs get back what they had; `ended`: all is done.
 */
export const curtailmentStates = ["curtailing", "holding", "restoring", "ended"] as const;

/**
 * What a rig does for a curtailment. `due`: it is sent its command next; `sent`: it has not shown less power yet;
 * `reached`: its readings show it; `failed`: it refused, or mines on after three commands; `away`: it cannot be reached, and is
 * curtailed when it returns; `taken`: a person has taken it over; `restoring`: it is given back its power; `restored`: its
 * readings show that; `released`: it was left as it is.
 */
export const curtailedStates = [
  "due",
  "sent",
  "reached",
  "failed",
  "away",
  "taken",
  "restoring",
  "restored",
  "released",
] as const;

export const Curtailment = z.object({
  id: z.int(),
  plan: z.string().nullable().describe("key of its plan; null = it has none"),
  reason: z.string(),
  cause: z.enum(["person", "rule", "signal", "limit"]).describe("what began it"),
  actor: z.string().describe("who began it"),
  drill: z.boolean().describe("whether it is an exercise"),
  safety: z.boolean(),
  scope: Scope.optional(),
  target: CurtailmentTarget,
  ...howItGoes,
  state: z.enum(curtailmentStates),
  started: time,
  until: time.nullable().describe("when it ends automatically; null = when it is ended"),
  reached: time.nullable().describe("when its present target was first reached; null = not yet"),
  ended: time.nullable().describe("when it was ended; null = not yet"),
  restored: time.nullable().describe("when the last rig had its power back; null = not yet"),
  power: z.object({
    baseline: watts.describe("W that the rigs took when it began, as far as it was known"),
    target: watts.describe("W that they may take"),
    now: watts.describe("W that they take, as read"),
    pending: watts.describe("W less that rigs were commanded to take and have not shown yet"),
    meter: watts.nullable().describe("W of the meters of its places; null = they have none, or it is not known"),
  }),
  seconds: z
    .number()
    .nullable()
    .describe("estimate until the target is reached; 0 = it is; null = it cannot be reached"),
  rigs: z.object({
    total: count.describe("rigs of the scope; once it is over, those that it sent a command"),
    due: count,
    sent: count,
    reached: count,
    failed: count,
    away: count,
    taken: count,
    restoring: count,
    restored: count,
    released: count,
  }),
});
export interface Curtailment extends z.output<typeof Curtailment> {}

export const CurtailedRig = z.object({
  minerId: z.int(),
  uid: z.string().nullable(),
  name: z.string(),
  state: z.enum(curtailedStates),
  before: watts.nullable().describe("W that it took before; null = not known"),
  wanted: watts.describe("W that it was commanded to take at most; 0 = stopped"),
  now: watts.nullable().describe("W that its last reading shows; null = not known"),
  sent: time.nullable().describe("when its last command was sent"),
  reached: time.nullable().describe("when its readings first showed it"),
  restored: time.nullable(),
  tries: count.describe("commands to it"),
  message: z.string().describe('why it failed or was taken over; "" otherwise'),
});
export interface CurtailedRig extends z.output<typeof CurtailedRig> {}

export const CurtailmentSample = z.object({
  time,
  rigs: watts.describe("W of the rigs of the scope, as read"),
  meter: watts.nullable().describe("W of the meters of its places; null = not known"),
});

export const CurtailmentReport = z.object({
  curtailment: Curtailment,
  shed: z.object({
    energy: z
      .number()
      .nullable()
      .describe("kWh that the rigs took less than their baseline from its start to its end; null = not known"),
    seen: z
      .number()
      .nullable()
      .describe("share of that time in which the rigs were read, 0 to 1; energy is of that share"),
    byMeter: z
      .number()
      .nullable()
      .describe("the same by the meters of its places; null = one was silent when it began"),
    meterSeen: z
      .number()
      .nullable()
      .describe("share of that time that the meters saw, 0 to 1; byMeter is of that share"),
    meterBy: z
      .enum(["counter", "power"])
      .nullable()
      .describe("how byMeter was measured: by energy counters or by readings of the power, whichever is more exact"),
    shortfall: z
      .number()
      .nullable()
      .describe(
        "kWh that they took more than the target in force after that was first reached, or after it was set if it was not",
      ),
  }),
  rigs: z.array(CurtailedRig),
  samples: z.array(CurtailmentSample).describe("while it lasted, oldest first"),
});
export interface CurtailmentReport extends z.output<typeof CurtailmentReport> {}

/** A row for each rig, and one for all. kWh are those of the report. */
export const curtailmentTable = ({ curtailment, shed, rigs }: CurtailmentReport): Table => ({
  columns: [
    ...["curtailment", "plan", "reason", "miner", "uid", "name", "state"],
    ...["before W", "wanted W", "now W", "sent", "reached", "restored", "commands", "message"],
    ...["shed kWh", "seen", "shed kWh by meter", "meter seen", "meter by", "shortfall kWh"],
  ],
  rows: [
    [
      ...[curtailment.id, curtailment.plan, curtailment.reason, null, null, null, curtailment.state],
      ...[curtailment.power.baseline, curtailment.power.target, curtailment.power.now],
      ...[curtailment.started, curtailment.reached, curtailment.restored, null, ""],
      ...[shed.energy, shed.seen, shed.byMeter, shed.meterSeen, shed.meterBy, shed.shortfall],
    ],
    ...rigs.map((rig) => [
      ...[curtailment.id, curtailment.plan, curtailment.reason, rig.minerId, rig.uid, rig.name, rig.state],
      ...[rig.before, rig.wanted, rig.now, rig.sent, rig.reached, rig.restored, rig.tries, rig.message],
      ...[null, null, null, null, null, null],
    ]),
  ],
});
