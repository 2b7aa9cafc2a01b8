import { useMemo, useRef } from "preact/hooks";
import { byName, counted } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { compareResults, ResultMark } from "../../parts/job-state.tsx";
import { useVirtual } from "../../parts/virtual.ts";
import { link } from "../../route.ts";
import { Gap } from "./gap.tsx";
import type { Job, JobResult } from "./jobs.ts";
import { selection } from "./selection.ts";

interface ResultsProps {
  readonly title: string;
  readonly job: Job;
  readonly failed: readonly number[];
  readonly onClose: () => void;
}

/** The answer of each rig, failures first. */
export const ResultsDialog = ({ title, job, failed, onClose }: ResultsProps) => (
  <Dialog
    title={title}
    wide
    onClose={onClose}
    actions={
      <>
        {failed.length === 0 ? null : (
          <button
            type="button"
            class="button"
            onClick={() => {
              selection.value = new Set(failed);
              onClose();
            }}
          >
            {t.rigs.selectFailed}
          </button>
        )}
        <button type="button" class="button primary" onClick={onClose}>
          {t.shell.close}
        </button>
      </>
    }
  >
    <Results results={job.results ?? []} />
  </Dialog>
);

const rowPx = 44;

/** A list of results; long ones are rendered in part. */
export function Results({ results, dryRun = false }: { results: readonly JobResult[]; dryRun?: boolean }) {
  const { byId } = rigs.value;
  const nameOf = (id: number): string => byId.get(id)?.name ?? String(id);
  const sorted = useMemo(
    () =>
      results.toSorted(
        (one, other) => compareResults(one.state, other.state) || byName(nameOf(one.minerId), nameOf(other.minerId)),
      ),
    [results],
  );
  const scroller = useRef<HTMLElement>(null);
  const virtual = useVirtual({ count: sorted.length, size: rowPx, scroller });
  return (
    // biome-ignore lint/a11y/noNoninteractiveTabindex: without it, people without a mouse could not scroll it
    <section ref={scroller} class="results" tabIndex={0} aria-label={counted(results.length, t.rigs.count)}>
      <table aria-rowcount={sorted.length + 1}>
        <thead>
          <tr>
            <th scope="col">{t.rigs.rig}</th>
            <th scope="col">{t.rigs.state}</th>
            <th scope="col">{t.rigs.answer}</th>
          </tr>
        </thead>
        <tbody>
          <Gap height={virtual.before} columns={3} />
          {virtual.items.map(({ index }) => {
            const result = sorted[index];
            return result === undefined ? null : (
              <tr key={result.minerId} data-index={index} ref={virtual.measure} aria-rowindex={index + 2}>
                <th scope="row">
                  {byId.has(result.minerId) ? (
                    <a href={link(`rigs/${result.minerId}`)}>
                      <bdi>{nameOf(result.minerId)}</bdi>
                    </a>
                  ) : (
                    result.minerId
                  )}
                </th>
                <td>
                  <ResultMark state={result.state} dryRun={dryRun} />
                </td>
                <td dir="auto">{result.message}</td>
              </tr>
            );
          })}
          <Gap height={virtual.after} columns={3} />
        </tbody>
      </table>
    </section>
  );
}
