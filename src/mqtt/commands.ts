import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import {
  actionIntents,
  type Execution,
  execute,
  type Intent,
  isExecutable,
  type PoolNames,
  settingIntents,
  settingsIntents,
  toServiceCall,
} from "../farm/index.ts";
import { caller } from "./caller.ts";
import type { CommandInbox } from "./command-inbox.ts";
import { keyOf } from "./deduplicate.ts";
import { Lanes } from "./lanes.ts";
import { minerState } from "./miner-state.ts";
import type { Message } from "./mqtt-link.ts";
import type { KnownMiner, Publishing } from "./publishing.ts";
import { type CommandTopic, commandTopic, type Topics } from "./topics.ts";

export interface CommandsOptions {
  readonly service: MiningService;
  readonly publishing: Publishing;
  readonly inbox: CommandInbox;
  readonly pools: PoolNames;
  readonly topics: Topics;
  readonly base: string;
}

type ThingCommand = Extract<CommandTopic, { kind: "set" | "action" }>;

/** Members of a group that are told at once. */
const parallel = 32;

/** What is said to miners and groups: in order for each miner, answered with what the rig then reports. */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #lanes = new Lanes();

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  async heard(message: Message): Promise<void> {
    const { base, inbox } = this.#options;
    const topic = commandTopic(base, message.topic);
    if (topic === null || topic.kind === "request") return;
    await inbox.take(message, this.#answersOf(topic), async (value) => {
      const intents = ordersIn(topic, value);
      const data =
        topic.thing === "miner"
          ? await this.#toMiner(this.#minerOf(topic), intents, keyOf(message))
          : await this.#toGroup(topic, intents, keyOf(message));
      return data === undefined ? undefined : { data };
    });
  }

  /** Ids that are none of ours have no topics. */
  #answersOf({ thing, id }: ThingCommand): string {
    const { topics } = this.#options;
    if (thing === "miner") return topics.miner(/^[a-z0-9-]{1,64}$/.test(id) ? id : "unknown").response;
    return topics.group(/^\d{1,10}$/.test(id) ? Number(id) : 0).response;
  }

  #minerOf({ id }: ThingCommand): KnownMiner {
    const { publishing } = this.#options;
    const miner = publishing.find(id);
    if (miner !== undefined) return miner;
    throw publishing.knows("miner", id) === null ? notReady() : notFound("miner", shortened(id));
  }

  /** Resolves with undefined for what is wanted already, by the command before. */
  #toMiner(miner: KnownMiner, intents: readonly Intent[], key: string): Promise<object | undefined> {
    return this.#lanes.run(miner.uid, key, () => this.#obeyed(miner.uid, intents));
  }

  async #obeyed(uid: string, intents: readonly Intent[]): Promise<object> {
    const { service, publishing, pools } = this.#options;
    const miner = publishing.find(uid);
    if (miner === undefined) throw notFound("miner", uid);
    const poolNamed = await pools.read();
    // All of it is looked at before any of it is done.
    const calls = intents.map((intent) => toServiceCall(miner, intent, poolNamed));
    let told: Execution;
    try {
      told = await execute(service, caller, miner.id, calls);
    } finally {
      await this.#show(miner);
    }
    return { ...this.#reported(uid, intents), ...told };
  }

  /** As it is now, at once. */
  async #show({ id }: KnownMiner): Promise<void> {
    const { service, publishing } = this.#options;
    const detail = await service.getMiner({ id }, caller).catch(() => undefined);
    if (detail === undefined) return;
    const { metaData: _, ...miner } = detail;
    publishing.miner(miner, true);
  }

  /** What the rig reports of what was set. */
  #reported(uid: string, intents: readonly Intent[]): object {
    const miner = this.#options.publishing.find(uid);
    if (miner === undefined) return {};
    const state = minerState(miner, null);
    const fields = intents.flatMap((intent) => (intent.kind === "set" ? [intent.property] : []));
    return Object.fromEntries(fields.map((field) => [field, state[field === "pool" ? "pool_name" : field] ?? null]));
  }

  async #toGroup(topic: ThingCommand, intents: readonly Intent[], key: string): Promise<object> {
    const { publishing, pools } = this.#options;
    const members = /^\d{1,10}$/.test(topic.id) ? publishing.membersOf(Number(topic.id)) : undefined;
    if (members === undefined)
      throw publishing.knows("group", topic.id) === null ? notReady() : notFound("group", shortened(topic.id));
    const poolNamed = await pools.read();
    const able = members.filter((miner) => isExecutable(miner, intents, poolNamed));
    if (able.length === 0) throw new RigbridgeError("control.absent", "No miner of this group can be told that");
    const results: { readonly uid: string; readonly error?: string }[] = [];
    const waiting = [...able];
    const work = async (): Promise<void> => {
      for (let miner = waiting.shift(); miner !== undefined; miner = waiting.shift()) {
        const { uid } = miner;
        const error = await this.#toMiner(miner, intents, key).then(
          () => undefined,
          (failure: unknown) => (failure instanceof RigbridgeError ? failure : internal(failure)),
        );
        results.push(error === undefined ? { uid } : { uid, error: error.message });
      }
    };
    await Promise.all(Array.from({ length: Math.min(parallel, able.length) }, work));
    const failed = results.filter(({ error }) => error !== undefined);
    const counts = {
      done: results.length - failed.length,
      failed: failed.length,
      skipped: members.length - able.length,
    };
    if (failed.length === results.length)
      throw new RigbridgeError(
        "rig.refused",
        `None of ${results.length} miners did it; the first: ${failed[0]?.error}`,
      );
    return { ...counts, results };
  }
}

function ordersIn({ kind, property }: ThingCommand, value: unknown): Intent[] {
  if (kind === "action") return actionIntents(value);
  return property === null ? settingsIntents(value) : settingIntents(property, value);
}

const notReady = (): RigbridgeError =>
  new RigbridgeError("service.not-ready", "The bridge has not read the miners yet; try again");

const internal = (cause: unknown): RigbridgeError => new RigbridgeError("internal", "A fault of the bridge", { cause });

const shortened = (text: string): string => `"${text.slice(0, 64)}"`;
