import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";

/** A proxy in front of a rig that replaces text in its answers, for answers that a simulated rig never gives. */
export interface Altered {
  readonly address: string;
  /** From now on. */
  replace(said: string, by: string): void;
  close(): Promise<void>;
}

export async function startAltered(rig: { readonly host: string; readonly port: number }): Promise<Altered> {
  const sockets = new Set<Socket>();
  const words: [string, string][] = [];
  const server = createServer({ allowHalfOpen: true }, (socket) => {
    const behind = connect({ host: rig.host, port: rig.port, allowHalfOpen: true });
    const said: Buffer[] = [];
    for (const [from, to] of [
      [socket, behind],
      [behind, socket],
    ] as const) {
      sockets.add(from);
      from.on("error", () => to.destroy());
      from.on("close", () => to.destroy());
    }
    socket.pipe(behind);
    // Rigs of this kind say all at once, and end.
    behind.on("data", (bytes: Buffer) => said.push(bytes));
    behind.on("end", () => {
      const text = Buffer.concat(said).toString("latin1");
      const altered = words.reduce((all, [before, after]) => all.replaceAll(before, after), text);
      socket.end(Buffer.from(altered, "latin1"));
    });
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  const address = server.address();
  return {
    address: `127.0.0.1:${typeof address === "object" && address !== null ? address.port : 0}`,
    replace: (said, by) => words.push([said, by]),
    close: async () => {
      for (const socket of sockets) socket.destroy();
      server.close();
      await once(server, "close");
    },
  };
}
