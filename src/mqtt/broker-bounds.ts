import type { Aedes } from "aedes";

/** What counts of a message. */
interface Kept {
  readonly topic: string;
  readonly payload: Uint8Array | string;
  readonly properties?: object | undefined;
}

interface ClientId {
  readonly id: string;
}

/** The store of aedes, in memory: what of it grows with what clients send. */
interface Persistence {
  storeRetained(packet: Kept): Promise<void>;
  outgoingEnqueueCombi(subscriptions: readonly { readonly clientId: string }[], packet: Kept): Promise<void>;
  outgoingUpdate(client: ClientId, packet: unknown): Promise<void>;
  /** Resolves with the message, or with the PUBREL that has taken its place. */
  outgoingClearMessageId(client: ClientId, packet: unknown): Promise<object | undefined>;
  incomingStorePacket(client: ClientId, packet: Kept & { readonly messageId: number }): Promise<void>;
  incomingDelPacket(client: ClientId, packet: { readonly messageId: number }): Promise<void>;
}

export interface BrokerBounds {
  /** Bytes of all retained messages together, and how many they may be. */
  readonly retained: number;
  readonly retainedMessages: number;
  /** Messages that wait for one client, and bytes of all that waits for any. */
  readonly queue: number;
  readonly queues: number;
}

interface Queue {
  messages: number;
  bytes: number;
}

/** Bytes that a message costs beside its own, about. */
const overhead = 256;

const sizeOf = ({ topic, payload, properties }: Kept): number =>
  overhead +
  Buffer.byteLength(topic) +
  payload.length +
  (properties === undefined ? 0 : JSON.stringify(properties).length);

/** How much the broker keeps, so that no client fills the memory. aedes itself bounds packets and sessions alone. */
export class Bounds {
  readonly #bounds: BrokerBounds;
  readonly #warn: (what: string) => void;
  readonly #retained = new Map<string, number>();
  #retainedBytes = 0;
  readonly #queues = new Map<string, Queue>();
  #queuedBytes = 0;
  /** Messages of each client with QoS 2 that it has not released. */
  readonly #unreleased = new Map<string, Map<number, number>>();

  /** `warn`: told what is refused, and why. */
  constructor(bounds: BrokerBounds, warn: (what: string) => void) {
    this.#bounds = bounds;
    this.#warn = warn;
  }

  /** Notes a message that is to be retained; false where there is no room. */
  retain(message: Kept): boolean {
    const { retained, retainedMessages } = this.#bounds;
    const before = this.#retained.get(message.topic);
    const bytes = this.#retainedBytes - (before ?? 0) + sizeOf(message);
    const isFull = bytes > retained || (before === undefined && this.#retained.size >= retainedMessages);
    if (isFull && message.payload.length > 0) return false;
    this.#noteRetained(message);
    return true;
  }

  /** Looks over what the broker's store does from now on. Throws for a store of another shape. */
  guard(aedes: Aedes): void {
    const store = persistenceOf(aedes);
    const { storeRetained, outgoingEnqueueCombi, outgoingUpdate, outgoingClearMessageId } = methodsOf(store);
    const { incomingStorePacket, incomingDelPacket } = methodsOf(store);
    // Also for what expires.
    store.storeRetained = (message) => {
      this.#noteRetained(message);
      return storeRetained(message);
    };
    store.outgoingEnqueueCombi = async (subscriptions, message) => {
      const size = sizeOf(message);
      await outgoingEnqueueCombi(
        subscriptions.filter(({ clientId }) => this.#enqueue(clientId, size)),
        message,
      );
    };
    store.outgoingUpdate = async (client, packet) => {
      try {
        await outgoingUpdate(client, packet);
      } catch (error) {
        const waiting = this.#queues.get(client.id)?.messages ?? 0;
        throw waiting < this.#bounds.queue ? error : new Error(`${waiting} messages wait for it to acknowledge them`);
      }
    };
    store.outgoingClearMessageId = async (client, packet) => {
      const message = await outgoingClearMessageId(client, packet);
      if (message !== undefined) this.#dequeue(client.id);
      return message;
    };
    store.incomingStorePacket = async (client, message) => {
      this.#hold(client.id, message.messageId, sizeOf(message));
      await incomingStorePacket(client, message);
    };
    store.incomingDelPacket = (client, packet) => {
      this.#release(client.id, packet.messageId);
      return incomingDelPacket(client, packet);
    };
    // aedes would keep what was not released for as long as it runs.
    aedes.on("clientDisconnect", (client) => {
      for (const messageId of this.#unreleased.get(client.id)?.keys() ?? [])
        store.incomingDelPacket(client, { messageId }).catch(() => undefined);
    });
  }

  #noteRetained(message: Kept): void {
    this.#retainedBytes -= this.#retained.get(message.topic) ?? 0;
    this.#retained.delete(message.topic);
    if (message.payload.length === 0) return;
    const size = sizeOf(message);
    this.#retained.set(message.topic, size);
    this.#retainedBytes += size;
  }

  /** Notes that a message waits for a client; false where there is no room, and the client goes without it. */
  #enqueue(clientId: string, size: number): boolean {
    const waiting = this.#queues.get(clientId) ?? { messages: 0, bytes: 0 };
    const { queue, queues } = this.#bounds;
    if (waiting.messages >= queue || this.#queuedBytes + size > queues) {
      const why =
        waiting.messages >= queue ? `${queue} wait for it already` : `those that wait for all have ${queues} bytes`;
      this.#warn(`messages for ${JSON.stringify(clientId)} are dropped: ${why}`);
      return false;
    }
    waiting.messages += 1;
    waiting.bytes += size;
    this.#queues.set(clientId, waiting);
    this.#queuedBytes += size;
    return true;
  }

  /** What is taken out need not say how long it was: the bytes of a queue are shared out among its messages. */
  #dequeue(clientId: string): void {
    const waiting = this.#queues.get(clientId);
    if (waiting === undefined) return;
    const size = waiting.bytes / waiting.messages;
    waiting.messages -= 1;
    waiting.bytes -= size;
    this.#queuedBytes -= size;
    if (waiting.messages === 0) this.#queues.delete(clientId);
  }

  /** Throws where there is no room; the client is cut off then. */
  #hold(clientId: string, messageId: number, size: number): void {
    const held = this.#unreleased.get(clientId) ?? new Map<number, number>();
    const { queue, queues } = this.#bounds;
    if (held.size >= queue) throw new Error(`${queue} messages with QoS 2 wait for it to release them`);
    if (this.#queuedBytes + size > queues) throw new Error(`messages that wait for all clients have ${queues} bytes`);
    this.#queuedBytes += size;
    this.#unreleased.set(clientId, held.set(messageId, size));
  }

  #release(clientId: string, messageId: number): void {
    const held = this.#unreleased.get(clientId);
    this.#queuedBytes -= held?.get(messageId) ?? 0;
    held?.delete(messageId);
    if (held?.size === 0) this.#unreleased.delete(clientId);
  }
}

function persistenceOf(aedes: Aedes): Persistence {
  const store: unknown = "persistence" in aedes ? aedes.persistence : undefined;
  if (!isPersistence(store)) throw new Error("This version of aedes keeps its messages in another way");
  return store;
}

const methodNames = [
  "storeRetained",
  "outgoingEnqueueCombi",
  "outgoingUpdate",
  "outgoingClearMessageId",
  "incomingStorePacket",
  "incomingDelPacket",
] as const satisfies readonly (keyof Persistence)[];

const isPersistence = (store: unknown): store is Persistence =>
  typeof store === "object" &&
  store !== null &&
  methodNames.every((name) => name in store && typeof Reflect.get(store, name) === "function");

/** The methods as they are now. */
const methodsOf = (store: Persistence): Persistence => ({
  storeRetained: store.storeRetained.bind(store),
  outgoingEnqueueCombi: store.outgoingEnqueueCombi.bind(store),
  outgoingUpdate: store.outgoingUpdate.bind(store),
  outgoingClearMessageId: store.outgoingClearMessageId.bind(store),
  incomingStorePacket: store.incomingStorePacket.bind(store),
  incomingDelPacket: store.incomingDelPacket.bind(store),
});
