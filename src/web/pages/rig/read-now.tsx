import { useRef } from "preact/hooks";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { useFocusBack } from "../../parts/focus.ts";
import { Icon } from "../../parts/icon.tsx";
import { useButton } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

/** Reads the rig at once instead of at its next turn. */
export function ReadNow({ id, reload }: { id: number; reload: () => void }) {
  const { busy, send } = useButton();
  const button = useRef<HTMLButtonElement>(null);
  useFocusBack(button, busy);
  if (!may("pollMiner")) return null;
  const read = () => send(() => call("pollMiner", { id })).then(reload);
  return (
    <button ref={button} type="button" class="button" disabled={busy} aria-busy={busy} onClick={read}>
      <Icon name="restart" /> {busy ? t.rig.reading : t.rig.readNow}
    </button>
  );
}
