import { useEffect, useRef, useState } from "preact/hooks";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { sayProblem } from "../../parts/messages.tsx";
import { useButton } from "../../parts/use-form.ts";
import { actionText } from "./action-text.ts";
import { dismiss, findJobs, isOpen, type Job, jobs } from "./jobs.ts";
import { ResultsDialog } from "./results-dialog.tsx";
import { UndoButton } from "./undo-button.tsx";

const parts = ["done", "failed", "unknown", "waiting", "cancelled"] as const;

/** The number of rigs of a job by state. */
function countsOf({ total, done, failed, unknown, results, state }: Job): Record<(typeof parts)[number], number> {
  const cancelled = results?.filter((result) => result.state === "cancelled").length ?? 0;
  const open = results?.filter((result) => isOpen(result.state)).length ?? 0;
  const waiting = state === "running" ? Math.max(0, total - done - failed - unknown - cancelled) : open;
  return { done, failed, unknown, waiting, cancelled };
}

/** The running actions, also after a reload of the page. */
export function JobList() {
  useEffect(() => {
    const ending = new AbortController();
    findJobs(ending.signal).catch((error: unknown) => {
      if (!ending.signal.aborted) sayProblem(error);
    });
    return () => ending.abort();
  }, []);
  // On a phone, the actions are below a list that may be long.
  const place = useRef<HTMLElement>(null);
  const newest = jobs.value[0]?.key;
  useEffect(() => place.current?.scrollIntoView({ block: "nearest" }), [newest]);
  if (jobs.value.length === 0) return null;
  return (
    <section ref={place} class="jobs" aria-label={t.rigs.jobs}>
      {jobs.value.map((job) => (
        <JobLine key={job.key} job={job} />
      ))}
    </section>
  );
}

function JobLine({ job }: { job: Job }) {
  const [open, setOpen] = useState(false);
  const { busy, send } = useButton();
  const counts = countsOf(job);
  const title = t.rigs.job({ action: actionText(job), rigs: counted(job.total, t.rigs.count) });
  const isRunning = job.state === "running" || counts.waiting > 0;
  const failed = job.results?.filter(({ state }) => state === "failed").map(({ minerId }) => minerId) ?? [];
  return (
    <article class="job" aria-label={title}>
      <div class="job-head">
        <strong dir="auto">{title}</strong>
        <span class="job-counts" role="status">
          {isRunning ? t.rigs.jobState.running : t.rigs.jobState[job.state]}
          {parts.map((part) =>
            counts[part] === 0 ? null : (
              <span key={part} class={part}>
                {" "}
                · {counted(counts[part], t.rigs.progress[part])}
              </span>
            ),
          )}
          {job.problem === null ? null : <span class="failed"> · {job.problem}</span>}
        </span>
      </div>
      <progress max={job.total} value={job.total - counts.waiting} aria-label={title} />
      <div class="job-actions">
        <button
          type="button"
          class="button small"
          aria-haspopup="dialog"
          disabled={job.results === null}
          onClick={() => setOpen(true)}
        >
          {t.rigs.results}
        </button>
        {failed.length === 0 || isRunning ? null : (
          <button type="button" class="button small" disabled={busy} onClick={() => send(() => job.again(failed))}>
            <Icon name="restart" /> {counted(failed.length, t.rigs.again)}
          </button>
        )}
        {isRunning ? null : <UndoButton job={job} giveBack={job.giveBack} />}
        {isRunning ? (
          <button type="button" class="button small" disabled={busy} onClick={() => send(job.cancel)}>
            {t.rigs.cancelJob}
          </button>
        ) : (
          <button
            type="button"
            class="button quiet small"
            aria-label={t.rigs.dismiss}
            title={t.rigs.dismiss}
            onClick={() => dismiss(job)}
          >
            <Icon name="close" />
          </button>
        )}
      </div>
      {open ? <ResultsDialog title={title} job={job} failed={failed} onClose={() => setOpen(false)} /> : null}
    </article>
  );
}
