import { useState } from "preact/hooks";
import type { Repair } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { dateTime } from "../../format.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { FormProblem } from "../../parts/form-problem.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Card } from "../../parts/page.tsx";
import { useButton, useForm } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

interface RigProps {
  readonly id: number;
  readonly reload: () => void;
}

/** A button that puts the rig in repair, with a note. */
export function BeginRepair({ id, reload }: RigProps) {
  const [asks, setAsks] = useState(false);
  if (!may("changeMiner")) return null;
  return (
    <>
      <button type="button" class="button" onClick={() => setAsks(true)}>
        <Icon name="wrench" /> {t.repair.begin}
      </button>
      {asks ? (
        <NoteDialog id={id} reload={reload} note="" verb={t.repair.begin} onClose={() => setAsks(false)} />
      ) : null}
    </>
  );
}

/** That the rig is in repair: what is done with it, since when, and its end. */
export function RepairCard({ id, repair: { note, since }, reload }: RigProps & { readonly repair: Repair }) {
  const [asks, setAsks] = useState(false);
  const { busy, send } = useButton();
  return (
    <Card title={t.repair.title}>
      <div class="rig-repair">
        {note === "" ? null : <p dir="auto">{note}</p>}
        <p class="hint">
          {t.repair.since({ time: dateTime(since) })}. {t.repair.explained}
        </p>
      </div>
      {may("changeMiner") ? (
        <p class="row">
          <button
            type="button"
            class="button primary"
            disabled={busy}
            onClick={() => send(() => call("changeMiner", { id, repair: null })).then(reload)}
          >
            {t.repair.end}
          </button>
          <button type="button" class="button" onClick={() => setAsks(true)}>
            {t.repair.change}
          </button>
        </p>
      ) : null}
      {asks ? (
        <NoteDialog id={id} reload={reload} note={note} verb={t.repair.change} onClose={() => setAsks(false)} />
      ) : null}
    </Card>
  );
}

interface NoteDialogProps extends RigProps {
  readonly note: string;
  readonly verb: string;
  readonly onClose: () => void;
}

const longestNote = 500;

function NoteDialog({ id, reload, note, verb, onClose }: NoteDialogProps) {
  const form = useForm(async (filled) => {
    await call("changeMiner", { id, repair: { note: String(filled.get("note") ?? "").trim() } });
    onClose();
    reload();
  });
  return (
    <Dialog title={verb} onClose={onClose}>
      <form class="stack" onSubmit={form.submit}>
        <p class="hint">{t.repair.explained}</p>
        <Field label={t.repair.note} problem={form.wrong("repair")}>
          {(control) => (
            <input
              {...control}
              name="note"
              dir="auto"
              maxLength={longestNote}
              defaultValue={note}
              placeholder={t.repair.example}
            />
          )}
        </Field>
        <FormProblem of={form} />
        <p class="row">
          <button type="submit" class="button primary" disabled={form.busy}>
            {verb}
          </button>
        </p>
      </form>
    </Dialog>
  );
}
