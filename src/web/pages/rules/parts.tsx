import type { RuleInfo, RuleRun } from "../../../contract/rules.ts";
import { ownWords } from "../../details.ts";
import { t } from "../../language.ts";
import { Age, Mark, type Tone } from "../../parts/status.tsx";
import { useButton } from "../../parts/use-form.ts";

const tones: Record<RuleRun["outcome"], Tone> = {
  done: "good",
  cleared: "good",
  running: "busy",
  seen: "off",
  held: "warning",
  missed: "warning",
  unknown: "warning",
  failed: "bad",
};

export const Outcome = ({ outcome }: { outcome: RuleRun["outcome"] }) => (
  <Mark tone={tones[outcome]}>{t.rules.outcomes[outcome]}</Mark>
);

/** What happened, or what held it back. */
export const saidOf = ({ message, heldBy, coded }: Pick<RuleRun, "message" | "heldBy" | "coded">): string =>
  heldBy === null ? ownWords(message, coded?.message) : t.rules.heldBy({ what: ownWords(heldBy, coded?.heldBy) });

/** The time and result of the last run. */
export const LastRun = ({ run }: { run: RuleInfo["lastRun"] | undefined }) => (
  <span class="last-run" title={run?.message}>
    <span>
      {t.rules.lastRun}: {run === null || run === undefined ? t.rules.never : <Age time={run.time} />}
    </span>
    {run === null || run === undefined ? null : <Outcome outcome={run.outcome} />}
  </span>
);

/** Enables and disables; shows the state that the service confirmed. */
export function EnabledSwitch({
  name,
  enabled,
  mayChange,
  change,
  onChanged,
}: {
  name: string;
  enabled: boolean;
  mayChange: boolean;
  change: (enabled: boolean) => Promise<unknown>;
  onChanged: () => void;
}) {
  const { busy, send } = useButton();
  if (!mayChange) return null;
  const set = (next: boolean) => send(() => change(next)).then(onChanged);
  return (
    <label class="switch">
      <input
        type="checkbox"
        aria-label={t.rules.enable({ name })}
        checked={enabled}
        disabled={busy}
        onClick={(event) => {
          event.preventDefault();
          void set(!enabled);
        }}
      />
      <span aria-hidden="true">{t.rules.enabled}</span>
    </label>
  );
}
