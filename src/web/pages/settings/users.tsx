import { useState } from "preact/hooks";
import type { User } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { groupName } from "../../groups.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { may, session } from "../../session.ts";
import { Entry, FromFile, ListHead } from "./entry.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { type Limits, privileges, UserDialog } from "./user-dialog.tsx";

type Asked = { readonly what: "change" | "key" | "revoke" | "delete"; readonly user: User };

/** Users: their rights and keys. */
export function Users() {
  const loaded = useLoaded(async (signal) => {
    const [users, groups, pools] = await Promise.all([
      call("listUsers", {}, { signal }),
      may("listGroups") ? call("listGroups", {}, { signal }) : [],
      may("listPools") ? call("listPools", {}, { signal }) : null,
    ]);
    const limits: Limits = {
      groups: groups
        .map(({ id }) => ({ id, name: groupName(groups, id) }))
        .sort((one, other) => byName(one.name, other.name)),
      pools: (pools?.list ?? [])
        .map(({ id, description, url }) => ({ id, name: description === "" ? url : description }))
        .sort((one, other) => byName(one.name, other.name)),
    };
    return { users: [...users].sort((one, other) => byName(one.name, other.name)), limits };
  }, []);
  const [adds, setAdds] = useState(false);
  const [asked, setAsked] = useState<Asked | null>(null);
  const close = () => setAsked(null);
  const canChange = may("saveUser");
  return (
    <>
      <ListHead text={t.settings.usersLead}>
        {canChange ? (
          <button type="button" class="button primary" onClick={() => setAdds(true)}>
            <Icon name="plus" /> {t.settings.addUser}
          </button>
        ) : null}
      </ListHead>
      <Loading from={loaded}>
        {({ users, limits }, known) => (
          <>
            {users.length === 0 ? (
              <EmptyState known={known} icon="person" title={t.settings.noUsers} text={t.settings.noUsersText} />
            ) : (
              <ul class="entries">
                {users.map((user) => (
                  <UserEntry key={user.id} user={user} limits={limits} onAsk={(what) => setAsked({ what, user })} />
                ))}
              </ul>
            )}
            {adds || asked?.what === "change" ? (
              <UserDialog
                user={asked?.user ?? null}
                limits={limits}
                onClose={() => {
                  setAdds(false);
                  close();
                }}
                onSaved={(user) => {
                  loaded.reload();
                  say(t.settings.saved);
                  // Without a key, a new user cannot sign in.
                  setAsked(adds ? { what: "key", user } : null);
                  setAdds(false);
                }}
              />
            ) : null}
          </>
        )}
      </Loading>
      <Card title={t.settings.rights}>
        <dl class="rights">
          {privileges.map((privilege) => (
            <div key={privilege}>
              <dt>{t.settings.privilege[privilege]}</dt>
              <dd>{t.settings.privilegeText[privilege]}</dd>
            </div>
          ))}
        </dl>
        <p class="hint">{t.settings.landing}</p>
      </Card>
      {asked?.what === "key" ? <KeyDialog user={asked.user} onMade={loaded.reload} onClose={close} /> : null}
      {asked?.what === "revoke" ? (
        <Confirm
          title={t.settings.revokeTitle({ name: asked.user.name })}
          text={t.settings.revokeText}
          verb={t.settings.revoke}
          dangerous
          onConfirm={async () => {
            await call("saveUser", { id: asked.user.id, key: null });
            say(t.settings.revoked);
            loaded.reload();
          }}
          onClose={close}
        />
      ) : null}
      {asked?.what === "delete" ? (
        <Confirm
          title={t.settings.deleteUserTitle({ name: asked.user.name })}
          text={t.settings.deleteUserText}
          verb={t.shell.delete}
          dangerous
          onConfirm={async () => {
            await call("deleteUser", { id: asked.user.id });
            say(t.settings.deleted);
            loaded.reload();
          }}
          onClose={close}
        />
      ) : null}
    </>
  );
}

function UserEntry({ user, limits, onAsk }: { user: User; limits: Limits; onAsk: (what: Asked["what"]) => void }) {
  const canChange = may("saveUser") && user.owner !== "file";
  const button = (what: Asked["what"], label: string, icon: "edit" | "key" | "close" | "trash") => (
    <button type="button" class="button small" onClick={() => onAsk(what)}>
      <Icon name={icon} /> {label}
      <span class="visually-hidden">: {user.name}</span>
    </button>
  );
  return (
    <Entry
      name={user.name}
      tags={
        <>
          {user.id === session.value?.user.id ? <span class="tag">{t.settings.you}</span> : null}
          <FromFile owner={user.owner} />
        </>
      }
      facts={[
        t.privilege[user.privilege],
        namesOf(user.groups, limits.groups, t.settings.allGroups, t.settings.noGroup),
        namesOf(user.pools, limits.pools, t.settings.allPools, t.settings.noPool),
        user.hasKey ? t.settings.hasKey : <span class="status warning">{t.settings.noKey}</span>,
      ]}
      actions={
        <>
          {canChange ? button("change", t.settings.change, "edit") : null}
          {canChange ? button("key", user.hasKey ? t.settings.newKey : t.settings.makeKey, "key") : null}
          {canChange && user.hasKey ? button("revoke", t.settings.revoke, "close") : null}
          {canChange && may("deleteUser") ? button("delete", t.shell.delete, "trash") : null}
        </>
      }
    />
  );
}

/** "Hall, Barn"; ids that are hidden from this user stand as numbers. */
function namesOf(ids: readonly number[] | null, list: Limits["groups"], all: string, none: string) {
  if (ids === null) return all;
  if (ids.length === 0) return <span class="status warning">{none}</span>;
  return <bdi>{ids.map((id) => list.find((each) => each.id === id)?.name ?? `#${id}`).join(", ")}</bdi>;
}
