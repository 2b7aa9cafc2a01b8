import type { Aedes } from "aedes";

/** The parts of a message that take memory. */
interface StoredMessage {
  readonly topic: string;
  readonly payload: Uint8Array | string;
  readonly properties?: object | undefined;
}

interface ClientId {
  readonly id: string;
}

/** The methods of aedes's store in memory that make it grow. */
interface Persistence {
  storeRetained(packet: StoredMessage): Promise<void>;
  outgoingEnqueueCombi(subscriptions: readonly { readonly clientId: string }[], packet: StoredMessage): Promise<void>;
  outgoingUpdate(client: ClientId, packet: unknown): Promise<void>;
  /** Resolves with the message, or the PUBREL that has replaced it. */
  outgoingClearMessageId(client: ClientId, packet: unknown): Promise<object | undefined>;
  incomingStorePacket(client: ClientId, packet: StoredMessage & { readonly messageId: number }): Promise<void>;
  incomingDelPacket(client: ClientId, packet: { readonly messageId: number }): Promise<void>;
}

export interface BrokerBounds {
  /** Bytes of all retained messages, and their number. */
  readonly retained: number;
  readonly retainedMessages: number;
  /** Messages queued for one client, and bytes of those for all clients. */
  readonly queue: number;
  readonly queues: number;
}

interface Queue {
  messages: number;
  bytes: number;
}

/** Approximate overhead of a message in bytes. */
const overhead = 256;

const sizeOf = ({ topic, payload, properties }: StoredMessage): number =>
  overhead +
  Buffer.byteLength(topic) +
  payload.length +
  (properties === undefined ? 0 : JSON.stringify(properties).length);

/** Limits what the broker stores, so that no client fills the memory. aedes itself limits only packets and sessions. */
export class BrokerMemory {
  readonly #bounds: BrokerBounds;
  readonly #warn: (message: string) => void;
  readonly #retained = new Map<string, number>();
  #retainedBytes = 0;
  readonly #queues = new Map<string, Queue>();
  #queuedBytes = 0;
  /** Sizes of the QoS 2 messages that each client has not released, by message id. */
  readonly #unreleased = new Map<string, Map<number, number>>();

  /** `warn` receives the dropped message and the reason. */
  constructor(bounds: BrokerBounds, warn: (message: string) => void) {
    this.#bounds = bounds;
    this.#warn = warn;
  }

  /** Counts a message to be retained; false if there is no room. */
  retain(message: StoredMessage): boolean {
    const { retained, retainedMessages } = this.#bounds;
    const before = this.#retained.get(message.topic);
    const bytes = this.#retainedBytes - (before ?? 0) + sizeOf(message);
    const isFull = bytes > retained || (before === undefined && this.#retained.size >= retainedMessages);
    if (isFull && message.payload.length > 0) return false;
    this.#countRetained(message);
    return true;
  }

  /** Wraps the methods of the broker's store. Throws if the store has another shape. */
  guard(aedes: Aedes): void {
    const store = persistenceOf(aedes);
    const { storeRetained, outgoingEnqueueCombi, outgoingUpdate, outgoingClearMessageId } = methodsOf(store);
    const { incomingStorePacket, incomingDelPacket } = methodsOf(store);
    // Also called for messages that expire.
    store.storeRetained = (message) => {
      this.#countRetained(message);
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
        throw waiting < this.#bounds.queue ? error : new Error(`${waiting} messages wait for its acknowledgements`);
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
    // aedes would keep unreleased messages for the rest of its run.
    aedes.on("clientDisconnect", (client) => {
      for (const messageId of this.#unreleased.get(client.id)?.keys() ?? [])
        store.incomingDelPacket(client, { messageId }).catch(() => undefined);
    });
  }

  #countRetained(message: StoredMessage): void {
    this.#retainedBytes -= this.#retained.get(message.topic) ?? 0;
    this.#retained.delete(message.topic);
    if (message.payload.length === 0) return;
    const size = sizeOf(message);
    this.#retained.set(message.topic, size);
    this.#retainedBytes += size;
  }

  /** Counts a message queued for a client; false if there is no room, and the message is dropped. */
  #enqueue(clientId: string, size: number): boolean {
    const waiting = this.#queues.get(clientId) ?? { messages: 0, bytes: 0 };
    const { queue, queues } = this.#bounds;
    if (waiting.messages >= queue || this.#queuedBytes + size > queues) {
      const why =
        waiting.messages >= queue
          ? `${queue} already wait for it`
          : `those for all clients have reached ${queues} bytes`;
      this.#warn(`messages for ${JSON.stringify(clientId)} are dropped, because ${why}`);
      return false;
    }
    waiting.messages += 1;
    waiting.bytes += size;
    this.#queues.set(clientId, waiting);
    this.#queuedBytes += size;
    return true;
  }

  /** The size of the removed message is unknown, so the mean size of the queue is subtracted. */
  #dequeue(clientId: string): void {
    const waiting = this.#queues.get(clientId);
    if (waiting === undefined) return;
    const size = waiting.bytes / waiting.messages;
    waiting.messages -= 1;
    waiting.bytes -= size;
    this.#queuedBytes -= size;
    if (waiting.messages === 0) this.#queues.delete(clientId);
  }

  /** Throws if there is no room; the client is then disconnected. */
  #hold(clientId: string, messageId: number, size: number): void {
    const held = this.#unreleased.get(clientId) ?? new Map<number, number>();
    const { queue, queues } = this.#bounds;
    if (held.size >= queue) throw new Error(`${queue} messages with QoS 2 wait for its release`);
    if (this.#queuedBytes + size > queues)
      throw new Error(`messages that wait for all clients have reached ${queues} bytes`);
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
  if (!isPersistence(store))
    throw new Error("This version of aedes has another message store; install aedes@2.0.0-beta.1");
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

const methodsOf = (store: Persistence): Persistence => ({
  storeRetained: store.storeRetained.bind(store),
  outgoingEnqueueCombi: store.outgoingEnqueueCombi.bind(store),
  outgoingUpdate: store.outgoingUpdate.bind(store),
  outgoingClearMessageId: store.outgoingClearMessageId.bind(store),
  incomingStorePacket: store.incomingStorePacket.bind(store),
  incomingDelPacket: store.incomingDelPacket.bind(store),
});
