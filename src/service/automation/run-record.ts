import type { RunStep } from "../../contract/steps.ts";
import type { RunTurn, StepResult, StoredRun } from "../../store/index.ts";
import type { RunCause, RunRecord, RunState, StepRecord, StepState } from "./run-types.ts";

/** A run as its record shows it. Headers of web hooks are secret and left out. */
export function recordOf(run: StoredRun, steps: readonly RunStep[], turns: readonly RunTurn[]): RunRecord {
  const miners = turns.map((turn) => ({
    minerId: turn.minerId === 0 ? null : turn.minerId,
    steps: steps.map((step, index) => stepRecord(step, index, turn)),
  }));
  const { id, occurrence, time: startedAt, ended: endedAt } = run;
  const states = miners.flatMap((miner) => miner.steps.map(({ state }) => state));
  const state = run.state === "done" ? stateOf(states) : run.state;
  return { id, cause: causeOf(run), occurrence: occurrence ?? "", startedAt, endedAt, state, miners };
}

export const causeOf = ({ cause, action, parameters }: StoredRun): RunCause =>
  cause ?? { kind: "bulk", key: action, id: Number(parameters.template_id ?? parameters.rule_id ?? 0) };

function stepRecord(step: RunStep, index: number, { past, state, message, commandId }: RunTurn): StepRecord {
  const shown = "webhook" in step ? { ...step, headers: {} } : step;
  const result: StepResult | undefined =
    past[index] ?? (index === past.length ? { state, message, commandId } : undefined);
  if (result !== undefined)
    return {
      step: shown,
      state: stepState(result.state),
      message: result.message,
      commandId: result.commandId || null,
    };
  const isOver = state !== "queued" && state !== "sent";
  return { step: shown, state: isOver ? "skipped" : "queued", message: isOver ? message : "", commandId: null };
}

/** A step that was not sent counts as skipped. */
const stepState = (state: StepResult["state"]): StepState =>
  state === "cancelled" || state === "possible" ? "skipped" : state;

/** The message of a finished run. */
function stateOf(states: readonly StepState[]): RunState {
  if (states.includes("unknown")) return "unknown";
  return states.every((state) => state === "done") ? "done" : "failed";
}

/** The result of each step, in one sentence. */
export const sentenceAbout = (results: readonly Pick<StepRecord, "step" | "state" | "message">[]): string =>
  results.map(({ step, state, message }) => `${labelOf(step)}: ${message === "" ? state : message}`).join("; ");

/** A step as messages name it. */
function labelOf(step: RunStep): string {
  if ("set" in step) return `set ${step.set}`;
  if ("action" in step) return step.action;
  const [[key, value] = ["step", ""]] = Object.entries(step);
  return key === "webhook" || key === "run" ? key : `${key} ${String(value)}`;
}

/** The combined result of all steps of a miner. */
export function together(
  steps: readonly RunStep[],
  results: readonly StepResult[],
): Pick<StepResult, "state" | "message"> {
  const states = results.map(({ state }) => state);
  const message = sentenceAbout(
    steps.flatMap((step, index) => {
      const result = results[index];
      return result === undefined ? [] : [{ step, state: stepState(result.state), message: result.message }];
    }),
  );
  const [worst] = (["unknown", "failed", "cancelled"] as const).filter((state) => states.includes(state));
  return { state: worst ?? "done", message };
}
