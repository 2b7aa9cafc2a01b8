import { randomInt } from "node:crypto";
import { once } from "node:events";
import { createServer } from "node:net";

/** A free port, outside the range of outgoing connections: one of them could take it before it is listened on, or again. */
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
