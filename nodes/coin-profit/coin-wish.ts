import { fieldFault } from "../shared/faults.ts";
import { shortened } from "../shared/miner-choice.ts";

/** The words of the action field, and the operation behind each. */
const operationOf = { set: "saveCoin", add: "saveCoin", delete: "deleteCoin" } as const;

export type CoinAction = keyof typeof operationOf;
export type CoinOperation = (typeof operationOf)[CoinAction];

/** What is wanted of the service, not checked yet. */
export interface CoinWish {
  readonly operation: CoinOperation;
  /** By the names of the API: shortName, profit, name, algorithm, difficulty, reward, btc, usd. */
  readonly given: Readonly<Record<string, unknown>>;
}

/** Fields of the node that come to a parameter of the API for a message. */
export interface CoinFields {
  readonly shortName: unknown;
  readonly name: unknown;
  readonly algorithm: unknown;
  readonly profit: unknown;
  readonly difficulty: unknown;
  readonly reward: unknown;
  readonly btc: unknown;
  readonly usd: unknown;
}

/** Which fields an action takes. */
const taken: Readonly<Record<CoinAction, readonly (keyof CoinFields)[]>> = {
  set: ["shortName", "profit", "difficulty", "reward", "btc", "usd"],
  add: ["shortName", "name", "algorithm", "profit", "difficulty", "reward", "btc", "usd"],
  delete: ["shortName"],
};

/**
 * The wish of a message: an action by its name, with the fields, or an object with all of it, like
 * `{action: "set", shortName: "BTC", profit: 1.5e-12}`. Throws a Fault that names the field.
 */
export async function coinWish(
  action: unknown,
  fieldOf: (name: keyof CoinFields) => Promise<unknown>,
): Promise<CoinWish> {
  if (isObject(action)) {
    const { action: word, ...given } = action;
    return { operation: operationOf[actionIn(word)], given: present(Object.entries(given)) };
  }
  const word = actionIn(action);
  const entries = await Promise.all(
    taken[word].map(async (name): Promise<[string, unknown]> => [name, await fieldOf(name)]),
  );
  return { operation: operationOf[word], given: present(entries) };
}

function actionIn(given: unknown): CoinAction {
  const word = typeof given === "string" ? given.trim() : given;
  if (word === undefined || word === null || word === "") throw fieldFault("action", "empty");
  if (word === "set" || word === "add" || word === "delete") return word;
  throw fieldFault("action", "unknown-command", { name: shortened(String(word)) });
}

/** What is empty is not given. */
const present = (entries: readonly [string, unknown][]): CoinWish["given"] =>
  Object.fromEntries(entries.filter(([, value]) => value !== undefined && value !== null && value !== ""));

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
