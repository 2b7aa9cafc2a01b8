import { useState } from "preact/hooks";
import type { Host } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { groupName } from "../../groups.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { fieldText } from "../../parts/use-form.ts";
import { may } from "../../session.ts";

interface HostDialogProps {
  /** Null: a new host. */
  readonly host: Host | null;
  readonly onSaved: (host: Host) => void;
  readonly onClose: () => void;
}

/** The name of a host, and the group whose users see it. */
export function HostDialog({ host, onSaved, onClose }: HostDialogProps) {
  // Kept outside the form: the group stays unchanged if the list of groups is missing or hidden.
  const [groupId, setGroupId] = useState(host?.groupId ?? 0);
  const groups = useLoaded(async (signal) => {
    const list = may("listGroups") ? await call("listGroups", {}, { signal }) : [];
    return list.map(({ id }) => ({ id, name: groupName(list, id) })).sort((one, other) => byName(one.name, other.name));
  }, []);
  return (
    <FormDialog
      title={host === null ? t.hosts.add : t.hosts.changeTitle({ name: host.hostname })}
      onSubmit={async (form) => {
        const [hostname, description] = [fieldText(form, "hostname"), fieldText(form, "description")];
        onSaved(await call("saveHost", { id: host?.id ?? 0, hostname, description, groupId }));
      }}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <Field label={t.hosts.hostname} hint={t.hosts.hostnameHint} problem={wrong("hostname")}>
            {(control) => (
              <input
                {...control}
                name="hostname"
                defaultValue={host?.hostname ?? ""}
                required
                maxLength={253}
                dir="ltr"
                autocomplete="off"
                autocapitalize="off"
                spellcheck={false}
              />
            )}
          </Field>
          <Field label={t.hosts.description} problem={wrong("description")}>
            {(control) => (
              <input
                {...control}
                name="description"
                defaultValue={host?.description ?? ""}
                maxLength={200}
                dir="auto"
                autocomplete="off"
              />
            )}
          </Field>
          <Field label={t.hosts.group} hint={t.hosts.groupHint} problem={wrong("groupId")}>
            {(control) => (
              <select
                {...control}
                value={groupId}
                onChange={({ currentTarget }) => setGroupId(Number(currentTarget.value))}
              >
                <option value={0}>{t.hosts.noGroup}</option>
                {groups.value?.map(({ id, name }) => (
                  <option key={id} value={id}>
                    {name}
                  </option>
                ))}
              </select>
            )}
          </Field>
        </>
      )}
    </FormDialog>
  );
}
