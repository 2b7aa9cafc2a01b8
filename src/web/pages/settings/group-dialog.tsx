import type { Group } from "../../../contract/resources.ts";
import { ownGroupName } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { groupName, groupPath } from "../../groups.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { fieldText } from "../../parts/use-form.ts";

interface GroupDialogProps {
  /** Null: a new group. */
  readonly group: Group | null;
  readonly parentId: number;
  readonly groups: readonly Group[];
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** The name of a group, the group it is in, and whether it is a room. */
export function GroupDialog({ group, parentId, groups, onSaved, onClose }: GroupDialogProps) {
  // A group cannot be inside itself.
  const parents = groups
    .filter(({ id }) => group === null || !groupPath(groups, id).some((above) => above.id === group.id))
    .map(({ id }) => ({ id, name: groupName(groups, id) }))
    .sort((one, other) => byName(one.name, other.name));
  return (
    <FormDialog
      title={group === null ? t.settings.addGroup : t.settings.changeTitle({ name: group.name })}
      onSubmit={async (form) => {
        const fields = {
          name: fieldText(form, "name"),
          parentId: Number(form.get("parentId")),
          room: form.has("room"),
        };
        if (group === null) await call("addGroup", fields);
        else await call("changeGroup", { id: group.id, ...fields });
        onSaved();
      }}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <Field label={t.settings.name} problem={wrong("name")}>
            {(control) => (
              <input
                {...control}
                name="name"
                defaultValue={group === null ? "" : ownGroupName(group)}
                required
                maxLength={200}
                dir="auto"
                autocomplete="off"
              />
            )}
          </Field>
          <Field label={t.settings.inside} problem={wrong("parentId")}>
            {(control) => (
              <select {...control} name="parentId">
                <option value={0}>{t.settings.atTop}</option>
                {parents.map(({ id, name }) => (
                  <option key={id} value={id} selected={id === parentId}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <label class="switch">
            <input type="checkbox" name="room" defaultChecked={group?.room === true} />
            {t.settings.isRoom}
          </label>
          <p class="hint">{t.settings.roomHint}</p>
        </>
      )}
    </FormDialog>
  );
}
