import type { Node } from "node-red";
import { Notification } from "rigbridge";
import { z } from "zod";
import type { Seen } from "./changes.ts";

/** What a node remembers from one deploy, and where its context is kept on disk from one start, to the next. */
export interface Memory extends Seen {
  /** The id of the `rigbridge-service`; what was seen at another says nothing. */
  readonly service: string;
  /** Ids of those that were delivered and are yet to be acknowledged. */
  readonly owed: readonly number[];
}

const Kept = z.object({
  service: z.string(),
  notifications: z.array(Notification),
  lastId: z.int(),
  owed: z.array(z.int()),
});

const key = "rigbridge-notifications";

/** null where nothing is remembered of this service. Rejects where the context cannot be read. */
export async function recalled(node: Node, service: string): Promise<Memory | null> {
  const kept = await new Promise<unknown>((resolve, reject) => {
    node.context().get(key, (error: unknown, value) => (error ? reject(error) : resolve(value)));
  });
  const { data } = Kept.safeParse(kept);
  return data?.service === service ? data : null;
}

/** Kept at once where the context's store can do that. Rejects where it cannot be written. */
export async function remember(node: Node, memory: Memory): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    node.context().set(key, memory, (error: unknown) => (error ? reject(error) : resolve()));
  });
}
