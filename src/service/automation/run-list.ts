import { randomUUID } from "node:crypto";
import { setTimeout as sleep } from "node:timers/promises";
import { RigbridgeError } from "../../contract/problems.ts";
import type { ActionReply } from "../../contract/resources.ts";
import type { Caller, Input } from "../../contract/service.ts";
import type { Store } from "../../store/index.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { AccessBook } from "../users/access.ts";
import { listOf } from "./lists.ts";
import { sentenceAbout } from "./run-record.ts";
import type { RunRecord, StepRecord } from "./run-types.ts";
import type { RunExecutor } from "./runs.ts";
import type { StepRunner } from "./step-runner.ts";
import type { UsableLists } from "./usable-lists.ts";

/** Ms after which a request is answered although steps are still running. */
const requestMs = 20_000;

interface RunListOptions {
  readonly store: Store;
  readonly registry: MinerRegistry;
  readonly accessBook: AccessBook;
  readonly runs: RunExecutor;
  readonly runner: StepRunner;
  readonly usable: UsableLists;
}

/**
 * Runs the steps of a template or a manual rule on one miner; undefined for other actions. `begins` receives the id of
 * the run.
 */
export const listRunner =
  ({ store, registry, accessBook, runs, runner, usable }: RunListOptions) =>
  async (
    { id, ...action }: Input<"minerAction">,
    caller: Caller,
    begins: (runId: number) => void = () => undefined,
  ): Promise<ActionReply | undefined> => {
    const access = accessBook.of(caller);
    const { facts } = registry.entryFor(id, access);
    const list = listOf(action, store, usable, access);
    if (list === null) return undefined;
    const cause = { kind: list.kind, key: list.key, id: list.id };
    runner.check(cause, caller);
    const begun = await runs.begin({
      cause,
      occurrence: randomUUID(),
      caller,
      minerIds: [facts.id],
      steps: list.steps,
    });
    if (begun === "seen") throw new RigbridgeError("internal", "This run was begun before");
    begins(begun.id);
    const stop = new AbortController();
    const timeout = sleep(requestMs, null, { signal: stop.signal, ref: false }).catch(() => null);
    try {
      const record = await Promise.race([runs.ended(begun.id), timeout]);
      return record === null ? underWay(await runs.record(begun.id)) : replyOf(record);
    } finally {
      stop.abort();
    }
  };

const stepsIn = ({ miners }: RunRecord): readonly StepRecord[] => miners.flatMap(({ steps }) => steps);

/** The last command of a run, for looking up its result. */
const commandOf = (record: RunRecord): { commandId?: number } => {
  const commandId = stepsIn(record).findLast((step) => step.commandId !== null)?.commandId ?? null;
  return commandId === null ? {} : { commandId };
};

const underWay = (record: RunRecord): ActionReply => ({
  success: true,
  message: `${sentenceOf(record)}. Check GET /api/commands for the result`,
  ...commandOf(record),
  state: "sent",
});

/** Throws unless every step is done: the message gives the result of each. */
function replyOf(record: RunRecord): ActionReply {
  const message = sentenceOf(record);
  if (record.state === "done") return { success: true, message, ...commandOf(record), state: "done" };
  throw new RigbridgeError(record.state === "unknown" ? "rig.unconfirmed" : "not.possible", message);
}

const sentenceOf = (record: RunRecord): string => sentenceAbout(stepsIn(record));
