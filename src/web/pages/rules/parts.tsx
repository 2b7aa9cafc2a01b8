import { useState } from "preact/hooks";
import type { RuleInfo, RuleRun } from "../../../contract/rules.ts";
import { t } from "../../language.ts";
import { sayProblem } from "../../parts/messages.tsx";
import { Age } from "../../parts/status.tsx";

const tones: Record<RuleRun["outcome"], string> = {
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
  <span class={`status ${tones[outcome]}`}>
    <span class="dot" aria-hidden="true" />
    {t.rules.outcomes[outcome]}
  </span>
);

/** When it ran last, and how that ended. */
export const LastRun = ({ run }: { run: RuleInfo["lastRun"] | undefined }) => (
  <span>
    {t.rules.lastRun}:{" "}
    {run === null || run === undefined ? (
      t.rules.never
    ) : (
      <span title={run.message}>
        <Age time={run.time} /> <Outcome outcome={run.outcome} />
      </span>
    )}
  </span>
);

export const Owner = ({ owner }: { owner: "file" | "store" }) => (
  <span>{owner === "file" ? t.rules.fromFile : t.rules.fromUser}</span>
);

/** Enables and disables; shows what the service has answered, and nothing before. */
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
  const [busy, setBusy] = useState(false);
  if (!mayChange) return null;
  const set = async (next: boolean) => {
    setBusy(true);
    try {
      await change(next);
    } catch (error) {
      sayProblem(error);
    }
    onChanged();
    setBusy(false);
  };
  return (
    <label class="switch">
      <input
        type="checkbox"
        aria-label={t.rules.enable(name)}
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
