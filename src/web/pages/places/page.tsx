import { useState } from "preact/hooks";
import { t } from "../../language.ts";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading } from "../../parts/load.tsx";
import { Page } from "../../parts/page.tsx";
import { usePageQuery } from "../../query.ts";
import { may } from "../../session.ts";
import { usePlaces } from "../../use-places.ts";
import { type Asked, PlaceDialogs } from "./dialogs.tsx";
import { LabelsView } from "./labels-view.tsx";
import { TreeTable } from "./tree-table.tsx";

/** Sites, buildings, rows and racks, with what the rigs there do. */
export default function Places() {
  const loaded = usePlaces();
  const [asked, setAsked] = useState<Asked | null>(null);
  const query = usePageQuery();
  const isOfLabels = query.get("view") === "labels";
  const count = loaded.value?.all.length ?? 0;
  const add = may("addPlace") ? (
    <button type="button" class="button primary" onClick={() => setAsked({ what: "add", inside: null })}>
      <Icon name="plus" /> {t.places.add}
    </button>
  ) : null;
  return (
    <Page
      title={t.menu.places}
      lead={t.places.lead}
      actions={
        <>
          <a class="button" href={query.hrefWith({ view: isOfLabels ? "" : "labels", labels: "" })}>
            <Icon name={isOfLabels ? "cards" : "printer"} /> {isOfLabels ? t.places.all : t.labels.title}
          </a>
          {count === 0 ? null : add}
        </>
      }
    >
      <Loading from={loaded}>
        {(tree, known) => (
          <>
            {isOfLabels ? (
              <LabelsView tree={tree} id={null} />
            ) : tree.all.length === 0 ? (
              <EmptyState known={known} icon="rack" title={t.places.none} text={t.places.noneText}>
                {add}
              </EmptyState>
            ) : (
              <TreeTable tree={tree} onAsk={setAsked} reload={loaded.reload} />
            )}
            <PlaceDialogs asked={asked} tree={tree} changed={loaded.reload} onClose={() => setAsked(null)} />
          </>
        )}
      </Loading>
    </Page>
  );
}
