import { useState } from "preact/hooks";
import type { CurtailmentPlan } from "../../../contract/curtailment.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { None } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, useReconnects } from "../../parts/load.tsx";
import { Card, Page } from "../../parts/page.tsx";
import { usePoll } from "../../parts/use-poll.ts";
import { may } from "../../session.ts";
import { BeginDialog } from "./begin-dialog.tsx";
import { CurtailmentCard } from "./curtailment-card.tsx";
import { Past } from "./past.tsx";
import { Plans } from "./plans.tsx";
import "./curtailment.css";

/** ms between two reads while one is under way, and while none is. */
const [busyMs, quietMs] = [2_000, 10_000];
/** More at the same time are not for this page. */
const mostActive = 20;

/** The curtailments under way, the plans, and those that are over. */
export default function CurtailmentPage() {
  const reconnects = useReconnects();
  const active = useLoaded(
    (signal) => call("listCurtailments", { active: true, limit: mostActive }, { signal }),
    [reconnects],
  );
  usePoll(active, active.value?.length ? busyMs : quietMs);
  const underWay = active.value?.map(({ id }) => id).join() ?? "";
  const plans = useLoaded(
    async (signal) => (may("listCurtailmentPlans") ? call("listCurtailmentPlans", {}, { signal }) : []),
    [reconnects, underWay],
  );
  const [begins, setBegins] = useState<{ readonly plan: CurtailmentPlan | null } | null>(null);
  return (
    <Page
      title={t.curtailment.title}
      lead={t.curtailment.lead}
      actions={
        may("previewCurtailment") ? (
          <button type="button" class="button primary" onClick={() => setBegins({ plan: null })}>
            <Icon name="power" /> {may("startCurtailment") ? t.curtailment.begin : t.curtailment.preview}
          </button>
        ) : undefined
      }
    >
      <Loading from={active}>
        {(list, known) =>
          list.length === 0 ? (
            <Card>
              <None known={known}>{t.curtailment.noneNow}</None>
            </Card>
          ) : (
            <div class="cards">
              {list.map((each) => (
                <CurtailmentCard key={each.id} curtailment={each} onChanged={active.reload} />
              ))}
            </div>
          )
        }
      </Loading>
      {may("listCurtailmentPlans") ? (
        <Plans
          plans={plans}
          onBegin={(plan) => setBegins({ plan })}
          onDrilled={() => {
            active.reload();
            plans.reload();
          }}
        />
      ) : null}
      <Past keys={[reconnects, underWay, plans.value]} />
      {begins === null ? null : (
        <BeginDialog
          plans={plans.value ?? []}
          plan={begins.plan}
          onBegun={active.reload}
          onClose={() => setBegins(null)}
        />
      )}
    </Page>
  );
}
