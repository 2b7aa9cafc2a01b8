import type { NodeAPI, NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { serve } from "../shared/endpoints.ts";
import { fieldFault, type Say } from "../shared/faults.ts";
import { type Choice, choiceOf } from "../shared/miner-choice.ts";
import { type MinerMessage, minerMessage } from "../shared/miner-state.ts";
import { Every } from "./every.ts";
import { Limits, type Tally, type Turn } from "./limits.ts";
import { type MinerInConfig, minerInConfig } from "./settings.ts";
import { Shown } from "./shown.ts";
import { Statuses } from "./statuses.ts";
import { measured, thresholdProperties } from "./threshold-properties.ts";
import { Watched, type Watcher } from "./watched.ts";

export const minerIn: NodeKind<MinerInConfig> = { ...minerInConfig, type: "rigbridge-miner-in", start };

/** Sends the state of miners: in an interval, when it goes beyond a limit, when the status changes, or at an event. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, minerIn);
  serve(RED, "get", "/rigbridge/judged", "rigbridge-service.read", async () => thresholdProperties);
}

function start(work: Work<MinerInConfig>): Running {
  const { config, connection, signal, faults } = work;
  // There is no message that a field could come from.
  if (config.scope === "miners" && config.minersType === "msg") throw fieldFault("miners", "no-message");
  if (config.scope === "group" && config.groupType === "msg") throw fieldFault("group", "no-message");
  const shown = new Shown(work);
  let watched: Watched | null = null;
  const message = (miner: Miner): MinerMessage => minerMessage(miner, watched?.groups ?? []);
  const watcher = watchers[config.when](work, shown, message);
  const begin = (choice: Choice): void => {
    if (signal.aborted) return;
    watched = new Watched(choice, watcher, {
      faults,
      present: () => connection.farm,
      mistaken: (fault) => shown.mistake(fault),
    });
    if (connection.farm !== null && connection.phase.kind === "connected") watched.member.read?.(connection.farm);
  };
  choiceOf(config, (field) => work.value(field, {}))
    .then(begin)
    .catch((error: unknown) => shown.mistake(error));
  return {
    member: {
      read: (farm) => watched?.member.read?.(farm),
      miner: (miner) => watched?.member.miner?.(miner),
      happened: (event) => watched?.member.happened?.(event),
      removed: (id) => watched?.member.removed?.(id),
      phase: (phase) => watched?.member.phase?.(phase),
    },
    close: () => watcher.close(),
  };
}

type Watching = (work: Work<MinerInConfig>, shown: Shown, message: (miner: Miner) => MinerMessage) => Watcher;

const watchers: Readonly<Record<MinerInConfig["when"], Watching>> = {
  every: ({ config, node, say, clock }, shown, message) => {
    const { interval, repeat, output } = config;
    const together = output === "together";
    return new Every({
      ...{ interval: interval * 1000, repeat, together, clock, message },
      send: (messages) => {
        if (together) node.send(listOf(messages));
        else for (const each of messages) node.send(each);
        const [first] = messages;
        const isOne = first !== undefined && messages.length === 1;
        shown.words(isOne ? stateOf(first.miner) : say("status.miners", { n: messages.length }));
      },
    });
  },
  status: ({ node }, shown, message) =>
    new Statuses((miner, before) => {
      node.send({ ...message(miner), previous: before.toLowerCase() });
      shown.words(stateOf(miner));
    }),
  event: ({ node }, shown, message) => ({
    miner: () => undefined,
    happened: (miner, { event, value, before }) => {
      node.send({ ...message(miner), event, value, previous: before });
      shown.words(`${miner.name}: ${event.replace("_", " ")}`);
    },
    forget: () => undefined,
    lost: () => undefined,
    close: () => undefined,
  }),
  threshold: ({ config, node, say, clock }, shown, message) => {
    const { is, threshold: limit, hysteresis, hold, key, basis, unit } = config;
    return new Limits({
      threshold: { is, limit, hysteresis, hold: hold * 1000 },
      clock,
      measure: (miner) => measured(miner, { key, basis, unit }, is),
      turned: (turn) => {
        const sent = { ...message(turn.miner), condition: conditionOf(config, turn) };
        node.send(turn.event === "begun" ? [sent, null] : [null, sent]);
      },
      counted: counting(is, say, shown),
    });
  },
};

const listOf = (messages: readonly MinerMessage[]): NodeMessage & { readonly miners: readonly Miner[] } => ({
  payload: messages.map(({ payload }) => payload),
  miners: messages.map(({ miner }) => miner),
});

const stateOf = ({ name, statusInfo }: Miner): string => `${name}: ${statusInfo.statusDisplay}`;

/** What has begun or is over, as `msg.condition`. */
const conditionOf = ({ key, is, threshold: limit, basis, unit }: MinerInConfig, { event, value, seconds }: Turn) => ({
  ...{ state: event, property: key, is, limit, basis, unit, value, seconds },
});

/** Shows how many miners are beyond the limit, when that has changed; of many changes at once the last. */
function counting(is: MinerInConfig["is"], say: Say, shown: Shown): (tally: Tally) => void {
  let last: string | null = null;
  let next: Tally | null = null;
  const show = (): void => {
    const { total, begun, unknown } = next ?? { total: 0, begun: 0, unknown: 0 };
    next = null;
    const words = say(`status.${is}`, { n: begun, total });
    const text = unknown === 0 ? words : `${words} · ${say("status.unknown", { n: unknown })}`;
    if (text !== last) shown.words(text);
    last = text;
  };
  return (tally) => {
    if (next === null) queueMicrotask(show);
    next = tally;
  };
}
