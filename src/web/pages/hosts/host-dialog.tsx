import { useState } from "preact/hooks";
import type { Host } from "../../../contract/resources.ts";
import { call, type Mistake, Problem } from "../../api.ts";
import { byName } from "../../format.ts";
import { groupName } from "../../groups.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, mistakeOf } from "../../parts/field.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { problemText } from "../../parts/messages.tsx";
import { may } from "../../session.ts";

interface HostDialogProps {
  /** null: a new one. */
  readonly host: Host | null;
  readonly onSaved: (host: Host) => void;
  readonly onClose: () => void;
}

/** What a host is called, and the group whose users see it. */
export function HostDialog({ host, onSaved, onClose }: HostDialogProps) {
  const [hostname, setHostname] = useState(host?.hostname ?? "");
  const [description, setDescription] = useState(host?.description ?? "");
  const [groupId, setGroupId] = useState(host?.groupId ?? 0);
  const [mistakes, setMistakes] = useState<readonly Mistake[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const groups = useLoaded(async (signal) => {
    const list = may("listGroups") ? await call("listGroups", {}, { signal }) : [];
    return list.map(({ id }) => ({ id, name: groupName(list, id) })).sort((one, other) => byName(one.name, other.name));
  }, []);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setMistakes([]);
    setProblem(null);
    try {
      onSaved(
        await call("saveHost", {
          id: host?.id ?? 0,
          hostname: hostname.trim(),
          description: description.trim(),
          groupId,
        }),
      );
    } catch (error) {
      setMistakes(error instanceof Problem ? error.mistakes : []);
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={host === null ? t.hosts.add : t.hosts.changeTitle(host.hostname)}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button type="submit" form="host-form" class="button primary" disabled={busy || hostname.trim() === ""}>
            {t.shell.save}
          </button>
        </>
      }
    >
      <form id="host-form" onSubmit={save}>
        <Field label={t.hosts.hostname} hint={t.hosts.hostnameHint} problem={mistakeOf(mistakes, "hostname")}>
          {(control) => (
            <input
              {...control}
              value={hostname}
              maxLength={253}
              dir="ltr"
              autocomplete="off"
              autocapitalize="off"
              spellcheck={false}
              onInput={({ currentTarget }) => setHostname(currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t.hosts.description} problem={mistakeOf(mistakes, "description")}>
          {(control) => (
            <input
              {...control}
              value={description}
              maxLength={200}
              dir="auto"
              autocomplete="off"
              onInput={({ currentTarget }) => setDescription(currentTarget.value)}
            />
          )}
        </Field>
        <Field label={t.hosts.group} hint={t.hosts.groupHint} problem={mistakeOf(mistakes, "groupId")}>
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
        <p class="field-problem" role="alert">
          {mistakes.length === 0 ? problem : null}
        </p>
      </form>
    </Dialog>
  );
}
