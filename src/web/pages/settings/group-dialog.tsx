import { useState } from "preact/hooks";
import type { Group } from "../../../contract/resources.ts";
import { call, type Mistake, Problem } from "../../api.ts";
import { byName } from "../../format.ts";
import { groupName, groupPath } from "../../groups.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, mistakeOf } from "../../parts/field.tsx";
import { problemText } from "../../parts/messages.tsx";

interface GroupDialogProps {
  /** null: a new one. */
  readonly group: Group | null;
  readonly parentId: number;
  readonly groups: readonly Group[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** The name of a group, the group it is in, and whether it is a room. */
export function GroupDialog({ group, parentId, groups, onSaved, onClose }: GroupDialogProps) {
  const [name, setName] = useState(group?.name ?? "");
  const [parent, setParent] = useState(parentId);
  const [room, setRoom] = useState(group?.room ?? false);
  const [mistakes, setMistakes] = useState<readonly Mistake[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  // A group cannot be inside itself.
  const parents = groups
    .filter(({ id }) => group === null || !groupPath(groups, id).some((above) => above.id === group.id))
    .map(({ id }) => ({ id, name: groupName(groups, id) }))
    .sort((one, other) => byName(one.name, other.name));
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setMistakes([]);
    setProblem(null);
    const fields = { name: name.trim(), parentId: parent, room };
    try {
      if (group === null) await call("addGroup", fields);
      else await call("changeGroup", { id: group.id, ...fields });
      onSaved();
    } catch (error) {
      setMistakes(error instanceof Problem ? error.mistakes : []);
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={group === null ? t.settings.addGroup : t.settings.changeTitle(group.name)}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button type="submit" form="group-form" class="button primary" disabled={busy || name.trim() === ""}>
            {t.shell.save}
          </button>
        </>
      }
    >
      <form id="group-form" class="dialog-form" onSubmit={save}>
        <Field label={t.settings.name} problem={mistakeOf(mistakes, "name")}>
          {(control) => (
            <input
              {...control}
              value={name}
              maxLength={200}
              dir="auto"
              autocomplete="off"
              onInput={({ currentTarget }) => setName(currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t.settings.inside} problem={mistakeOf(mistakes, "parentId")}>
          {(control) => (
            <select
              {...control}
              value={parent}
              onChange={({ currentTarget }) => setParent(Number(currentTarget.value))}
            >
              <option value={0}>{t.settings.atTop}</option>
              {parents.map((each) => (
                <option key={each.id} value={each.id}>
                  {each.name}
                </option>
              ))}
            </select>
          )}
        </Field>
        <label class="switch">
          <input type="checkbox" checked={room} onChange={({ currentTarget }) => setRoom(currentTarget.checked)} />
          {t.settings.isRoom}
        </label>
        <p class="hint">{t.settings.roomHint}</p>
        <p class="field-problem" role="alert">
          {mistakes.length === 0 ? problem : null}
        </p>
      </form>
    </Dialog>
  );
}
