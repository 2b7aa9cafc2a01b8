import { z } from "zod";
import { Duration } from "./duration.ts";
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
  set: z
    .union(ControlKey.options, {
      error: ({ input }) =>
        `must be the key of a control: ${controlKeys.join(", ")}${typeof input === "string" ? didYouMean(input, controlKeys) : ""}`,
    })
    .describe("key of a control, as in the miner's `controls`"),
  value: z
    .union([z.string().min(1).max(200), z.number(), z.boolean()], {
      error: ({ input }) => (input === undefined ? "is required" : "must be a number, a text or true or false"),
    })
    .describe("the control's new value; for power_target also best: the most profitable power"),
});

const parameter = (action: string) =>
  z
    .union([z.string().max(200), z.number(), z.boolean()], "must be a number, a text or true or false")
    .optional()
    .describe(`parameter of ${action}`);
const ofPools = parameter("add_pool and change_pool");
const ofSet = parameter("set");

const ActionStep = z
  .strictObject({
    action: z.enum(actions).describe("an action of POST /api/miners/{id}; its parameters stand beside it"),
    orReboot: z.boolean().optional().describe("for restart: reboot a rig that cannot restart its mining software"),
    pool_id: ofPools,
    pool_type: ofPools,
    property: ofSet,
    value: ofSet,
    watts: parameter("set_power_limit"),
    mode: parameter("set_mode"),
    on: parameter("locate"),
    surplus: parameter("set_surplus"),
    temperature: parameter("set_target_temperature and set_room_temperature"),
  })
  .superRefine(({ action, orReboot, ...parameters }, context) => {
    for (const { path, message } of bulkAction({ action, parameters, orReboot }).mistakes)
      context.addIssue({ code: "custom", path: [path.replace("parameters.", "")], message });
  });

const PoolStep = z.strictObject({ pool: name.describe("name of the pool to mine at") });
const PoolGroupStep = z.strictObject({ poolGroup: name.describe("name of the pool group to mine at") });
const ApplyStep = z.strictObject({ template: name.describe("name of the managed template to apply") });

const NotifyStep = z.strictObject({
  notify: Key.describe("key of a channel, or all"),
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
const RuleStep = z.strictObject({ rule: Key.describe("key of a rule whose steps are run") });

const ProgramStep = z.strictObject({
  run: z
    .array(Text(1000))
    .min(1)
    .max(50)
    .describe("a program with its arguments, run without a shell; needs automation.programs"),
});

const PlugStep = z.strictObject({
  plug: z.enum(["off", "on", "cycle"]).describe("switches the miner's plug; cycle = off, then on"),
  wait: Duration(1, 3600).optional().describe("for cycle: how long it is off, like 10s"),
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
  ...(["publish", "wait", "rule", "run", "plug"] as const),
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
