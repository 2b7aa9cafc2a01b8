import type { Socket } from "node:net";
import { startRelay } from "../relay.ts";

/** A line to a server that can be cut: nothing passes, and neither end is told. */
export interface Line {
  /** A URL of the server, by way of the line. */
  urlOf(url: string): string;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

export async function startLine(server: { readonly host: string; readonly port: number }): Promise<Line> {
  let isCut = false;
  const pairs = new Set<readonly [Socket, Socket]>();
  const relay = await startRelay(server, (client, behind) => {
    pairs.add([client, behind]);
    if (isCut) return;
    client.pipe(behind);
    behind.pipe(client);
  });
  return {
    urlOf: (given) => {
      const url = new URL(given);
      url.host = `127.0.0.1:${relay.port}`;
      return url.href;
    },
    cut: () => {
      isCut = true;
      for (const [client, behind] of pairs) {
        client.unpipe(behind);
        behind.unpipe(client);
      }
    },
    restore: () => {
      isCut = false;
      for (const [client] of pairs) client.destroy();
      pairs.clear();
    },
    close: relay.close,
  };
}
