import { useState } from "preact/hooks";
import type { User } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { ShownOnce } from "../../parts/shown-once.tsx";
import { useSending } from "../../parts/use-form.ts";
import { randomKey } from "../../random-key.ts";
import { wallAddress } from "../../wall-key.ts";

/** Creates a key for a user. It exists only in this dialog, until it closes: the service stores its digest. */
export function KeyDialog({ user, onMade, onClose }: { user: User; onMade: () => void; onClose: () => void }) {
  const [key, setKey] = useState<string | null>(null);
  const { busy, problem, send } = useSending();
  const make = () =>
    send(async () => {
      const made = randomKey();
      await call("saveUser", { id: user.id, key: made });
      setKey(made);
      onMade();
    });
  return (
    <Dialog
      title={t.settings.keyTitle({ name: user.name })}
      onClose={onClose}
      actions={
        key === null ? (
          <>
            <button type="button" class="button" onClick={onClose}>
              {t.shell.cancel}
            </button>
            <button type="button" class="button primary" disabled={busy} onClick={make}>
              {t.settings.makeKey}
            </button>
          </>
        ) : (
          <button type="button" class="button primary" onClick={onClose}>
            {t.settings.done}
          </button>
        )
      }
    >
      {key === null ? (
        <>
          <p>{user.hasKey ? t.settings.keyAgain : t.settings.keyFirst}</p>
          <p class="field-problem" role="alert">
            {problem}
          </p>
        </>
      ) : (
        <>
          <p>{t.settings.keyOnce}</p>
          <ShownOnce label={t.settings.key} text={key} />
          {user.privilege === "view" ? (
            <>
              <p>{t.wall.address}</p>
              <ShownOnce label={t.wall.title} text={wallAddress(key)} />
            </>
          ) : null}
        </>
      )}
    </Dialog>
  );
}
