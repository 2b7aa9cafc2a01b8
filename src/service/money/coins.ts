import { algorithms, bareName } from "../../catalogue/algorithms.ts";
import { coins as predefinedCoins } from "../../catalogue/coins.ts";
import type { Config } from "../../config/schema.ts";
import { invalid, type Mistake, notFound, RigbridgeError } from "../../contract/problems.ts";
import type { MiningService } from "../../contract/service.ts";
import type { Store, Stored, StoredCoin } from "../../store/index.ts";
import type { HashUnit } from "../../units/format.ts";
import { done, enabled } from "../crud.ts";

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
  /** USD per MH/s per day, for a coin whose price was given in USD. */
  readonly profitUsd: number | null;
}

/** An algorithm as miners and coins name it. */
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
  readonly #currency: string;
  /** By short name in capitals; rebuilt when a coin changes, because every read of a rig uses it. */
  #coins: ReadonlyMap<string, Coin>;
  /** Short names in capitals. */
  readonly #profitsOfFile: ReadonlySet<string>;
  /** By id, name and alias, bare. */
  readonly #algorithms = new Map<string, AlgorithmFacts>();
  readonly #listed: { id: string; name: string }[] = [];

  constructor(store: Store, config: Pick<Config, "algorithms" | "coins" | "display">, now: () => number) {
    this.#store = store;
    this.#now = now;
    this.#currency = config.display.currency;
    for (const { id, name, unit, difficulty, aliases } of algorithms) {
      this.#know({ id, name, unit, hashesPerDifficulty: factors[difficulty] }, aliases);
    }
    for (const { id, name, hashesPerDifficulty } of config.algorithms) {
      this.#know({ id, name, unit: "H/s", hashesPerDifficulty }, []);
    }
    this.#coins = this.#allCoins();
    const declared = config.coins.filter(({ profit }) => profit !== undefined);
    this.#profitsOfFile = new Set(declared.map(({ shortName }) => shortName.toUpperCase()));
  }

  algorithm(name: string): AlgorithmFacts | undefined {
    return this.#algorithms.get(bareName(name));
  }

  /** Whether two names are of one algorithm; unknown names are compared as they are. */
  isSameAlgorithm(one: string, other: string): boolean {
    const id = (name: string): string => this.algorithm(name)?.id ?? bareName(name);
    return id(one) === id(other);
  }

  /** The mistake of a field that should name an algorithm; none if it does. */
  algorithmMistakes(path: string, name: string): Mistake[] {
    return this.algorithm(name) === undefined ? [{ path, message: `"${name}" is not among GET /api/algorithms` }] : [];
  }

  coin(shortName: string): Coin | undefined {
    return this.#coins.get(shortName.toUpperCase());
  }

  readonly saveCoin: MiningService["saveCoin"] = async (input) => {
    const coin = this.coin(input.shortName);
    const { name, algorithm } = coin ?? input;
    const facts = algorithm === undefined ? undefined : this.algorithm(algorithm);
    const mistakes = [
      ...(coin === undefined ? this.#newCoinMistakes(name, algorithm) : []),
      ...worthMistakes(input, facts),
      ...(input.usd === undefined ? [] : dollarMistakes(this.#currency)),
    ];
    if (mistakes.length > 0 || name === undefined || algorithm === undefined) throw badCoin(input.shortName, mistakes);
    if (coin !== undefined && this.#profitsOfFile.has(coin.shortName.toUpperCase()))
      throw new RigbridgeError(
        "owned.by-file",
        `The profit of ${coin.displayName} is declared by the configuration file`,
      );
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
      throw new RigbridgeError(
        "not.possible",
        `${coin.displayName} is predefined; only user-defined coins can be removed`,
      );
    const stored = this.#stored(shortName.toUpperCase());
    if (stored?.owner === "file")
      throw new RigbridgeError("owned.by-file", `${coin.displayName} is declared by the configuration file`);
    if (stored !== undefined) await this.#store.coins.remove(stored.id);
    this.#coins = this.#allCoins();
    return done(`${coin.displayName} removed`);
  };

  readonly listAlgorithms: MiningService["listAlgorithms"] = async () => this.#listed;

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
          profit: stored.get(key)?.profit ?? null,
          profitUsd: stored.get(key)?.profitUsd ?? null,
        },
      ]),
    );
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

/** Either a profit, or difficulty, reward and exactly one price. */
function worthMistakes(worth: Worth, facts: AlgorithmFacts | undefined): Mistake[] {
  const { profit, difficulty, reward, btc, usd } = worth;
  const market = { difficulty, reward, btc, usd };
  if (profit !== undefined) {
    const both = Object.entries(market).flatMap(([path, value]) =>
      value === undefined ? [] : [{ path, message: "cannot be given together with profit" }],
    );
    return profit > mostWorth ? [...both, { path: "profit", message: "is implausibly high" }] : both;
  }
  const given = Object.values(market).some((value) => value !== undefined);
  if (!given) return [{ path: "profit", message: "is required, or difficulty, reward and one of btc and usd" }];
  const mistakes: Mistake[] = [];
  if (!difficulty) mistakes.push({ path: "difficulty", message: "must be given and above 0" });
  if (reward === undefined) mistakes.push({ path: "reward", message: "is required with difficulty" });
  if ((btc === undefined) === (usd === undefined))
    mistakes.push({ path: "btc", message: "exactly one of btc and usd is required" });
  if (facts?.hashesPerDifficulty === null)
    mistakes.push({ path: "difficulty", message: `does not determine the revenue with ${facts.name}; give profit` });
  if (mistakes.length > 0) return mistakes;
  const found = worthOf(worth, facts?.hashesPerDifficulty ?? null);
  return (found.profit ?? found.profitUsd ?? 0) <= mostWorth
    ? []
    : [{ path: "difficulty", message: "gives an implausibly high profit with this reward" }];
}

/** The only known rate is that of a BTC in the display currency, so a price in USD has no value in another currency. */
const dollarMistakes = (currency: string): Mistake[] =>
  currency === "USD"
    ? []
    : [
        {
          path: "usd",
          message: `cannot be converted into ${currency}, the display currency; give the price in BTC as btc`,
        },
      ];

/** BTC or USD per MH/s and day: with more, sums could overflow a number. */
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
  if (mistakes.length === 1 && first !== undefined) return invalid(first.path, first.message);
  return new RigbridgeError("input.invalid", `Coin ${shortName}: ${mistakes.length} mistakes`, { errors: mistakes });
}
