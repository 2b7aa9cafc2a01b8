import type { NodeAPI, NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import { z } from "zod";
import { count, optional, required, ValueType } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Send, type Work } from "../shared/define-node.ts";
import { askedAt, serve } from "../shared/endpoints.ts";
import type { Asked } from "../shared/farm-connection.ts";
import { Fault, spoken } from "../shared/faults.ts";
import { type Choice, choiceOf, chosenMiners, minerFields } from "../shared/miner-choice.ts";
import { queueFields } from "../shared/offline-queue.ts";
import { Slots, Turns } from "../shared/turns.ts";
import { offered } from "./commands.ts";
import { type Line, lineOf, type Outcome, rehearsed, told, topicOf } from "./messages.ts";
import { doingOf, namesFor, type Wish, wishFor } from "./to-service-call.ts";

const MinerActionConfig = z.object({
  service: required,
  ...minerFields,
  action: optional,
  actionType: ValueType.default("str"),
  value: optional,
  valueType: ValueType.default("str"),
  /** Says what would be done, and does nothing. */
  dryRun: z.boolean().default(false),
  /** Miners that are told at once. */
  parallel: count(1, 256, 8),
  /** Of several miners: a message each, or one for all of them. */
  output: z.enum(["each", "together"]).default("each"),
  ...queueFields,
});
type MinerActionConfig = z.infer<typeof MinerActionConfig>;

/** What one message wants, evaluated when it came. */
interface Wanted {
  readonly choice: Choice;
  readonly wish: Wish;
  readonly dryRun: boolean;
}

export const minerAction: NodeKind<MinerActionConfig> = {
  type: "rigbridge-miner-action",
  version: 1,
  migrations: [],
  schema: MinerActionConfig,
  start,
};

/** Tells miners to do something. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, minerAction);
  serve(RED, "get", "/rigbridge/actions/:id", "rigbridge-service.read", async ({ params, query }) => {
    const { farm } = await askedAt(RED, params.id);
    return offered(minersAsked(farm, query), farm.features);
  });
}

/** The miners that the editor's fields name now; all where they name none that are there. */
function minersAsked(
  farm: Asked["farm"],
  { scope, miners, group }: Readonly<Record<string, unknown>>,
): readonly Miner[] {
  const all = [...farm.miners.values()];
  try {
    if (scope === "group") return chosenMiners(farm, { scope, group });
    return scope === "miners" ? chosenMiners(farm, { scope, miners }) : all;
  } catch (error) {
    if (error instanceof Fault) return all;
    throw error;
  }
}

function start(work: Work<MinerActionConfig>): Running {
  const { config, status } = work;
  const queue = work.queue(config);
  const slots = new Slots(config.parallel);
  // Messages are understood, and handed to the miners, in the order in which they came.
  const steps = new Turns<"understand" | "hand over">();
  return {
    input: async (msg, send) => {
      const wanted = await steps.run("understand", () => wantedBy(work, msg));
      await queue.pass();
      await status.during(async () => {
        const toSend = config.output === "each" ? send : () => undefined;
        const { ended } = await steps.run("hand over", () => handOver(work, slots, wanted, msg, toSend));
        const outcomes = await ended;
        if (config.output === "together") send({ ...msg, payload: reportOn(outcomes) });
        conclude(work, outcomes);
      });
    },
  };
}

async function wantedBy({ config, value }: Work<MinerActionConfig>, msg: NodeMessage): Promise<Wanted> {
  const { action, actionType, dryRun } = config;
  const wish = wishFor(
    await value({ name: "action", value: action, type: actionType }, msg),
    await value({ name: "value", value: config.value, type: config.valueType }, msg),
  );
  return { wish, choice: await choiceOf(config, (field) => value(field, msg)), dryRun: dryRun || msg.dryRun === true };
}

/** Gives each miner its command, in its turn; `ended` resolves with what came of all of them. */
async function handOver(
  { connection, RED, signal, say }: Work<MinerActionConfig>,
  slots: Slots,
  { choice, wish, dryRun }: Wanted,
  msg: NodeMessage,
  send: Send,
): Promise<{ readonly ended: Promise<Outcome[]> }> {
  const asked = connection.asked();
  const names = await namesFor(wish, asked);
  const miners = chosenMiners(asked.farm, choice);
  const tell = async (miner: Miner): Promise<Outcome> => {
    try {
      const call = doingOf(miner, wish, names, asked.farm.features);
      const answer = await connection.turns.run(miner.id, () =>
        slots.run(() => {
          if (signal.aborted) throw new Fault("service.not-ready", "closed");
          return dryRun ? rehearsed(asked, miner, call) : told(asked, miner, call);
        }),
      );
      const now = await presentState(asked, miner);
      send({
        ...(miners.length > 1 ? RED.util.cloneMessage(msg) : msg),
        payload: answer,
        topic: topicOf(miner),
        miner: now,
      });
      return { miner, answer };
    } catch (error) {
      return { miner, error: spoken(error, say) };
    }
  };
  return { ended: Promise.all(miners.map(tell)) };
}

/** As the service reports it after the command; as it was last told where it does not say. */
const presentState = ({ service, caller, farm }: Asked, { id, ...miner }: Miner): Promise<Miner> =>
  service.getMiner({ id }, caller).then(
    ({ metaData: _, ...now }) => now,
    () => farm.miners.get(id) ?? { id, ...miner },
  );

interface Report {
  readonly done: number;
  readonly failed: number;
  readonly results: readonly Line[];
}

const reportOn = (outcomes: readonly Outcome[]): Report => {
  const results = outcomes.map(lineOf);
  const done = results.filter(({ success }) => success).length;
  return { done, failed: results.length - done, results };
};

/** Shows how it went. Throws when a miner did not do it: one alone says why itself, of several all are named. */
function conclude({ status, say }: Work<MinerActionConfig>, outcomes: readonly Outcome[]): void {
  const failed = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome] : []));
  const [only] = outcomes;
  const [first] = failed;
  if (first !== undefined) {
    if (outcomes.length === 1) throw first.error;
    const isOneKind = failed.every(({ error }) => error.code === first.error.code);
    throw new Fault(
      isOneKind ? first.error.code : "rig.refused",
      "some-failed",
      { failed: failed.length, total: outcomes.length, first: `${first.miner.name}: ${first.error.message}` },
      { cause: failed.map(lineOf) },
    );
  }
  if (only !== undefined && outcomes.length === 1 && "answer" in only)
    status.done(`${only.miner.name}: ${only.answer.message}`);
  else status.done(say("status.told", { n: outcomes.length }));
}
