import type { NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import type { Clock } from "../shared/clock.ts";
import type { Farm } from "../shared/farm-connection.ts";
import type { Translate } from "../shared/faults.ts";
import { topicOf } from "../shared/miner-state.ts";
import type { NodeStatus } from "../shared/node-status.ts";
import type { Change, EventName } from "./changes.ts";
import { minerOf } from "./filters.ts";

/** The number of messages over the limit. */
type HeldBack = Record<EventName, number>;

const none: Readonly<HeldBack> = { new: 0, changed: 0, closed: 0 };

export interface MessageSenderOptions {
  /** Messages per minute. */
  readonly limit: number;
  readonly clock: Clock;
  readonly translate: Translate;
  readonly status: Pick<NodeStatus, "done" | "failed">;
  readonly send: (msg: NodeMessage) => void;
  readonly warn: (text: string) => void;
}

/** Sends changes as messages up to a limit per minute; the rest is counted, and reported in one message later. */
export class MessageSender {
  readonly #options: MessageSenderOptions;
  readonly #rateLimit: RateLimit;
  #heldBack: HeldBack = { ...none };
  #cancel: () => void = () => undefined;

  constructor(options: MessageSenderOptions) {
    this.#options = options;
    this.#rateLimit = new RateLimit(options.limit, () => options.clock.now());
  }

  /** Returns the sent changes; the others are never sent. */
  send(changes: readonly Change[], farm: Pick<Farm, "miners">): readonly Change[] {
    this.#sendCount();
    const sent = changes.filter((change) => {
      if (this.#rateLimit.take()) {
        this.#options.send(messageOf(change, farm));
        return true;
      }
      this.#heldBack[change.event] += 1;
      return false;
    });
    this.#show(sent.at(-1));
    this.#schedule();
    return sent;
  }

  /** Logs the count of unsent messages. */
  close(): void {
    this.#cancel();
    if (this.#count > 0) this.#options.warn(this.#countText());
  }

  get #count(): number {
    return Object.values(this.#heldBack).reduce((sum, count) => sum + count, 0);
  }

  #countText(): string {
    const { translate, limit } = this.#options;
    return translate("status.held-back", { n: this.#count, limit });
  }

  #schedule(): void {
    this.#cancel();
    if (this.#count === 0) return;
    this.#cancel = this.#options.clock.after(this.#rateLimit.waitMs(), () => {
      this.#sendCount();
      this.#schedule();
    });
  }

  #sendCount(): void {
    if (this.#count === 0 || !this.#rateLimit.take()) return;
    const payload = { message: this.#countText(), count: this.#count, ...this.#heldBack };
    this.#heldBack = { ...none };
    this.#options.send(messageWith({ payload, topic: "", event: "held-back", miner: null }));
    this.#options.status.done(payload.message);
  }

  #show(last: Change | undefined): void {
    const { status, translate } = this.#options;
    if (this.#count > 0) status.failed(this.#countText());
    else if (last !== undefined)
      status.done(`${translate(`notification.${last.event}`)}: ${last.notification.message}`);
  }
}

const minuteMs = 60_000;

/** A limit on any period of one minute. */
export class RateLimit {
  readonly #limit: number;
  readonly #now: () => number;
  /** Times in the last minute, oldest first. */
  #taken: number[] = [];

  /** `now` in ms. */
  constructor(limit: number, now: () => number) {
    this.#limit = limit;
    this.#now = now;
  }

  /** Whether one more is allowed; then it is counted. */
  take(): boolean {
    if (this.waitMs() > 0) return false;
    this.#taken.push(this.#now());
    return true;
  }

  /** ms until one more is allowed; 0 if it is now. */
  waitMs(): number {
    const since = this.#now() - minuteMs;
    this.#taken = this.#taken.filter((at) => at > since);
    const [first] = this.#taken;
    return first === undefined || this.#taken.length < this.#limit ? 0 : first - since;
  }
}

/** Copies, which the flow may change. */
function messageOf({ event, notification }: Change, farm: Pick<Farm, "miners">): NodeMessage {
  const miner = structuredClone(minerOf(farm, notification));
  const topic = miner === null ? notification.minerName : topicOf(miner);
  return messageWith({ payload: { ...notification }, topic, event, miner });
}

const messageWith = (fields: {
  readonly payload: object;
  readonly topic: string;
  readonly event: EventName | "held-back";
  readonly miner: Miner | null;
}): NodeMessage => ({ ...fields });
