import type { Message, MqttLink, Publication } from "./mqtt-link.ts";
import { readRetained } from "./read-retained.ts";
import type { Topics } from "./topics.ts";

/** After this long without another retained message, all are taken to have arrived. */
const quietMs = 1_000;

/** s that a retained message lives at least, so that it is published again before it expires. */
const livesAtLeast = 70;

/** What publishes states. */
export type StateLink = Pick<MqttLink, "publish" | "isConnected">;

/**
 * For a bridge that goes on with the topics of another one of its pair: holds its first retained messages until it has read
 * what the broker has retained, and then publishes only those that differ. `end` stops waiting.
 */
export function handover(connection: MqttLink, topics: Topics): StateLink & { readonly end: () => void } {
  const retained = new Map<string, Message>();
  let held: Map<string, Publication> | null = new Map();
  const [miner, group, facility] = [topics.miner("+"), topics.group("+"), topics.facility("+")];
  const end = readRetained({
    connection,
    filters: [
      ...[miner.state, miner.availability, group.state, facility.state, facility.availability, topics.place("+")],
      ...[topics.summary, topics.notifications, topics.curtailment.state],
    ],
    quietMs,
    receive: (message) => retained.set(message.topic, message),
    done: () => {
      const first = held ?? [];
      held = null;
      for (const [topic, publication] of first)
        if (!isThere(publication, retained.get(topic))) connection.publish(publication);
      retained.clear();
    },
  });
  return {
    end,
    publish: (publication) => {
      if (held === null || !publication.retain) connection.publish(publication);
      else held.set(publication.topic, publication);
    },
    get isConnected() {
      return connection.isConnected;
    },
  };
}

/** Nothing retained is the same as an empty message. */
const isThere = ({ payload, expiry }: Publication, message: Message | undefined): boolean => {
  if (payload !== (message?.payload.toString() ?? "")) return false;
  return payload === "" || expiry === undefined || (message?.expiry ?? 0) >= livesAtLeast;
};
