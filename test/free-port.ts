import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** A free port below those of outgoing connections, one of which could take it before a program listens on it. */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const server = createServer().listen(port);
    const isFree = await once(server, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    server.close();
    await once(server, "close");
    return port;
  }
}
