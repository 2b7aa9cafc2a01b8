import type { RigReadings } from "../contract/readings.ts";
import type { DeviceReading, Reading } from "./driver.ts";
import { nameplateRate } from "./plausible-rates.ts";

/**
 * Compares the sum of the boards' hash rates with the rig's own, for every family. Firmware mixes up the units (MH/s
 * under a name that says GH/s), so a factor of 1000 is corrected and noted; any other difference over 20 % is only
 * noted. Nothing is compared if a board reports no rate, or while the rig is stopped, because boards then keep their
 * last rate.
 */
export function withCheckedRates(reading: Reading): Reading {
  const { readings, devices } = reading;
  const { boards, hashrate, hashrateAverage, mining } = readings;
  const sum = sumOf(boards);
  if (sum === null || hashrate === null || mining === false) return reading;
  const { onBoards, onTotal, note } = verdict(sum, hashrate, readings, nameplateRate(reading.identity));
  if (note === null) return reading;
  const checked: RigReadings = {
    ...readings,
    hashrate: times(hashrate, onTotal),
    hashrateAverage:
      hashrateAverage !== null && inOneUnit(hashrateAverage, hashrate)
        ? times(hashrateAverage, onTotal)
        : hashrateAverage,
    boards: boards.map((board) => ({ ...board, hashrate: times(board.hashrate, onBoards) })),
    notes: [...readings.notes, note],
  };
  return { ...reading, readings: checked, devices: devices.map((device) => scaled(device, boards, onBoards)) };
}

interface Verdict {
  /** Factors for the boards' rates and for the rig's own. */
  readonly onBoards: number;
  readonly onTotal: number;
  /** null: they agree. */
  readonly note: string | null;
}

/** The largest ratio of two rates that count as equal once the factor of 1000 is corrected. */
const near = 1.25;
/** Two rates of one rig with a larger ratio are in different units. */
const farApart = 30;

type Known = Pick<RigReadings, "hashrateAverage" | "hashrateExpected" | "algorithm">;

function verdict(sum: number, hashrate: number, known: Known, nameplate: number | null): Verdict {
  const { hashrateAverage } = known;
  // Some boards report an average, which is far below the present rate while a rig ramps up.
  const average = hashrateAverage !== null && inOneUnit(hashrateAverage, hashrate) ? hashrateAverage : hashrate;
  const [low, high] = [Math.min(hashrate, average), Math.max(hashrate, average)];
  if (sum >= 0.8 * low && sum <= 1.2 * high) return { onBoards: 1, onTotal: 1, note: null };
  const factor = [1000, 1 / 1000].find((each) => [low, high].some((rate) => ratio(sum * each, rate) <= near));
  if (factor === undefined) return { onBoards: 1, onTotal: 1, note: disagreement(sum, hashrate) };
  return boardsAreRight(sum, hashrate, known, nameplate)
    ? { onBoards: 1, onTotal: 1 / factor, note: correction("the rig's was", 1 / factor) }
    : { onBoards: factor, onTotal: 1, note: correction("the boards' were", factor) };
}

/** H/s or Sol/s; several times the rate of the fastest rig. */
const mostOfOneRig: Readonly<Record<string, number>> = {
  sha256: 5e15,
  scrypt: 2e11,
  ethash: 1e11,
  x11: 2e13,
  equihash: 1e7,
};

/**
 * Of two rates that differ by 1000. The one nearer to the model's nameplate is right. Without one, the rig's own is,
 * unless there is evidence against it: its page shows that one.
 */
function boardsAreRight(sum: number, hashrate: number, known: Known, nameplate: number | null): boolean {
  const { algorithm, hashrateAverage, hashrateExpected } = known;
  if (nameplate === null && Math.max(sum, hashrate) > (mostOfOneRig[algorithm ?? ""] ?? Number.POSITIVE_INFINITY))
    return sum < hashrate;
  const isOtherUnit = hashrateAverage !== null && !inOneUnit(hashrateAverage, hashrate);
  const witness = nameplate ?? hashrateExpected ?? (isOtherUnit ? hashrateAverage : null);
  return witness !== null && ratio(witness, sum) < ratio(witness, hashrate);
}

const disagreement = (sum: number, hashrate: number): string =>
  hashrate === 0
    ? "the boards report hash rates, the rig reports none"
    : `the boards' hash rates add up to ${Math.round((sum / hashrate) * 100)} % of the rig's`;

const correction = (what: string, factor: number): string =>
  `the boards' hash rates and the rig's differed by a factor of 1000; ${what} ${factor > 1 ? "multiplied" : "divided"} by it`;

/** null where one is unknown, and where there are none. */
function sumOf(boards: RigReadings["boards"]): number | null {
  let sum = 0;
  for (const { hashrate } of boards) {
    if (hashrate === null) return null;
    sum += hashrate;
  }
  return boards.length === 0 ? null : sum;
}

/** At least 1. */
const ratio = (a: number, b: number): number =>
  a > 0 && b > 0 ? Math.max(a / b, b / a) : a === b ? 1 : Number.POSITIVE_INFINITY;

const inOneUnit = (a: number, b: number): boolean => ratio(a, b) <= farApart;

const times = (rate: number | null, factor: number): number | null =>
  rate === null ? null : factor < 1 ? rate / Math.round(1 / factor) : rate * factor;

/** Corrects a device that is one of the boards, recognised by its rate. */
function scaled(device: DeviceReading, boards: RigReadings["boards"], factor: number): DeviceReading {
  const isBoard = boards.some(({ hashrate }) => hashrate === device.hashrate);
  if (factor === 1 || !isBoard) return device;
  const { hashrate, hashrateAverage } = device;
  return { ...device, hashrate: times(hashrate, factor), hashrateAverage: times(hashrateAverage, factor) };
}
