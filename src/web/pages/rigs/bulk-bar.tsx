import { useState } from "preact/hooks";
import { counted } from "../../format.ts";
import { t } from "../../language.ts";
import { Icon } from "../../parts/icon.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { BulkDialog } from "./bulk-dialog.tsx";
import { type BulkName, bulkNames, kindOf, mayDo } from "./bulk-kinds.ts";
import type { GroupTree } from "./groups.ts";
import { clearSelection, mostCompared, selectAll, selection } from "./selection.ts";
import type { Listed } from "./use-listed.ts";

/** The selection, and its possible actions. */
export function BulkBar({ listed, tree }: { listed: Listed; tree: GroupTree }) {
  const [open, setOpen] = useState<BulkName | null>(null);
  const ids = selection.value;
  const selected = listed.all.filter(({ id }) => ids.has(id));
  const visible = listed.rows.reduce((sum, { id }) => sum + (ids.has(id) ? 1 : 0), 0);
  const hidden = selected.length - visible;
  const names = bulkNames.filter(mayDo);
  const first = names.filter((name) => kindOf(name).isFirst);
  const more = names.filter((name) => !kindOf(name).isFirst);
  return (
    <section class="bulk-bar" aria-label={t.rigs.actions}>
      <p role="status">
        <strong>{counted(selected.length, t.rigs.selected)}</strong>
        {hidden === 0 ? null : <small> {counted(hidden, t.rigs.hidden)}</small>}
      </p>
      {visible === listed.rows.length ? null : (
        <button type="button" class="button quiet small" onClick={() => selectAll(listed.rows)}>
          {counted(listed.rows.length, t.rigs.selectListed)}
        </button>
      )}
      <div class="bulk-actions">
        {first.map((name) => (
          <button key={name} type="button" class="button" aria-haspopup="dialog" onClick={() => setOpen(name)}>
            <Icon name={kindOf(name).icon} /> <span>{t.rigs.action[name]}</span>
          </button>
        ))}
        {more.length === 0 ? null : (
          <>
            <button type="button" class="button" popovertarget="rigs-more">
              <Icon name="more" /> <span>{t.rigs.moreActions}</span>
            </button>
            <div id="rigs-more" popover="auto" class="popover menu-popover up">
              {more.map((name) => (
                <button
                  key={name}
                  type="button"
                  class="button quiet"
                  popovertarget="rigs-more"
                  aria-haspopup="dialog"
                  onClick={() => setOpen(name)}
                >
                  <Icon name={kindOf(name).icon} /> {t.rigs.action[name]}
                </button>
              ))}
            </div>
          </>
        )}
        {may("getHistory") && selected.length >= 2 && selected.length <= mostCompared ? (
          <a class="button" href={link(`compare?rigs=${selected.map(({ id }) => id).join()}`)}>
            <Icon name="activity" /> <span>{t.compare.open}</span>
          </a>
        ) : null}
      </div>
      <button
        type="button"
        class="button quiet close"
        aria-label={t.rigs.clearSelection}
        title={t.rigs.clearSelection}
        onClick={clearSelection}
      >
        <Icon name="close" />
      </button>
      {open === null ? null : <BulkDialog name={open} selected={selected} tree={tree} onClose={() => setOpen(null)} />}
    </section>
  );
}
