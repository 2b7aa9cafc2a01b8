import type { MinerDetail } from "../../../contract/resources.ts";
import { duration, efficiency, hashrate, money, number, percent, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Tile, Tiles } from "../../parts/page.tsx";
import { Stale } from "../../parts/status.tsx";

/** The figures of a rig. Each that is known says its age if it is out of date. */
export function ReadingTiles({ miner }: { miner: MinerDetail }) {
  const { readings, money: worth } = miner;
  const { shares } = readings;
  const rate = (value: number | null) => hashrate(value, readings.algorithm);
  const notes = (value: number | null, ...texts: (string | null)[]) => {
    const text = texts.filter((each) => each !== null).join("\u00a0· ");
    const isOld = readings.stale && value !== null;
    return text === "" && !isOld ? null : (
      <>
        {text} {isOld ? <Stale readAt={readings.at} /> : null}
      </>
    );
  };
  const { hashrateExpected: expected, hashrate: present } = readings;
  const ofExpected = expected === null || expected === 0 || present === null ? null : present / expected;
  return (
    <Tiles>
      <Tile
        name={t.rig.hashrate}
        value={rate(present)}
        note={notes(
          present,
          ofExpected === null ? null : t.rig.ofExpected(percent(ofExpected), rate(expected)),
          readings.hashrateAverage === null ? null : t.rig.average(rate(readings.hashrateAverage)),
        )}
        {...(ofExpected !== null && ofExpected < 0.8 && readings.mining === true ? { tone: "warning" as const } : {})}
      />
      <Tile
        name={t.rig.power}
        value={power(readings.power)}
        note={notes(
          readings.power,
          readings.powerSource === null ? null : t.rig.powerSource[readings.powerSource],
          readings.powerLimit === null ? null : t.rig.limit(power(readings.powerLimit)),
        )}
      />
      <Tile name={t.rig.efficiency} value={efficiency(readings.efficiency)} note={notes(readings.efficiency)} />
      <Tile
        name={t.rig.temperature}
        value={temperature(readings.temperature)}
        note={notes(
          readings.temperature,
          readings.temperatureIn === null ? null : t.rig.airIn(temperature(readings.temperatureIn)),
          readings.temperatureOut === null ? null : t.rig.airOut(temperature(readings.temperatureOut)),
        )}
      />
      <Tile
        name={t.rig.profit}
        value={money(worth.profitPerDay, worth.currency)}
        note={notes(
          worth.profitPerDay,
          worth.revenuePerDay === null ? null : t.rig.revenueOf(money(worth.revenuePerDay, worth.currency)),
          worth.costPerDay === null ? null : t.rig.costOf(money(worth.costPerDay, worth.currency)),
        )}
        {...((worth.profitPerDay ?? 0) < 0 ? { tone: "bad" as const } : {})}
      />
      <Tile name={t.rig.uptime} value={duration(readings.uptime)} note={notes(readings.uptime)} />
      <Tile
        name={t.rig.accepted}
        value={number(shares.accepted)}
        note={notes(
          shares.accepted,
          shares.rejected === null ? null : t.rig.rejected(number(shares.rejected), rejectedShare(shares)),
          shares.hardwareErrors === null || shares.hardwareErrors === 0
            ? null
            : t.rig.hardwareErrors(number(shares.hardwareErrors)),
        )}
      />
    </Tiles>
  );
}

const rejectedShare = ({ accepted, rejected }: MinerDetail["readings"]["shares"]): string | null => {
  const all = (accepted ?? 0) + (rejected ?? 0);
  return accepted === null || rejected === null || all === 0 ? null : percent(rejected / all, 2);
};
