import type { Socket } from "node:net";
import { startRelay } from "../relay.ts";

/** A line to a server that can be slow, or cut: then nothing passes, and neither end is told. */
export interface Line {
  readonly port: number;
  /** A URL of the server, by way of the line. */
  urlOf(url: string): string;
  /** ms that everything takes from now on, in either direction. */
  slow(ms: number): void;
  cut(): void;
  restore(): void;
  close(): Promise<void>;
}

/** The place of the server is read again for each connection. */
export async function startLine(server: { readonly host: string; readonly port: number }): Promise<Line> {
  let isCut = false;
  let delayMs = 0;
  const sockets = new Set<Socket>();
  const pass = (from: Socket, to: Socket): void => {
    /** Chunks under way, and ms by the clock at which the last one arrives: none overtakes another. */
    let [underWay, last] = [0, 0];
    sockets.add(from);
    from.on("close", () => sockets.delete(from));
    from.on("data", (chunk) => {
      const now = performance.now();
      last = Math.max(last, now + delayMs);
      if (underWay === 0 && last <= now) return void to.write(chunk);
      underWay += 1;
      setTimeout(() => {
        underWay -= 1;
        if (!isCut && !to.destroyed) to.write(chunk);
      }, last - now);
    });
    // Not read, so that the end of either side is not seen by the other.
    if (isCut) from.pause();
  };
  const relay = await startRelay(server, (client, behind) => {
    pass(client, behind);
    pass(behind, client);
  });
  return {
    port: relay.port,
    slow: (ms) => {
      delayMs = ms;
    },
    urlOf: (given) => {
      const url = new URL(given);
      url.host = `127.0.0.1:${relay.port}`;
      return url.href;
    },
    cut: () => {
      isCut = true;
      for (const socket of sockets) socket.pause();
    },
    restore: () => {
      isCut = false;
      for (const socket of sockets) socket.destroy();
    },
    close: relay.close,
  };
}
