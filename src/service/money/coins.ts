import { algorithms, bareName } from "../../catalogue/algorithms.ts";
import { coins as predefinedCoins } from "../../catalogue/coins.ts";
import type { Config } from "../../config/schema.ts";
import { coinMistakes } from "../../contract/coin-mistakes.ts";
import { invalidAll, type Mistake, mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { ActionReply } from "../../contract/resources.ts";
import type { Input, MiningService } from "../../contract/service.ts";
import { detail } from "../../messages/detail.ts";
import type { Store, Stored, StoredCoin } from "../../store/index.ts";
import type { HashUnit } from "../../units/format.ts";
import { done, enabled } from "../crud.ts";
import type { Rates } from "./rates.ts";

/** A coin, predefined or defined by a user, with its profitability if that was ever set. */
export interface Coin {
  readonly shortName: string;
  readonly name: string;
  /** "Bitcoin (BTC)". */
  readonly displayName: string;
  readonly algorithm: string;
  readonly coinClass: "PreDefined" | "UserDefined";
  /** BTC per MH/s per day; null when never set in BTC. */
  readonly profit: number | null;
  /** USD per MH/s per day, for a coin whose price is known in USD. */
  readonly profitUsd: number | null;
  /** The origin of the profitability; null if there is none. */
  readonly setBy: "hand" | "file" | "market" | null;
}

/** A coin's worth by the market sources, per MH/s per day. */
export type MarketWorth = Pick<Coin, "profit" | "profitUsd">;

/** An algorithm in the terms of miners and coins. */
export interface AlgorithmFacts {
  readonly id: string;
  readonly name: string;
  readonly unit: HashUnit;
  /** Hashes per unit of difficulty; null where revenue does not follow from difficulty. */
  readonly hashesPerDifficulty: number | null;
}

type CoinOperations = Pick<MiningService, "saveCoin" | "deleteCoin" | "listAlgorithms">;

const factors = { btc32: 2 ** 32, hashes: 1, equihash: 2 ** 13, kaspa: null, "network-rate": null } as const;

/** The coins and algorithms that the service knows, and the operations on them. */
export class Coins implements CoinOperations {
  readonly #store: Store;
  readonly #now: () => number;
  readonly #rates: Rates;
  #market: ReadonlyMap<string, MarketWorth> = new Map();
  /** By short name in capitals; rebuilt when a coin changes, because every read of a rig uses it. */
  #coins: ReadonlyMap<string, Coin> = new Map();
  /** Short names in capitals. */
  #profitsOfFile: ReadonlySet<string> = new Set();
  /** By id, name and alias, normalised. */
  readonly #algorithms = new Map<string, AlgorithmFacts>();
  readonly #listed: { id: string; name: string }[] = [];

  constructor(store: Store, file: Pick<Config, "algorithms" | "coins">, rates: Rates, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#rates = rates;
    this.follow(file);
  }

  /** Takes in the algorithms and coins of the file, whose coins are in the store already. */
  follow(file: Pick<Config, "algorithms" | "coins">): void {
    this.#algorithms.clear();
    this.#listed.length = 0;
    for (const { id, name, unit, difficulty, aliases } of algorithms) {
      this.#know({ id, name, unit, hashesPerDifficulty: factors[difficulty] }, aliases);
    }
    for (const { id, name, hashesPerDifficulty } of file.algorithms) {
      this.#know({ id, name, unit: "H/s", hashesPerDifficulty }, []);
    }
    const declared = file.coins.filter(({ profit }) => profit !== undefined);
    this.#profitsOfFile = new Set(declared.map(({ shortName }) => shortName.toUpperCase()));
    this.#coins = this.#allCoins();
  }

  algorithm(name: string): AlgorithmFacts | undefined {
    return this.#algorithms.get(bareName(name));
  }

  /** Whether two names mean the same algorithm; unknown names are compared literally. */
  isSameAlgorithm(one: string, other: string): boolean {
    const id = (name: string): string => this.algorithm(name)?.id ?? bareName(name);
    return id(one) === id(other);
  }

  /** The mistake of a field that should name an algorithm; none if it does. */
  algorithmMistakes(path: string, name: string): Mistake[] {
    return this.algorithm(name) === undefined ? [mistake(path, detail("input.noAlgorithm", { name }))] : [];
  }

  coin(shortName: string): Coin | undefined {
    return this.#coins.get(shortName.toUpperCase());
  }

  all(): Iterable<Coin> {
    return this.#coins.values();
  }

  /** Sets the market worth of coins, by short name in capitals; manual values stay. */
  setMarket(worth: ReadonlyMap<string, MarketWorth>): void {
    this.#market = worth;
    this.#coins = this.#allCoins();
  }

  readonly saveCoin: MiningService["saveCoin"] = async (input) => {
    const coin = this.coin(input.shortName);
    if (input.reset === true) return this.#reset(input, coin);
    const { name, algorithm } = coin ?? input;
    const facts = algorithm === undefined ? undefined : this.algorithm(algorithm);
    const mistakes = [
      ...(coin === undefined ? this.#newCoinMistakes(name, algorithm) : []),
      ...worthMistakes(input, facts),
      ...(input.usd === undefined ? [] : dollarMistakes(this.#rates)),
    ];
    if (mistakes.length > 0 || name === undefined || algorithm === undefined) throw badCoin(input.shortName, mistakes);
    if (coin !== undefined) this.#refuseOfFile(coin);
    const worth = { ...worthOf(input, facts?.hashesPerDifficulty ?? null), updated: this.#now() };
    const stored = this.#stored(input.shortName.toUpperCase());
    if (stored !== undefined) await this.#store.coins.change(stored.id, worth);
    else {
      const coinClass = coin?.coinClass ?? "UserDefined";
      const shortName = coin?.shortName ?? input.shortName;
      await this.#store.coins.add({ shortName, name, algorithm: facts?.id ?? algorithm, coinClass, ...worth });
    }
    this.#coins = this.#allCoins();
    const profitability =
      worth.profit === null ? `${worth.profitUsd} USD per MH/s and day` : `${worth.profit} BTC per MH/s and day`;
    return done(
      coin === undefined
        ? `${name} (${input.shortName}) added with a profitability of ${profitability}`
        : `${coin.displayName} now has a profitability of ${profitability}`,
    );
  };

  readonly deleteCoin: MiningService["deleteCoin"] = async ({ shortName }) => {
    const coin = this.coin(shortName);
    if (coin === undefined) throw notFound("coin", shortName);
    if (coin.coinClass === "PreDefined")
      throw new RigbridgeError("not.possible", detail("coin.predefined", { coin: coin.displayName }));
    const stored = this.#stored(shortName.toUpperCase());
    if (stored?.owner === "file")
      throw new RigbridgeError("owned.by-file", detail("owned.coin", { coin: coin.displayName }));
    if (stored !== undefined) await this.#store.coins.remove(stored.id);
    this.#coins = this.#allCoins();
    return done(`${coin.displayName} removed`);
  };

  readonly listAlgorithms: MiningService["listAlgorithms"] = async () => this.#listed;

  /** Removes the manual value. */
  async #reset({ shortName, ...given }: Input<"saveCoin">, coin: Coin | undefined): Promise<ActionReply> {
    const mistakes = coinMistakes(given);
    if (mistakes.length > 0) throw badCoin(shortName, mistakes);
    if (coin === undefined) throw notFound("coin", shortName);
    this.#refuseOfFile(coin);
    const stored = this.#stored(shortName.toUpperCase());
    if (stored === undefined || (stored.profit === null && stored.profitUsd === null))
      throw new RigbridgeError("not.possible", detail("coin.notByHand", { coin: coin.displayName }));
    if (stored.owner === "store" && coin.coinClass === "PreDefined") await this.#store.coins.remove(stored.id);
    else await this.#store.coins.change(stored.id, { profit: null, profitUsd: null, updated: null });
    this.#coins = this.#allCoins();
    return done(`The profitability of ${coin.displayName} that was set by hand is removed`);
  }

  #refuseOfFile({ shortName, displayName }: Coin): void {
    if (this.#profitsOfFile.has(shortName.toUpperCase()))
      throw new RigbridgeError("owned.by-file", `The profit of ${displayName} is declared by the configuration file`);
  }

  #stored(upperCase: string): Stored<StoredCoin> | undefined {
    return enabled(this.#store.coins).find(({ shortName }) => shortName.toUpperCase() === upperCase);
  }

  #allCoins(): Map<string, Coin> {
    const stored = new Map(enabled(this.#store.coins).map((coin) => [coin.shortName.toUpperCase(), coin]));
    const predefined = new Map(predefinedCoins.map((coin) => [coin.shortName.toUpperCase(), coin]));
    return new Map(
      [...stored, ...predefined].map(([key, { shortName, name, algorithm }]) => [
        key,
        {
          shortName,
          name,
          displayName: `${name} (${shortName})`,
          algorithm,
          coinClass: predefined.has(key) ? "PreDefined" : "UserDefined",
          ...this.#worth(key, stored.get(key)),
        },
      ]),
    );
  }

  /** A manual value takes precedence over the market's. */
  #worth(key: string, stored: StoredCoin | undefined): Pick<Coin, "profit" | "profitUsd" | "setBy"> {
    const { profit = null, profitUsd = null } = stored ?? {};
    if (profit !== null || profitUsd !== null)
      return { profit, profitUsd, setBy: this.#profitsOfFile.has(key) ? "file" : "hand" };
    const market = this.#market.get(key);
    return market === undefined ? { profit, profitUsd, setBy: null } : { ...market, setBy: "market" };
  }

  #newCoinMistakes(name: string | undefined, algorithm: string | undefined): Mistake[] {
    return [
      ...(name ? [] : [{ path: "name", message: "is required for a new coin" }]),
      ...(algorithm
        ? this.algorithmMistakes("algorithm", algorithm)
        : [{ path: "algorithm", message: "is required for a new coin" }]),
    ];
  }

  #know(facts: AlgorithmFacts, aliases: readonly string[]): void {
    for (const name of [facts.id, facts.name, ...aliases]) this.#algorithms.set(bareName(name), facts);
    this.#listed.push({ id: facts.id, name: facts.name });
  }
}

interface Worth {
  readonly profit?: number | undefined;
  readonly difficulty?: number | undefined;
  readonly reward?: number | undefined;
  readonly btc?: number | undefined;
  readonly usd?: number | undefined;
}

function worthMistakes(worth: Worth, facts: AlgorithmFacts | undefined): Mistake[] {
  const { profit, difficulty } = worth;
  const mistakes = coinMistakes(worth);
  if (profit !== undefined)
    return profit > mostWorth ? [...mistakes, { path: "profit", message: "is implausibly high" }] : mistakes;
  if (difficulty !== undefined && facts?.hashesPerDifficulty === null)
    mistakes.push({ path: "difficulty", message: `does not determine the revenue with ${facts.name}; give profit` });
  if (mistakes.length > 0) return mistakes;
  const found = worthOf(worth, facts?.hashesPerDifficulty ?? null);
  return (found.profit ?? found.profitUsd ?? 0) <= mostWorth
    ? []
    : [{ path: "difficulty", message: "gives an implausibly high profit with this reward" }];
}

/** A price in USD has no value in another display currency while the rate between them is unknown. */
const dollarMistakes = (rates: Rates): Mistake[] =>
  rates.of("USD") !== null
    ? []
    : [
        {
          path: "usd",
          message:
            `cannot be converted into ${rates.currency}, the display currency; ` +
            "give the price in BTC as btc, or set rates.currencies.USD in the configuration",
        },
      ];

/** BTC or USD per MH/s and day: above this, sums could overflow a number. */
const mostWorth = 1e15;

/** Coins that a MH/s earns in a day (hashes of a day × reward / hashes per block) times the coin's price. */
function worthOf(
  { profit, difficulty, reward, btc, usd }: Worth,
  hashesPerDifficulty: number | null,
): { profit: number | null; profitUsd: number | null } {
  if (profit !== undefined) return { profit, profitUsd: null };
  const hashes = (difficulty ?? 0) * (hashesPerDifficulty ?? Number.POSITIVE_INFINITY);
  const coins = (1e6 * 86_400 * (reward ?? 0)) / hashes;
  return btc === undefined ? { profit: null, profitUsd: coins * (usd ?? 0) } : { profit: coins * btc, profitUsd: null };
}

function badCoin(shortName: string, mistakes: readonly Mistake[]): RigbridgeError {
  const [first] = mistakes;
  if (mistakes.length === 1 && first !== undefined) return invalidAll(mistakes);
  return new RigbridgeError("input.invalid", `Coin ${shortName}: ${mistakes.length} mistakes`, { errors: mistakes });
}
