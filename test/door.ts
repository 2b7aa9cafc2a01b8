import { once } from "node:events";
import { connect, createServer, type Socket } from "node:net";
import { ownHost } from "./own-host.ts";

/** What can answer at the address: a virtual rig, or with `relayTo` anything else. */
interface Answering {
  serve(socket: Socket): void;
}

/** An address that DHCP gives to one rig after the other. */
export interface Door {
  readonly address: string;
  /** Makes another rig answer there from now on. */
  leadTo(rig: Answering): void;
  close(): Promise<void>;
}

export async function openDoor(rig: Answering): Promise<Door> {
  let behind = rig;
  const server = createServer((socket) => {
    // The client may disconnect.
    socket.on("error", () => socket.destroy());
    behind.serve(socket);
  }).listen(0, ownHost());
  await once(server, "listening");
  const at = server.address();
  if (at === null || typeof at === "string") throw new Error("the server does not listen on a port");
  return {
    address: `${at.address}:${at.port}`,
    leadTo: (other) => {
      behind = other;
    },
    close: async () => {
      server.close();
    },
  };
}

/** Relays to host:port. */
export const relayTo = (address: string): Answering => ({
  serve: (socket) => {
    const [host = "", port] = address.split(":");
    const other = connect(Number(port), host);
    socket.pipe(other).pipe(socket);
    socket.on("error", () => other.destroy());
    other.on("error", () => socket.destroy());
  },
});
