import { useRef, useState } from "preact/hooks";
import type { ActionReply, MinerDetail, MinerPool } from "../../../contract/resources.ts";
import { call } from "../../api.ts";
import { hashrate, number } from "../../format.ts";
import { t } from "../../language.ts";
import { Confirm, Dialog } from "../../parts/dialog.tsx";
import { EmptyState } from "../../parts/empty-state.tsx";
import { Field } from "../../parts/field.tsx";
import { useFocusBack } from "../../parts/focus.ts";
import { Icon } from "../../parts/icon.tsx";
import { type Known, Loading, useLoaded } from "../../parts/load.tsx";
import { say } from "../../parts/messages.tsx";
import { Card } from "../../parts/page.tsx";
import { Scroll } from "../../parts/scroll.tsx";
import { Age, Mark, type Tone } from "../../parts/status.tsx";
import { useButton, useSending } from "../../parts/use-form.ts";
import { may } from "../../session.ts";
import { Facts } from "./facts.tsx";
import { reportShares } from "./faults.ts";

interface PoolsProps {
  readonly miner: MinerDetail;
  readonly reload: () => void;
}

type PoolAction = "remove" | "disable" | "enable" | "prioritize";

/** The pools that the rig reports, with the possible actions. */
export function Pools({ miner, reload, known }: PoolsProps & { readonly known: Known }) {
  const [adding, setAdding] = useState(false);
  const [removing, setRemoving] = useState<MinerPool | null>(null);
  const { busy, send } = useButton();
  const rows = useRef<HTMLTableSectionElement>(null);
  useFocusBack(rows, busy);
  const act = async (pool: MinerPool, action: PoolAction) => {
    sayAnswer(await call("minerPoolAction", { id: miner.id, poolId: pool.id, action }));
    reload();
  };
  const mayAct = may("minerPoolAction");
  const mayAdd = may("minerAction") && may("listAddPools") && (miner.canPoolSave || miner.canPoolSwitch);
  const pools = [...miner.poolList].sort((one, other) => one.priorityInfo.priority - other.priorityInfo.priority);
  const hasShares = reportShares(pools, miner.readings);
  return (
    <>
      <Card
        title={t.rig.pools}
        actions={
          mayAdd ? (
            <button type="button" class="button small" onClick={() => setAdding(true)}>
              <Icon name="plus" /> {t.rig.addPool}
            </button>
          ) : null
        }
      >
        {pools.length === 0 ? (
          <EmptyState known={known} icon="pools" title={t.rig.noPools} />
        ) : (
          <Scroll name={t.rig.pools}>
            <table>
              <thead>
                <tr>
                  {[t.rig.priority, t.rig.pool, t.rig.state].map((name) => (
                    <th key={name} scope="col">
                      {name}
                    </th>
                  ))}
                  <th scope="col" class="number">
                    {t.rig.accepted}
                  </th>
                  <th scope="col" class="number">
                    {t.rig.rejectedName}
                  </th>
                  {mayAct ? <th scope="col">{t.rig.actions}</th> : null}
                </tr>
              </thead>
              <tbody ref={rows}>
                {pools.map((pool) => (
                  <tr key={pool.id}>
                    <td>{number(pool.priorityInfo.priority)}</td>
                    <th scope="row" class="pool-name">
                      <bdi>{pool.name}</bdi>
                      <small>
                        <bdi>{pool.additionalInfo.displayUrl}</bdi> · <bdi>{pool.additionalInfo.worker}</bdi>
                      </small>
                      {pool.coinName === "" ? null : (
                        <small>
                          <bdi>{pool.coinName}</bdi>
                        </small>
                      )}
                    </th>
                    <td>
                      <PoolState state={pool.statusInfo.statusDisplay} />
                    </td>
                    <td class="number">{hasShares ? pool.progressInfo.line1 : "–"}</td>
                    <td class="number">{hasShares ? pool.progressInfo.line2 : "–"}</td>
                    {mayAct ? (
                      <td>
                        <span class="row">
                          {actionsOf(pool).map((action) => (
                            <button
                              key={action}
                              type="button"
                              class={`button small ${action === "remove" ? "danger" : ""}`}
                              disabled={busy}
                              aria-label={`${t.rig.poolAction[action]}: ${pool.name}`}
                              onClick={() => (action === "remove" ? setRemoving(pool) : send(() => act(pool, action)))}
                            >
                              {t.rig.poolAction[action]}
                            </button>
                          ))}
                        </span>
                      </td>
                    ) : null}
                  </tr>
                ))}
              </tbody>
            </table>
          </Scroll>
        )}
        {pools.length === 1 && mayAct && miner.canPoolSave && !pools.some(({ canRemove }) => canRemove) ? (
          <p class="hint">{t.rig.lastPool}</p>
        ) : null}
      </Card>
      <PoolView miner={miner} />
      {adding ? <AddPool miner={miner} reload={reload} onClose={() => setAdding(false)} /> : null}
      {removing === null ? null : (
        <Confirm
          title={t.rig.poolAction.remove}
          text={
            <>
              {t.rig.removePool} <bdi>{removing.name}</bdi>
            </>
          }
          verb={t.rig.poolAction.remove}
          dangerous
          onConfirm={() => act(removing, "remove")}
          onClose={() => setRemoving(null)}
        />
      )}
    </>
  );
}

const actionsOf = ({ canPrioritize, canEnable, canDisable, canRemove, priorityInfo }: MinerPool): PoolAction[] => [
  ...(canPrioritize && priorityInfo.priority !== 0 ? (["prioritize"] as const) : []),
  ...(canEnable ? (["enable"] as const) : []),
  ...(canDisable ? (["disable"] as const) : []),
  ...(canRemove ? (["remove"] as const) : []),
];

const sayAnswer = ({ message }: ActionReply): void => say(message);

const poolTones: Readonly<Record<string, Tone>> = { Enabled: "good", Disabled: "off", Dead: "bad" };

const PoolState = ({ state }: { state: string }) => (
  <Mark tone={poolTones[state] ?? "warning"}>
    {Object.entries(t.rig.poolState).find(([each]) => each === state)?.[1] ?? state}
  </Mark>
);

/** The pool's own data about this worker. */
function PoolView({ miner: { poolView: view, readings } }: { miner: MinerDetail }) {
  if (view === null || view === undefined) return null;
  return (
    <Card
      title={
        <>
          {t.rig.poolSays} <bdi>{view.source}</bdi>
        </>
      }
    >
      <Facts
        list={[
          [t.rig.hashrate, hashrate(view.hashrate, readings.algorithm)],
          [t.rig.rejectedName, number(view.rejected)],
          [t.rig.balance, number(view.balance, 8)],
          [t.rig.lastShare, view.lastShareUtc === null ? "–" : <Age time={view.lastShareUtc} />],
          [t.rig.asOf, <Age time={view.at} />],
        ]}
      />
    </Card>
  );
}

/** Adds one of the service's pools to the rig, or makes the rig mine only there. */
function AddPool({ miner, reload, onClose }: PoolsProps & { onClose: () => void }) {
  const loaded = useLoaded((signal) => call("listAddPools", { id: miner.id }, { signal }), [miner.id]);
  const [chosen, setChosen] = useState("");
  const sending = useSending();
  const { busy, problem } = sending;
  const send = (action: "add_pool" | "change_pool") =>
    sending.send(async () => {
      const entry = loaded.value?.addPoolList.find(({ type, id }) => `${type}:${id}` === chosen);
      if (entry === undefined) throw new Error(t.rig.choosePool);
      sayAnswer(await call("minerAction", { id: miner.id, action, pool_id: Number(entry.id), pool_type: entry.type }));
      reload();
      onClose();
    });
  return (
    <Dialog
      title={t.rig.addPool}
      onClose={onClose}
      actions={
        <>
          <button type="button" class="button" onClick={onClose}>
            {t.shell.cancel}
          </button>
          {miner.canPoolSwitch ? (
            <button type="button" class="button" disabled={busy} onClick={() => void send("change_pool")}>
              {t.rig.changePool}
            </button>
          ) : null}
          {miner.canPoolSave ? (
            <button type="button" class="button primary" disabled={busy} onClick={() => void send("add_pool")}>
              {t.rig.addThis}
            </button>
          ) : null}
        </>
      }
    >
      <Loading from={loaded}>
        {({ addPoolList }, known) =>
          addPoolList.length === 0 ? (
            <EmptyState known={known} icon="pools" title={t.rig.noDefinitions} text={t.rig.noDefinitionsText} />
          ) : (
            <Field label={t.rig.pool} hint={t.rig.addPoolHint} problem={problem ?? undefined}>
              {(control) => (
                <select {...control} value={chosen} onChange={({ currentTarget }) => setChosen(currentTarget.value)}>
                  <option value="">–</option>
                  {addPoolList.map(({ name, type, id }) => (
                    <option key={`${type}:${id}`} value={`${type}:${id}`}>
                      {type === "group" ? t.rig.poolGroup({ name }) : name}
                    </option>
                  ))}
                </select>
              )}
            </Field>
          )
        }
      </Loading>
    </Dialog>
  );
}
