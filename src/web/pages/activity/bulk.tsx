import { useState } from "preact/hooks";
import { useLocation } from "preact-iso";
import type { BulkJob } from "../../../contract/resources.ts";
import { isNumberText } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { dateTime, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { actionText } from "../../parts/command-list.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { compareResults, JobMark, ResultMark } from "../../parts/job-state.tsx";
import { Loading, useLoaded, useReloadOn } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age } from "../../parts/status.tsx";
import { useButton } from "../../parts/use-form.ts";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { UndoButton } from "../rigs/undo-button.tsx";

/** Actions for many rigs, with the results of the one in the address. */
export function BulkActions() {
  const query = usePageQuery();
  const job = query.get("job");
  const loaded = useLoaded((signal) => call("listBulkActions", {}, { signal }), []);
  useReloadOn(["command"], loaded.reload);
  return (
    <>
      {isNumberText(job) && may("getBulkAction") ? <Results key={job} id={Number(job)} /> : null}
      <Loading from={loaded}>
        {(jobs, known) =>
          jobs.length === 0 ? (
            <EmptyState known={known} icon="activity" title={t.activity.noBulk} text={t.activity.noBulkText} />
          ) : (
            <Card title={t.activity.bulk}>
              <Jobs jobs={jobs} hrefOf={(id) => query.hrefWith({ job: String(id) })} chosen={job} />
            </Card>
          )
        }
      </Loading>
    </>
  );
}

interface JobsProps {
  readonly jobs: readonly BulkJob[];
  readonly hrefOf: (id: number) => string;
  readonly chosen: string;
}

const Jobs = ({ jobs, hrefOf, chosen }: JobsProps) => (
  <Scroll name={t.activity.bulk}>
    <table class="bulk-table">
      <thead>
        <tr>
          <th scope="col">{t.activity.action}</th>
          <th scope="col">{t.activity.when}</th>
          <th scope="col">{t.activity.who}</th>
          <th scope="col" class="number">
            {t.activity.rigs}
          </th>
          <th scope="col">{t.activity.stateName}</th>
        </tr>
      </thead>
      <tbody>
        {jobs.map((job) => (
          <tr key={job.id}>
            <th scope="row">
              <a href={hrefOf(job.id)} aria-current={String(job.id) === chosen ? "true" : undefined}>
                {actionText(job)}
              </a>
              {job.dryRun ? <small> {t.activity.dryRun}</small> : null}
            </th>
            <td>
              <Age time={job.time} />
            </td>
            <td>
              <bdi>{job.actor}</bdi>
            </td>
            <td class="number">{number(job.total)}</td>
            <td>
              <JobMark job={job} />
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  </Scroll>
);

const pageRows = 100;

/** The results of one action, for each rig. */
function Results({ id }: { id: number }) {
  const loaded = useLoaded((signal) => call("getBulkAction", { id }, { signal }), [id]);
  const [rows, setRows] = useState(pageRows);
  const { route } = useLocation();
  const { busy, send } = useButton();
  useReloadOn(["command"], loaded.reload);
  const cancel = () => send(async () => say((await call("cancelBulkAction", { id })).message)).then(loaded.reload);
  return (
    <Loading from={loaded}>
      {(job) => {
        const results = job.results.toSorted((one, other) => compareResults(one.state, other.state));
        const ended = job.done + job.failed + job.unknown;
        return (
          <Card
            title={
              <>
                {actionText(job)} <small>{dateTime(job.time)}</small>
              </>
            }
            actions={
              job.state === "running" && may("cancelBulkAction") ? (
                <button type="button" class="button" disabled={busy} onClick={cancel}>
                  {t.activity.cancelRest}
                </button>
              ) : job.state === "running" ? null : (
                // Its progress is on the page of rigs.
                <UndoButton job={job} onStarted={() => route(link("rigs"))} />
              )
            }
          >
            <p role="status" class="row">
              <JobMark job={job} />
              {t.activity.doneOf({ done: number(job.done), total: number(job.total) })}
            </p>
            <progress aria-label={t.activity.progress} max={Math.max(1, job.total)} value={ended} />
            <Scroll name={t.activity.results}>
              <table class="bulk-table bulk-results">
                <thead>
                  <tr>
                    <th scope="col">{t.activity.rig}</th>
                    <th scope="col">{t.activity.stateName}</th>
                    <th scope="col">{t.activity.answer}</th>
                  </tr>
                </thead>
                <tbody>
                  {results.slice(0, rows).map(({ minerId, state, message }) => (
                    <tr key={minerId}>
                      <th scope="row">
                        <a class="clamped" href={link(`rigs/${minerId}`)}>
                          <bdi>{rigs.value.byId.get(minerId)?.name ?? number(minerId)}</bdi>
                        </a>
                      </th>
                      <td>
                        <ResultMark state={state} dryRun={job.dryRun} />
                      </td>
                      <td dir="auto">{message}</td>
                    </tr>
                  ))}
                </tbody>
              </table>
            </Scroll>
            {results.length > rows ? (
              <button type="button" class="button" onClick={() => setRows(rows + pageRows)}>
                {t.commands.more}
              </button>
            ) : null}
          </Card>
        );
      }}
    </Loading>
  );
}
