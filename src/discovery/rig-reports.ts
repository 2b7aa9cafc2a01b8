import { createSocket, type Socket } from "node:dgram";
import { once } from "node:events";
import { isPrivateAddress } from "../link/networks.ts";
import { reasonOf } from "./mdns.ts";

/** UDP ports of the reports that rigs broadcast: the IP Report button of an Antminer, and that of a WhatsMiner. */
export const reportPorts: readonly number[] = [14_235, 8_888];

export interface ReportOptions {
  readonly signal: AbortSignal;
  /** Default: `reportPorts`. */
  readonly ports?: readonly number[];
  /** Called with the address of each rig that reports itself. Must not throw. */
  reported(host: string): void;
}

/**
 * Receives the reports of rigs on all interfaces until the signal is aborted, and answers none. Resolves once it listens,
 * with a sentence for each port that could not be used; never rejects.
 */
export async function listenForReports({
  signal,
  ports = reportPorts,
  reported,
}: ReportOptions): Promise<ReadonlyMap<number, string>> {
  const notes = new Map<number, string>();
  await Promise.all(
    ports.map(async (port) => {
      const socket = createSocket({ type: "udp4", reuseAddr: true });
      try {
        socket.bind(port, "0.0.0.0");
        await once(socket, "listening");
      } catch (error) {
        socket.close();
        notes.set(port, `Reports of rigs are not received on UDP port ${port}: ${reasonOf(error)}`);
        return;
      }
      receive(socket, reported);
      if (signal.aborted) socket.close();
      else signal.addEventListener("abort", () => socket.close(), { once: true });
    }),
  );
  return notes;
}

function receive(socket: Socket, reported: ReportOptions["reported"]): void {
  // Of a datagram; the socket stays usable.
  socket.on("error", () => {});
  socket.on("message", (bytes, { address }) => {
    if (isReport(bytes, address)) reported(address);
  });
}

/** Real ones have fewer than 60 bytes. */
const longestReport = 200;

const form = /^(?:IP:|\[)?(\d{1,3}(?:\.\d{1,3}){3})(?:\/[\d.]{1,15})?(?:,|MAC:)[\da-f]{2}(?:[:-]?[\da-f]{2}){5}/i;

/**
 * Whether a datagram is the report of the rig that sent it: `192.168.1.5,C2:11:22:33:44:55` of an Antminer, whose address
 * may be written `[192.168.1.5/255.255.255.0`, or `IP:192.168.1.5MAC:C2:11:22:33:44:55` of a WhatsMiner. Only private
 * addresses count, and nobody reports another device.
 */
export const isReport = (bytes: Buffer, sender: string): boolean =>
  bytes.length <= longestReport && form.exec(bytes.toString("latin1"))?.[1] === sender && isPrivateAddress(sender);
