import type { BulkAction, BulkJob } from "../../contract/resources.ts";
import { counted } from "../format.ts";
import { t } from "../language.ts";
import { Mark, type Tone } from "./status.tsx";

type ResultState = BulkAction["results"][number]["state"];

/** In display order: results that need a person come first. */
const resultTones: Record<ResultState, Tone> = {
  failed: "bad",
  unknown: "warning",
  sent: "busy",
  queued: "off",
  cancelled: "off",
  possible: "good",
  done: "good",
};
const resultOrder = Object.keys(resultTones);

/** The state of a bulk action, and how many rigs failed. A preview has tried nothing, so nothing has failed. */
export const JobMark = ({ job: { state, failed, unknown, dryRun } }: { job: BulkJob }) => (
  <Mark tone={toneOf(state, failed, unknown, dryRun)}>
    {t.rigs.jobState[state]}
    {failed > 0 ? ` · ${counted(failed, dryRun ? t.rigs.impossibleOn : t.rigs.progress.failed)}` : null}
    {unknown > 0 ? ` · ${counted(unknown, t.rigs.progress.unknown)}` : null}
  </Mark>
);

function toneOf(state: BulkJob["state"], failed: number, unknown: number, dryRun: boolean): Tone {
  if (failed > 0) return dryRun ? "warning" : "bad";
  if (unknown > 0) return "warning";
  return state === "running" ? "busy" : state === "done" ? "good" : "off";
}

/** The result of a bulk action for one rig, or of its preview. */
export const ResultMark = ({ state, dryRun = false }: { state: ResultState; dryRun?: boolean }) =>
  dryRun && state === "failed" ? (
    <Mark tone="warning">{t.rigs.impossible}</Mark>
  ) : (
    <Mark tone={resultTones[state]}>{t.rigs.resultState[state]}</Mark>
  );

export const compareResults = (one: ResultState, other: ResultState): number =>
  resultOrder.indexOf(one) - resultOrder.indexOf(other);
