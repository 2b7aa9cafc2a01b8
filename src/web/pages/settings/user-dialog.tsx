import { useState } from "preact/hooks";
import type { Privilege, User } from "../../../contract/resources.ts";
import { call, type Mistake, Problem } from "../../api.ts";
import { t } from "../../language.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field, mistakeOf } from "../../parts/field.tsx";
import { problemText } from "../../parts/messages.tsx";

/** The groups and pools that a user can be limited to. */
export interface Limits {
  readonly groups: readonly { readonly id: number; readonly name: string }[];
  readonly pools: readonly { readonly id: number; readonly name: string }[];
}

interface UserDialogProps {
  /** null: a new one. */
  readonly user: User | null;
  readonly limits: Limits;
  readonly onSaved: (user: User) => void;
  readonly onClose: () => void;
}

/** What a user is called, may do and sees. */
export function UserDialog({ user, limits, onSaved, onClose }: UserDialogProps) {
  const [name, setName] = useState(user?.name ?? "");
  const [privilege, setPrivilege] = useState<Privilege>(user?.privilege ?? "view");
  const [groups, setGroups] = useState(user?.groups ?? null);
  const [pools, setPools] = useState(user?.pools ?? null);
  const [mistakes, setMistakes] = useState<readonly Mistake[]>([]);
  const [problem, setProblem] = useState<string | null>(null);
  const [busy, setBusy] = useState(false);
  const save = async (event: SubmitEvent) => {
    event.preventDefault();
    setBusy(true);
    setMistakes([]);
    setProblem(null);
    try {
      onSaved(await call("saveUser", { id: user?.id ?? 0, name: name.trim(), privilege, groups, pools }));
    } catch (error) {
      setMistakes(error instanceof Problem ? error.mistakes : []);
      setProblem(problemText(error));
      setBusy(false);
    }
  };
  return (
    <Dialog
      title={user === null ? t.settings.addUser : t.settings.changeTitle(user.name)}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button type="submit" form="user-form" class="button primary" disabled={busy || name.trim() === ""}>
            {t.shell.save}
          </button>
        </>
      }
    >
      <form id="user-form" class="dialog-form" onSubmit={save}>
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
        <fieldset class="field user-choices">
          <legend>{t.settings.mayDo}</legend>
          {(["view", "control", "administrator"] as const).map((each) => (
            <label key={each} class="user-choice">
              <input type="radio" name="privilege" checked={privilege === each} onChange={() => setPrivilege(each)} />
              <span>
                {t.settings.privilege[each]}
                <small>{t.settings.privilegeText[each]}</small>
              </span>
            </label>
          ))}
        </fieldset>
        <Selection
          legend={t.settings.seesGroups}
          all={t.settings.allGroups}
          some={t.settings.someGroups}
          list={limits.groups}
          chosen={groups}
          problem={mistakeOf(mistakes, "groups")}
          onChange={setGroups}
        />
        <Selection
          legend={t.settings.seesPools}
          all={t.settings.allPools}
          some={t.settings.somePools}
          list={limits.pools}
          chosen={pools}
          problem={mistakeOf(mistakes, "pools")}
          onChange={setPools}
        />
        <p class="field-problem" role="alert">
          {mistakes.length === 0 ? problem : null}
        </p>
      </form>
    </Dialog>
  );
}

interface SelectionProps {
  readonly legend: string;
  readonly all: string;
  readonly some: string;
  readonly list: Limits["groups"];
  /** null: all. */
  readonly chosen: readonly number[] | null;
  readonly problem: string | undefined;
  readonly onChange: (chosen: number[] | null) => void;
}

/** Everything, or what is chosen of a list. */
function Selection({ legend, all, some, list, chosen, problem, onChange }: SelectionProps) {
  if (list.length === 0 && chosen === null) return null;
  return (
    <fieldset class="field user-choices">
      <legend>{legend}</legend>
      <div class="row">
        <label class="switch">
          <input type="radio" name={legend} checked={chosen === null} onChange={() => onChange(null)} />
          {all}
        </label>
        <label class="switch">
          <input type="radio" name={legend} checked={chosen !== null} onChange={() => onChange([])} />
          {some}
        </label>
      </div>
      {chosen === null ? null : (
        <div class="choice-list">
          {list.map(({ id, name }) => (
            <label key={id} class="switch">
              <input
                type="checkbox"
                checked={chosen.includes(id)}
                onChange={({ currentTarget }) =>
                  onChange(currentTarget.checked ? [...chosen, id] : chosen.filter((each) => each !== id))
                }
              />
              <bdi>{name}</bdi>
            </label>
          ))}
        </div>
      )}
      <p class="field-problem">{problem}</p>
    </fieldset>
  );
}
