import { useEffect } from "preact/hooks";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { t } from "../../language.ts";
import { wantColumns } from "../../live.ts";
import { None } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { siteName } from "../../parts/site-copies.tsx";
import { may } from "../../session.ts";
import type { SetParameters } from "./bulk-kinds.ts";
import type { GroupTree } from "./groups.ts";

interface FormProps {
  readonly fill: SetParameters;
}

interface Choice {
  readonly value: string;
  readonly text: string;
}

/** One of many, none by default. */
const Choose = ({
  label,
  choices,
  choose,
}: {
  label: string;
  choices: readonly Choice[];
  choose: (value: string) => void;
}) => (
  <Field label={label}>
    {(control) => (
      <select {...control} required onChange={({ currentTarget }) => choose(currentTarget.value)}>
        <option value="" />
        {choices
          .toSorted((one, other) => byName(one.text, other.text))
          .map(({ value, text }) => (
            <option key={value} value={value}>
              {text}
            </option>
          ))}
      </select>
    )}
  </Field>
);

export function PoolForm({ fill }: FormProps) {
  const loaded = useLoaded(async (signal): Promise<Choice[]> => {
    const [{ list }, groups] = await Promise.all([
      call("listPools", {}, { signal }),
      may("listPoolGroups") ? call("listPoolGroups", {}, { signal }) : [],
    ]);
    return [
      ...list.map(({ id, description, url }) => ({
        value: `single ${id}`,
        text: description === "" ? url : `${description} (${url})`,
      })),
      ...groups.map(({ id, name }) => ({ value: `group ${id}`, text: t.rigs.poolGroup({ name }) })),
    ];
  }, []);
  const choose = (value: string) => {
    const [type, id] = value.split(" ");
    fill(id === undefined || type === undefined ? null : { pool_id: Number(id), pool_type: type });
  };
  return (
    <Loading from={loaded}>
      {(choices, known) =>
        choices.length === 0 ? (
          <None known={known}>{t.rigs.noPools}</None>
        ) : (
          <Choose label={t.rigs.pool} choices={choices} choose={choose} />
        )
      }
    </Loading>
  );
}

export function TemplateForm({ fill }: FormProps) {
  const loaded = useLoaded(async (signal): Promise<Choice[]> => {
    const { managedTemplateList } = await call("listManagedTemplates", {}, { signal });
    return managedTemplateList.map((template) => {
      const site = siteName(template);
      const { id, name } = template;
      return { value: String(id), text: site === undefined ? name : `${site} / ${name}` };
    });
  }, []);
  return (
    <Loading from={loaded}>
      {(choices, known) =>
        choices.length === 0 ? (
          <None known={known}>{t.rigs.noTemplates}</None>
        ) : (
          <Choose
            label={t.rigs.template}
            choices={choices}
            choose={(id) => fill(id === "" ? null : { template_id: Number(id) })}
          />
        )
      }
    </Loading>
  );
}

export const TagForm = ({ fill }: FormProps) => (
  <Field label={t.rigs.tag}>
    {(control) => (
      <input
        {...control}
        maxLength={64}
        required
        autocomplete="off"
        dir="auto"
        onInput={({ currentTarget: { value } }) => fill(value.trim() === "" ? null : { tag: value.trim() })}
      />
    )}
  </Field>
);

export const GroupForm = ({ tree, fill }: FormProps & { tree: GroupTree }) => (
  <Choose
    label={t.rigs.group}
    choices={[
      { value: "0", text: t.rigs.noGroup },
      ...tree.all.map(({ id, name }) => ({ value: String(id), text: tree.nameOf(id) ?? name })),
    ]}
    choose={(id) => fill(id === "" ? null : { group: Number(id) })}
  />
);

export function PlaceForm({ tree, fill }: FormProps & { tree: GroupTree }) {
  // What undoing gives back.
  useEffect(() => wantColumns(["position"]), []);
  return (
    <Choose
      label={t.places.place}
      choices={[
        { value: "0", text: t.places.nowhere },
        ...tree.places.all.map(({ id, path }) => ({ value: String(id), text: path })),
      ]}
      choose={(id) => fill(id === "" ? null : { place: Number(id) })}
    />
  );
}
