import { useRef } from "preact/hooks";
import type { Command, MinerDetail } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { now } from "../../clock.ts";
import { isPending } from "../../commands.ts";
import { t } from "../../language.ts";
import { useFocusBack } from "../../parts/focus.ts";
import { useButton } from "../../parts/use-form.ts";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { actionFor, latestFor, wantedBy } from "./control-command.ts";
import { helpFor, type Remedy } from "./help.ts";
import { ReadNow } from "./read-now.tsx";

interface HelpLineProps {
  readonly miner: MinerDetail;
  /** Newest first. */
  readonly commands: readonly Command[];
  readonly reload: () => void;
}

/** For a rig that does not hash, above everything else: the cause, and a button that helps. */
export function HelpLine({ miner, commands, reload }: HelpLineProps) {
  const help = helpFor(miner);
  if (help === null) return null;
  return (
    <div class="banner">
      <span>{t.help.why[help.why]}</span>{" "}
      <RemedyButton miner={miner} commands={commands} reload={reload} remedy={help.remedy} />
    </div>
  );
}

function RemedyButton({ miner, commands, reload, remedy }: HelpLineProps & { remedy: Remedy }) {
  const { hrefWith } = usePageQuery();
  const { busy, send } = useButton();
  const button = useRef<HTMLButtonElement>(null);
  useFocusBack(button, busy);
  if (remedy === null) return null;
  if ("tab" in remedy)
    return remedy.tab === "settings" && !may("changeMiner") ? null : (
      <a class="button small" href={hrefWith({ tab: remedy.tab })}>
        {t.help.tabs[remedy.tab]}
      </a>
    );
  const { id } = miner;
  if ("read" in remedy) return <ReadNow id={id} reload={reload} />;
  if (!may("minerAction")) return null;
  const { control } = remedy;
  const sent = latestFor(commands, control, now.value);
  const isSent = sent !== undefined && isPending(sent.state) && wantedBy(sent, control) === true;
  return (
    <button
      ref={button}
      type="button"
      class="button small primary"
      disabled={busy || isSent}
      onClick={() =>
        send(() => call("minerAction", { id, ...actionFor(control, true) }, { keepalive: true })).then(reload)
      }
    >
      {busy || isSent ? t.rig.sending : control === "mining" ? t.help.start : t.rig.control[control]}
    </button>
  );
}
