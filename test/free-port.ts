import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
import { createServer } from "node:net";

/**
 * A free port below those of outgoing connections, one of which could take it before a program listens on it. No other
 * test gets it as long as this process runs.
 */
export async function freePort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    if (!(await claim(port))) continue;
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

/** Holds the UDP port of the same number, which the test's program does not need; false if another test has it. */
async function claim(port: number): Promise<boolean> {
  const socket = createSocket("udp4").unref();
  socket.bind({ port, address: "127.0.0.1", exclusive: true });
  return once(socket, "listening").then(
    () => true,
    () => {
      socket.close();
      return false;
    },
  );
}
