import type { NodeAPI, NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import { z } from "zod";
import { optional, required, ValueType } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Send, type Work } from "../shared/define-node.ts";
import { Fault, spoken } from "../shared/faults.ts";
import { type Choice, choiceOf, chosenMiners, minerFields } from "../shared/miner-choice.ts";
import { queueFields } from "../shared/offline-queue.ts";
import { Slots, Turns } from "../shared/turns.ts";
import { checkOffered, type Found, look, type Question } from "./looking.ts";
import { instantOf, stepOf } from "./time.ts";

const MinerGetConfig = z.object({
  service: required,
  ...minerFields,
  /** As the service told it last; read from the rig now; or over time. */
  what: z.enum(["state", "poll", "history"]).default("state"),
  /** Of several miners: a message each, or one with a list of them. */
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

/** Asks for the state or the history of miners. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, minerGet);
}

/** Miners that are asked at once. */
const atOnce = 8;

function start(work: Work<MinerGetConfig>): Running {
  const { config, status } = work;
  const queue = work.queue(config);
  const slots = new Slots(atOnce);
  // Messages are understood in the order in which they came.
  const steps = new Turns<"understand">();
  return {
    input: async (msg, send) => {
      const wanted = await steps.run("understand", async () => ({
        choice: await choiceOf(config, (field) => work.value(field, msg)),
        question: await questionOf(work, msg),
      }));
      await queue.pass();
      await status.during(() => answer(work, slots, wanted, msg, send));
    },
  };
}

async function questionOf({ config, value }: Work<MinerGetConfig>, msg: NodeMessage): Promise<Question> {
  const { what } = config;
  if (what !== "history") return { kind: what };
  const given = (name: "from" | "to" | "step"): Promise<unknown> =>
    config[name] === ""
      ? Promise.resolve(undefined)
      : value({ name, value: config[name], type: config[`${name}Type`] }, msg);
  const now = Date.now();
  const to = instantOf("to", await given("to"), now);
  const from = instantOf("from", await given("from"), to ?? now);
  const step = stepOf(await given("step"));
  return {
    kind: what,
    ...(from === undefined ? {} : { from }),
    ...(to === undefined ? {} : { to }),
    ...(step === undefined ? {} : { step }),
  };
}

/** Sends what there is; throws what could not be had, after the rest was sent. */
async function answer(
  { connection, config, RED, status, say, signal }: Work<MinerGetConfig>,
  slots: Slots,
  { choice, question }: { readonly choice: Choice; readonly question: Question },
  msg: NodeMessage,
  send: Send,
): Promise<void> {
  const asked = connection.asked();
  checkOffered(question, asked.farm);
  const miners = chosenMiners(asked.farm, choice);
  const failed: { readonly miner: Miner; readonly error: unknown }[] = [];
  const ask = async (miner: Miner): Promise<readonly Found[]> => {
    try {
      const found = await slots.run(() => {
        if (signal.aborted) throw new Fault("service.not-ready", "closed");
        return look(asked, miner, question);
      });
      if (config.output === "each") send({ ...(miners.length > 1 ? RED.util.cloneMessage(msg) : msg), ...found });
      return [found];
    } catch (error) {
      failed.push({ miner, error });
      return [];
    }
  };
  const found = (await Promise.all(miners.map(ask))).flat();
  if (config.output === "together" && found.length > 0) send({ ...msg, ...listOf(found, question) });
  const [first] = failed;
  const [only] = miners;
  if (first !== undefined && miners.length === 1) throw first.error;
  if (first !== undefined) {
    const { code, message } = spoken(first.error, say);
    const words = { failed: failed.length, total: miners.length, first: `${first.miner.name}: ${message}` };
    throw new Fault(code, "some-unread", words, { cause: failed.map((each) => lineOf(each.miner, each.error)) });
  }
  status.done(only !== undefined && miners.length === 1 ? only.name : say("status.miners", { n: miners.length }));

  function lineOf({ uid, id, name }: Miner, error: unknown) {
    const { code, message } = spoken(error, say);
    return { topic: uid ?? String(id), name, code, message };
  }
}

/** In the order of the miners; histories with whose they are. */
const listOf = (found: readonly Found[], { kind }: Question): NodeMessage & { readonly miners: readonly Miner[] } => ({
  payload: found.map(({ payload, topic, miner: { name }, step }) =>
    kind === "history" ? { topic, name, step, points: payload } : payload,
  ),
  miners: found.map(({ miner }) => miner),
});
