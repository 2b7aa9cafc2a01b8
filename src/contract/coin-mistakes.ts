import type { Mistake } from "./problems.ts";

const market = ["difficulty", "reward", "btc", "usd"] as const;
type Name = "profit" | "name" | "algorithm" | "reset" | (typeof market)[number];

/**
 * Mistakes in the combination of values that set the profitability of a coin: it takes either a profit, or difficulty, reward
 * and exactly one price. Invalid values count as given, so that all mistakes are reported at once.
 */
export function coinMistakes(given: { readonly [K in Name]?: unknown }): Mistake[] {
  const { profit, difficulty, reward, btc, usd, reset } = given;
  const notWith = (names: readonly Name[], other: Name): Mistake[] =>
    names.flatMap((path) =>
      given[path] === undefined ? [] : [{ path, message: `cannot be given together with ${other}` }],
    );
  if (reset === true) return notWith(["profit", "name", "algorithm", ...market], "reset");
  if (profit !== undefined) return notWith(market, "profit");
  if (market.every((name) => given[name] === undefined))
    return [{ path: "profit", message: "is required, or difficulty, reward and one of btc and usd" }];
  return [
    ...(difficulty === undefined || difficulty === 0
      ? [{ path: "difficulty", message: "must be given and above 0" }]
      : []),
    ...(reward === undefined ? [{ path: "reward", message: "is required with difficulty" }] : []),
    ...((btc === undefined) === (usd === undefined)
      ? [{ path: "btc", message: "exactly one of btc and usd is required" }]
      : []),
  ];
}
