import { notFound } from "../../contract/problems.ts";
import { isRecord } from "../../contract/record.ts";
import type { Store } from "../../store/index.ts";
import type { Effects } from "../automation/effects.ts";
import { enabled } from "../crud.ts";
import type { Access } from "../users/access.ts";
import type { Curtailments } from "./curtailments.ts";
import { type CurtailmentPlans, planned } from "./plans.ts";
import type { RunningCurtailment } from "./running-curtailment.ts";

interface RuleCurtailmentsContext {
  readonly curtailments: Curtailments;
  readonly plans: CurtailmentPlans;
  /** Resolves when the curtailments of an earlier run go on: steps wait for it. */
  readonly started: Promise<void>;
  /** Epoch ms. */
  readonly now: () => number;
}

/** What the steps `curtail` and `endCurtailment` of rules and schedules do. */
export function ruleCurtailments({
  curtailments,
  plans,
  started,
  now,
}: RuleCurtailmentsContext): Required<Pick<Effects, "curtail" | "endCurtailment">> {
  /** Those of a plan that rules and schedules have begun. */
  const ofRules = (plan: string): readonly RunningCurtailment[] =>
    curtailments.running.filter(({ row }) => row.plan === plan && row.cause === "rule" && row.ended === null);
  /** Throws `not.found`, also for a plan of which the creator of the step does not see all rigs. */
  const visiblePlan = (key: string, maker: Access) => {
    if (!maker.all && !plans.isVisible(key, maker)) throw notFound("curtailment plan", key);
    return plans.plan(key);
  };
  return {
    curtail: async ({ plan: key, target: other, lasts, by }, maker) => {
      await started;
      const plan = visiblePlan(key, maker);
      const target = other ?? plan.target;
      const until = lasts === undefined ? null : now() + lasts * 1000;
      const running = ofRules(key).find(({ row }) => row.actor === by);
      if (running !== undefined) {
        await curtailments.change(running, { target, until });
        return `Curtailment ${running.id} of ${key} goes on`;
      }
      const { id } = await curtailments.begin({
        ...planned(plan),
        target,
        urgent: plan.safety,
        reason: by,
        cause: "rule",
        actor: by,
        userId: maker.userId ?? null,
        drill: false,
        key: null,
        until,
      });
      return `Curtailment ${id} of ${key} has begun`;
    },
    endCurtailment: async (key, maker) => {
      await started;
      visiblePlan(key, maker);
      const running = ofRules(key);
      for (const one of running) await curtailments.end(one);
      return running.length === 0
        ? `No rule has a curtailment of ${key}`
        : `Ended curtailment ${running.map(({ id }) => id).join(", ")} of ${key}`;
    },
  };
}

const lists = ["do", "onClear", "onGiveUp", "onEnd"] as const;

/** The rule or schedule whose steps name a plan, such as "the rule hot"; null: none. */
export function namingRule(key: string, { rules, schedules }: Pick<Store, "rules" | "schedules">): string | null {
  const isNamed = (definition: unknown): boolean =>
    isRecord(definition) &&
    lists.some((list) => {
      const steps: unknown = definition[list];
      return (
        Array.isArray(steps) &&
        steps.some((step: unknown) => isRecord(step) && (step.curtail === key || step.endCurtailment === key))
      );
    });
  const rule = enabled(rules).find(({ definition }) => isNamed(definition));
  if (rule !== undefined) return `the rule ${rule.name}`;
  const schedule = enabled(schedules).find(({ definition }) => isNamed(definition));
  return schedule === undefined ? null : `the schedule ${schedule.name}`;
}
