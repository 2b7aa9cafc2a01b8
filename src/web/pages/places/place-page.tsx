import { useEffect, useState } from "preact/hooks";
import { useLocation, useRoute } from "preact-iso";
import type { Place } from "../../../contract/place-operations.ts";
import { t } from "../../language.ts";
import { rigs, wantColumns } from "../../live.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/load.tsx";
import { Page, usePageTitle } from "../../parts/page.tsx";
import { type Tab, Tabs } from "../../parts/tabs.tsx";
import type { PlaceTree } from "../../places.ts";
import { usePageQuery } from "../../query.ts";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { usePlaces } from "../../use-places.ts";
import { type Asked, PlaceDialogs } from "./dialogs.tsx";
import { FloorMap } from "./floor-map.tsx";
import { LabelsView } from "./labels-view.tsx";
import { LocateButton } from "./locate-button.tsx";
import "./places.css";
import { PlaceTable } from "./place-table.tsx";
import { PlaceTiles } from "./place-tiles.tsx";
import { type Measure, measures } from "./shades.ts";

/** One place: what its rigs do, where they stand, and the same as a table. */
export default function PlacePage() {
  const id = Number(useRoute().params.id);
  const loaded = usePlaces();
  useEffect(() => wantColumns(["position", "efficiency"]), []);
  return (
    <Loading from={loaded}>
      {(tree, known) => {
        const place = tree.get(id);
        return place === undefined ? (
          <EmptyState known={known} icon="rack" title={t.places.gone} text={t.places.goneText} heading="h1">
            <Gone />
          </EmptyState>
        ) : (
          <PlaceView key={id} place={place} tree={tree} reload={loaded.reload} />
        );
      }}
    </Loading>
  );
}

function Gone() {
  usePageTitle(t.places.gone);
  return (
    <a class="button primary" href={link("places")}>
      {t.places.all}
    </a>
  );
}

interface ViewProps {
  readonly place: Place;
  readonly tree: PlaceTree;
  readonly reload: () => void;
}

const isMeasure = (text: string): text is Measure => measures.some((measure) => measure === text);

function PlaceView({ place, tree, reload }: ViewProps) {
  const { id } = place;
  const query = usePageQuery();
  const { route } = useLocation();
  const [asked, setAsked] = useState<Asked | null>(null);
  const view = ["table", "labels"].find((each) => each === query.get("view")) ?? "";
  const colour = query.get("colour");
  const tabs: readonly Tab[] = [
    { key: "", label: t.places.map },
    { key: "table", label: t.rigs.layout.table },
    { key: "labels", label: t.labels.title },
  ];
  const { loaded } = rigs.value;
  return (
    <Page
      title={place.name}
      lead={<Around place={place} tree={tree} />}
      actions={<Actions place={place} onAsk={setAsked} />}
    >
      {view === "labels" ? null : <PlaceTiles id={id} tree={tree} />}
      <Tabs name={t.places.views} tabs={tabs} chosen={view} hrefOf={(key) => query.hrefWith({ view: key })} />
      {view === "table" ? <PlaceTable tree={tree} id={id} /> : null}
      {view === "labels" ? <LabelsView tree={tree} id={id} /> : null}
      {view === "" && loaded ? (
        <>
          <label class="place-colour">
            <span>{t.places.colourBy}</span>
            <select value={colour} onChange={({ currentTarget }) => query.set({ colour: currentTarget.value })}>
              {measures.map((measure, index) => (
                <option key={measure} value={index === 0 ? "" : measure}>
                  {t.places.measure[measure]}
                </option>
              ))}
            </select>
          </label>
          <FloorMap tree={tree} id={id} measure={isMeasure(colour) ? colour : measures[0]} />
        </>
      ) : null}
      <PlaceDialogs
        asked={asked}
        tree={tree}
        changed={reload}
        deleted={() => route(link(place.parentId === null ? "places" : `places/${place.parentId}`))}
        onClose={() => setAsked(null)}
      />
    </Page>
  );
}

/** The kind of the place, and the places around it, outermost first. */
const Around = ({ place, tree }: { place: Place; tree: PlaceTree }) => (
  <>
    {t.places.kind[place.kind]}
    {" · "}
    <a href={link("places")}>{t.menu.places}</a>
    {tree
      .lineOf(place.id)
      .slice(1)
      .toReversed()
      .map((id) => (
        <span key={id}>
          {" / "}
          <a href={link(`places/${id}`)}>
            <bdi>{tree.get(Number(id))?.name}</bdi>
          </a>
        </span>
      ))}
  </>
);

const Actions = ({ place, onAsk }: { place: Place; onAsk: (asked: Asked) => void }) => (
  <>
    <LocateButton place={place} />
    {may("addPlace") && place.kind !== "rack" ? (
      <button type="button" class="button" onClick={() => onAsk({ what: "add", inside: place })}>
        <Icon name="plus" /> {t.places.addInside}
      </button>
    ) : null}
    {may("changePlace") ? (
      <button type="button" class="button" onClick={() => onAsk({ what: "change", place })}>
        <Icon name="edit" /> {t.places.change}
      </button>
    ) : null}
    {may("deletePlace") ? (
      <button type="button" class="button" onClick={() => onAsk({ what: "delete", place })}>
        <Icon name="trash" /> {t.shell.delete}
      </button>
    ) : null}
  </>
);
