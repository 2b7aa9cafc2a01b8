import { z } from "zod";
import { CurtailmentTarget } from "./curtailment-target.ts";
import { Duration } from "./duration.ts";
import { naming, onlyWith } from "./form-kind.ts";
import { HttpHeaders, WebAddress } from "./http-request.ts";
import { bulkAction, Line, minerActions } from "./inputs.ts";
import { didYouMean } from "./nearest.ts";
import { ControlKey } from "./readings.ts";
import { severities } from "./resources.ts";
import { Text } from "./texts.ts";
import { Topic } from "./topic.ts";

/** The steps of rules, schedules, templates and manual actions, each named by its key. */

/** Maximum steps in one list. */
export const mostSteps = 50;
/** Seconds; use a schedule for longer waits. */
const longestWait = 7 * 86_400;

/** The key of a rule, schedule or channel in user texts. */
export const Key = z
  .string()
  .regex(/^[A-Za-z0-9][A-Za-z0-9._-]{0,63}$/, "must be 1 to 64 of A-Z, a-z, 0-9, dot, underscore and hyphen");

const name = Line(200).min(1);

/** Actions of a miner that are steps; `template` and `rule` have their own keys, by which loops are found. */
const actions = minerActions.filter((action) => action !== "apply_template" && action !== "rule");

const [namedControls] = ControlKey.options;
const controlKeys: readonly string[] = [...namedControls.options, "board_0"];

const SetStep = z.strictObject({
  set: naming(
    "control",
    z.union(ControlKey.options, {
      error: ({ input }) =>
        `must be the key of a control: ${controlKeys.join(", ")}${typeof input === "string" ? didYouMean(input, controlKeys) : ""}`,
    }),
  ).describe("what is set"),
  value: z
    .union([z.string().min(1).max(200), z.number(), z.boolean()], {
      error: ({ input }) => (input === undefined ? "is required" : "must be a number, a text or true or false"),
    })
    .describe("its new value; for the power also best: the most profitable"),
});

const parameter = z.union([z.string().max(200), z.number(), z.boolean()], "must be a number, a text or true or false");
const beside = <T extends z.ZodType>(of: readonly (typeof actions)[number][], schema: T) =>
  onlyWith("action", of, schema.optional());

const ActionStep = z
  .strictObject({
    action: z.enum(actions).describe("what the rig does; some actions need more, which is added below"),
    orReboot: beside(["restart"], z.boolean()).describe("reboot a rig that cannot restart its mining software"),
    pool_type: beside(["add_pool", "change_pool"], z.enum(["single", "group"])).describe(
      "whether it is a pool or a pool group",
    ),
    pool_id: beside(["add_pool", "change_pool"], naming("poolId", parameter)).describe("the pool or pool group"),
    property: beside(["set"], naming("control", parameter)).describe("what is set"),
    value: beside(["set"], parameter).describe("its new value"),
    watts: beside(["set_power_limit"], parameter).describe("W"),
    mode: beside(["set_mode"], parameter).describe("name of the mode, as the rig calls it"),
    on: beside(["locate"], parameter).describe("true: the rig shows where it is; false: no longer"),
    surplus: beside(["set_surplus"], parameter).describe("W; negative = drawn from the grid"),
    temperature: beside(["set_target_temperature", "set_room_temperature"], parameter).describe("°C"),
  })
  .superRefine(({ action, orReboot, ...parameters }, context) => {
    for (const { path, message } of bulkAction({ action, parameters, orReboot }).mistakes)
      context.addIssue({ code: "custom", path: [path.replace("parameters.", "")], message });
  });

const PoolStep = z.strictObject({ pool: naming("pool", name).describe("name of the pool to mine at") });
const PoolGroupStep = z.strictObject({
  poolGroup: naming("poolGroup", name).describe("name of the pool group to mine at"),
});
const ApplyStep = z.strictObject({
  template: naming("template", name).describe("name of the managed template to apply"),
});

const NotifyStep = z.strictObject({
  notify: naming("channel", Key).describe("the channel that is notified, or all"),
  severity: z.enum(severities).default("info").describe("how urgent it is"),
  title: Text(200).optional().describe("title of the message"),
  text: Text(2000).describe("the message; it may name values, like {{ miner.name }}"),
});

const WebhookStep = z.strictObject({
  webhook: WebAddress.describe("web address to send a request to"),
  method: z.enum(["GET", "POST", "PUT", "PATCH", "DELETE"]).default("POST").describe("HTTP method"),
  headers: HttpHeaders.default({}).describe("headers of the request; kept secret"),
  body: Text(10_000).optional().describe("body of the request; it may name values, like {{ miner.name }}"),
});

const PublishStep = z.strictObject({
  publish: Topic.describe("MQTT topic"),
  payload: Text(10_000).describe("the message; it may name values, like {{ reading.temperature }}"),
  retain: z.boolean().default(false).describe("whether the broker keeps it"),
});

const WaitStep = z.strictObject({ wait: Duration(1, longestWait).describe("duration until the next step, like 30s") });
const RuleStep = z.strictObject({ rule: naming("rule", Key).describe("the rule whose steps are run") });

const ProgramStep = z.strictObject({
  run: z
    .array(Text(1000))
    .min(1)
    .max(50)
    .describe("a program with its arguments, run without a shell; needs automation.programs"),
});

const PlugStep = z.strictObject({
  plug: z.enum(["off", "on", "cycle"]).describe("switches the miner's plug; cycle = off, then on"),
  wait: onlyWith("plug", ["cycle"], Duration(1, 3600).optional()).describe("how long it is off, like 10s"),
});

const CurtailStep = z.strictObject({
  curtail: Key.describe("key of the curtailment plan that begins"),
  otherTarget: CurtailmentTarget.optional().describe("target instead of that of the plan"),
  lasts: Duration(60, longestWait)
    .optional()
    .describe("how long the curtailment lasts, like 2h; absent = until a step ends it"),
});
const EndCurtailmentStep = z.strictObject({
  endCurtailment: Key.describe("key of the curtailment plan; what rules and schedules have begun by it ends"),
});

/** The kinds of step, each with its own key. */
export const stepKinds = {
  set: SetStep,
  action: ActionStep,
  pool: PoolStep,
  poolGroup: PoolGroupStep,
  template: ApplyStep,
  notify: NotifyStep,
  webhook: WebhookStep,
  publish: PublishStep,
  wait: WaitStep,
  rule: RuleStep,
  run: ProgramStep,
  plug: PlugStep,
  curtail: CurtailStep,
  endCurtailment: EndCurtailmentStep,
};
type Kind = keyof typeof stepKinds;

/** The kinds in a step; the `wait` of a plug is not one. */
function kindsIn(input: object, known: readonly Kind[]): Kind[] {
  const given = known.filter((kind) => Object.hasOwn(input, kind));
  return given.filter((kind) => !given.some((other) => other !== kind && Object.hasOwn(stepKinds[other].shape, kind)));
}

/** One sentence with all mistakes of a step: zod would report those of every kind. */
const stepMistakes =
  (known: readonly Kind[]) =>
  ({ input, errors }: z.core.$ZodRawIssue<z.core.$ZodIssueInvalidUnion>): string => {
    if (typeof input !== "object" || input === null || Array.isArray(input))
      return `must be a step, an object with one of ${known.join(", ")}`;
    const [kind, second] = kindsIn(input, known);
    if (kind === undefined) {
      const [first = ""] = Object.keys(input);
      return `is not a known step; there are ${known.join(", ")}${didYouMean(first, known)}`;
    }
    if (second !== undefined) return `has both ${kind} and ${second}; write a step for each`;
    const fields = Object.keys(stepKinds[kind].shape);
    return (errors[known.indexOf(kind)] ?? [])
      .flatMap((issue) => {
        if (issue.code === "unrecognized_keys")
          return issue.keys.map(
            (key) => `${key} is not known${didYouMean(key, fields) || `; known: ${fields.join(", ")}`}`,
          );
        return `${issue.path.join(".")} ${issue.message}`;
      })
      .join("; ");
  };

/** One of these kinds of step. */
const oneOf = <const T extends Kind>(...known: readonly T[]) =>
  z.union(
    known.map((kind): (typeof stepKinds)[T] => stepKinds[kind]),
    { error: stepMistakes(known) },
  );

const list = <T extends z.ZodType>(step: T) => z.array(step).min(1).max(mostSteps);

const kindNames = [
  ...(["set", "action", "pool", "poolGroup", "template", "notify", "webhook"] as const),
  ...(["publish", "wait", "rule", "run", "plug", "curtail", "endCurtailment"] as const),
] as const;

/** One step of a `do` list. */
export type WrittenStep = z.output<(typeof stepKinds)[Kind]>;
export const Step: z.ZodType<WrittenStep> = oneOf(...kindNames);
/** Applies the managed-miner settings of the template with this id; an internal step. */
const SoftwareStep = z.strictObject({ software: z.int() });
/**
 * A step of a run. `target`: the id of its name, resolved when it was saved; 0 if there is none. Absent in runs of
 * earlier versions.
 */
export type RunStep = (WrittenStep | z.output<typeof SoftwareStep>) & { readonly target?: number };
const target = z.int();
export const StoredStep: z.ZodType<RunStep> = z.union([
  SoftwareStep,
  ...[PoolStep, PoolGroupStep, ApplyStep, RuleStep].map((step) => step.extend({ target })),
  Step,
]);
export type StepKind = Kind | "software";

/** A `do` list. */
export const Steps: z.ZodType<WrittenStep[]> = list(Step).describe("the steps, run in this order");

/** The settings that a template applies to a miner. */
export type TemplateStep = z.output<(typeof stepKinds)["pool" | "poolGroup" | "set" | "action"]>;
export const TemplateSteps: z.ZodType<TemplateStep[]> = list(oneOf("pool", "poolGroup", "set", "action")).describe(
  "the steps, run in this order on each miner",
);

/** The kind of a step. */
export function kindOf(step: RunStep): StepKind {
  if ("software" in step) return "software";
  const [kind] = kindsIn(step, kindNames);
  if (kind === undefined) throw new TypeError("not a step");
  return kind;
}

/** Whether a step acts on a miner; others, such as messages, need none. */
export const needsMiner = (step: RunStep): boolean => ofMiners.includes(kindOf(step));

const ofMiners: readonly StepKind[] = ["software", "set", "action", "pool", "poolGroup", "template", "plug"];
