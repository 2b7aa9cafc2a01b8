import type { ComponentChildren } from "preact";
import type { Command, MinerDetail } from "../../../contract/resources.ts";
import { energy, hashrate, money, number, percent, scaled, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Card } from "../../parts/page.tsx";
import { Age, reasonText } from "../../parts/status.tsx";
import { may } from "../../session.ts";
import { controlsOf } from "./control-command.ts";
import { Controls } from "./controls.tsx";
import { RigHistory } from "./history.tsx";
import { Holder } from "./holder.tsx";
import { ReadingTiles } from "./readings.tsx";

/** What a person wants to know first of a rig, and what they can do with it. */
export function Overview({ miner, commands, reload }: OverviewProps) {
  const facts = (
    <>
      <MoneyCard miner={miner} />
      <WorkCard miner={miner} />
    </>
  );
  // Beside few controls there is place.
  const isShort = controlsOf(miner).length < 4;
  return (
    <>
      <Problems miner={miner} />
      <ReadingTiles miner={miner} />
      <div class="rig-columns">
        <div class="stack">
          <Controls {...{ miner, commands, reload }} />
          <HeatingCard miner={miner} />
          {isShort ? facts : null}
        </div>
        <div class="stack">
          {may("getHistory") ? (
            <Card title={t.rig.lastDay}>
              <RigHistory miner={miner} only={["hashrate", "power"]} height={180} />
            </Card>
          ) : null}
          {isShort ? null : facts}
        </div>
      </div>
    </>
  );
}

interface OverviewProps {
  readonly miner: MinerDetail;
  readonly commands: readonly Command[];
  readonly reload: () => void;
}

/** Why it does not hash, and its errors and notes in its own words. */
function Problems({ miner: { readings, statusInfo } }: { miner: MinerDetail }) {
  const { reason, errors } = readings;
  const notes = readings.notes.filter((note) => note !== reason?.text);
  if (reason === null && errors.length === 0 && notes.length === 0) return null;
  return (
    <Card title={statusInfo.statusDisplay === "Disconnected" ? t.status.Disconnected : t.rig.says}>
      <ul class="problems">
        {reason === null ? null : (
          <li class="status warning">
            <span>
              {reasonText(reason.code)}
              {reason.text === "" ? null : (
                <>
                  {": "}
                  <span dir="auto">{reason.text}</span>
                </>
              )}{" "}
              <small>
                <Age time={reason.since} />
              </small>
            </span>
          </li>
        )}
        {errors.map(({ code, text }) => (
          <li key={`${code} ${text}`} class="status bad">
            <span>
              <code dir="auto">{code}</code> <span dir="auto">{text}</span>
            </span>
          </li>
        ))}
        {notes.map((note) => (
          <li key={note} dir="auto" class="note">
            {note}
          </li>
        ))}
      </ul>
    </Card>
  );
}

interface FactsProps {
  readonly list: readonly (readonly [string, ComponentChildren | null])[];
  /** A further class. */
  readonly look?: string;
}

/** Pairs of a name and a value; those without a value are left out. */
export function Facts({ list, look = "" }: FactsProps) {
  return (
    <dl class={`facts ${look}`}>
      {list.map(([name, value]) =>
        value === null ? null : (
          <div key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </div>
        ),
      )}
    </dl>
  );
}

function HeatingCard({ miner: { heating, power: held } }: { miner: MinerDetail }) {
  if (heating === null) return null;
  return (
    <Card
      title={
        <>
          {t.rig.heats} <bdi>{heating.name}</bdi>
        </>
      }
    >
      <Facts
        list={[
          [
            t.rig.room,
            <>
              {temperature(heating.room, 1)}{" "}
              {heating.at === null ? null : (
                <small>
                  <Age time={heating.at} />
                </small>
              )}
            </>,
          ],
          [t.rig.target, temperature(heating.target, 1)],
          [t.rig.demand, percent(heating.demand)],
        ]}
      />
      {heating.held ? <p class="hint">{t.rig.heatingHeld}</p> : null}
      {may("minerAction") ? null : <Holder power={held} />}
    </Card>
  );
}

function MoneyCard({ miner: { money: worth, readings, coinInfo } }: { miner: MinerDetail }) {
  const { currency } = worth;
  const isEstimated = readings.powerSource === "nameplate" && worth.costPerDay !== null;
  const perKwh = (value: number | null) => (value === null ? "–" : t.rig.perKwh(money(value, currency)));
  return (
    <Card title={t.rig.money}>
      <Facts
        list={[
          [t.rig.revenue, money(worth.revenuePerDay, currency)],
          [t.rig.cost, `${money(worth.costPerDay, currency)}${isEstimated ? ` (${t.rig.powerSource.nameplate})` : ""}`],
          [t.rig.profit, money(worth.profitPerDay, currency)],
          [t.rig.breakEven, perKwh(worth.breakEvenPrice)],
          [t.rig.price, perKwh(worth.electricityPrice)],
          [
            t.rig.soFar,
            readings.energy === null ? "–" : `${energy(readings.energy)} · ${money(worth.energyCost, currency)}`,
          ],
          [t.rig.coin, coinInfo.displayName === "" ? "–" : <bdi>{coinInfo.displayName}</bdi>],
        ]}
      />
    </Card>
  );
}

/** What it mines, a second algorithm, a proxy's workers. */
function WorkCard({ miner: { readings, coinInfo } }: { miner: MinerDetail }) {
  const { dual, proxy, bestShare, foundBlocks, startedAt, mode } = readings;
  // The coin's is written as people write it.
  const algorithm = coinInfo.algorithm === "" ? readings.algorithm : coinInfo.algorithm;
  return (
    <Card title={t.rig.work}>
      <Facts
        list={[
          [t.rig.algorithm, algorithm === null ? "–" : <bdi>{algorithm}</bdi>],
          [t.rig.mode, mode === null ? null : <bdi>{mode}</bdi>],
          [t.rig.since, startedAt === null ? null : <Age time={startedAt} />],
          [t.rig.bestShare, bestShare === null ? null : scaled(bestShare, "")],
          [t.rig.foundBlocks, foundBlocks === null ? null : number(foundBlocks)],
        ]}
      />
      {dual === null ? null : (
        <>
          <h3>{t.rig.dual}</h3>
          <Facts
            list={[
              [t.rig.algorithm, dual.algorithm === null ? "–" : <bdi>{dual.algorithm}</bdi>],
              [t.rig.hashrate, hashrate(dual.hashrate, dual.algorithm)],
              [t.rig.accepted, number(dual.shares.accepted)],
              [t.rig.rejectedName, number(dual.shares.rejected)],
            ]}
          />
        </>
      )}
      {proxy === null ? null : (
        <>
          <h3>{t.rig.proxy}</h3>
          <Facts
            list={[
              [t.rig.workers, number(proxy.workers)],
              [t.rig.connections, number(proxy.connections)],
              [t.rig.upstreams, number(proxy.upstreams)],
              [t.rig.upstreamsFailing, number(proxy.upstreamsFailing)],
            ]}
          />
        </>
      )}
    </Card>
  );
}
