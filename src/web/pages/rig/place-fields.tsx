import type { MinerDetail } from "../../../contract/resources.ts";
import type { Input } from "../../../contract/service.ts";
import { t } from "../../language.ts";
import { Field } from "../../parts/field.tsx";
import type { FormState } from "../../parts/use-form.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { usePlaces } from "../../use-places.ts";

const parts = ["site", "container", "rack"] as const;

interface PlaceFieldsProps {
  readonly miner: MinerDetail;
  readonly wrong: FormState["wrong"];
}

/** Where the rig is: its place and position, or the names of a location for a service without places. */
export function PlaceFields({ miner, wrong }: PlaceFieldsProps) {
  const { placeId = null, location } = miner;
  const tree = usePlaces().value;
  // Its own is there from the start, so that saving early does not change it.
  const own = { id: placeId, path: parts.flatMap((part) => location[part] ?? []).join("/") };
  const places = placeId === null || tree?.get(placeId) !== undefined ? (tree?.all ?? []) : [own];
  const number = (name: "row" | "column") => (
    <Field label={t.places.position[name]} problem={wrong(`position.${name}`)}>
      {(control) => (
        <input {...control} name={name} type="number" min={1} defaultValue={String(miner.position?.[name] ?? "")} />
      )}
    </Field>
  );
  const text = (name: "slot" | (typeof parts)[number]) => (
    <Field key={name} label={t.rig.place[name]} problem={wrong(`location.${name}`)}>
      {(control) => <input {...control} name={name} dir="auto" maxLength={64} defaultValue={location[name] ?? ""} />}
    </Field>
  );
  if (!may("listPlaces")) return <div class="places">{[...parts, "slot" as const].map(text)}</div>;
  return (
    <>
      <Field
        label={t.places.place}
        hint={may("addPlace") ? <a href={link("places")}>{t.places.all}</a> : undefined}
        problem={wrong("placeId")}
      >
        {(control) => (
          <select
            {...control}
            name="placeId"
            key={places.length > 0 ? "loaded" : "loading"}
            defaultValue={String(placeId ?? "")}
          >
            <option value="">{t.places.nowhere}</option>
            {places.map(({ id, path }) => (
              <option key={id} value={String(id)} selected={id === placeId}>
                {path}
              </option>
            ))}
          </select>
        )}
      </Field>
      <div class="places">
        {number("row")}
        {number("column")}
        {text("slot")}
      </div>
    </>
  );
}

type Placement = Pick<Input<"changeMiner">, "location" | "placeId" | "position">;

/** What the fields change. The slot is a part of the location. */
export function placementIn(form: FormData, miner: MinerDetail): Placement {
  const text = (name: string): string | null => String(form.get(name) ?? "").trim() || null;
  const { location } = miner;
  const slot = text("slot");
  if (!form.has("placeId")) {
    const given = { site: text("site"), container: text("container"), rack: text("rack"), slot };
    const isSame = slot === location.slot && parts.every((part) => given[part] === location[part]);
    return isSame ? {} : { location: given };
  }
  const placeId = text("placeId") === null ? null : Number(text("placeId"));
  const [row, column] = [text("row"), text("column")];
  const position = row === null && column === null ? null : { row: Number(row), column: Number(column) };
  const isMoved = placeId !== (miner.placeId ?? null);
  const isPositioned = JSON.stringify(position) !== JSON.stringify(miner.position ?? null);
  return {
    ...(isMoved ? { placeId } : {}),
    ...(isMoved || isPositioned ? { position } : {}),
    ...(slot === location.slot ? {} : { location: { ...location, slot } }),
  };
}
