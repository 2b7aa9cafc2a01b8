import type { BulkAction, BulkJob } from "../../contract/resources.ts";
import { counted } from "../format.ts";
import { t } from "../language.ts";
import { Mark, type Tone } from "./status.tsx";

type ResultState = BulkAction["results"][number]["state"];

/** In the order in which lists show them: what needs a person comes first. */
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

/** The state of a bulk action, and how many rigs failed. */
export const JobMark = ({ job: { state, failed, unknown } }: { job: BulkJob }) => (
  <Mark tone={toneOf(state, failed, unknown)}>
    {t.rigs.jobState[state]}
    {failed > 0 ? ` · ${counted(failed, t.rigs.progress.failed)}` : null}
    {unknown > 0 ? ` · ${counted(unknown, t.rigs.progress.unknown)}` : null}
  </Mark>
);

function toneOf(state: BulkJob["state"], failed: number, unknown: number): Tone {
  if (failed > 0) return "bad";
  if (unknown > 0) return "warning";
  return state === "running" ? "busy" : state === "done" ? "good" : "off";
}

/** What a bulk action did to one rig. */
export const ResultMark = ({ state }: { state: ResultState }) => (
  <Mark tone={resultTones[state]}>{t.rigs.resultState[state]}</Mark>
);

export const compareResults = (one: ResultState, other: ResultState): number =>
  resultOrder.indexOf(one) - resultOrder.indexOf(other);
