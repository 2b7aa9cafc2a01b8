import type { NodeAPI, NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import { Semaphore } from "rigbridge/farm";
import { z } from "zod";
import { optional, required, ValueType } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Send, type Work } from "../shared/define-node.ts";
import { Fault, ofMiner, toRigbridgeError } from "../shared/faults.ts";
import { queueFields } from "../shared/message-queue.ts";
import { type Choice, choiceOf, chosenMiners, minerFields } from "../shared/miner-choice.ts";
import { topicOf } from "../shared/miner-state.ts";
import { checkOffered, type Query, type Result, runQuery } from "./queries.ts";
import { instantOf, stepOf } from "./time.ts";

const MinerGetConfig = z.object({
  service: required,
  ...minerFields,
  /** As last reported by the service; read from the rig now; or over time. */
  what: z.enum(["state", "poll", "history"]).default("state"),
  /** Of several miners: one message per miner, or one with a list of them. */
  output: z.enum(["each", "together"]).default("each"),
  from: optional,
  fromType: ValueType.default("str"),
  to: optional,
  toType: ValueType.default("str"),
  step: optional,
  stepType: ValueType.default("str"),
  ...queueFields,
});
type MinerGetConfig = z.infer<typeof MinerGetConfig>;

export const minerGet: NodeKind<MinerGetConfig> = {
  type: "rigbridge-miner-get",
  version: 1,
  migrations: [],
  schema: MinerGetConfig,
  start,
};

/** Gets the state or the history of miners. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, minerGet);
}

/** One message, evaluated. */
interface Request {
  readonly choice: Choice;
  readonly query: Query;
}

/** Miners that are queried at the same time. */
const maxParallel = 8;

function start(work: Work<MinerGetConfig>): Running {
  const queue = work.queue(work.config);
  const parallel = new Semaphore(maxParallel);
  return {
    input: async (msg, send) => {
      const request = await queue.pass(evaluate(work, msg));
      await work.status.during(() => answer(work, parallel, request, msg, send));
    },
  };
}

async function evaluate({ config, value }: Work<MinerGetConfig>, msg: NodeMessage): Promise<Request> {
  const choice = await choiceOf(config, (field) => value(field, msg));
  const { what } = config;
  if (what !== "history") return { choice, query: { kind: what } };
  const given = (name: "from" | "to" | "step"): Promise<unknown> =>
    config[name] === ""
      ? Promise.resolve(undefined)
      : value({ name, value: config[name], type: config[`${name}Type`] }, msg);
  const now = Date.now();
  const to = instantOf("to", await given("to"), now);
  const from = instantOf("from", await given("from"), to ?? now);
  const step = stepOf(await given("step"));
  const query: Query = {
    kind: what,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(step === undefined ? {} : { step }),
  };
  return { choice, query };
}

/** Sends every result, then throws if some miners failed. */
async function answer(
  { connection, config, RED, status, translate, signal }: Work<MinerGetConfig>,
  parallel: Semaphore,
  { choice, query }: Request,
  msg: NodeMessage,
  send: Send,
): Promise<void> {
  const connected = connection.connected();
  checkOffered(query, connected.farm);
  const miners = chosenMiners(connected.farm, choice);
  const failed: { readonly miner: Miner; readonly error: unknown }[] = [];
  const queryOne = async (miner: Miner): Promise<readonly Result[]> => {
    try {
      const result = await parallel.run(() => {
        if (signal.aborted) throw new Fault("service.not-ready", "closed");
        return runQuery(connected, miner, query);
      });
      if (config.output === "each") send({ ...(miners.length > 1 ? RED.util.cloneMessage(msg) : msg), ...result });
      return [result];
    } catch (error) {
      failed.push({ miner, error });
      return [];
    }
  };
  const results = (await Promise.all(miners.map(queryOne))).flat();
  if (config.output === "together" && results.length > 0) send({ ...msg, ...listOf(results, query) });
  const [first] = failed;
  const [only] = miners;
  if (first !== undefined && miners.length === 1) throw first.error;
  if (first !== undefined) {
    const { code, message } = toRigbridgeError(first.error, translate);
    const numbers = { failed: failed.length, total: miners.length, first: ofMiner(first.miner.name, message) };
    throw new Fault(code, "some-unread", numbers, { cause: failed.map(({ miner, error }) => rowOf(miner, error)) });
  }
  status.done(only !== undefined && miners.length === 1 ? only.name : translate("status.miners", { n: miners.length }));

  function rowOf(miner: Miner, error: unknown) {
    const { code, message } = toRigbridgeError(error, translate);
    return { topic: topicOf(miner), name: miner.name, code, message };
  }
}

/** In the order of the miners; histories with their miner's name. */
const listOf = (results: readonly Result[], { kind }: Query): NodeMessage & { readonly miners: readonly Miner[] } => ({
  payload: results.map(({ payload, topic, miner: { name }, step }) =>
    kind === "history" ? { topic, name, step, points: payload } : payload,
  ),
  miners: results.map(({ miner }) => miner),
});
