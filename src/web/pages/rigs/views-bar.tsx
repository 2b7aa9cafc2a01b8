import { useMemo, useState } from "preact/hooks";
import { now } from "../../clock.ts";
import { number } from "../../format.ts";
import { t } from "../../language.ts";
import type { Row } from "../../live.ts";
import { Dialog } from "../../parts/dialog.tsx";
import { Field } from "../../parts/field.tsx";
import { Icon } from "../../parts/icon.tsx";
import { say } from "../../parts/messages.tsx";
import { link } from "../../route.ts";
import { countOf } from "./filter.ts";
import type { GroupTree } from "./groups.ts";
import { builtInViews, deleteView, longestName, savedViews, saveView } from "./saved-views.ts";
import { allRigs, filtersOf, searchOf, type View, viewIn } from "./view.ts";

/** ms for which the counts beside the views are cached. */
const countedMs = 2_000;

interface ViewsProps {
  readonly view: View;
  readonly all: readonly Row[];
  readonly tree: GroupTree;
}

/** Links to views: built-in ones, and those saved in this browser. */
export function ViewsBar({ view, all, tree }: ViewsProps) {
  const [saving, setSaving] = useState(false);
  const search = filtersOf(view);
  const saved = savedViews.value;
  // Counting ten thousand rigs for each view after each change would cost more than drawing the list.
  const moment = Math.floor(now.value / countedMs);
  const views = useMemo(
    () =>
      [
        { name: t.rigs.view.all, search: filtersOf(allRigs), saved: null },
        ...builtInViews.map((each) => ({
          name: t.rigs.view[each.name],
          search: filtersOf(viewIn(each.search)),
          saved: null,
        })),
        ...saved.map((each) => ({ ...each, saved: each })),
      ].map((each) => ({ ...each, count: countOf(all, viewIn(each.search), tree) })),
    [all.length, moment, tree, saved],
  );
  const here = views.find((each) => each.search === search);
  const kept = here?.saved ?? null;
  return (
    <nav class="rigs-views" aria-label={t.rigs.views}>
      <ul>
        {views.map(({ name, search: filters, count }) => (
          <li key={`${name} ${filters}`}>
            <a
              href={link("rigs") + searchOf({ ...viewIn(filters), columns: view.columns, layout: view.layout })}
              aria-current={filters === search ? "page" : undefined}
            >
              <bdi>{name}</bdi> <span class="count">{number(count)}</span>
            </a>
          </li>
        ))}
      </ul>
      {kept === null ? null : (
        <button
          type="button"
          class="button quiet"
          aria-label={t.rigs.deleteView({ name: kept.name })}
          title={t.rigs.deleteView({ name: kept.name })}
          onClick={() => deleteView(kept)}
        >
          <Icon name="trash" />
        </button>
      )}
      {here !== undefined ? null : (
        <button type="button" class="button quiet" onClick={() => setSaving(true)}>
          <Icon name="bookmark" /> {t.rigs.saveView}
        </button>
      )}
      {saving ? <SaveDialog search={search} onClose={() => setSaving(false)} /> : null}
    </nav>
  );
}

function SaveDialog({ search, onClose }: { search: string; onClose: () => void }) {
  const save = (event: SubmitEvent) => {
    event.preventDefault();
    if (!(event.currentTarget instanceof HTMLFormElement)) return;
    const name = String(new FormData(event.currentTarget).get("name") ?? "").trim();
    if (name === "") return;
    saveView({ name, search });
    say(t.rigs.viewSaved({ name }));
    onClose();
  };
  return (
    <Dialog
      title={t.rigs.saveView}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          <button type="submit" form="save-view" class="button primary">
            {t.shell.save}
          </button>
        </>
      }
    >
      <form id="save-view" onSubmit={save}>
        <Field label={t.rigs.viewName} hint={t.rigs.saveViewHint}>
          {(control) => <input {...control} name="name" required maxLength={longestName} autocomplete="off" />}
        </Field>
      </form>
    </Dialog>
  );
}
