import { KeyedMutex } from "../async/index.ts";
import { notFound, RigbridgeError } from "../contract/problems.ts";
import type { MiningService } from "../contract/service.ts";
import { isNumberText } from "../contract/site-numbers.ts";
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
import { type CommandInbox, caller } from "./command-inbox.ts";
import { keyOf } from "./deduplicate.ts";
import { type MinerWithUid, minerState } from "./miner-state.ts";
import type { Message } from "./mqtt-link.ts";
import type { Publishing } from "./publishing.ts";
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

/** Miners of a group that execute a command concurrently. */
const maxParallel = 32;

/** Commands to miners and groups: in order for each miner, answered with the values that the rig reports afterwards. */
export class Commands {
  readonly #options: CommandsOptions;
  readonly #queues = new MinerQueues();

  constructor(options: CommandsOptions) {
    this.#options = options;
  }

  async handle(message: Message): Promise<void> {
    const { base, inbox } = this.#options;
    const topic = commandTopic(base, message.topic);
    if (topic?.kind !== "set" && topic?.kind !== "action") return;
    await inbox.take(message, this.#responseTopicOf(topic), async (value) => {
      const intents = intentsOf(topic, value);
      const data =
        topic.thing === "miner"
          ? await this.#toMiner(this.#minerOf(topic), intents, keyOf(message))
          : await this.#toGroup(topic, intents, keyOf(message));
      return data === undefined ? undefined : { data };
    });
  }

  /** An invalid id must not become part of a topic. */
  #responseTopicOf({ thing, id }: ThingCommand): string {
    const { topics } = this.#options;
    if (thing === "farm") return topics.farm.response;
    if (thing === "miner") return topics.miner(/^[a-z0-9-]{1,64}$/.test(id) ? id : "unknown").response;
    return topics.group(isNumberText(id) ? Number(id) : 0).response;
  }

  #minerOf({ id }: ThingCommand): MinerWithUid {
    const { publishing } = this.#options;
    const miner = publishing.find(id);
    if (miner !== undefined) return miner;
    throw publishing.has("miner", id) === null ? notReady() : notFound("miner", shortened(id));
  }

  /** Resolves with undefined if the command repeats the last queued one. */
  #toMiner(miner: MinerWithUid, intents: readonly Intent[], key: string): Promise<object | undefined> {
    return this.#queues.run(miner.uid, key, () => this.#execute(miner.uid, intents));
  }

  async #execute(uid: string, intents: readonly Intent[]): Promise<object> {
    const { service, publishing, pools } = this.#options;
    const miner = publishing.find(uid);
    if (miner === undefined) throw notFound("miner", uid);
    const poolNamed = await pools.read();
    // All intents are checked before any is executed.
    const calls = intents.map((intent) => toServiceCall(miner, intent, poolNamed));
    let execution: Execution;
    try {
      execution = await execute(service, caller, miner.id, calls);
    } finally {
      await this.#refresh(miner);
    }
    return { ...this.#reported(uid, intents), ...execution };
  }

  async #refresh({ id }: MinerWithUid): Promise<void> {
    const { service, publishing } = this.#options;
    const detail = await service.getMiner({ id }, caller).catch(() => undefined);
    if (detail === undefined) return;
    const { metaData: _, ...miner } = detail;
    publishing.miner(miner, true);
  }

  /** The values that the rig reports for the properties that were set. */
  #reported(uid: string, intents: readonly Intent[]): object {
    const miner = this.#options.publishing.find(uid);
    if (miner === undefined) return {};
    const state = minerState(miner, null);
    const fields = intents.flatMap((intent) => (intent.kind === "set" ? [intent.property] : []));
    return Object.fromEntries(fields.map((field) => [field, state[field === "pool" ? "pool_name" : field] ?? null]));
  }

  #membersOf({ thing, id }: ThingCommand): MinerWithUid[] | undefined {
    const { publishing } = this.#options;
    if (thing === "farm") return publishing.all;
    return isNumberText(id) ? publishing.membersOf(Number(id)) : undefined;
  }

  /** A command to a group or to the farm. */
  async #toGroup(topic: ThingCommand, intents: readonly Intent[], key: string): Promise<object> {
    const { publishing, pools } = this.#options;
    const members = this.#membersOf(topic);
    if (members === undefined)
      throw publishing.has("group", topic.id) === null ? notReady() : notFound("group", shortened(topic.id));
    const poolNamed = await pools.read();
    const able = members.filter((miner) => isExecutable(miner, intents, poolNamed));
    if (able.length === 0)
      throw new RigbridgeError("control.absent", `No miner of this ${topic.thing} has that control`);
    const results: { readonly uid: string; readonly error?: string }[] = [];
    let others = members.length - able.length;
    const waiting = [...able];
    const work = async (): Promise<void> => {
      for (let miner = waiting.shift(); miner !== undefined; miner = waiting.shift()) {
        const { uid } = miner;
        const error = await this.#toMiner(miner, intents, key).then(
          () => undefined,
          (failure: unknown) => (failure instanceof RigbridgeError ? failure : internal(failure)),
        );
        // The rule does not apply to this miner.
        if (error?.code === "nothing.to.do" && others < members.length - 1) others += 1;
        else results.push(error === undefined ? { uid } : { uid, error: error.message });
      }
    };
    await Promise.all(Array.from({ length: Math.min(maxParallel, able.length) }, work));
    const failed = results.filter(({ error }) => error !== undefined);
    const counts = {
      done: results.length - failed.length,
      failed: failed.length,
      skipped: others,
    };
    if (failed.length === results.length)
      throw new RigbridgeError("rig.refused", `All ${results.length} miners failed; the first: ${failed[0]?.error}`);
    return { ...counts, results };
  }
}

const maxQueued = 50;

/** One queue per miner: a remote server may not keep the order of concurrent requests. */
class MinerQueues {
  readonly #mutex = new KeyedMutex<string>();
  /** The key of the last queued command. */
  readonly #last = new Map<string, string>();

  /**
   * Runs the work after everything queued before for this miner. Skips work with the key of the last queued one
   * (undefined). Throws `too.many`.
   */
  async run<T>(miner: string, key: string, work: () => Promise<T>): Promise<T | undefined> {
    const pending = this.#mutex.pending(miner);
    if (pending > 0 && this.#last.get(miner) === key) return undefined;
    if (pending >= maxQueued)
      throw new RigbridgeError("too.many", `${maxQueued} commands are already waiting for this miner; try again later`);
    this.#last.set(miner, key);
    try {
      return await this.#mutex.run(miner, work);
    } finally {
      if (this.#mutex.pending(miner) === 0) this.#last.delete(miner);
    }
  }
}

function intentsOf({ kind, property }: ThingCommand, value: unknown): Intent[] {
  if (kind === "action") return actionIntents(value);
  return property === null ? settingsIntents(value) : settingIntents(property, value);
}

const notReady = (): RigbridgeError =>
  new RigbridgeError("service.not-ready", "The bridge has not read the miners yet; try again in a few seconds");

const internal = (cause: unknown): RigbridgeError =>
  new RigbridgeError("internal", "The bridge failed; its log says why", { cause });

const shortened = (text: string): string => `"${text.slice(0, 64)}"`;
