import { randomInt } from "node:crypto";
import { createServer } from "node:net";

/** Below the ephemeral ports, which systems give to outgoing connections. */
const [lowest, highest] = [20_000, 32_000];
const tries = 100;

/** A port of this host's loopback at which nothing listens. Rejects if none is found. */
export async function freePort(taken: ReadonlySet<number>): Promise<number> {
  for (let tried = 0; tried < tries; tried += 1) {
    const port = randomInt(lowest, highest);
    if (!taken.has(port) && (await isFree(port))) return port;
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
