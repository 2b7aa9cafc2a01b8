import type { Place } from "../../../contract/place-operations.ts";
import { call } from "../../api.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { useLoaded } from "../../parts/load.tsx";
import { fieldText } from "../../parts/use-form.ts";
import { type PlaceTree, placeKinds } from "../../places.ts";
import { may } from "../../session.ts";

interface PlaceDialogProps {
  /** Null: a new place. */
  readonly place: Place | null;
  /** Null: at the top. */
  readonly parent: Place | null;
  readonly tree: PlaceTree;
  readonly onSaved: () => void;
  readonly onClose: () => void;
}

/** The kind, name and parent of a place, its positions, and what curtailment needs of it. */
export function PlaceDialog({ place, parent, tree, onSaved, onClose }: PlaceDialogProps) {
  const meters = useLoaded(async (signal) => {
    const devices = may("listFacility") ? await call("listFacility", {}, { signal }) : [];
    return devices.filter(({ readings }) => readings.power !== null);
  }, []);
  // A place cannot be inside itself, and nothing is inside a rack.
  const own = place === null ? new Set() : tree.within(place.id);
  const parents = tree.all.filter(({ id, kind }) => kind !== "rack" && !own.has(id));
  const smaller =
    placeKinds[Math.min(placeKinds.length - 1, parent === null ? 0 : placeKinds.indexOf(parent.kind) + 1)];
  const kindNow = place?.kind ?? smaller;
  const send = async (form: FormData) => {
    const fields = fieldsIn(form);
    if (place !== null) await call("changePlace", { id: place.id, ...fields });
    else {
      const { rows, columns, maxPower, meter, exempt, ...others } = fields;
      const given = Object.entries({ rows, columns, maxPower, meter, exempt }).filter(([, value]) => value !== null);
      await call("addPlace", { order: 0, ...others, ...Object.fromEntries(given) });
    }
    onSaved();
  };
  return (
    <FormDialog
      title={place === null ? t.places.add : t.places.changeTitle({ name: place.name })}
      onSubmit={send}
      onClose={onClose}
    >
      {(wrong) => (
        <>
          <Field label={t.places.name} problem={wrong("name")}>
            {(control) => (
              <input
                {...control}
                name="name"
                defaultValue={place?.name ?? ""}
                required
                maxLength={64}
                dir="auto"
                autocomplete="off"
              />
            )}
          </Field>
          <Field label={t.places.kindLabel} problem={wrong("kind")}>
            {(control) => (
              <select {...control} name="kind">
                {placeKinds.map((kind) => (
                  <option key={kind} value={kind} selected={kind === kindNow}>
                    {t.places.kind[kind]}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <Field label={t.places.parent} problem={wrong("parentId")}>
            {(control) => (
              <select {...control} name="parentId">
                <option value="">{t.places.atTop}</option>
                {parents.map(({ id, path }) => (
                  <option key={id} value={id} selected={id === parent?.id}>
                    {path}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <div class="place-sizes">
            {(["rows", "columns"] as const).map((name) => (
              <Field key={name} label={t.places[name]} problem={wrong(name)}>
                {(control) => <NumberInput {...control} name={name} value={place?.[name]} />}
              </Field>
            ))}
          </div>
          <p class="hint">{t.places.sizesHint}</p>
          <Field label={t.places.maxPower} hint={t.places.maxPowerHint} problem={wrong("maxPower")}>
            {(control) => <NumberInput {...control} name="maxPower" value={place?.maxPower} />}
          </Field>
          <Field label={t.places.meter} hint={t.places.meterHint} problem={wrong("meter")}>
            {(control) => (
              <>
                <input
                  {...control}
                  name="meter"
                  maxLength={200}
                  dir="auto"
                  autocomplete="off"
                  list={`${control.id}-meters`}
                  defaultValue={place?.meter ?? ""}
                />
                <datalist id={`${control.id}-meters`}>
                  {meters.value?.map(({ key, name }) => (
                    <option key={key} value={key}>
                      {name}
                    </option>
                  ))}
                </datalist>
              </>
            )}
          </Field>
          <label class="switch">
            <input type="checkbox" name="exempt" defaultChecked={place?.exempt === true} />
            {t.places.exempt}
          </label>
        </>
      )}
    </FormDialog>
  );
}

interface NumberProps {
  readonly name: string;
  readonly value: number | undefined;
}

/** Empty: not limited. The service checks the range, so that all mistakes appear at once. */
const NumberInput = ({ value, ...control }: NumberProps) => (
  <input {...control} type="number" step="any" defaultValue={String(value ?? "")} />
);

/** Null: none. */
function fieldsIn(form: FormData) {
  const number = (name: string): number | null => (fieldText(form, name) === "" ? null : Number(fieldText(form, name)));
  return {
    name: fieldText(form, "name"),
    kind: placeKinds.find((kind) => kind === form.get("kind")) ?? "rack",
    parentId: number("parentId"),
    rows: number("rows"),
    columns: number("columns"),
    maxPower: number("maxPower"),
    meter: fieldText(form, "meter") || null,
    exempt: form.has("exempt") || null,
  };
}
