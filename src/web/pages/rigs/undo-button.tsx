import { useMemo, useState } from "preact/hooks";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { may } from "../../session.ts";
import { type UndoPlan, undoPlan } from "./bulk-undo.ts";
import { type BulkBody, isOpen, type JobResult, startJob, startOwnJob } from "./jobs.ts";

interface UndoProps {
  readonly job: {
    readonly action: string;
    readonly parameters: BulkBody["parameters"];
    readonly dryRun?: boolean;
    readonly results: readonly JobResult[] | null;
  };
  /** Gives one rig back what it had, for what the page itself has changed. */
  readonly giveBack?: ((id: number, before: string) => Promise<string>) | undefined;
  readonly onStarted?: () => void;
}

/** The service runs so many actions of one user at once, with one to spare. */
const mostJobs = 4;

/** Gives the rigs of an ended action back what they had before, where that is known. */
export function UndoButton({ job, giveBack, onStarted }: UndoProps) {
  const [asks, setAsks] = useState(false);
  const { action, parameters, dryRun = false, results } = job;
  const plan = useMemo(
    () =>
      results === null || results.some(({ state }) => isOpen(state))
        ? null
        : undoPlan({ action, parameters, dryRun, results: [...results] }),
    [results],
  );
  const isAllowed = giveBack === undefined ? may("minerAction") || may("startBulkAction") : may("changeMiner");
  if (plan === null || !isAllowed) return null;
  return (
    <>
      <button type="button" class="button small" aria-haspopup="dialog" onClick={() => setAsks(true)}>
        <Icon name="restart" /> {t.undo.undo}
      </button>
      {asks ? (
        <Confirm
          title={t.undo.undo}
          text={
            <>
              <p>{counted(plan.rigs, t.rigs.undo.text)}</p>
              <p>{t.rigs.undo.since}</p>
              {plan.unknown === 0 ? null : <p>{counted(plan.unknown, t.rigs.undo.unknown)}</p>}
            </>
          }
          verb={counted(plan.rigs, t.rigs.undo.verb)}
          onConfirm={async () => {
            await start(action, plan, giveBack);
            onStarted?.();
          }}
          onClose={() => setAsks(false)}
        />
      ) : null}
    </>
  );
}

/** Few former values are actions of the service; for many, or without such actions, each rig gets its own command. */
async function start(action: string, { give }: UndoPlan, giveBack: UndoProps["giveBack"]): Promise<void> {
  if (giveBack === undefined && may("startBulkAction") && give.length <= mostJobs) {
    // The service has accepted this action before.
    for (const { parameters, ids } of give) await startJob(action as BulkBody["action"], parameters, ids);
    return;
  }
  const turns = new Map(give.flatMap((each) => each.ids.map((id) => [id, each] as const)));
  const each = async (id: number): Promise<string> => {
    const turn = turns.get(id);
    if (turn === undefined) return "";
    if (giveBack !== undefined) return giveBack(id, turn.value);
    return (await call("minerAction", { id, action: action as BulkBody["action"], ...turn.parameters })).message;
  };
  startOwnJob("undo", {}, [...turns.keys()], { each, cancelled: t.rigs.notSent });
}
