import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** What stands before a broker and holds back all that it says, once a client has subscribed to a certain filter. */
export interface SlowBroker {
  readonly url: string;
  /** Resolves once a client has subscribed to the filter. */
  readonly subscribed: Promise<void>;
  /** Lets everything through from now on. */
  release(): void;
  close(): Promise<void>;
}

export async function startSlowBroker(port: number, filter: string): Promise<SlowBroker> {
  const sockets = new Set<Socket>();
  const subscribed = Promise.withResolvers<void>();
  const held: (() => void)[] = [];
  let state: "before" | "holding" | "after" = "before";
  const server = createServer((socket) => {
    const broker = connect(port, "127.0.0.1");
    for (const [from, to] of [
      [socket, broker],
      [broker, socket],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    socket.on("data", (bytes: Buffer) => {
      if (state === "before" && bytes.includes(filter)) {
        state = "holding";
        subscribed.resolve();
      }
      broker.write(bytes);
    });
    broker.on("data", (bytes: Buffer) => {
      if (state === "holding") held.push(() => socket.write(bytes));
      else socket.write(bytes);
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    url: `mqtt://127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    subscribed: subscribed.promise,
    release: () => {
      state = "after";
      for (const pass of held.splice(0)) pass();
    },
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
