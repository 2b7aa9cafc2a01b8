import type { CurtailmentTarget } from "../../contract/curtailment.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { Severity } from "../../contract/resources.ts";
import type { RunStep } from "../../contract/steps.ts";
import type { Access } from "../users/access.ts";

/** A notification that a step sends. */
export interface StepNotice {
  /** The notification stays open under this key; null: it closes at once. */
  readonly key: string | null;
  /** Closes the notification of that key. */
  readonly isEnd: boolean;
  /** The step only reports that the rig is offline, which the service does as well. */
  readonly reportsAbsence: boolean;
  /** Null if the notification concerns no miner. */
  readonly minerId: number | null;
  readonly channels: readonly string[] | "all";
  readonly severity: Severity;
  readonly title: string | null;
  readonly text: string;
}

export interface WebRequest {
  readonly url: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | null;
}

/**
 * The effects of steps outside the rigs. Each throws the reason of a failure; absent: this service does not support it.
 */
export interface Effects {
  notify?(notice: StepNotice): void;
  /** False without a connection to the broker. */
  publish?(topic: string, payload: string, retain: boolean): boolean;
  /** Resolves with the server's answer, as far as the step's creator may see it. */
  post?(request: WebRequest, maker: Access, signal: AbortSignal): Promise<string>;
  /** W of the most profitable power; null if it is not known. */
  best?(minerId: number): number | null;
  program?(argv: readonly string[], signal: AbortSignal): Promise<string>;
  /** Begins the curtailment of a plan, or changes the one that the same rule has begun. */
  curtail?(order: CurtailOrder, maker: Access): Promise<string>;
  /** Ends the curtailments of a plan that rules and schedules have begun. */
  endCurtailment?(plan: string, maker: Access): Promise<string>;
}

export interface CurtailOrder {
  /** Key of the plan. */
  readonly plan: string;
  /** Undefined: that of the plan. */
  readonly target: CurtailmentTarget | undefined;
  /** Seconds; undefined: until it is ended. */
  readonly lasts: number | undefined;
  /** The rule or schedule, such as "rule hot". */
  readonly by: string;
}

export interface EffectTurn {
  /** The access of the step's creator. */
  readonly maker: Access;
  readonly minerId: number | null;
  /** Replaces the names in a text with their values. */
  readonly text: (text: string) => string;
  /** The channels that receive a message to this channel or to `all`. */
  readonly channels: (channel: string) => readonly string[] | "all";
  /** What the step belongs to, such as "schedule night". */
  readonly by: string;
  /** The rule that the step belongs to; null: none. `isEnd`: the rule has cleared. */
  readonly rule: { readonly id: number; readonly isEnd: boolean; readonly reportsAbsence: boolean } | null;
}

/**
 * Key of the notification that a rule opens with a channel for a miner, 0 for the whole farm; stored, so it never
 * changes.
 */
export const ruleNoticeKey = (ruleId: number, minerId: number, channel: string): string =>
  `rule:${ruleId}:${minerId}:${channel}`;

/** Performs a step that concerns no rig; resolves with its result. */
export async function takeEffect(
  step: RunStep,
  { maker, minerId, text, by, rule, channels }: EffectTurn,
  effects: Effects,
  signal: AbortSignal,
): Promise<string> {
  if ("notify" in step) {
    const { notify: channel, severity, title } = step;
    if (effects.notify === undefined) throw unavailable("notify");
    const sentTo = channels(channel);
    effects.notify({
      key: rule === null ? null : ruleNoticeKey(rule.id, minerId ?? 0, channel),
      isEnd: rule?.isEnd ?? false,
      reportsAbsence: rule?.reportsAbsence ?? false,
      minerId,
      severity,
      title: title === undefined ? null : text(title),
      channels: sentTo,
      text: text(step.text),
    });
    return `Notified ${sentTo === "all" ? "all" : sentTo.join(", ")}`;
  }
  if ("publish" in step) {
    const { publish: topic, payload, retain } = step;
    if (effects.publish === undefined) throw unavailable("publish");
    if (!effects.publish(topic, text(payload), retain))
      throw new RigbridgeError("service.unreachable", "There is no connection to the MQTT broker");
    return `Published to ${topic}`;
  }
  if ("webhook" in step) {
    const { webhook: url, method, headers, body } = step;
    if (effects.post === undefined) throw unavailable("webhook");
    return effects.post({ url, method, headers, body: body === undefined ? null : text(body) }, maker, signal);
  }
  if ("run" in step) {
    if (effects.program === undefined) throw unavailable("run");
    return effects.program(step.run.map(text), signal);
  }
  if ("curtail" in step) {
    const { curtail: plan, otherTarget, lasts } = step;
    if (effects.curtail === undefined) throw unavailable("curtail");
    return effects.curtail({ plan, target: otherTarget, lasts, by }, maker);
  }
  if ("endCurtailment" in step) {
    if (effects.endCurtailment === undefined) throw unavailable("endCurtailment");
    return effects.endCurtailment(step.endCurtailment, maker);
  }
  throw new RigbridgeError("internal", "This step is for a rig");
}

const unavailable = (kind: string): RigbridgeError =>
  new RigbridgeError("service.unsupported", `This service does not offer the step ${kind}`);

/** The texts of a step that concerns no rig. */
export const textsIn = (step: RunStep): string[] =>
  Object.entries(step).flatMap(([key, value]: [string, unknown]) => {
    const values: unknown[] = Array.isArray(value) ? value : [value];
    return key === "headers" ? [] : values.filter((each) => typeof each === "string");
  });
