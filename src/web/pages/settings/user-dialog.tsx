import { useState } from "preact/hooks";
import type { Privilege, User } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { fieldText } from "../../parts/use-form.ts";

/** The privileges of users, from the lowest to the highest. */
export const privileges: readonly Privilege[] = ["view", "control", "administrator"];

/** The groups and pools that a user can be limited to. */
export interface Limits {
  readonly groups: readonly { readonly id: number; readonly name: string }[];
  readonly pools: readonly { readonly id: number; readonly name: string }[];
}

interface UserDialogProps {
  /** Null: a new user. */
  readonly user: User | null;
  readonly limits: Limits;
  readonly onSaved: (user: User) => void;
  readonly onClose: () => void;
}

/** The name, privilege and visible groups and pools of a user. */
export function UserDialog({ user, limits, onSaved, onClose }: UserDialogProps) {
  const [groups, setGroups] = useState(user?.groups ?? null);
  const [pools, setPools] = useState(user?.pools ?? null);
  return (
    <FormDialog
      title={user === null ? t.settings.addUser : t.settings.changeTitle({ name: user.name })}
      onSubmit={async (form) => {
        const privilege = privileges.find((each) => each === form.get("privilege")) ?? "view";
        onSaved(await call("saveUser", { id: user?.id ?? 0, name: fieldText(form, "name"), privilege, groups, pools }));
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
                defaultValue={user?.name ?? ""}
                required
                maxLength={200}
                dir="auto"
                autocomplete="off"
              />
            )}
          </Field>
          <fieldset class="field user-choices">
            <legend>{t.settings.mayDo}</legend>
            {privileges.map((each) => (
              <label key={each} class="user-choice">
                <input
                  type="radio"
                  name="privilege"
                  value={each}
                  defaultChecked={each === (user?.privilege ?? "view")}
                />
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
            problem={wrong("groups")}
            onChange={setGroups}
          />
          <Selection
            legend={t.settings.seesPools}
            all={t.settings.allPools}
            some={t.settings.somePools}
            list={limits.pools}
            chosen={pools}
            problem={wrong("pools")}
            onChange={setPools}
          />
        </>
      )}
    </FormDialog>
  );
}

interface SelectionProps {
  readonly legend: string;
  readonly all: string;
  readonly some: string;
  readonly list: Limits["groups"];
  /** Null: all. */
  readonly chosen: readonly number[] | null;
  readonly problem: string | undefined;
  readonly onChange: (chosen: number[] | null) => void;
}

/** Everything, or a selection from a list. */
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
