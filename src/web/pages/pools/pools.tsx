import { useState } from "preact/hooks";
import type { Pool } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { byName } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { FormDialog } from "../../parts/form-dialog.tsx";
import { Icon } from "../../parts/icon.tsx";
import { Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { once } from "../../parts/site-copies.tsx";
import { fieldText } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { Sharing, SitesField, sitesIn } from "./sharing.tsx";

/** The pools that rigs and managed miners can use. */
export function PoolDefinitions() {
  const loaded = useLoaded((signal) => call("listPools", {}, { signal }), []);
  const [edited, setEdited] = useState<Pool | "new" | null>(null);
  const [removed, setRemoved] = useState<Pool | null>(null);
  const add = may("savePool") ? (
    <button type="button" class="button primary" onClick={() => setEdited("new")}>
      <Icon name="plus" /> {t.pools.addPool}
    </button>
  ) : null;
  return (
    <Loading from={loaded}>
      {({ list }, known) => (
        <>
          {list.length === 0 ? (
            <EmptyState known={known} icon="pools" title={t.pools.none} text={t.pools.noneText}>
              {add}
            </EmptyState>
          ) : (
            <Card title={t.pools.pools} actions={add}>
              <PoolTable list={list} onEdit={setEdited} onRemove={setRemoved} />
            </Card>
          )}
          {edited === null ? null : (
            <PoolForm
              pool={edited === "new" ? null : edited}
              saved={() => {
                setEdited(null);
                loaded.reload();
              }}
              onClose={() => setEdited(null)}
            />
          )}
          {removed === null ? null : (
            <Confirm
              title={t.pools.deletePool}
              text={
                <>
                  <bdi>{nameOf(removed)}</bdi>: {t.pools.deletePoolText}
                </>
              }
              verb={t.shell.delete}
              dangerous
              onConfirm={async () => {
                say((await call("deletePool", { id: removed.id })).message);
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

export const nameOf = ({ description, url }: Pick<Pool, "description" | "url">): string =>
  description === "" ? url : description;

interface TableProps {
  readonly list: readonly Pool[];
  readonly onEdit: (pool: Pool) => void;
  readonly onRemove: (pool: Pool) => void;
}

function PoolTable({ list, onEdit, onRemove }: TableProps) {
  const sorted = once(list).sort((one, other) => byName(nameOf(one), nameOf(other)));
  const [maySave, mayDelete] = [may("savePool"), may("deletePool")];
  return (
    <Scroll name={t.pools.pools}>
      <table class="pool-table">
        <thead>
          <tr>
            {[t.pools.name, t.pools.coin, t.pools.login].map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
            {maySave || mayDelete ? <th scope="col">{t.pools.actions}</th> : null}
          </tr>
        </thead>
        <tbody>
          {sorted.map((pool) => (
            <tr key={pool.id}>
              <th scope="row" class="long">
                <bdi>{nameOf(pool)}</bdi>
                <small>
                  <bdi>{pool.url}</bdi>
                </small>
                <Sharing of={pool} />
              </th>
              <td class="long" data-label={t.pools.coin}>
                <bdi>{pool.coinDisplayName || pool.coinShortName || "–"}</bdi>
                <small>
                  <bdi>{pool.coinAlgorithm}</bdi>
                </small>
              </td>
              <td class="long" data-label={t.pools.login}>
                <bdi>{pool.walletAddress || "–"}</bdi>
                <small>
                  <bdi>{pool.workerName}</bdi>
                </small>
              </td>
              {maySave || mayDelete ? (
                <td>
                  <span class="row row-actions">
                    {maySave && pool.centre === undefined ? (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`${t.pools.edit}: ${nameOf(pool)}`}
                        onClick={() => onEdit(pool)}
                      >
                        <Icon name="edit" /> {t.pools.edit}
                      </button>
                    ) : null}
                    {mayDelete && pool.centre === undefined ? (
                      <button
                        type="button"
                        class="button small"
                        aria-label={`${t.shell.delete}: ${nameOf(pool)}`}
                        onClick={() => onRemove(pool)}
                      >
                        <Icon name="trash" /> {t.shell.delete}
                      </button>
                    ) : null}
                  </span>
                </td>
              ) : null}
            </tr>
          ))}
        </tbody>
      </table>
    </Scroll>
  );
}

interface FormProps {
  readonly pool: Pool | null;
  readonly saved: () => void;
  readonly onClose: () => void;
}

/** The password is write-only: an empty field leaves it unchanged. */
function PoolForm({ pool, saved, onClose }: FormProps) {
  const known = useLoaded(
    async (signal) => ({
      coins: may("getMarket") ? (await call("getMarket", {}, { signal })).coins : [],
      algorithms: may("listAlgorithms") ? await call("listAlgorithms", {}, { signal }) : [],
    }),
    [],
  );
  const save = async (form: FormData) => {
    const text = (name: string) => fieldText(form, name);
    const password = text("plainWorkerPassword");
    await call("savePool", {
      id: pool?.id ?? 0,
      description: text("description"),
      url: text("url"),
      coinShortName: text("coinShortName"),
      coinAlgorithm: text("coinAlgorithm"),
      walletAddress: text("walletAddress"),
      workerName: text("workerName"),
      coinClass: undefined,
      runsAt: sitesIn(form, pool?.id ?? 0),
      plainWorkerPassword: password !== "" ? password : form.get("noPassword") === null ? undefined : "",
    });
    say(t.pools.saved);
    saved();
  };
  return (
    <FormDialog title={pool === null ? t.pools.addPool : t.pools.editPool} onSubmit={save} onClose={onClose}>
      {(wrong) => {
        const field = (name: keyof Pool & string, label: string, max: number, hint = "", list?: string) => (
          <Field label={label} hint={hint} problem={wrong(name)}>
            {(control) => (
              <input
                {...control}
                name={name}
                dir="auto"
                maxLength={max}
                spellcheck={false}
                autocomplete="off"
                list={list}
                required={name === "url"}
                defaultValue={pool === null ? "" : String(pool[name] ?? "")}
              />
            )}
          </Field>
        );
        return (
          <>
            {field("description", t.pools.name, 200)}
            {field("url", t.pools.url, 512, "stratum+tcp://host:port")}
            {field("walletAddress", t.pools.wallet, 256, t.pools.walletHint)}
            {field("workerName", t.pools.worker, 256, t.pools.workerHint)}
            <Field
              label={t.pools.password}
              hint={pool === null ? t.pools.passwordNew : t.pools.passwordHint}
              problem={wrong("plainWorkerPassword")}
            >
              {(control) => (
                <input
                  {...control}
                  name="plainWorkerPassword"
                  type="password"
                  maxLength={256}
                  autocomplete="new-password"
                />
              )}
            </Field>
            {pool === null ? null : (
              <label class="switch">
                <input type="checkbox" name="noPassword" /> {t.pools.noPassword}
              </label>
            )}
            {field("coinShortName", t.pools.coin, 32, t.pools.coinHint, "pool-coins")}
            {field("coinAlgorithm", t.pools.algorithm, 64, t.pools.algorithmHint, "pool-algorithms")}
            <SitesField id={pool?.id ?? 0} of={pool} />
            <datalist id="pool-coins">
              {known.value?.coins.map(({ shortName, name }) => (
                <option key={shortName} value={shortName}>
                  {name}
                </option>
              ))}
            </datalist>
            <datalist id="pool-algorithms">
              {known.value?.algorithms.map(({ id, name }) => (
                <option key={id} value={id}>
                  {name}
                </option>
              ))}
            </datalist>
          </>
        );
      }}
    </FormDialog>
  );
}
