import { useState } from "preact/hooks";
import type { Room } from "../../../contract/resources.ts";
import { number, power } from "../../format.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { session } from "../../session.ts";

interface RoomMaximumProps {
  readonly room: Room;
  readonly busy: boolean;
  readonly change: (max: number | null) => Promise<void>;
}

/** The power limit of a room; administrators set it, everyone sees it. */
export function RoomMaximum({ room: { max, highest, name }, busy, change }: RoomMaximumProps) {
  const [open, setOpen] = useState(false);
  const [text, setText] = useState("");
  const isAdministrator = session.value?.user.privilege === "administrator";
  const isFixed = max?.owner === "file";
  const watts = Number(text);
  const isWrong = text.trim() !== "" && !(watts >= 0);
  if (max === null && !isAdministrator) return null;
  const submit = (event: SubmitEvent) => {
    event.preventDefault();
    if (isWrong) return;
    setOpen(false);
    void change(text.trim() === "" ? null : watts);
  };
  return (
    <p class="hint room-maximum">
      {max === null ? t.family.noMaximum : t.family.maximum({ watts: power(max.watts) })}
      {isAdministrator && !isFixed ? (
        <button
          type="button"
          class="button small quiet"
          disabled={busy}
          onClick={() => {
            setText(max === null ? "" : String(max.watts));
            setOpen(true);
          }}
        >
          {t.family.change} <span class="visually-hidden">{t.family.setMaximum({ room: name })}</span>
        </button>
      ) : null}
      {open ? (
        <Dialog
          title={t.family.setMaximum({ room: name })}
          onClose={() => setOpen(false)}
          actions={
            <button type="submit" form="room-maximum" class="button primary" disabled={isWrong}>
              {t.shell.save}
            </button>
          }
        >
          <form id="room-maximum" onSubmit={submit}>
            <Field
              label={t.family.maximumWatts}
              hint={
                highest === null
                  ? t.family.maximumHint
                  : `${t.family.maximumHint} ${t.family.highest({ watts: power(highest) })}`
              }
              problem={isWrong ? t.family.notWatts({ zero: number(0) }) : undefined}
            >
              {(control) => (
                <input
                  {...control}
                  inputmode="numeric"
                  value={text}
                  maxLength={8}
                  onInput={({ currentTarget }) => setText(currentTarget.value)}
                />
              )}
            </Field>
          </form>
        </Dialog>
      ) : null}
    </p>
  );
}
