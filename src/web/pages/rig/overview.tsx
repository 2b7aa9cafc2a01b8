import type { Command, Group, MinerDetail } from "../../../contract/resources.ts";
import { ownWords } from "../../details.ts";
import { wordText } from "../../driver-words.ts";
import { energy, hashrate, money, number, percent, scaled, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import type { Known } from "../../parts/load.tsx";
import { isNarrow } from "../../parts/narrow.ts";
import { OneByOne } from "../../parts/one-by-one.tsx";
import { Card } from "../../parts/page.tsx";
import { Age, reasonText } from "../../parts/status.tsx";
import { may } from "../../session.ts";
import { controlsOf } from "./control-command.ts";
import { Controls } from "./controls.tsx";
import { Facts } from "./facts.tsx";
import { HelpLine } from "./help-line.tsx";
import { RigHistory } from "./history.tsx";
import { Holder } from "./holder.tsx";
import { Identity } from "./identity.tsx";
import { AllTiles, FirstTiles, OtherTiles } from "./readings.tsx";

/** The most important facts and controls of a rig first, then the rest. A phone shows little at once. */
export function Overview({ miner, groups, commands, known, reload }: OverviewProps) {
  const facts = (
    <>
      <MoneyCard miner={miner} />
      <WorkCard miner={miner} />
    </>
  );
  const controls = <Controls miner={miner} commands={commands} known={known} reload={reload} />;
  // There is space beside few controls.
  const isShort = controlsOf(miner).length < 4;
  const columns = (
    <div class="rig-columns">
      <div class="stack">
        <OneByOne>
          {isNarrow.value ? null : controls}
          <HeatingCard miner={miner} />
          {isShort ? facts : null}
        </OneByOne>
      </div>
      <div class="stack">
        <OneByOne>
          <Identity miner={miner} groups={groups} />
          {may("getHistory") ? (
            <Card title={t.rig.lastDay}>
              <RigHistory miner={miner} only={["hashrate", "power"]} height={180} />
            </Card>
          ) : null}
          {isShort ? null : facts}
        </OneByOne>
      </div>
    </div>
  );
  const help = <HelpLine miner={miner} commands={commands} reload={reload} />;
  return isNarrow.value ? (
    <OneByOne>
      {help}
      <FirstTiles miner={miner} />
      {controls}
      <Problems miner={miner} />
      <OtherTiles miner={miner} />
      {columns}
    </OneByOne>
  ) : (
    <>
      {help}
      <Problems miner={miner} />
      <AllTiles miner={miner} />
      {columns}
    </>
  );
}

interface OverviewProps {
  readonly miner: MinerDetail;
  /** Null until loaded. */
  readonly groups: readonly Group[] | null;
  readonly commands: readonly Command[];
  readonly known: Known;
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
                  <span dir="auto">{ownWords(reason.text, reason.coded)}</span>
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
  const perKwh = (value: number | null) => (value === null ? "–" : t.rig.perKwh({ amount: money(value, currency) }));
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

/** Its work, a second algorithm, a proxy's workers. */
function WorkCard({ miner: { readings, coinInfo } }: { miner: MinerDetail }) {
  const { dual, proxy, bestShare, foundBlocks, startedAt, mode } = readings;
  // The coin's spelling is the familiar one.
  const algorithm = coinInfo.algorithm === "" ? readings.algorithm : coinInfo.algorithm;
  return (
    <Card title={t.rig.work}>
      <Facts
        list={[
          [t.rig.algorithm, algorithm === null ? "–" : <bdi>{algorithm}</bdi>],
          [t.rig.mode, mode === null ? null : <bdi>{wordText(mode)}</bdi>],
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
