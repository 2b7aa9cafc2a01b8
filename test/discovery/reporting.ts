import { createSocket } from "node:dgram";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";

/** Sends a datagram to a UDP port of this machine, from a loopback address. */
export async function sendReport(report: string | Buffer, from: string, port: number): Promise<void> {
  const socket = createSocket("udp4");
  try {
    socket.bind(0, from);
    await once(socket, "listening");
    await new Promise<void>((resolve, reject) => {
      socket.send(report, port, "127.0.0.1", (error) => (error ? reject(error) : resolve()));
    });
  } finally {
    socket.close();
  }
}

/** Resolves when what was sent before has been received by the sockets of this process. */
export async function delivered(): Promise<void> {
  const socket = createSocket("udp4");
  try {
    socket.bind(0, "127.0.0.1");
    await once(socket, "listening");
    const received = once(socket, "message");
    socket.send("last", socket.address().port, "127.0.0.1");
    await received;
    // Others that became readable in the same turn have their turn before this.
    await setImmediate();
  } finally {
    socket.close();
  }
}

export const mac = "C2:51:00:00:00:0A";
/** As the button of an Antminer sends it. */
export const antminerReport = (ip: string): string => `${ip},${mac}`;
