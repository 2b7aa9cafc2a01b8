import type { Scope } from "../../../contract/rules.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Field } from "../../parts/field.tsx";
import { useLoaded } from "../../parts/load.tsx";
import type { Directory } from "../../parts/schema-form/context.ts";
import { NamesInput } from "../../parts/schema-form/fields/names.tsx";
import { WordsInput } from "../../parts/schema-form/fields/words.tsx";
import type { Json } from "../../parts/schema-form/schema.ts";
import type { FormState } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import "../../parts/schema-form/schema-form.css";

const keys = ["places", "groups", "tags"] as const;

/** The names that are chosen; those of a plan may have others, which stay. */
export type ChosenScope = Readonly<Partial<Record<(typeof keys)[number], Json>>>;

export const chosenOf = ({ places, groups, tags }: Scope = {}): ChosenScope => ({ places, groups, tags });

/** The scope of what is chosen; undefined for all miners. */
export function scopeOf(chosen: ChosenScope, before: Scope = {}): Scope | undefined {
  const named = keys.flatMap((key) => {
    const some = chosen[key];
    return Array.isArray(some) && some.length > 0 ? [[key, some.map(String)]] : [];
  });
  const others = Object.entries(before).filter(([key]) => !keys.some((each) => each === key));
  const scope: Scope = Object.fromEntries([...others, ...named]);
  return Object.keys(scope).length === 0 ? undefined : scope;
}

const listed = (names: readonly string[]): Directory => ({
  choices: () => names.map((name) => ({ value: name, name })),
  nameOf: (value) => names.find((name) => name === value),
});

interface ScopeFieldsProps {
  readonly value: ChosenScope;
  readonly onValue: (value: ChosenScope) => void;
  readonly wrong: FormState["wrong"];
}

/** Places, groups and tags, of those that this user may see. */
export function ScopeFields({ value, onValue, wrong }: ScopeFieldsProps) {
  const known = useLoaded(async (signal) => {
    const [places, groups] = await Promise.all([
      may("listPlaces") ? call("listPlaces", {}, { signal }) : [],
      may("listGroups") ? call("listGroups", {}, { signal }) : [],
    ]);
    return { places: places.map(({ path }) => path), groups: groups.map(({ name }) => name) };
  }, []);
  const tags = [...new Set([...rigs.value.byId.values()].flatMap((row) => row.tags))].sort();
  const names = (key: "places" | "groups") => (
    <Field label={t.curtailment.scope[key]} problem={wrong(`scope.${key}`)}>
      {(attributes) => (
        <NamesInput
          attributes={attributes}
          value={value[key]}
          onValue={(some) => onValue({ ...value, [key]: some })}
          directory={listed(known.value?.[key] ?? [])}
        />
      )}
    </Field>
  );
  return (
    <>
      {known.value === undefined || known.value.places.length > 0 ? names("places") : null}
      {names("groups")}
      <Field label={t.curtailment.scope.tags} hint={t.curtailment.scope.hint} problem={wrong("scope.tags")}>
        {(attributes) => (
          <WordsInput
            attributes={attributes}
            value={value.tags}
            onValue={(some) => onValue({ ...value, tags: some })}
            suggestions={tags}
            name={t.curtailment.scope.tags}
          />
        )}
      </Field>
    </>
  );
}
