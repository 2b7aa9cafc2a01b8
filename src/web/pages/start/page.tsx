import type { ComponentType } from "preact";
import type { CallName } from "../../../contract/service.ts";
import { leaveSteps } from "../../first-steps.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import { Card, Page } from "../../parts/page.tsx";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { AccessStep } from "./access-step.tsx";
import { BrokerStep } from "./broker-step.tsx";
import { PriceStep } from "./price-step.tsx";
import { RigsStep } from "./rigs-step.tsx";
import "./start.css";

interface Step {
  readonly key: keyof typeof t.start.steps;
  readonly needs: CallName;
  readonly content: ComponentType;
  /** Whether its parts already are cards. */
  readonly hasCards?: true;
}

const steps: readonly Step[] = [
  { key: "rigs", needs: "addMiner", content: RigsStep, hasCards: true },
  { key: "price", needs: "saveSettings", content: PriceStep },
  { key: "broker", needs: "saveSettings", content: BrokerStep },
  { key: "access", needs: "saveSettings", content: AccessStep },
];

/** The first hour in four steps, in any order: rigs, electricity, Home Assistant, and access to the service. */
export default function Start() {
  const query = usePageQuery();
  const visible = steps.filter(({ needs }) => may(needs));
  const index = Math.max(
    0,
    visible.findIndex(({ key }) => key === query.get("step")),
  );
  const step = visible[index];
  const next = visible[index + 1];
  if (step === undefined) return null;
  const { key, content: Content, hasCards } = step;
  return (
    <Page limited title={t.start.title} lead={t.start.lead}>
      <nav aria-label={t.start.title}>
        <ol class="start-steps">
          {visible.map((each, at) => (
            <li key={each.key}>
              <a href={link(`start?step=${each.key}`)} aria-current={each === step ? "step" : undefined}>
                <span aria-hidden="true">{number(at + 1)}</span> {t.start.steps[each.key]}
              </a>
            </li>
          ))}
        </ol>
      </nav>
      <header class="start-head">
        <h2>{t.start.titles[key]}</h2>
        <p>{t.start.texts[key]}</p>
      </header>
      {hasCards === true ? (
        <Content key={key} />
      ) : (
        <Card>
          <Content key={key} />
        </Card>
      )}
      <p class="row start-ways">
        {next === undefined ? (
          <a class="button primary" href={link("")} onClick={leaveSteps}>
            {t.start.finish}
          </a>
        ) : (
          <>
            <a class="button primary" href={link(`start?step=${next.key}`)}>
              {t.start.next}
            </a>
            <a class="button quiet" href={link("")} onClick={leaveSteps}>
              {t.start.hide}
            </a>
          </>
        )}
      </p>
    </Page>
  );
}
