import { type CurtailmentPlan, CurtailmentPlanBody } from "../../contract/curtailment.ts";
import { invalid, invalidAll, type Mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { Scope } from "../../contract/rules.ts";
import type { Caller, Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredCurtailment, StoredCurtailmentPlan } from "../../store/index.ts";
import { done, enabled } from "../crud.ts";
import type { Access, AccessBook } from "../users/access.ts";
import type { Curtailments } from "./curtailments.ts";

interface PlansContext {
  readonly store: Pick<Store, "curtailmentPlans">;
  readonly curtailments: Pick<Curtailments, "running">;
  /** What is wrong with the names in a scope. */
  readonly scopeMistakes: (scope: CurtailmentPlanBody["scope"], access: Access) => readonly Mistake[];
  readonly accessBook: AccessBook;
  /** What else names a plan, such as "the signal grid"; null: nothing. */
  readonly namedBy: (key: string) => string | null;
  /** Whether an access sees all rigs of a scope, and there are any. */
  readonly seesAll: (scope: Scope | undefined, access: Access) => boolean;
}

type PlanOperations = Pick<
  MiningService,
  "listCurtailmentPlans" | "addCurtailmentPlan" | "changeCurtailmentPlan" | "deleteCurtailmentPlan"
>;

/** The plans of curtailments, by key. */
export class CurtailmentPlans {
  readonly #context: PlansContext;
  readonly operations: PlanOperations;

  constructor(context: PlansContext) {
    this.#context = context;
    const { curtailmentPlans } = context.store;
    this.operations = {
      listCurtailmentPlans: async (_input, caller) => {
        const access = context.accessBook.of(caller);
        const plans = enabled(curtailmentPlans).flatMap((row) => this.#shown(row) ?? []);
        return plans.filter(({ scope }) => access.all || context.seesAll(scope, access));
      },
      addCurtailmentPlan: async (body, caller) => {
        if (this.#row(body.key) !== undefined) throw invalid("key", detail("curtailment.planTaken", { key: body.key }));
        this.#check(body, caller);
        await curtailmentPlans.add({ name: body.key, definition: { ...body } });
        return this.#present(this.plan(body.key));
      },
      changeCurtailmentPlan: async ({ key, ...changes }, caller) => {
        const row = this.#found(key);
        const plan = changed(this.plan(key), changes);
        this.#check(plan, caller);
        await curtailmentPlans.change(row.id, { definition: { ...plan } });
        return this.#present(plan);
      },
      deleteCurtailmentPlan: async ({ key }) => {
        const row = this.#found(key);
        const active = this.#active(key);
        if (active !== null) throw new RigbridgeError("in.use", detail("curtailment.planInUse", { key, id: active }));
        const by = context.namedBy(key);
        if (by !== null) throw new RigbridgeError("in.use", detail("curtailment.planNamed", { key, by }));
        await curtailmentPlans.remove(row.id);
        return done(`Plan ${key} removed`);
      },
    };
  }

  /** Throws `not.found`, and `internal` for one that this release does not understand. */
  plan(key: string): CurtailmentPlanBody {
    const parsed = CurtailmentPlanBody.safeParse(this.#found(key).definition);
    if (!parsed.success) throw new RigbridgeError("internal", `The plan ${key} was saved by another release`);
    return parsed.data;
  }

  /** Undefined for one that does not exist, or that this release does not understand. */
  find(key: string): CurtailmentPlanBody | undefined {
    return CurtailmentPlanBody.safeParse(this.#row(key)?.definition).data;
  }

  /** Whether an access sees a plan, which need not exist. */
  isVisible(key: string, access: Access): boolean {
    const plan = this.find(key);
    return plan !== undefined && this.#context.seesAll(plan.scope, access);
  }

  #row(key: string): Stored<StoredCurtailmentPlan> | undefined {
    return enabled(this.#context.store.curtailmentPlans).find(({ name }) => name === key);
  }

  #found(key: string): Stored<StoredCurtailmentPlan> {
    const row = this.#row(key);
    if (row === undefined) throw notFound("curtailment plan", key);
    return row;
  }

  #check({ scope }: CurtailmentPlanBody, caller: Caller): void {
    const { scopeMistakes, accessBook } = this.#context;
    const mistakes = scopeMistakes(scope, accessBook.of(caller));
    if (mistakes.length > 0) throw invalidAll(mistakes);
  }

  #active(key: string): number | null {
    return this.#context.curtailments.running.find(({ row }) => row.plan === key)?.id ?? null;
  }

  #shown({ definition }: Stored<StoredCurtailmentPlan>): CurtailmentPlan | null {
    const parsed = CurtailmentPlanBody.safeParse(definition);
    return parsed.success ? this.#present(parsed.data) : null;
  }

  #present(plan: CurtailmentPlanBody): CurtailmentPlan {
    return { ...plan, name: plan.name ?? plan.key, active: this.#active(plan.key) };
  }
}

/** What a curtailment has from its plan. */
export const planned = ({
  key: plan,
  name: _,
  ...manner
}: CurtailmentPlanBody): Pick<
  StoredCurtailment,
  "plan" | "scope" | "target" | "order" | "level" | "ramp" | "restore" | "safety"
> => ({ plan, ...manner });

/** Null removes what a plan need not have. */
function changed(plan: CurtailmentPlanBody, changes: Omit<Input<"changeCurtailmentPlan">, "key">): CurtailmentPlanBody {
  const given = Object.entries(changes).filter(([, value]) => value !== undefined);
  const next = { ...plan, ...Object.fromEntries(given) };
  return CurtailmentPlanBody.parse(Object.fromEntries(Object.entries(next).filter(([, value]) => value !== null)));
}
