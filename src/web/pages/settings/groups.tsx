import { useMemo, useState } from "preact/hooks";
import type { Group } from "../../../contract/resources.ts";
import { isHere, numberThere, ownGroupName } from "../../../contract/site-numbers.ts";
import { call } from "../../api.ts";
import { byName, counted } from "../../format.ts";
import { t } from "../../language.ts";
import { rigs } from "../../live.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded, Waiting } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { link } from "../../route.ts";
import { may } from "../../session.ts";
import { FromFile, ListHead } from "./entry.tsx";
import { GroupDialog } from "./group-dialog.tsx";

type Asked =
  | { readonly what: "add"; readonly parentId: number }
  | { readonly what: "change" | "delete"; readonly group: Group };

/** The groups inside each group (0 = at the top), by name. */
export function byParent(groups: readonly Group[]): ReadonlyMap<number, readonly Group[]> {
  const ids = new Set(groups.map(({ id }) => id));
  const inside = Map.groupBy(groups, ({ parentId }) => (ids.has(parentId) ? parentId : 0));
  for (const list of inside.values()) list.sort((one, other) => byName(one.name, other.name));
  return inside;
}

/** The tree of groups, with the rigs in each. */
export function Groups() {
  const loaded = useLoaded((signal) => call("listGroups", {}, { signal }), []);
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const saved = () => {
    loaded.reload();
    close();
    say(t.settings.saved);
  };
  const add = (
    <button type="button" class="button primary" onClick={() => setAsked({ what: "add", parentId: 0 })}>
      <Icon name="plus" /> {t.settings.addGroup}
    </button>
  );
  return (
    <>
      <ListHead text={t.settings.groupsLead}>
        {may("addGroup") && loaded.value !== undefined && loaded.value.length > 0 ? add : null}
      </ListHead>
      <Loading from={loaded}>
        {(groups, known) => (
          <>
            {groups.length === 0 ? (
              <EmptyState known={known} icon="rigs" title={t.settings.noGroups} text={t.settings.noGroupsText}>
                {may("addGroup") ? add : null}
              </EmptyState>
            ) : (
              <Tree groups={groups} onAsk={setAsked} />
            )}
            {asked?.what === "add" ? (
              <GroupDialog group={null} parentId={asked.parentId} groups={groups} onSaved={saved} onClose={close} />
            ) : null}
            {asked?.what === "change" ? (
              <GroupDialog
                group={asked.group}
                parentId={asked.group.parentId}
                groups={groups}
                onSaved={saved}
                onClose={close}
              />
            ) : null}
            {asked?.what === "delete" ? (
              <DeleteGroup group={asked.group} groups={groups} onDeleted={loaded.reload} onClose={close} />
            ) : null}
          </>
        )}
      </Loading>
    </>
  );
}

/** Number of rigs by group; null until loaded. */
function useCounts(): ReadonlyMap<number, number> | null {
  const { value } = rigs;
  return useMemo(() => {
    const counts = new Map<number, number>();
    for (const { group } of value.byId.values()) counts.set(group, (counts.get(group) ?? 0) + 1);
    return value.loaded ? counts : null;
  }, [value]);
}

function Tree({ groups, onAsk }: { groups: readonly Group[]; onAsk: (asked: Asked) => void }) {
  const counts = useCounts();
  const inside = useMemo(() => byParent(groups), [groups]);
  const rigsIn = (id: number): number =>
    (inside.get(id) ?? []).reduce((sum, group) => sum + rigsIn(group.id), counts?.get(id) ?? 0);
  const branch = (parentId: number) => (
    <ul class="tree">
      {(inside.get(parentId) ?? []).map((group) => (
        <li key={group.id}>
          <div class="tree-row">
            <Icon name={group.room === true ? "home" : "rigs"} />
            <p class="entry-head">
              <strong>
                <bdi>{ownGroupName(group)}</bdi>
              </strong>
              {group.room === true ? <span class="tag">{t.settings.room}</span> : null}
              <a href={link(`rigs?group=${group.id}`)}>
                {counts === null ? t.menu.rigs : counted(rigsIn(group.id), t.settings.rigs)}
              </a>
              <FromFile owner={group.owner} />
            </p>
            <GroupActions group={group} onAsk={onAsk} />
          </div>
          {inside.has(group.id) ? branch(group.id) : null}
        </li>
      ))}
    </ul>
  );
  return <div class="card">{branch(0)}</div>;
}

function GroupActions({ group, onAsk }: { group: Group; onAsk: (asked: Asked) => void }) {
  // The group that is a site has its name from the configuration.
  const own = group.owner !== "file" && (isHere(group.id) || numberThere(group.id) > 0);
  const button = (icon: "plus" | "edit" | "trash", label: string, asked: Asked) => (
    <button type="button" class="button quiet small" title={label} onClick={() => onAsk(asked)}>
      <Icon name={icon} />
      <span class="visually-hidden">
        {label}: {group.name}
      </span>
    </button>
  );
  return (
    <span class="tree-actions">
      {may("addGroup") ? button("plus", t.settings.addInside, { what: "add", parentId: group.id }) : null}
      {own && may("changeGroup") ? button("edit", t.settings.change, { what: "change", group }) : null}
      {own && may("deleteGroup") ? button("trash", t.shell.delete, { what: "delete", group }) : null}
    </span>
  );
}

function DeleteGroup({
  group,
  groups,
  onDeleted,
  onClose,
}: {
  group: Group;
  groups: readonly Group[];
  onDeleted: () => void;
  onClose: () => void;
}) {
  const counts = useCounts();
  const count = counts?.get(group.id) ?? 0;
  const inside = groups.filter(({ parentId }) => parentId === group.id).length;
  const parent = groups.find(({ id }) => id === group.parentId);
  const moved = [
    ...(count > 0 ? [counted(count, t.settings.rigs)] : []),
    ...(inside > 0 ? [counted(inside, t.settings.innerGroups)] : []),
  ].join(", ");
  return (
    <Confirm
      title={t.settings.deleteGroupTitle({ name: group.name })}
      text={
        counts === null ? (
          <Waiting />
        ) : moved === "" ? (
          t.settings.deleteEmptyGroup
        ) : parent === undefined ? (
          t.settings.toTop({ what: moved })
        ) : (
          t.settings.toParent({ what: moved, parent: `\u2068${parent.name}\u2069` })
        )
      }
      verb={t.shell.delete}
      dangerous
      onConfirm={async () => {
        await call("deleteGroup", { id: group.id });
        say(t.settings.deleted);
        onDeleted();
      }}
      onClose={onClose}
    />
  );
}
