import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A server that stands before another one. */
export interface Relay {
  readonly port: number;
  close(): Promise<void>;
}

/**
 * `to` is read again for each connection. `join` says what passes between a client and the server behind, and is called with each pair of connections. Both end
 * together when one breaks off.
 */
export async function startRelay(
  to: { readonly host: string; readonly port: number },
  join: (client: Socket, behind: Socket) => void,
  { allowHalfOpen = false } = {},
): Promise<Relay> {
  const sockets = new Set<Socket>();
  const server = createServer({ allowHalfOpen }, (client) => {
    const behind = connect({ ...to, allowHalfOpen });
    for (const [one, other] of [
      [client, behind],
      [behind, client],
    ] as const) {
      sockets.add(one);
      one.on("error", () => other.destroy());
      one.on("close", () => other.destroy());
    }
    join(client, behind);
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    port: typeof address === "object" && address !== null ? address.port : 0,
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
