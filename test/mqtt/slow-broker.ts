import { startRelay } from "../relay.ts";
import { within } from "../until.ts";

/** What stands before a broker and holds back all that it says, once a client has subscribed to a certain filter. */
export interface SlowBroker {
  readonly url: string;
  /** Resolves once a client has subscribed to the filter. */
  subscribed(): Promise<void>;
  /** Lets everything through from now on. */
  release(): void;
  close(): Promise<void>;
}

export async function startSlowBroker(port: number, filter: string): Promise<SlowBroker> {
  const subscribed = Promise.withResolvers<void>();
  const held: (() => void)[] = [];
  let state: "before" | "holding" | "after" = "before";
  const relay = await startRelay({ host: "127.0.0.1", port }, (client, broker) => {
    client.on("data", (bytes: Buffer) => {
      if (state === "before" && bytes.includes(filter)) {
        state = "holding";
        subscribed.resolve();
      }
      broker.write(bytes);
    });
    broker.on("data", (bytes: Buffer) => {
      if (state === "holding") held.push(() => client.write(bytes));
      else client.write(bytes);
    });
  });
  return {
    url: `mqtt://127.0.0.1:${relay.port}`,
    subscribed: () => within(subscribed.promise, `a subscription to ${filter}`),
    release: () => {
      state = "after";
      for (const pass of held.splice(0)) pass();
    },
    close: () => relay.close(),
  };
}
