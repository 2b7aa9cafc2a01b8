import { createSocket } from "node:dgram";
import { once } from "node:events";

/**
 * Each process that runs tests has a slot of its own on this machine: ports below those of outgoing connections, one of
 * which could take a port before a program listens on it, and a network of loopback addresses. A slot is held by a UDP
 * socket, so it is free again when the process ends, however it ends, and several runs at once share nothing.
 */
const slots = 100;
const portsEach = 160;
const firstPort = 15_000;

async function claimSlot(): Promise<number> {
  for (let tried = 0; tried < slots; tried += 1) {
    const slot = (process.pid + tried) % slots;
    const socket = createSocket("udp4").unref();
    socket.bind({ port: firstPort + slot * portsEach, address: "127.0.0.1", exclusive: true });
    const isOwn = await once(socket, "listening").then(
      () => true,
      () => false,
    );
    if (isOwn) return slot;
    socket.close();
  }
  throw new Error(`All ${slots} slots for processes that run tests are taken on this machine.`);
}

const slot = await claimSlot();
let ports = 0;
let hosts = 0;

/** The next port of this process; after the last one the first again. */
export function nextPort(): number {
  ports = (ports % (portsEach - 1)) + 1;
  return firstPort + slot * portsEach + ports;
}

/** The next loopback address of this process, which nothing else uses. */
export function nextHost(): string {
  hosts += 1;
  return `127.${128 + slot}.${Math.floor(hosts / 254) % 256}.${1 + (hosts % 254)}`;
}
