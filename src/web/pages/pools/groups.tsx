import { useState } from "preact/hooks";
import type { Pool, PoolGroup } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName, number } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState, None } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { once } from "../../parts/site-copies.tsx";
import { fieldText } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { nameOf } from "./pools.tsx";
import { Sharing, SitesField, sitesIn } from "./sharing.tsx";

/** Pool groups: pools in order of failover. */
export function PoolGroups() {
  const loaded = useLoaded(async (signal) => {
    const [groups, pools] = await Promise.all([
      call("listPoolGroups", {}, { signal }),
      call("listPools", {}, { signal }),
    ]);
    return { groups, pools: pools.list };
  }, []);
  const [edited, setEdited] = useState<PoolGroup | "new" | null>(null);
  const [removed, setRemoved] = useState<PoolGroup | null>(null);
  const add = may("savePoolGroup") ? (
    <button type="button" class="button primary" onClick={() => setEdited("new")}>
      <Icon name="plus" /> {t.pools.addGroup}
    </button>
  ) : null;
  return (
    <Loading from={loaded}>
      {({ groups, pools }, known) => (
        <>
          {groups.length === 0 ? (
            <EmptyState known={known} icon="pools" title={t.pools.noGroups} text={t.pools.noGroupsText}>
              {add}
            </EmptyState>
          ) : (
            <>
              {add === null ? null : <div class="row">{add}</div>}
              <div class="cards">
                {once(groups)
                  .sort((one, other) => byName(one.name, other.name))
                  .map((group) => (
                    <Card
                      key={group.id}
                      title={<bdi>{group.name}</bdi>}
                      actions={<Actions group={group} setEdited={setEdited} setRemoved={setRemoved} />}
                    >
                      <Sharing of={group} />
                      <ol class="pool-order">
                        {group.pools.map((id) => {
                          const pool = pools.find((each) => each.id === id);
                          return (
                            <li key={id}>
                              <bdi>{pool === undefined ? t.pools.hidden : nameOf(pool)}</bdi>
                            </li>
                          );
                        })}
                      </ol>
                      {group.pools.length === 0 ? <None known={known}>{t.pools.emptyGroup}</None> : null}
                    </Card>
                  ))}
              </div>
            </>
          )}
          {edited === null ? null : (
            <GroupForm
              group={edited === "new" ? null : edited}
              pools={pools}
              saved={() => {
                setEdited(null);
                loaded.reload();
              }}
              onClose={() => setEdited(null)}
            />
          )}
          {removed === null ? null : (
            <Confirm
              title={t.pools.deleteGroup}
              text={
                <>
                  <bdi>{removed.name}</bdi>: {t.pools.deleteGroupText}
                </>
              }
              verb={t.shell.delete}
              dangerous
              onConfirm={async () => {
                say((await call("deletePoolGroup", { id: Number(removed.id) })).message);
                loaded.reload();
              }}
              onClose={() => setRemoved(null)}
            />
          )}
        </>
      )}
    </Loading>
  );
}

interface ActionsProps {
  readonly group: PoolGroup;
  readonly setEdited: (group: PoolGroup) => void;
  readonly setRemoved: (group: PoolGroup) => void;
}

const Actions = ({ group, setEdited, setRemoved }: ActionsProps) => (
  <span class="row">
    {may("savePoolGroup") && group.centre === undefined ? (
      <button
        type="button"
        class="button small"
        aria-label={`${t.pools.edit}: ${group.name}`}
        onClick={() => setEdited(group)}
      >
        <Icon name="edit" /> {t.pools.edit}
      </button>
    ) : null}
    {may("deletePoolGroup") && group.centre === undefined ? (
      <button
        type="button"
        class="button small"
        aria-label={`${t.shell.delete}: ${group.name}`}
        onClick={() => setRemoved(group)}
      >
        <Icon name="trash" /> {t.shell.delete}
      </button>
    ) : null}
  </span>
);

interface FormProps {
  readonly group: PoolGroup | null;
  readonly pools: readonly Pool[];
  readonly saved: () => void;
  readonly onClose: () => void;
}

function GroupForm({ group, pools, saved, onClose }: FormProps) {
  const [order, setOrder] = useState<readonly number[]>(group?.pools ?? []);
  const save = async (form: FormData) => {
    const id = Number(group?.id ?? 0);
    await call("savePoolGroup", {
      id,
      name: fieldText(form, "name"),
      pools: [...order],
      runsAt: sitesIn(form, id),
    });
    say(t.pools.saved);
    saved();
  };
  const others = pools.filter(({ id }) => !order.includes(id));
  const poolName = (id: number): string => {
    const pool = pools.find((each) => each.id === id);
    return pool === undefined ? t.pools.hidden : nameOf(pool);
  };
  const move = (index: number, by: number) => {
    const next = [...order];
    const [moved] = next.splice(index, 1);
    if (moved !== undefined) next.splice(index + by, 0, moved);
    setOrder(next);
  };
  return (
    <FormDialog title={group === null ? t.pools.addGroup : t.pools.editGroup} onSubmit={save} onClose={onClose}>
      {(wrong) => (
        <>
          <Field label={t.pools.name} problem={wrong("name")}>
            {(control) => (
              <input {...control} name="name" dir="auto" required maxLength={200} defaultValue={group?.name ?? ""} />
            )}
          </Field>
          <ol class="pool-order editable">
            {order.map((id, index) => (
              <li key={id}>
                <bdi>{poolName(id)}</bdi>
                <span class="row">
                  <button
                    type="button"
                    class="button small"
                    disabled={index === 0}
                    aria-label={t.pools.moveUp({ name: poolName(id), place: number(index + 1) })}
                    onClick={() => move(index, -1)}
                  >
                    <Icon name="up" />
                  </button>
                  <button
                    type="button"
                    class="button small"
                    disabled={index === order.length - 1}
                    aria-label={t.pools.moveDown({ name: poolName(id), place: number(index + 1) })}
                    onClick={() => move(index, 1)}
                  >
                    <Icon name="down" />
                  </button>
                  <button
                    type="button"
                    class="button small"
                    aria-label={t.pools.takeOut({ name: poolName(id) })}
                    onClick={() => setOrder(order.filter((each) => each !== id))}
                  >
                    <Icon name="close" />
                  </button>
                </span>
              </li>
            ))}
          </ol>
          <Field label={t.pools.addToGroup} hint={t.pools.orderHint} problem={wrong("pools")}>
            {(control) => (
              <select
                {...control}
                value=""
                disabled={others.length === 0}
                onChange={({ currentTarget }) => {
                  if (currentTarget.value !== "") setOrder([...order, Number(currentTarget.value)]);
                }}
              >
                <option value="">–</option>
                {others.map((pool) => (
                  <option key={pool.id} value={String(pool.id)}>
                    {nameOf(pool)}
                  </option>
                ))}
              </select>
            )}
          </Field>
          <SitesField id={Number(group?.id ?? 0)} of={group} />
        </>
      )}
    </FormDialog>
  );
}
