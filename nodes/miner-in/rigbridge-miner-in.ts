import type { Node, NodeAPI, NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import { z } from "zod";
import { figure, required } from "../shared/config.ts";
import { defineNode, type NodeKind, type Running, type Work } from "../shared/define-node.ts";
import { serve } from "../shared/endpoints.ts";
import { fieldFault, forNodeRed, type Translate, toRigbridgeError } from "../shared/faults.ts";
import { type Choice, choiceOf, minerFields } from "../shared/miner-choice.ts";
import { type MinerMessage, minerMessage } from "../shared/miner-state.ts";
import type { NodeStatus } from "../shared/node-status.ts";
import { type Crossing, LimitWatcher, type Tally } from "./limit-watcher.ts";
import { IntervalReporter, StatusReporter } from "./reporters.ts";
import { bases, measure, thresholdProperties, thresholdPropertyNamed } from "./threshold-properties.ts";
import { WatchedMiners, type Watcher } from "./watched-miners.ts";

const MinerInConfig = z
  .object({
    service: required,
    ...minerFields,
    when: z.enum(["every", "threshold", "status", "event"]).default("every"),
    /** s */
    interval: figure(1, 86_400, 30),
    /** At the interval: sends unchanged miners too. */
    repeat: z.boolean().default(false),
    /** At the interval: one message per miner, or one with a list of them. */
    output: z.enum(["each", "together"]).default("each"),
    property: z.string().default("hashrate"),
    is: z.enum(["below", "above"]).default("below"),
    threshold: figure(-1e15, 1e15, 80),
    basis: z.enum(bases).default("expected"),
    /** Of the property; empty for its default. */
    unit: z.string().default(""),
    /** In the threshold's unit. */
    hysteresis: figure(0, 1e15, 0),
    /** s */
    hold: figure(0, 7 * 86_400, 600),
  })
  .superRefine(({ when, property, basis, unit }, context) => {
    if (when !== "threshold") return;
    const found = thresholdPropertyNamed(property);
    const hasBasis = found?.bases.includes(basis) ?? true;
    const hasUnit = unit === "" || basis !== "value" || found?.units.includes(unit) === true;
    if (found === undefined) context.addIssue({ code: "custom", path: ["property"], message: "property" });
    else if (!hasBasis) context.addIssue({ code: "custom", path: ["basis"], message: "basis" });
    else if (!hasUnit) context.addIssue({ code: "custom", path: ["unit"], message: "wrong" });
  })
  .transform((config) => {
    const { property, basis, unit } = config;
    const found = thresholdPropertyNamed(property);
    return {
      ...config,
      key: found?.key ?? "hashrate",
      unit: basis === "value" ? unit || (found?.units[0] ?? "") : "%",
    };
  });
type MinerInConfig = z.infer<typeof MinerInConfig>;

export const minerIn: NodeKind<MinerInConfig> = {
  type: "rigbridge-miner-in",
  version: 1,
  migrations: [],
  schema: MinerInConfig,
  start,
};

/** Sends the state of miners: at an interval, when a limit is crossed, when the status changes, or at an event. */
export default function register(RED: NodeAPI): void {
  defineNode(RED, minerIn);
  serve(RED, "get", "/rigbridge/judged", "rigbridge-service.read", async () => thresholdProperties);
}

function start(work: Work<MinerInConfig>): Running {
  const { config, connection, signal, faults } = work;
  // The node has no input, so there is no message to take a field from.
  if (config.scope === "miners" && config.minersType === "msg") throw fieldFault("miners", "no-message");
  if (config.scope === "group" && config.groupType === "msg") throw fieldFault("group", "no-message");
  const status = new ChoiceStatus(work);
  let watched: WatchedMiners | null = null;
  const message = (miner: Miner): MinerMessage => minerMessage(miner, watched?.groups ?? []);
  const watcher = watchers[config.when](work, status, message);
  const begin = (choice: Choice): void => {
    if (signal.aborted) return;
    watched = new WatchedMiners(choice, watcher, {
      faults,
      present: () => connection.farm,
      onFault: (fault) => status.fault(fault),
    });
    if (connection.farm !== null && connection.phase.kind === "connected") watched.member.read?.(connection.farm);
  };
  choiceOf(config, (field) => work.value(field, {}))
    .then(begin)
    .catch((error: unknown) => status.fault(error));
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

/** Shows the fault in the node's choice of miners while there is one, otherwise the last result. */
class ChoiceStatus {
  readonly #node: Node;
  readonly #status: NodeStatus;
  readonly #translate: Translate;
  #result: string | null = null;
  #fault: string | null = null;

  constructor({ node, status, translate }: Work<MinerInConfig>) {
    this.#node = node;
    this.#status = status;
    this.#translate = translate;
  }

  /** The last result since there is no fault. */
  get shown(): string | null {
    return this.#result;
  }

  result(text: string, figures = ""): void {
    this.#result = text;
    if (this.#fault === null) this.#status.done(text, figures);
  }

  /** Null if there is none. A fault reaches Catch nodes once, until it changes. */
  fault(error: unknown): void {
    const before = this.#fault;
    if (error === null) {
      this.#fault = null;
      if (before !== null) this.#status.done(this.#result ?? this.#translate("status.connected"));
      return;
    }
    const failure = toRigbridgeError(error, this.#translate);
    this.#fault = failure.message;
    this.#result = null;
    if (failure.message === before) return;
    this.#status.failed(failure.message);
    this.#node.error(forNodeRed(failure), {});
  }
}

type MakeWatcher = (
  work: Work<MinerInConfig>,
  status: ChoiceStatus,
  message: (miner: Miner) => MinerMessage,
) => Watcher;

const watchers: Readonly<Record<MinerInConfig["when"], MakeWatcher>> = {
  every: ({ config, node, translate, clock }, status, message) => {
    const { interval, repeat, output } = config;
    const together = output === "together";
    return new IntervalReporter({
      intervalMs: interval * 1000,
      repeat,
      together,
      clock,
      message,
      send: (messages) => {
        if (together) node.send(listOf(messages));
        else for (const each of messages) node.send(each);
        const miners = messages.map(({ miner }) => miner);
        const [first] = miners;
        const isOne = first !== undefined && miners.length === 1;
        status.result(isOne ? statusOf(first) : translate("status.miners", { n: miners.length }), figuresOf(miners));
      },
    });
  },
  status: ({ node }, status, message) =>
    new StatusReporter((miner, before) => {
      node.send({ ...message(miner), previous: before.toLowerCase() });
      status.result(statusOf(miner), figuresOf([miner]));
    }),
  event: ({ node }, status, message) => ({
    miner: () => undefined,
    happened: (miner, { event, value, before }) => {
      node.send({ ...message(miner), event, value, previous: before });
      status.result(`${miner.name}: ${event.replace("_", " ")}`, short(value).trim());
    },
    forget: () => undefined,
    lost: () => undefined,
    close: () => undefined,
  }),
  threshold: ({ config, node, translate, clock }, status, message) => {
    const { is, threshold: limit, hysteresis, hold, key: property, basis, unit } = config;
    return new LimitWatcher({
      threshold: { is, limit, hysteresis, hold: hold * 1000 },
      clock,
      measure: (miner) => measure(miner, { key: property, basis, unit }, is),
      crossed: ({ miner, event, value, seconds }: Crossing) => {
        const condition = { state: event, property, is, limit, basis, unit, value, seconds };
        const sent = { ...message(miner), condition };
        node.send(event === "begun" ? [sent, null] : [null, sent]);
      },
      counted: showTally(is, translate, status),
    });
  },
};

const listOf = (messages: readonly MinerMessage[]): NodeMessage & { readonly miners: readonly Miner[] } => ({
  payload: messages.map(({ payload }) => payload),
  miners: messages.map(({ miner }) => miner),
});

const statusOf = ({ name, statusInfo }: Miner): string => `${name}: ${statusInfo.statusDisplay}`;

/** The hash rate of a single miner, the total power, the highest temperature; without unreported ones. */
function figuresOf(miners: readonly Miner[]): string {
  const online = miners.filter(({ isOffline }) => !isOffline);
  const known = (of: (miner: Miner) => number | null) => online.map(of).filter((value) => value !== null);
  const power = known(({ readings }) => readings.power);
  const temperature = known(({ readings }) => readings.temperature);
  const [only] = online;
  return [
    ...(only !== undefined && miners.length === 1 && only.readings.hashrate !== null ? [only.speedInfo.hashrate] : []),
    ...(power.length === 0 ? [] : [`${short(power.reduce((sum, each) => sum + each))}W`]),
    ...(temperature.length === 0 ? [] : [`${Math.round(Math.max(...temperature))} °C`]),
  ].join(", ");
}

const prefixes = ["", "k", "M", "G", "T", "P", "E"];

/** Three digits or more with a prefix, like `1.23 k` for 1,234; ends with the space before a unit. */
export function short(value: number): string {
  const power = Math.min(prefixes.length - 1, Math.max(0, Math.floor(Math.log10(Math.abs(value) || 1) / 3)));
  const figure = value / 1000 ** power;
  return `${Number(figure.toPrecision(3))} ${prefixes[power] ?? ""}`;
}

/** Shows how many miners are beyond the limit when that changes; of many changes at once, the last. */
function showTally(is: MinerInConfig["is"], translate: Translate, status: ChoiceStatus): (tally: Tally) => void {
  let next: Tally | null = null;
  const show = (): void => {
    const { total, begun, unknown } = next ?? { total: 0, begun: 0, unknown: 0 };
    next = null;
    const beyond = translate(`status.${is}`, { n: begun, total });
    const text = unknown === 0 ? beyond : `${beyond} · ${translate("status.unknown", { n: unknown })}`;
    if (text !== status.shown) status.result(text);
  };
  return (tally) => {
    if (next === null) queueMicrotask(show);
    next = tally;
  };
}
