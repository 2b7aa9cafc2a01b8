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

/** The state of a bulk action in a list. Lists do not count failures, so an ended one is not green. */
export const JobMark = ({ state }: { state: BulkJob["state"] }) => (
  <Mark tone={state === "running" ? "busy" : "off"}>{t.rigs.jobState[state]}</Mark>
);

/** How a bulk action went. */
export const OutcomeMark = ({ action: { state, failed, unknown } }: { action: BulkAction }) =>
  failed + unknown === 0 ? (
    <JobMark state={state} />
  ) : (
    <Mark tone={failed > 0 ? "bad" : "warning"}>
      {t.rigs.jobState[state]}
      {failed > 0 ? ` · ${counted(failed, t.rigs.progress.failed)}` : null}
      {unknown > 0 ? ` · ${counted(unknown, t.rigs.progress.unknown)}` : null}
    </Mark>
  );

/** What a bulk action did to one rig. */
export const ResultMark = ({ state }: { state: ResultState }) => (
  <Mark tone={resultTones[state]}>{t.rigs.resultState[state]}</Mark>
);

export const compareResults = (one: ResultState, other: ResultState): number =>
  resultOrder.indexOf(one) - resultOrder.indexOf(other);
