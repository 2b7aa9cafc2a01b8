import type { MinerDetail } from "../../../contract/resources.ts";
import { duration, efficiency, hashrate, money, number, percent, power, temperature } from "../../format.ts";
import { t } from "../../language.ts";
import { Tile, Tiles } from "../../parts/page.tsx";
import { Stale } from "../../parts/status.tsx";

interface TilesProps {
  readonly miner: MinerDetail;
}

/** The figures of a rig. Outdated ones show their age. */
export const AllTiles = (props: TilesProps) => (
  <Tiles>
    <FirstReadings {...props} />
    <OtherReadings {...props} />
  </Tiles>
);

/** The figures that show the state of the rig. */
export const FirstTiles = (props: TilesProps) => (
  <Tiles>
    <FirstReadings {...props} />
  </Tiles>
);

export const OtherTiles = (props: TilesProps) => (
  <Tiles>
    <OtherReadings {...props} />
  </Tiles>
);

/** Notes for a figure: texts, and its age if outdated. */
function notesOf({ readings }: MinerDetail, value: number | null, ...texts: (string | null)[]) {
  const text = texts.filter((each) => each !== null).join("\u00a0· ");
  const isOld = readings.stale && value !== null;
  return text === "" && !isOld ? null : (
    <>
      {text} {isOld ? <Stale readAt={readings.at} /> : null}
    </>
  );
}

function FirstReadings({ miner }: TilesProps) {
  const { readings } = miner;
  const rate = (value: number | null) => hashrate(value, readings.algorithm);
  const { hashrateExpected: expected, hashrate: present } = readings;
  const ofExpected = expected === null || expected === 0 || present === null ? null : present / expected;
  return (
    <>
      <Tile
        name={t.rig.hashrate}
        value={rate(present)}
        note={notesOf(
          miner,
          present,
          ofExpected === null ? null : t.rig.ofExpected({ share: percent(ofExpected), expected: rate(expected) }),
          readings.hashrateAverage === null ? null : t.rig.average({ rate: rate(readings.hashrateAverage) }),
        )}
        {...(ofExpected !== null && ofExpected < 0.8 && readings.mining === true ? { tone: "warning" as const } : {})}
      />
      <Tile
        name={t.rig.power}
        value={power(readings.power)}
        note={notesOf(
          miner,
          readings.power,
          readings.powerSource === null ? null : t.rig.powerSource[readings.powerSource],
          readings.powerLimit === null ? null : t.rig.limit({ power: power(readings.powerLimit) }),
        )}
      />
      <Tile
        name={t.rig.temperature}
        value={temperature(readings.temperature)}
        note={notesOf(
          miner,
          readings.temperature,
          readings.temperatureIn === null ? null : t.rig.airIn({ temperature: temperature(readings.temperatureIn) }),
          readings.temperatureOut === null ? null : t.rig.airOut({ temperature: temperature(readings.temperatureOut) }),
        )}
      />
      <Tile
        name={t.rig.efficiency}
        value={efficiency(readings.efficiency)}
        note={notesOf(miner, readings.efficiency)}
      />
    </>
  );
}

function OtherReadings({ miner }: TilesProps) {
  const { readings, money: worth } = miner;
  const { shares } = readings;
  return (
    <>
      <Tile
        name={t.rig.profit}
        value={money(worth.profitPerDay, worth.currency)}
        note={notesOf(
          miner,
          worth.profitPerDay,
          worth.revenuePerDay === null ? null : t.rig.revenueOf({ amount: money(worth.revenuePerDay, worth.currency) }),
          worth.costPerDay === null ? null : t.rig.costOf({ amount: money(worth.costPerDay, worth.currency) }),
        )}
        {...((worth.profitPerDay ?? 0) < 0 ? { tone: "bad" as const } : {})}
      />
      <Tile name={t.rig.uptime} value={duration(readings.uptime)} note={notesOf(miner, readings.uptime)} />
      <Tile
        name={t.rig.accepted}
        value={number(shares.accepted)}
        note={notesOf(
          miner,
          shares.accepted,
          rejectedText(shares),
          shares.hardwareErrors === null || shares.hardwareErrors === 0
            ? null
            : t.rig.hardwareErrors({ count: number(shares.hardwareErrors) }),
        )}
      />
    </>
  );
}

const rejectedText = ({ accepted, rejected }: MinerDetail["readings"]["shares"]): string | null => {
  if (rejected === null) return null;
  const count = number(rejected);
  if (accepted === null || accepted + rejected === 0) return t.rig.rejected({ count });
  return t.rig.rejectedShare({ count, share: percent(rejected / (accepted + rejected), 2) });
};
