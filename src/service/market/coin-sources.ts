import { z } from "zod";
import type { CoinSourceSettings, coinSourceTypes } from "../../config/money.ts";
import type { CoinWork } from "../money/coin-worth.ts";
import { fieldsOf, listOf, numberOf, positive, type SourceShape, textOf } from "./feed.ts";

const figure = z.number().nullable();

/** The facts about a coin in one answer; null where missing. */
export const CoinFacts = z.object({
  /** In capitals. */
  shortName: z.string(),
  /** The source's name for it; "" if missing. */
  algorithm: z.string(),
  difficulty: figure,
  networkHashrate: figure,
  blockTime: figure,
  reward: figure,
  earning: figure,
  priceBtc: figure,
  priceUsd: figure,
  /** Of kept facts: when each part was read, epoch ms. */
  workAt: figure.optional(),
  priceAt: figure.optional(),
});
export type CoinFacts = z.infer<typeof CoinFacts>;

export const MarketFacts = z.object({
  coins: z.array(CoinFacts).max(2_000),
  /** Money per BTC, by currency. */
  btc: z.record(z.string(), z.number()),
  btcAt: z.record(z.string(), z.number()).optional(),
});
export type MarketFacts = z.infer<typeof MarketFacts>;

type CoinSource = SourceShape<CoinSourceSettings & { readonly currency: string }, MarketFacts>;

const noWork: CoinWork = { difficulty: null, networkHashrate: null, blockTime: null, reward: null, earning: null };
const mostCoins = 1_000;
/** s after which a source's own time stamp is too old. */
const staleSeconds = 86_400;
const isStale = (stamp: unknown, now: number): boolean => {
  const seconds = positive(stamp);
  return seconds !== null && now / 1000 - seconds > staleSeconds;
};

/** Null if nothing was read. */
const factsOf = (coins: readonly CoinFacts[], btc: Record<string, number> = {}): MarketFacts | null =>
  coins.length === 0 && Object.keys(btc).length === 0 ? null : { coins: coins.slice(0, mostCoins), btc };

/** WhatToMine: coins.json, asic.json, or one coin. Numbers are numbers or texts, by field and year. */
const whattomine: CoinSource = {
  url: "https://whattomine.com/coins.json",
  isWhole: true,
  requests: (_settings, url) => [{ url }],
  read: ([answer], _settings, remark, now) => {
    const { coins, ...one } = fieldsOf(answer);
    const rows = coins === undefined ? [one] : Object.values(fieldsOf(coins));
    const btc: Record<string, number> = {};
    const found = rows.flatMap((row): CoinFacts[] => {
      const fields = fieldsOf(row);
      const shortName = textOf(fields.tag).toUpperCase();
      // Rows of NiceHash are order books, not coins.
      if (shortName === "" || shortName === "NICEHASH") return [];
      if (fields.lagging === true || isStale(fields.timestamp, now)) {
        remark(`its node of ${shortName} is stuck, so its figures are not used`);
        return [];
      }
      const price = positive(fields.exchange_rate);
      const unit = textOf(fields.exchange_rate_curr).toUpperCase();
      const inUsd = unit === "USD" || unit === "USDT";
      if (shortName === "BTC" && inUsd && price !== null) btc.USD = price;
      return [
        {
          shortName,
          algorithm: textOf(fields.algorithm),
          difficulty: positive(fields.difficulty),
          networkHashrate: positive(fields.nethash),
          blockTime: positive(fields.block_time),
          reward: positive(fields.block_reward),
          earning: null,
          priceBtc: unit === "BTC" && shortName !== "BTC" ? price : null,
          priceUsd: inUsd ? price : null,
        },
      ];
    });
    return factsOf(found, btc);
  },
};

const currencies = /^[A-Z]{3}$/;

/** mempool: Bitcoin only, also from your own node. */
const mempool: CoinSource = {
  url: "https://mempool.space",
  requests: (_settings, url) =>
    ["prices", "mining/hashrate/3d", "mining/reward-stats/144", "difficulty-adjustment"].map((path) => ({
      url: `${url}/api/v1/${path}`,
    })),
  read: ([prices, mining, rewards, adjustment], _settings, _remark, now) => {
    const { time, ...amounts } = fieldsOf(prices);
    const btc = isStale(time, now)
      ? {}
      : Object.fromEntries(
          Object.entries(amounts).flatMap(([currency, amount]) => {
            const price = positive(amount);
            return currencies.test(currency) && price !== null ? [[currency, price] as const] : [];
          }),
        );
    const { currentDifficulty, currentHashrate } = fieldsOf(mining);
    const { startBlock, endBlock, totalReward } = fieldsOf(rewards);
    const [first, last, total] = [numberOf(startBlock), numberOf(endBlock), positive(totalReward)];
    const blocks = first === null || last === null ? 144 : last - first + 1;
    const blockMs = positive(fieldsOf(adjustment).timeAvg);
    const work: CoinWork = {
      difficulty: positive(currentDifficulty),
      networkHashrate: positive(currentHashrate),
      blockTime: blockMs === null ? null : blockMs / 1000,
      // In sat.
      reward: total === null || blocks <= 0 ? null : total / blocks / 1e8,
      earning: null,
    };
    const isKnown = Object.values(work).some((value) => value !== null) || Object.keys(btc).length > 0;
    if (!isKnown) return null;
    return factsOf(
      [{ shortName: "BTC", algorithm: "sha256", ...work, priceBtc: null, priceUsd: btc.USD ?? null }],
      btc,
    );
  },
};

/** CoinGecko: prices only. An unknown id is simply absent. */
const coingecko: CoinSource = {
  url: "https://api.coingecko.com",
  requests: ({ coins, currency, token }, url) => [
    {
      url: `${url}/api/v3/simple/price?${new URLSearchParams({
        ids: [...new Set(["bitcoin", ...Object.values(coins)])].join(","),
        vs_currencies: [...new Set(["btc", "usd", currency.toLowerCase()])].join(","),
        include_last_updated_at: "true",
      })}`,
      ...(token === undefined ? {} : { headers: { "x-cg-demo-api-key": token } }),
    },
  ],
  read: ([answer], { coins, currency }, remark, now) => {
    const ids = fieldsOf(answer);
    const bitcoin = fieldsOf(ids.bitcoin);
    const btc: Record<string, number> = {};
    for (const code of new Set(["USD", currency])) {
      const price = positive(bitcoin[code.toLowerCase()]);
      if (price !== null && !isStale(bitcoin.last_updated_at, now)) btc[code] = price;
    }
    const found = Object.entries(coins).flatMap(([shortName, id]): CoinFacts[] => {
      const row = fieldsOf(ids[id]);
      const [priceBtc, priceUsd] = [positive(row.btc), positive(row.usd)];
      if ((priceBtc === null && priceUsd === null) || isStale(row.last_updated_at, now)) {
        remark(`it has no present price of ${shortName} (${id})`);
        return [];
      }
      return [{ shortName: shortName.toUpperCase(), algorithm: "", ...noWork, priceBtc, priceUsd }];
    });
    return factsOf(found, btc);
  },
};

/** minerstat: -1 is unknown; the reward is for 1 H/s in an hour. */
const minerstat: CoinSource = {
  url: "https://api.minerstat.com",
  requests: ({ coins, token }, url) => [
    {
      url: `${url}/v2/coins?${new URLSearchParams({ list: Object.values(coins).join(",") })}`,
      ...(token === undefined ? {} : { headers: { "x-api-key": token } }),
    },
  ],
  read: ([answer], { coins }, remark, now) => {
    const names = new Map(Object.entries(coins).map(([shortName, id]) => [id.toUpperCase(), shortName.toUpperCase()]));
    const btc: Record<string, number> = {};
    const found = listOf(answer).flatMap((row): CoinFacts[] => {
      const fields = fieldsOf(row);
      const coin = textOf(fields.coin).toUpperCase();
      const shortName = names.get(coin) ?? names.get(textOf(fields.id).toUpperCase());
      if (shortName === undefined) return [];
      if (isStale(fields.updated, now)) {
        remark(`its figures of ${shortName} are more than a day old`);
        return [];
      }
      const [price, hourly] = [positive(fields.price), positive(fields.reward)];
      if (shortName === "BTC" && price !== null) btc.USD = price;
      const isOwn = textOf(fields.reward_unit).toUpperCase() === coin;
      return [
        {
          shortName,
          algorithm: textOf(fields.algorithm),
          difficulty: positive(fields.difficulty),
          networkHashrate: positive(fields.network_hashrate),
          blockTime: null,
          reward: positive(fields.reward_block),
          earning: hourly !== null && isOwn ? hourly * 24 : null,
          priceBtc: null,
          priceUsd: price,
        },
      ];
    });
    return factsOf(found, btc);
  },
};

export const coinSources: Readonly<Record<(typeof coinSourceTypes)[number], CoinSource>> = {
  whattomine,
  mempool,
  coingecko,
  minerstat,
};
