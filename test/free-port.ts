import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { createServer, type Server } from "node:net";
import { nextPort } from "./own-slot.ts";

/** A port of this process's own for a program that a test starts; no other test has it. */
export const freePort = (): Promise<number> => freeFor((port) => createServer().listen(port));

/** The same for UDP over IPv6. */
export const freeUdpPort = (): Promise<number> => freeFor((port) => createSocket("udp6").bind(port));

/** Skips those at which programs listen that have nothing to do with tests. */
async function freeFor(open: (port: number) => Server | Socket): Promise<number> {
  for (;;) {
    const port = nextPort();
    const socket = open(port);
    const isFree = await once(socket, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    socket.close();
    await once(socket, "close");
    return port;
  }
}
