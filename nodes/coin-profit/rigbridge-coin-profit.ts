import type { NodeAPI, NodeMessage } from "node-red";
import { Semaphore } from "rigbridge/farm";
import { z } from "zod";
import { optional, required, type TypedField, ValueType } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { queueFields } from "../shared/message-queue.ts";
import { type CoinParameter, coinRequest, sendCoin, validated } from "./coin-request.ts";

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
  /** Which fields give the profit. */
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

/** Sets the profit of a coin, adds a coin, or deletes one. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, coinProfit);
}

function start(work: Work<CoinProfitConfig>): Running {
  const { connection, signal, status } = work;
  const queue = work.queue(work.config);
  // One request at a time keeps the messages' order at the service.
  const oneAtATime = new Semaphore(1);
  return {
    input: async (msg, send) => {
      const request = await queue.pass(evaluate(work, msg).then(validated));
      await status.during(async () => {
        const reply = await oneAtATime.run(() => sendCoin(connection, request, signal));
        send({ ...msg, payload: reply, topic: request.shortName });
        status.done(reply.message);
      });
    },
  };
}

async function evaluate({ config, value }: Work<CoinProfitConfig>, msg: NodeMessage) {
  const fields = fieldsOf(config);
  const action = await value({ name: "action", value: config.action, type: config.actionType }, msg);
  return coinRequest(action, async (name) => {
    const field = fields[name];
    return field === null ? undefined : value(field, msg);
  });
}

/** The editor's field for each API parameter; null if the configuration does not use it. */
function fieldsOf(config: CoinProfitConfig): Record<CoinParameter, TypedField | null> {
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
