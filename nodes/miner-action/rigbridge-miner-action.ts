import type { NodeAPI, NodeMessage } from "node-red";
import type { Caller, Miner } from "rigbridge";
import { execute, Semaphore } from "rigbridge/farm";
import { z } from "zod";
import { count, figure, optional, required, ValueType } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Send, type Work } from "../shared/define-node.ts";
import { serve, serviceAt } from "../shared/endpoints.ts";
import type { ConnectedService } from "../shared/farm-connection.ts";
import { Fault, ofMiner, toRigbridgeError } from "../shared/faults.ts";
import { queueFields } from "../shared/message-queue.ts";
import { type Choice, choiceOf, chosenMiners, minerFields } from "../shared/miner-choice.ts";
import { topicOf } from "../shared/miner-state.ts";
import { wordFor } from "../shared/service-texts.ts";
import { hindrance, type Offer, offers } from "./commands.ts";
import { type Outcome, type Reply, type ResultRow, rehearse, toRow } from "./messages.ts";
import { type CommandRequest, callFor, readNames, toRequest } from "./to-service-call.ts";
import { isToMine, untilMining } from "./until-mining.ts";

const MinerActionConfig = z.object({
  service: required,
  ...minerFields,
  action: optional,
  actionType: ValueType.default("str"),
  value: optional,
  valueType: ValueType.default("str"),
  /** Reports what would be done, and changes nothing. */
  dryRun: z.boolean().default(false),
  /** Skips the miners that cannot execute the command, or are offline. */
  ableOnly: z.boolean().default(false),
  /** After a command that starts mining: sends the message once the miner mines. */
  wait: z.boolean().default(false),
  /** s to wait at most. */
  waitMax: figure(1, 86_400, 600),
  /** Commands that run at the same time. */
  parallel: count(1, 256, 8),
  /** Of several miners: one message per miner, or one for all of them. */
  output: z.enum(["each", "together"]).default("each"),
  ...queueFields,
});
type MinerActionConfig = z.infer<typeof MinerActionConfig>;

/** One message, evaluated. */
interface Request {
  readonly choice: Choice;
  readonly command: CommandRequest;
  readonly dryRun: boolean;
  /** The flow's own key: the same message may be sent again without a second command. */
  readonly key: string | null;
}

export const minerAction: NodeKind<MinerActionConfig> = {
  type: "rigbridge-miner-action",
  version: 1,
  migrations: [],
  schema: MinerActionConfig,
  start,
};

/** Sends commands to miners. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, minerAction);
  serve(RED, "get", "/rigbridge/actions/:id", "rigbridge-service.read", async ({ params, query }) => {
    const { farm } = await serviceAt(RED, params.id);
    return offers(minersNamed(farm, query), farm.features).map((offer) => ({
      ...offer,
      words: wordsOf(offer, query.language),
    }));
  });
}

/** The known words among a control's options, in the editor's language. */
function wordsOf({ control }: Offer, language: unknown): Readonly<Record<string, string>> {
  const words = (control?.options ?? []).map((option) => (typeof option === "string" ? option : option.label));
  return Object.fromEntries(
    words.flatMap((word) => {
      const own = wordFor(word, language);
      return own === undefined ? [] : [[word, own]];
    }),
  );
}

/** The miners that the editor's fields select now; all miners if the fields select none. */
function minersNamed(
  farm: ConnectedService["farm"],
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
  const parallel = new Semaphore(config.parallel);
  return {
    input: async (msg, send) => {
      const request = await queue.pass(evaluate(work, msg));
      await status.during(async () => {
        const { outcomes, skipped } = await run(work, parallel, request, msg, (out) => {
          if (config.output === "each") send(out);
        });
        if (config.output === "together") send({ ...msg, payload: reportOn(outcomes, skipped) });
        conclude(work, outcomes, skipped);
      });
    },
  };
}

async function evaluate({ config, value }: Work<MinerActionConfig>, msg: NodeMessage): Promise<Request> {
  const { action, actionType, dryRun } = config;
  const command = toRequest(
    await value({ name: "action", value: action, type: actionType }, msg),
    await value({ name: "value", value: config.value, type: config.valueType }, msg),
  );
  const choice = await choiceOf(config, (field) => value(field, msg));
  return { command, choice, dryRun: dryRun || msg.dryRun === true, key: keyIn(msg) };
}

/** null without `msg.idempotencyKey`. Throws a Fault. */
function keyIn({ idempotencyKey: key = null }: NodeMessage & { readonly idempotencyKey?: unknown }): string | null {
  if (key === null || (typeof key === "string" && /^[!-~]{1,200}$/.test(key))) return key;
  throw new Fault("input.invalid", "idempotency-key");
}

/** Each miner's command has a key of its own. */
const withKey = (caller: Caller, key: string | null, { id }: Miner): Caller =>
  key === null ? caller : { ...caller, idempotency: { key: `${key}.${id}` } };

/** Queues the command at each miner before the first `await`, so that a miner's commands keep the messages' order. */
async function run(
  { connection, config, RED, signal, translate }: Work<MinerActionConfig>,
  parallel: Semaphore,
  { choice, command, dryRun, key }: Request,
  msg: NodeMessage,
  send: Send,
): Promise<{ readonly outcomes: Outcome[]; readonly skipped: number }> {
  const connected = connection.connected();
  const { service, caller, farm } = connected;
  const chosen = chosenMiners(farm, choice);
  const miners = config.ableOnly ? ableOf(chosen, command, farm) : chosen;
  const names = readNames(command, connected);
  const runOne = async (miner: Miner): Promise<Outcome> => {
    try {
      const call = names.then((known) => callFor(miner, command, known, farm.features));
      const turn = connection.minerMutex.run(miner.id, async () => {
        const ready = await call;
        return parallel.run(async (): Promise<Reply> => {
          if (signal.aborted) throw new Fault("service.not-ready", "closed");
          if (dryRun) return rehearse(connected, miner, ready);
          return { success: true, ...(await execute(service, withKey(caller, key, miner), miner.id, [ready])) };
        });
      });
      // A command that this miner cannot execute fails immediately, not in its turn.
      const [reply] = await Promise.all([turn, call]);
      const after = await stateAfter(connected, miner);
      const isAwaited = config.wait && !dryRun && isToMine(command);
      const wait = { connection, before: miner, after, reply, seconds: config.waitMax, signal };
      const now = isAwaited ? await untilMining(wait) : after;
      send({
        ...(miners.length > 1 ? RED.util.cloneMessage(msg) : msg),
        payload: reply,
        topic: topicOf(miner),
        // A copy, which the flow may change.
        miner: structuredClone(now),
      });
      return { miner, reply };
    } catch (error) {
      return { miner, error: toRigbridgeError(error, translate) };
    }
  };
  const outcomes = Promise.all(miners.map(runOne));
  // Names that cannot be read are an error of the message, not of each miner.
  await names;
  return { outcomes: await outcomes, skipped: chosen.length - miners.length };
}

/** The miners that can execute the command now. Throws a Fault if there are none. */
function ableOf(miners: readonly Miner[], request: CommandRequest, { features }: ConnectedService["farm"]): Miner[] {
  const command = request.kind === "command" ? request.command : request.action;
  const able = miners.filter((miner) => !miner.isOffline && hindrance(command, miner, features) === null);
  if (able.length === 0) throw new Fault("control.absent", "none-able", { command, total: miners.length });
  return able;
}

/** As the service reports it after the command; if that fails, as last reported. */
const stateAfter = ({ service, caller, farm }: ConnectedService, miner: Miner): Promise<Miner> =>
  service.getMiner({ id: miner.id }, caller).then(
    ({ metaData: _, ...now }) => now,
    () => farm.miners.get(miner.id) ?? miner,
  );

interface Report {
  readonly done: number;
  readonly failed: number;
  /** Miners that cannot execute the command, if they are to be skipped. */
  readonly skipped: number;
  readonly results: readonly ResultRow[];
}

const reportOn = (outcomes: readonly Outcome[], skipped: number): Report => {
  const results = outcomes.map(toRow);
  const done = results.filter(({ success }) => success).length;
  return { done, failed: results.length - done, skipped, results };
};

/** Shows the result. Throws if a miner failed: for one miner its own error, for several an error that lists them. */
function conclude({ status, translate }: Work<MinerActionConfig>, outcomes: readonly Outcome[], skipped: number): void {
  const failed = outcomes.flatMap((outcome) => ("error" in outcome ? [outcome] : []));
  const [only] = outcomes;
  const [first] = failed;
  if (first !== undefined) {
    if (outcomes.length === 1) throw first.error;
    const isOneKind = failed.every(({ error }) => error.code === first.error.code);
    throw new Fault(
      isOneKind ? first.error.code : "rig.refused",
      "some-failed",
      { failed: failed.length, total: outcomes.length, first: ofMiner(first.miner.name, first.error.message) },
      { cause: failed.map(toRow) },
    );
  }
  const others = skipped === 0 ? "" : translate("status.skipped", { n: skipped });
  if (only !== undefined && outcomes.length === 1 && "reply" in only)
    status.done(ofMiner(only.miner.name, only.reply.message), others);
  else status.done(translate("status.told", { n: outcomes.length }), others);
}
