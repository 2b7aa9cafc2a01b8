import type { NodeAPI, NodeMessage } from "node-red";
import { z } from "zod";
import { optional, required, ValueType } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { queueFields } from "../shared/offline-queue.ts";
import { Slots } from "../shared/turns.ts";
import type { TypedField } from "../shared/typed-value.ts";
import { type CoinFields, coinWish } from "./coin-wish.ts";
import { checkedCoin, tellCoin } from "./messages.ts";

const valueType = ValueType.default("str");

const CoinProfitConfig = z.object({
  service: required,
  /** set, add or delete. */
  action: optional,
  actionType: valueType,
  /** Its short name. */
  coin: optional,
  coinType: valueType,
  /** The full name of a coin to add. */
  coinName: optional,
  coinNameType: valueType,
  algorithm: optional,
  algorithmType: valueType,
  /** What its worth is said by. */
  worth: z.enum(["profit", "market"]).default("profit"),
  profit: optional,
  profitType: valueType,
  difficulty: optional,
  difficultyType: valueType,
  reward: optional,
  rewardType: valueType,
  price: optional,
  priceType: valueType,
  /** Of the price. */
  currency: z.enum(["btc", "usd"]).default("btc"),
  ...queueFields,
});
type CoinProfitConfig = z.infer<typeof CoinProfitConfig>;

export const coinProfit: NodeKind<CoinProfitConfig> = {
  type: "rigbridge-coin-profit",
  version: 1,
  migrations: [],
  schema: CoinProfitConfig,
  start,
};

/** Sets what a coin earns, adds a coin, removes one. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, coinProfit);
}

function start(work: Work<CoinProfitConfig>): Running {
  const { config, connection, signal, status } = work;
  const queue = work.queue(config);
  // Messages are understood, and told the service, in the order in which they came.
  const understanding = new Slots(1);
  const telling = new Slots(1);
  return {
    input: async (msg, send) => {
      const checked = checkedCoin(await understanding.run(() => wishOf(work, msg)));
      await queue.pass();
      await status.during(async () => {
        const reply = await telling.run(() => tellCoin(connection, checked, signal));
        send({ ...msg, payload: reply, topic: checked.shortName });
        status.done(reply.message);
      });
    },
  };
}

async function wishOf({ config, value }: Work<CoinProfitConfig>, msg: NodeMessage) {
  const fields = fieldsOf(config);
  return coinWish(await value({ name: "action", value: config.action, type: config.actionType }, msg), async (name) => {
    const field = fields[name];
    return field === null ? undefined : value(field, msg);
  });
}

/** The field of the editor behind each parameter of the API; null where what is chosen has none. */
function fieldsOf(config: CoinProfitConfig): Record<keyof CoinFields, TypedField | null> {
  const { worth, currency } = config;
  const price: TypedField = { name: "price", value: config.price, type: config.priceType };
  const isMarket = worth === "market";
  return {
    shortName: { name: "coin", value: config.coin, type: config.coinType },
    name: { name: "coinName", value: config.coinName, type: config.coinNameType },
    algorithm: { name: "algorithm", value: config.algorithm, type: config.algorithmType },
    profit: isMarket ? null : { name: "profit", value: config.profit, type: config.profitType },
    difficulty: isMarket ? { name: "difficulty", value: config.difficulty, type: config.difficultyType } : null,
    reward: isMarket ? { name: "reward", value: config.reward, type: config.rewardType } : null,
    btc: isMarket && currency === "btc" ? price : null,
    usd: isMarket && currency === "usd" ? price : null,
  };
}
