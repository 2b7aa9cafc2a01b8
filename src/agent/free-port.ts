import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { createServer } from "node:net";

/** Below the ephemeral ports, which systems give to outgoing connections. */
const usable = { lowest: 20_000, highest: 32_000 };
const tries = 100;
/** ms that a program may take from its start to listening. */
const reservedMs = 60_000;

/**
 * A port of this host's loopback at which nothing listens, and which no other agent of this host was given in the last
 * minute. Rejects if none is found.
 */
export async function freePort(taken: ReadonlySet<number>, { lowest, highest } = usable): Promise<number> {
  for (let tried = 0; tried < tries; tried += 1) {
    const port = randomInt(lowest, highest);
    if (!taken.has(port) && (await isFree(port)) && (await reserve(port))) return port;
  }
  throw new Error("no free port was found");
}

/** Checked too, since some programs listen on all addresses even if they are given one. */
const isFree = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const server = createServer();
    server.once("error", () => resolve(false));
    server.listen({ host: "0.0.0.0", port, exclusive: true }, () => server.close(() => resolve(true)));
  });

/**
 * Until the program listens, the UDP port of the same number marks it as taken: agents of other users see it, it is
 * released when the agent ends, and no program uses it.
 */
const reserve = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = createSocket("udp4");
    socket.once("error", () => {
      socket.close();
      resolve(false);
    });
    socket.bind({ address: "127.0.0.1", port, exclusive: true }, () => {
      setTimeout(() => socket.close(), reservedMs).unref();
      socket.unref();
      resolve(true);
    });
  });
