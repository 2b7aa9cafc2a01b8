import { useEffect, useMemo, useState } from "preact/hooks";
import type { BulkAction } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName, counted, number } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ResultMark } from "../../parts/job-state.tsx";
import { problemText } from "../../parts/messages.tsx";
import { useSending } from "../../parts/use-form.ts";

/** Maximum listed rigs; the search finds others. */
const mostRigs = 100;
/** ms between two reads of its progress. */
const pollMs = 700;

/** Runs a rule by hand on chosen rigs, and shows the answer of each. */
export function RunDialog({
  rule,
  onClose,
}: {
  rule: { readonly id: number; readonly name: string };
  onClose: () => void;
}) {
  const [text, setText] = useState("");
  const [chosen, setChosen] = useState<ReadonlySet<number>>(new Set());
  const [job, setJob] = useState<BulkAction | null>(null);
  const [jobId, setJobId] = useState<number | null>(null);
  const { busy, problem, send, setProblem } = useSending();
  const { byId } = rigs.value;
  const all = useMemo(() => [...byId.values()].sort((one, other) => byName(one.name, other.name)), [rigs.value]);
  const found = useMemo(() => {
    const wanted = text.trim().toLowerCase();
    return wanted === "" ? all : all.filter(({ name }) => name.toLowerCase().includes(wanted));
  }, [all, text]);

  useEffect(() => {
    if (jobId === null) return undefined;
    const ending = new AbortController();
    const look = async () => {
      try {
        const now = await call("getBulkAction", { id: jobId }, { signal: ending.signal });
        setJob(now);
        if (now.state === "running") timer = setTimeout(look, pollMs);
      } catch (error) {
        if (!ending.signal.aborted) setProblem(problemText(error));
      }
    };
    let timer = setTimeout(look, 0);
    return () => {
      clearTimeout(timer);
      ending.abort();
    };
  }, [jobId]);

  const run = () =>
    send(async () => {
      const started = await call("startBulkAction", {
        action: "rule",
        parameters: { rule_id: rule.id },
        miners: [...chosen],
        parallel: 16,
        delay: 0,
        dryRun: false,
      });
      setJobId(started.id);
    });
  const choose = (id: number, isOn: boolean) => {
    const next = new Set(chosen);
    if (isOn) next.add(id);
    else next.delete(id);
    setChosen(next);
  };
  return (
    <Dialog
      title={t.rules.runTitle({ name: rule.name })}
      onClose={onClose}
      actions={
        jobId === null ? (
          <>
            <button type="button" class="button" onClick={onClose}>
              {t.shell.cancel}
            </button>
            <button type="button" class="button primary" disabled={busy || chosen.size === 0} onClick={run}>
              {chosen.size === 0 ? t.rules.chooseRigs : counted(chosen.size, t.rules.runOn)}
            </button>
          </>
        ) : (
          <button type="button" class="button primary" onClick={onClose}>
            {t.shell.close}
          </button>
        )
      }
    >
      {jobId === null ? (
        <div class="run-choice">
          <p class="hint">{t.rules.runText}</p>
          <input
            type="search"
            aria-label={t.rules.findRig}
            placeholder={t.rules.findRig}
            dir="auto"
            value={text}
            onInput={({ currentTarget }) => setText(currentTarget.value)}
          />
          <div class="row">
            <button
              type="button"
              class="button small"
              onClick={() => setChosen(new Set([...chosen, ...found.map(({ id }) => id)]))}
            >
              {t.rules.selectFound({ count: number(found.length) })}
            </button>
            <button
              type="button"
              class="button small"
              disabled={chosen.size === 0}
              onClick={() => setChosen(new Set())}
            >
              {t.rules.selectNone}
            </button>
          </div>
          <ul class="rig-choice">
            {found.slice(0, mostRigs).map(({ id, name }) => (
              <li key={id}>
                <label class="switch">
                  <input
                    type="checkbox"
                    checked={chosen.has(id)}
                    onChange={({ currentTarget }) => choose(id, currentTarget.checked)}
                  />
                  <bdi>{name}</bdi>
                </label>
              </li>
            ))}
          </ul>
          {found.length > mostRigs ? (
            <p class="hint">{t.rules.shownOf({ shown: number(mostRigs), all: number(found.length) })}</p>
          ) : null}
        </div>
      ) : (
        <JobResults job={job} />
      )}
      <p class="field-problem" role="alert">
        {problem}
      </p>
    </Dialog>
  );
}

function JobResults({ job }: { job: BulkAction | null }) {
  if (job === null) return <p role="status">{t.shell.loading}</p>;
  const answered = job.done + job.failed + job.unknown;
  return (
    <>
      <p role="status">
        {job.state === "running"
          ? t.rules.runProgress({ done: number(answered), all: number(job.total) })
          : counted(job.done, t.rules.runEnded)}
      </p>
      <ul class="rig-choice run-results">
        {job.results.slice(0, mostRigs).map(({ minerId, state, message }) => (
          <li key={minerId}>
            <bdi>{rigs.value.byId.get(minerId)?.name ?? `#${minerId}`}</bdi> <ResultMark state={state} />
            {message === "" ? null : (
              <small dir="auto" class="block">
                {message}
              </small>
            )}
          </li>
        ))}
      </ul>
    </>
  );
}

/** The word for the state of a command or step. */
export const stateText = (state: string): string =>
  Object.entries(t.rules.states).find(([each]) => each === state)?.[1] ?? state;
