import { type Algorithm, algorithms } from "../../catalogue/algorithms.ts";
import { coins as knownCoins } from "../../catalogue/coins.ts";
import { badRequest, notNow, notThere } from "./refusals.ts";

export interface TwinCoin {
  readonly shortName: string;
  readonly name: string;
  /** Id in the catalogue of algorithms. */
  readonly algorithm: string;
  readonly coinClass: "PreDefined" | "UserDefined";
  /** BTC per MH/s and day. */
  profit: number;
}

/** Money per BTC: invented and constant, for tests. */
const rates: Readonly<Record<string, number>> = { USD: 68_412.5, EUR: 63_080, GBP: 53_940, SEK: 718_300 };
const usdPerBtc = 68_412.5;
/** Money per kWh. */
const electricityPrice = 0.04;
/** Days in a month, as in every recorded sample of the foreign product. */
const daysPerMonth = 30.3;

/** The initial BTC per MH/s and day. */
const profits: Readonly<Record<string, number>> = {
  BTC: 1.48e-12,
  BCH: 1.41e-12,
  LTC: 1.7e-8,
  DOGE: 1.6e-8,
  ETC: 6.1e-8,
  XMR: 7.4e-4,
};

/** Hashes per unit of difficulty; 0 where revenue does not follow from difficulty. */
const hashesPerDifficulty = { btc32: 2 ** 32, hashes: 1, equihash: 2 ** 13, kaspa: 0, "network-rate": 0 } as const;

export const algorithmOf = (name: string): Algorithm | undefined =>
  algorithms.find((each) => each.id === name) ??
  algorithms.find((each) => each.name.toLowerCase() === name.toLowerCase());

export const titleOf = ({ name, shortName }: TwinCoin): string => `${name} (${shortName})`;

export interface Earnings {
  readonly revenue: number;
  readonly revenueBtc: number;
  readonly revenuePerMonth: number;
  readonly profit: number;
  readonly profitBtc: number;
  readonly profitPerMonth: number;
}

/** The predefined coins and those of the user, with their profitability. */
export class TwinCoins {
  /** Money per BTC. */
  readonly rate: number;
  readonly #coins = new Map<string, TwinCoin>();

  constructor(currency: string) {
    this.rate = rates[currency] ?? usdPerBtc;
    for (const { shortName, name, algorithm } of knownCoins) {
      this.#put({ shortName, name, algorithm, coinClass: "PreDefined", profit: profits[shortName] ?? 0 });
    }
  }

  find(shortName: string): TwinCoin | undefined {
    return this.#coins.get(shortName.toUpperCase());
  }

  /** `hashrate` in H/s, `power` in W. */
  earnings(coin: TwinCoin | undefined, hashrate: number, power: number): Earnings {
    const revenueBtc = (hashrate / 1e6) * (coin?.profit ?? 0);
    const revenue = revenueBtc * this.rate;
    const profit = revenue - (power / 1000) * 24 * electricityPrice;
    return {
      revenue,
      revenueBtc,
      revenuePerMonth: revenue * daysPerMonth,
      profit,
      profitBtc: profit / this.rate,
      profitPerMonth: profit * daysPerMonth,
    };
  }

  /** The three forms of POST /api/coins/{shortname}, and its two rules. Returns the message. */
  save(shortName: string, query: URLSearchParams): string {
    const known = this.find(shortName);
    if (known !== undefined) {
      known.profit = profitIn(query, algorithmOf(known.algorithm));
      return `The profitability of ${known.name} was updated.`;
    }
    const name = query.get("name") ?? "";
    const algorithm = algorithmOf(query.get("algorithm") ?? "");
    if (name === "" || algorithm === undefined)
      throw badRequest("The parameters name and algorithm are required for a new coin.");
    const profit = profitIn(query, algorithm);
    this.#put({ shortName, name, algorithm: algorithm.id, coinClass: "UserDefined", profit });
    return `${name} was added.`;
  }

  remove(shortName: string): string {
    const coin = this.find(shortName);
    if (coin === undefined) throw notThere("coin", shortName);
    if (coin.coinClass === "PreDefined") throw notNow(`${coin.name} is not a user-defined coin.`);
    this.#coins.delete(shortName.toUpperCase());
    return `${coin.name} was removed.`;
  }

  #put(coin: TwinCoin): void {
    this.#coins.set(coin.shortName.toUpperCase(), coin);
  }
}

/** BTC per MH/s and day: as given, or from difficulty, reward and a price. */
function profitIn(query: URLSearchParams, algorithm: Algorithm | undefined): number {
  if (query.has("profit")) return decimal(query, "profit");
  const perDifficulty = algorithm === undefined ? 0 : hashesPerDifficulty[algorithm.difficulty];
  const hashes = decimal(query, "difficulty") * perDifficulty;
  const reward = decimal(query, "reward");
  if (query.has("btc") === query.has("usd")) throw badRequest("Exactly one of btc and usd is required.");
  const price = query.has("btc") ? decimal(query, "btc") : decimal(query, "usd") / usdPerBtc;
  if (hashes === 0) throw badRequest("The profitability cannot be calculated from this difficulty.");
  return ((1e6 * 86_400 * reward) / hashes) * price;
}

function decimal(query: URLSearchParams, name: string): number {
  const text = query.get(name) ?? "";
  if (!/^\d+(\.\d+)?([eE][-+]?\d+)?$/.test(text) || !Number.isFinite(Number(text)))
    throw badRequest(`The parameter ${name} must be a number.`);
  return Number(text);
}
