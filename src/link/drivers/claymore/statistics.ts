import type { Dual } from "../../../contract/readings.ts";
import type { DeviceReading, PoolReading } from "../../driver.ts";
import { type Notes, printable, TolerantReader } from "../../tolerant-reader.ts";
import { celsius, total } from "../shared/figures.ts";
import { dualWork, gpuDevice, gpuRules } from "../shared/gpu-device.ts";
import { poolPartsOf } from "../shared/line-replies.ts";
import { type ProgramReport, programPool } from "../shared/program.ts";

/** The list that miner_getstat1 and miner_getstat2 answer: texts whose parts are separated by semicolons. */
export type Statistics = readonly string[];

/** undefined for anything else. */
export function statisticsOf(result: unknown): Statistics | undefined {
  if (!Array.isArray(result) || result.length < 8 || result.length > 64) return undefined;
  const isText = (part: unknown): boolean => typeof part === "number" || typeof part === "string";
  return result.every(isText)
    ? result.map((part: unknown) => printable(String(part).slice(0, longestPart)))
    : undefined;
}

/** Of one part; the rest is ignored. */
const longestPart = 4_000;

interface Program {
  /** In the version that it reports. */
  readonly sign: RegExp;
  readonly make: string;
  /** Id in GET /api/miningsoftware. */
  readonly software: string | null;
  /** Takes control_gpu, and miner_restart unless it is TeamRedMiner's subset of this API. */
  readonly controls: "all" | "gpus" | "none";
}

const programs: readonly Program[] = [
  { sign: /^PM\b|phoenix/i, make: "PhoenixMiner", software: "PhoenixMiner", controls: "all" },
  { sign: /TT-?Miner/i, make: "TT-Miner", software: "TTMiner", controls: "none" },
  { sign: /TeamRed|\bTRM\b/i, make: "TeamRedMiner", software: "TeamRedMiner", controls: "gpus" },
  { sign: /nanominer/i, make: "nanominer", software: "Nanominer", controls: "none" },
  { sign: /^v?\d/, make: "Claymore", software: "ClaymoreEthereum", controls: "all" },
];

const other: Program = { sign: /./, make: "Claymore API", software: null, controls: "none" };

export const programOf = ([version = ""]: Statistics): Program =>
  programs.find(({ sign }) => sign.test(version)) ?? other;

/** Names of coins in the version, after a dash: "PM 6.2c - ETC". */
const algorithms: Readonly<Record<string, string>> = {
  ETH: "ethash",
  ETC: "etchash",
  UBQ: "ubqhash",
  ZEC: "equihash",
  XMR: "cryptonight",
  DCR: "blake256r14",
  SC: "blake2b",
  LBC: "lbry",
  PASC: "pascal",
};

/** Rates are in kH/s, apart from these. */
const plainRates = (version: string): boolean => /TT-?Miner|- *(?:ZEC|XMR)\b/i.test(version);

const parts = (text = ""): string[] => text.split(";").map((part) => part.trim());

/** The figures of a list. A card that does not mine has a word instead of a number. */
const isOff = (text: string | undefined): boolean => /^(?:off|stopped|disabled)$/i.test(text ?? "");

/** The result of one read, with the data for the controls. */
export interface ClaymoreReport extends ProgramReport {
  readonly program: Program;
  readonly cardsOff: readonly boolean[];
}

export function reportOf(statistics: Statistics, notes: Notes): ClaymoreReport {
  const [version = "", minutes, totals, rates, dualTotals, dualRates, , places, counts] = statistics;
  const program = programOf(statistics);
  const times = plainRates(version) ? 1 : 1e3;
  const reader = new TolerantReader(
    {
      minutes,
      ...named(totals, ["rate", "accepted", "rejected"]),
      ...named(counts, ["invalid", "switches", "dualInvalid"]),
      ...named(dualTotals, ["dualRate", "dualAccepted", "dualRejected"]),
      watts: statistics[17],
      rates: list(rates),
      dualRates: list(dualRates),
    },
    notes,
    "result",
  );
  const [, coin = "", dualCoin = ""] = /- *([A-Za-z0-9]+)(?:\/([A-Za-z0-9]+))?\s*$/.exec(version) ?? [];
  const cardsOff = parts(rates)
    .slice(0, mostCards)
    .map((text) => isOff(text));
  const devices = cards(statistics, reader, times, notes);
  const dual = dualOf(reader, times, parts(dualRates), algorithms[dualCoin.toUpperCase()] ?? null);
  const power = reader.number("watts", { absent: 0, max: 100_000 });
  return {
    program,
    cardsOff,
    software: program.software ?? "",
    make: program.make,
    version: version.replace(/\s*- *[A-Za-z0-9/]+\s*$/, "").replace(/^[A-Za-z][A-Za-z-]*[ /-]+v?/, "") || null,
    devices,
    readings: {
      hashrate: reader.number("rate", { times }),
      algorithm: algorithms[coin.toUpperCase()] ?? null,
      dual,
      uptime: reader.number("minutes", { times: 60 }),
      power,
      shares: {
        accepted: reader.integer("accepted"),
        rejected: reader.integer("rejected"),
        hardwareErrors: reader.integer("invalid"),
      },
    },
    pools: poolsOf(parts(places), reader, dual),
  };
}

const mostCards = 64;

/** Texts as fields; words for a card that is off become null. */
const named = (text: string | undefined, keys: readonly string[]): Record<string, string | undefined> =>
  Object.fromEntries(parts(text).flatMap((part, index) => (keys[index] === undefined ? [] : [[keys[index], part]])));

const list = (text: string | undefined): (string | null)[] =>
  text === undefined || text === "" ? [] : parts(text).map((part) => (part === "" || isOff(part) ? null : part));

/** Temperatures and fans come in pairs, which some programs leave out for cards that are off. */
function cards(statistics: Statistics, reader: TolerantReader, times: number, notes: Notes): DeviceReading[] {
  const rates = parts(statistics[3]).slice(0, mostCards);
  if (rates.length === 1 && rates[0] === "") return [];
  const sensors = parts(statistics[6]);
  const off = rates.map((rate) => isOff(rate));
  const isShort = sensors.length < 2 * rates.length && sensors.length === 2 * off.filter((each) => !each).length;
  const numbers = reader.numbers("rates", { times });
  const [accepted = [], rejected = [], invalid = [], buses = []] = [9, 10, 11, 15].map((at) => list(statistics[at]));
  let pair = 0;
  return rates.map((_, index) => {
    const place = isShort ? (off[index] === true ? -1 : pair++) : index;
    const card = new TolerantReader(
      {
        temperature: sensors[2 * place],
        fan: sensors[2 * place + 1],
        bus: buses[index],
        accepted: accepted[index],
        rejected: rejected[index],
        invalid: invalid[index],
      },
      notes,
      `GPU ${index}`,
    );
    return gpuDevice({
      name: `GPU ${index}`,
      status: off[index] === true ? "disabled" : "enabled",
      hashrate: off[index] === true ? 0 : (numbers[index] ?? null),
      temperature: card.number("temperature", celsius),
      fanPercent: card.number("fan", gpuRules.fanPercent),
      accepted: card.integer("accepted"),
      rejected: card.integer("rejected"),
      hardwareErrors: card.integer("invalid"),
      bus: card.integer("bus", { max: 255 }),
    });
  });
}

/** null if the program mines one coin: then each card's second rate is "off" or missing. */
function dualOf(
  reader: TolerantReader,
  times: number,
  rates: readonly string[],
  algorithm: string | null,
): Dual | null {
  const hashrate = reader.number("dualRate", { times });
  const accepted = reader.integer("dualAccepted");
  if ((hashrate ?? 0) === 0 && (accepted ?? 0) === 0 && rates.every((rate) => rate === "" || isOff(rate))) return null;
  return dualWork({
    algorithm,
    hashrate: hashrate ?? total(reader.numbers("dualRates", { times })),
    shares: {
      accepted,
      rejected: reader.integer("dualRejected"),
      hardwareErrors: reader.integer("dualInvalid"),
    },
  });
}

/** The pool in use, and that of the second coin. */
function poolsOf(
  [first = "", second = ""]: readonly string[],
  reader: TolerantReader,
  dual: Dual | null,
): PoolReading[] {
  const used =
    first === ""
      ? []
      : programPool({
          ...poolPartsOf(first),
          accepted: reader.integer("accepted"),
          rejected: reader.integer("rejected"),
        });
  if (dual === null || second === "") return used;
  const { accepted, rejected } = dual.shares;
  return [...used, ...programPool({ ...poolPartsOf(second), second: true, accepted, rejected })];
}
