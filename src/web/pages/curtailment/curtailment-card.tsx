import { useState } from "preact/hooks";
import type { Curtailment } from "../../../contract/curtailment.ts";
import { call } from "../../api.ts";
import { dateTime, duration, number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { say } from "../../parts/messages.tsx";
import { Card, Tile, Tiles } from "../../parts/page.tsx";
import { Age, Mark } from "../../parts/status.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { ChangeButton } from "./change-button.tsx";
import { ReasonText } from "./reason-text.tsx";
import { rigStateNames, rigStates, scopeText, targetText, toneOf } from "./words.ts";

interface CardProps {
  readonly curtailment: Curtailment;
  readonly onChanged: () => void;
}

/** One that is not over: how much power its rigs take, and what they are doing. */
export function CurtailmentCard({ curtailment, onChanged }: CardProps) {
  const { id, reason, plan, scope, target, state, started, until, drill, safety, power: watts, rigs } = curtailment;
  const [asks, setAsks] = useState<"end" | "release" | null>(null);
  const wanted = Math.max(0, watts.baseline - watts.target);
  const given = Math.min(wanted, Math.max(0, watts.baseline - watts.now));
  return (
    <Card
      wide
      title={<ReasonText reason={reason} drill={drill} />}
      actions={<Mark tone={toneOf[state]}>{t.curtailment.states[state]}</Mark>}
    >
      <p class="curtail-facts">
        <bdi>{plan === null ? scopeText(scope) : t.curtailment.ofPlan({ name: plan })}</bdi>
        <span>{targetText(target)}</span>
        <span>
          {t.curtailment.began} <Age time={started} />
        </span>
        {until === null ? null : (
          <span>
            {t.curtailment.until} <time dateTime={until}>{dateTime(until)}</time>
          </span>
        )}
        {safety ? <span class="tag">{t.curtailment.safety}</span> : null}
      </p>
      <Tiles>
        <Tile name={t.curtailment.now} value={power(watts.now)} />
        <Tile name={t.curtailment.target} value={power(watts.target)} />
        <Tile name={t.curtailment.baseline} value={power(watts.baseline)} />
        <Tile name={t.curtailment.pending} value={power(watts.pending)} />
        {watts.meter === null ? null : <Tile name={t.curtailment.meter} value={power(watts.meter)} />}
        {state === "curtailing" ? <Tile name={t.curtailment.eta} value={etaOf(curtailment)} /> : null}
      </Tiles>
      <label class="curtail-progress">
        <span>{t.curtailment.givenUp({ power: power(given), wanted: power(wanted) })}</span>
        <progress max={Math.max(1, wanted)} value={given} />
      </label>
      <ul class="curtail-counts">
        <li>
          {t.curtailment.rigs}: {number(rigs.total)}
        </li>
        {rigStateNames.map((each) =>
          rigs[each] === 0 ? null : (
            <li key={each}>
              <Mark tone={rigStates[each]}>
                {t.curtailment.rigStates[each]}: {number(rigs[each])}
              </Mark>
            </li>
          ),
        )}
      </ul>
      <div class="row">
        {may("getCurtailmentReport") ? (
          <a class="button" href={link(`curtailment/${id}`)}>
            {t.curtailment.report}
          </a>
        ) : null}
        <ChangeButton curtailment={curtailment} onChanged={onChanged} />
        {state !== "restoring" && may("endCurtailment") ? (
          <button type="button" class="button" onClick={() => setAsks("end")}>
            {t.curtailment.end}
          </button>
        ) : null}
        {may("releaseCurtailment") ? (
          <button type="button" class="button quiet" onClick={() => setAsks("release")}>
            {t.curtailment.release}
          </button>
        ) : null}
      </div>
      {asks === null ? null : (
        <Confirm
          title={asks === "end" ? t.curtailment.endTitle({ reason }) : t.curtailment.releaseTitle({ reason })}
          text={asks === "end" ? t.curtailment.endText : t.curtailment.releaseText}
          verb={asks === "end" ? t.curtailment.end : t.curtailment.release}
          dangerous={asks === "release"}
          onConfirm={async () => {
            await call(asks === "end" ? "endCurtailment" : "releaseCurtailment", { id });
            say(asks === "end" ? t.curtailment.isEnded : t.curtailment.isReleased);
            onChanged();
          }}
          onClose={() => setAsks(null)}
        />
      )}
    </Card>
  );
}

const etaOf = ({ seconds }: Curtailment): string => (seconds === null ? t.curtailment.notReachable : duration(seconds));
