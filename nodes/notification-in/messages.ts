import type { NodeMessage } from "node-red";
import type { Miner } from "rigbridge";
import type { Clock } from "../shared/clock.ts";
import type { Work } from "../shared/define-node.ts";
import type { Farm } from "../shared/farm-connection.ts";
import type { NodeStatus } from "../shared/node-status.ts";
import { Allowance } from "./allowance.ts";
import type { Change, EventName } from "./changes.ts";
import { minerOf } from "./filters.ts";
import type { NotificationInConfig } from "./rigbridge-notification-in.ts";

/** What was over the limit. */
type HeldBack = Record<EventName, number>;

const nothing: Readonly<HeldBack> = { new: 0, changed: 0, closed: 0 };

export interface MessageSenderOptions extends Pick<Work<NotificationInConfig>, "say"> {
  /** Messages in a minute. */
  readonly limit: number;
  readonly clock: Clock;
  readonly status: Pick<NodeStatus, "done" | "failed">;
  readonly send: (msg: NodeMessage) => void;
  readonly warn: (text: string) => void;
}

/** Sends changes as messages, so many in a minute; what is over that is counted, and told in one message after it. */
export class MessageSender {
  readonly #options: MessageSenderOptions;
  readonly #allowance: Allowance;
  #heldBack: HeldBack = { ...nothing };
  #callOff: () => void = () => undefined;

  constructor(options: MessageSenderOptions) {
    this.#options = options;
    this.#allowance = new Allowance(options.limit, () => options.clock.now());
  }

  /** Returns those that were sent; what was not is never sent later. */
  send(changes: readonly Change[], farm: Pick<Farm, "miners">): readonly Change[] {
    this.#tellCount();
    const sent = changes.filter((change) => {
      if (this.#allowance.take()) {
        this.#options.send(messageOf(change, farm));
        return true;
      }
      this.#heldBack[change.event] += 1;
      return false;
    });
    this.#show(sent.at(-1));
    this.#plan();
    return sent;
  }

  /** What was held back is not told any more, and this is said. */
  close(): void {
    this.#callOff();
    if (this.#count > 0) this.#options.warn(this.#heldBackText());
  }

  get #count(): number {
    return Object.values(this.#heldBack).reduce((sum, count) => sum + count, 0);
  }

  #heldBackText(): string {
    const { say, limit } = this.#options;
    return say("status.held-back", { n: this.#count, limit });
  }

  #plan(): void {
    this.#callOff();
    if (this.#count === 0) return;
    this.#callOff = this.#options.clock.after(this.#allowance.wait(), () => {
      this.#tellCount();
      this.#plan();
    });
  }

  /** One message for all that was held back, as soon as there is room for one. */
  #tellCount(): void {
    if (this.#count === 0 || !this.#allowance.take()) return;
    const payload = { message: this.#heldBackText(), count: this.#count, ...this.#heldBack };
    this.#heldBack = { ...nothing };
    this.#options.send(messageWith({ payload, topic: "", event: "held-back", miner: null }));
    this.#options.status.done(payload.message);
  }

  #show(last: Change | undefined): void {
    const { status, say } = this.#options;
    if (this.#count > 0) status.failed(this.#heldBackText());
    else if (last !== undefined) status.done(`${say(`notification.${last.event}`)}: ${last.notification.message}`);
  }
}

/** The flow's own copies, so that it may change them. */
function messageOf({ event, notification }: Change, farm: Pick<Farm, "miners">): NodeMessage {
  const miner = structuredClone(minerOf(farm, notification));
  const topic = miner === null ? notification.minerName : (miner.uid ?? String(miner.id));
  return messageWith({ payload: { ...notification }, topic, event, miner });
}

const messageWith = (fields: {
  readonly payload: object;
  readonly topic: string;
  readonly event: EventName | "held-back";
  readonly miner: Miner | null;
}): NodeMessage => ({ ...fields });
