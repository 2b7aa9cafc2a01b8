import { asicModel } from "../catalogue/asic-models.ts";
import type { Identity, RigReadings } from "../contract/readings.ts";
import type { Reading } from "./driver.ts";

/** A rig hashes less than this many times its nameplate, overclocked or of another version; more is another unit. */
const most = 5;
/** s after which a rig that hashes a thousandth of its nameplate is no longer starting up. */
const startsWithin = 600;

/** H/s or Sol/s. */
export const nameplateRate = ({ make, model }: Identity): number | null => asicModel(make, model)?.nameplate ?? null;

/**
 * Compares the rig's hash rates with its model's nameplate, for every family. A rate in another unit than its firmware
 * is known to use would enter totals and money, so it is noted and left out.
 */
export function withPlausibleRates(reading: Reading): Reading {
  const { identity, readings, devices } = reading;
  const nameplate = nameplateRate(identity);
  if (nameplate === null) return reading;
  const highest = most * nameplate;
  const isLow = isThousandth(readings, nameplate);
  const { hashrate, hashrateAverage, hashrateExpected, boards } = readings;
  const isOdd = (rate: number | null): boolean => rate !== null && (rate > highest || (isLow && rate > 0));
  const odd = [hashrate, hashrateAverage, hashrateExpected, ...boards.map((board) => board.hashrate)].find(isOdd);
  if (odd === undefined || odd === null) return reading;
  const kept = (rate: number | null): number | null => (isOdd(rate) ? null : rate);
  return {
    ...reading,
    readings: {
      ...readings,
      hashrate: kept(hashrate),
      hashrateAverage: kept(hashrateAverage),
      hashrateExpected: kept(hashrateExpected),
      boards: boards.map((board) => ({ ...board, hashrate: kept(board.hashrate) })),
      notes: [...readings.notes, note(identity.model, odd / nameplate)],
    },
    devices: devices.map((device) => ({
      ...device,
      hashrate: kept(device.hashrate),
      hashrateAverage: kept(device.hashrateAverage),
    })),
  };
}

/** Whether all its rates would be near the nameplate if they were multiplied by 1000, long after its start. */
function isThousandth({ hashrate, hashrateAverage, uptime }: RigReadings, nameplate: number): boolean {
  if (uptime === null || uptime < startsWithin || hashrate === null || hashrateAverage === null) return false;
  return [hashrate, hashrateAverage].every((rate) => rate * 1000 > nameplate / most && rate * 1000 < nameplate * most);
}

const note = (model: string | null, times: number): string =>
  `a reported hash rate is ${rounded(times)} times the nameplate of the ${model}, so its unit is unclear and it is not shown`;

const rounded = (times: number): string => (times < 10 ? times.toPrecision(2) : String(Math.round(times)));
