import { useEffect, useRef, useState } from "preact/hooks";
import { useRoute } from "preact-iso";
import type { RuleRun } from "../../../contract/rules.ts";
import { dateTime, number, unknown } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import type { Known } from "../../parts/load.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { link } from "../../route.ts";
import { Outcome, saidOf } from "./parts.tsx";
import { stateText } from "./run-dialog.tsx";

const shownAtOnce = 50;

/** The runs of a rule or schedule, and what held it back, newest first. */
export function Runs({ runs, known }: { runs: readonly RuleRun[]; known: Known }) {
  const { query } = useRoute();
  const [outcome, setOutcome] = useState("");
  const [limit, setLimit] = useState(shownAtOnce);
  if (runs.length === 0)
    return <EmptyState known={known} icon="clock" title={t.rules.noRuns} text={t.rules.noRunsText} />;
  const present = [...new Set(runs.map((run) => run.outcome))];
  const found = outcome === "" ? runs : runs.filter((run) => run.outcome === outcome);
  const wanted = query.run !== undefined || query.trace !== undefined;
  const chosen = runs.findIndex(
    ({ id, run }) => String(id) === query.trace || (run != null && String(run) === query.run),
  );
  return (
    <>
      {present.length < 2 ? null : (
        <label class="field runs-filter">
          <span>{t.rules.outcome}</span>
          <select value={outcome} onChange={({ currentTarget }) => setOutcome(currentTarget.value)}>
            <option value="">{t.rules.anyOutcome}</option>
            {present.map((each) => (
              <option key={each} value={each}>
                {t.rules.outcomes[each]}
              </option>
            ))}
          </select>
        </label>
      )}
      {wanted && chosen === -1 ? <p class="hint">{t.rules.runGone}</p> : null}
      <ol class="runs">
        {found.slice(0, Math.max(limit, outcome === "" ? chosen + 1 : 0)).map((run) => (
          <Run key={run.id} run={run} chosen={run === runs[chosen]} />
        ))}
      </ol>
      {found.length > limit ? (
        <button type="button" class="button" onClick={() => setLimit(limit + shownAtOnce)}>
          {t.rules.more({ count: number(found.length - limit) })}
        </button>
      ) : null}
    </>
  );
}

/** The name of a rig, as a link to it. */
export function RigName({ id }: { id: number | null }) {
  const row = id === null ? undefined : rigs.value.byId.get(id);
  if (id === null) return <span>{t.rules.wholeFarm}</span>;
  return row === undefined ? (
    <span>#{id}</span>
  ) : (
    <a href={link(`rigs/${id}`)}>
      <bdi>{row.name}</bdi>
    </a>
  );
}

function Run({ run, chosen }: { run: RuleRun; chosen: boolean }) {
  const { time, minerId, outcome, conditions, actions } = run;
  const item = useRef<HTMLLIElement>(null);
  useEffect(() => {
    if (chosen) item.current?.scrollIntoView({ block: "center" });
  }, [chosen]);
  return (
    <li class={chosen ? "run chosen" : "run"} aria-current={chosen ? "true" : undefined} ref={item}>
      <p class="run-head">
        <time dateTime={time}>{dateTime(time)}</time>
        <RigName id={minerId} />
        <Outcome outcome={outcome} />
        <span dir="auto">{saidOf(run)}</span>
      </p>
      {conditions.length + actions.length === 0 ? null : (
        <details open={chosen}>
          <summary>{t.rules.details}</summary>
          {conditions.length === 0 ? null : (
            <Scroll name={t.rules.condition}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t.rules.condition}</th>
                    <th scope="col">{t.rules.value}</th>
                    <th scope="col">{t.rules.holds}</th>
                  </tr>
                </thead>
                <tbody>
                  {conditions.map(({ condition, value, holds }) => (
                    <tr key={condition}>
                      <th scope="row" dir="auto">
                        {condition}
                      </th>
                      <td dir="auto">
                        {value === null ? unknown : typeof value === "number" ? number(value, 3) : String(value)}
                      </td>
                      <td>{holds === null ? t.rules.unknown : holds ? t.rules.yes : t.rules.no}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
          {actions.length === 0 ? null : (
            <Scroll name={t.rules.step}>
              <table>
                <thead>
                  <tr>
                    <th scope="col">{t.rules.step}</th>
                    <th scope="col">{t.rules.rig}</th>
                    <th scope="col">{t.rules.result}</th>
                    <th scope="col">{t.rules.answer}</th>
                  </tr>
                </thead>
                <tbody>
                  {actions.map((each, index) => (
                    <tr key={index}>
                      <th scope="row" dir="auto">
                        {each.action}
                      </th>
                      <td>
                        <RigName id={each.minerId} />
                      </td>
                      <td>{stateText(each.state)}</td>
                      <td dir="auto">{each.message}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
          )}
        </details>
      )}
    </li>
  );
}
