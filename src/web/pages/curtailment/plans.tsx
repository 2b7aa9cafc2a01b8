import { useState } from "preact/hooks";
import type { CurtailmentPlan } from "../../../contract/curtailment.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { None } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { type Loaded, Loading } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { may } from "../../session.ts";
import { DrillDialog } from "./drill-dialog.tsx";
import { PlanDialog } from "./plan-dialog.tsx";
import { scopeText, targetText } from "./words.ts";

interface PlansProps {
  readonly plans: Loaded<readonly CurtailmentPlan[]>;
  readonly onBegin: (plan: CurtailmentPlan) => void;
  readonly onDrilled: () => void;
}

type Asked =
  | { readonly what: "add"; readonly plan: null }
  | { readonly what: "edit" | "remove" | "drill"; readonly plan: CurtailmentPlan };

/** The plans, with what this user may do with them. */
export function Plans({ plans, onBegin, onDrilled }: PlansProps) {
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const saved = () => {
    plans.reload();
    close();
  };
  return (
    <Card
      title={t.curtailment.plans}
      actions={
        may("addCurtailmentPlan") ? (
          <button type="button" class="button small" onClick={() => setAsked({ what: "add", plan: null })}>
            <Icon name="plus" /> {t.curtailment.addPlan}
          </button>
        ) : undefined
      }
    >
      <Loading from={plans}>
        {(list, known) =>
          list.length === 0 ? (
            <None known={known}>{t.curtailment.noPlans}</None>
          ) : (
            <ul class="curtail-plans">
              {list.map((plan) => (
                <Plan key={plan.key} plan={plan} onBegin={onBegin} onAsk={setAsked} />
              ))}
            </ul>
          )
        }
      </Loading>
      {asked?.what === "add" || asked?.what === "edit" ? (
        <PlanDialog plan={asked.plan} onSaved={saved} onClose={close} />
      ) : null}
      {asked?.what === "drill" ? <DrillDialog plan={asked.plan} onDrilled={onDrilled} onClose={close} /> : null}
      {asked?.what === "remove" ? (
        <Confirm
          title={t.curtailment.removeTitle({ name: asked.plan.name })}
          text={t.curtailment.removeText}
          verb={t.shell.delete}
          dangerous
          onConfirm={async () => {
            say((await call("deleteCurtailmentPlan", { key: asked.plan.key })).message);
            plans.reload();
          }}
          onClose={close}
        />
      ) : null}
    </Card>
  );
}

interface PlanProps {
  readonly plan: CurtailmentPlan;
  readonly onBegin: (plan: CurtailmentPlan) => void;
  readonly onAsk: (asked: Asked) => void;
}

function Plan({ plan, onBegin, onAsk }: PlanProps) {
  const { name, scope, target, order, level, safety, active } = plan;
  const actions = [
    ["drill", "drillCurtailmentPlan", t.curtailment.drill, "check"],
    ["edit", "changeCurtailmentPlan", t.curtailment.editPlan, "edit"],
    ["remove", "deleteCurtailmentPlan", t.shell.delete, "trash"],
  ] as const;
  return (
    <li>
      <p class="curtail-facts">
        <strong>
          <bdi>{name}</bdi>
        </strong>
        {safety ? <span class="tag">{t.curtailment.safety}</span> : null}
        {active === null ? null : <span class="tag">{t.curtailment.isUnderWay}</span>}
      </p>
      <p class="curtail-facts">
        <bdi>{scopeText(scope)}</bdi>
        <span>{targetText(target)}</span>
        <span>{t.rigs.orders[order]}</span>
        <span>{t.curtailment.levels[level]}</span>
      </p>
      <div class="row">
        {may("startCurtailment") && active === null ? (
          <button
            type="button"
            class="button small"
            aria-label={`${t.curtailment.begin}: ${name}`}
            onClick={() => onBegin(plan)}
          >
            <Icon name="power" /> {t.curtailment.begin}
          </button>
        ) : null}
        {actions.map(([what, operation, verb, icon]) =>
          may(operation) ? (
            <button
              key={what}
              type="button"
              class="button small quiet"
              aria-label={`${verb}: ${name}`}
              onClick={() => onAsk({ what, plan })}
            >
              <Icon name={icon} /> {verb}
            </button>
          ) : null,
        )}
      </div>
    </li>
  );
}
