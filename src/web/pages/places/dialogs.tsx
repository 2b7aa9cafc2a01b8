import type { Place } from "../../../contract/place-operations.ts";
import { call } from "../../api.ts";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { Waiting } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import type { PlaceTree } from "../../places.ts";
import { PlaceDialog } from "./place-dialog.tsx";

/** What a dialog is about. */
export type Asked =
  | { readonly what: "add"; readonly inside: Place | null }
  | { readonly what: "change" | "delete"; readonly place: Place };

interface DialogsProps {
  readonly asked: Asked | null;
  readonly tree: PlaceTree;
  readonly changed: () => void;
  /** Called with the place that has been deleted. */
  readonly deleted?: (place: Place) => void;
  readonly onClose: () => void;
}

/** Adds, changes or deletes a place. */
export function PlaceDialogs({ asked, tree, changed, deleted, onClose }: DialogsProps) {
  if (asked === null) return null;
  if (asked.what === "delete") {
    const { place } = asked;
    const done = () => {
      changed();
      deleted?.(place);
    };
    return <DeletePlace place={place} tree={tree} onDeleted={done} onClose={onClose} />;
  }
  const saved = () => {
    changed();
    onClose();
    say(t.places.saved);
  };
  return asked.what === "add" ? (
    <PlaceDialog place={null} parent={asked.inside} tree={tree} onSaved={saved} onClose={onClose} />
  ) : (
    <PlaceDialog
      place={asked.place}
      parent={tree.get(asked.place.parentId) ?? null}
      tree={tree}
      onSaved={saved}
      onClose={onClose}
    />
  );
}

interface DeleteProps {
  readonly place: Place;
  readonly tree: PlaceTree;
  readonly onDeleted: () => void;
  readonly onClose: () => void;
}

function DeletePlace({ place, tree, onDeleted, onClose }: DeleteProps) {
  const { id, name, parentId } = place;
  const parent = tree.get(parentId);
  const count = [...rigs.value.byId.values()].filter((row) => row.place === id).length;
  const inside = tree.inside(id).length;
  const target = parent === undefined ? null : { parent: `\u2068${parent.path}\u2069` };
  const sentences = [
    ...(count === 0 ? [] : [{ what: counted(count, t.rigs.count), text: t.places.rigsTo, top: t.places.rigsToNone }]),
    ...(inside === 0
      ? []
      : [{ what: counted(inside, t.places.count), text: t.places.placesTo, top: t.places.placesToTop }]),
  ].map(({ what, text, top }) => (target === null ? top({ what }) : text({ what, ...target })));
  return (
    <Confirm
      title={t.places.deleteTitle({ name })}
      text={
        !rigs.value.loaded ? (
          <Waiting />
        ) : sentences.length === 0 ? (
          t.places.deleteEmpty
        ) : (
          sentences.map((each) => <p key={each}>{each}</p>)
        )
      }
      verb={t.shell.delete}
      dangerous
      onConfirm={async () => {
        await call("deletePlace", { id });
        say(t.places.deleted);
        onDeleted();
      }}
      onClose={onClose}
    />
  );
}
