import type { QueryPacket, ResponseOutgoingPacket } from "multicast-dns";
import { machineName } from "./own-machine.ts";

/** The service type of a Rigbridge (RFC 6763). */
export const rigbridgeType = "_rigbridge._tcp.local";

/** What is announced on one interface. */
export interface AnnouncedEndpoint {
  /** The part of its name that no other in the network has, of 12 bytes at most. */
  readonly id: string;
  /** The interface's own. */
  readonly address: string;
  readonly port: number;
  readonly version: string;
}

/** s that others may remember it, as long as an address (RFC 6762, 10), so that a killed one is soon forgotten. */
const ttlSeconds = 120;

/** The records that announce a Rigbridge, or with a `ttl` of 0 take it back. */
export function recordsOf(endpoint: AnnouncedEndpoint, ttl = ttlSeconds): ResponseOutgoingPacket {
  const { instance, target } = namesOf(endpoint);
  const { address, port, version } = endpoint;
  const own = { class: "IN", flush: true, ttl } as const;
  return {
    answers: [
      { type: "PTR", name: rigbridgeType, class: "IN", ttl, data: instance },
      { type: "SRV", name: instance, ...own, data: { port, target, priority: 0, weight: 0 } },
      { type: "TXT", name: instance, ...own, data: [`name=${machineLabel(64)}`, `version=${version}`, "path=/api"] },
      { type: "A", name: target, ...own, data: address },
    ],
  };
}

/** Is one of the questions about this Rigbridge? */
export function asksFor(questions: QueryPacket["questions"], endpoint: AnnouncedEndpoint): boolean {
  const { instance, target } = namesOf(endpoint);
  const types = new Map<string, readonly string[]>([
    [rigbridgeType, ["PTR", "ANY"]],
    [instance.toLowerCase(), ["SRV", "TXT", "ANY"]],
    [target, ["A", "ANY"]],
  ]);
  return (questions ?? [])
    .slice(0, mostQuestions)
    .some(({ name, type }) => types.get(name.toLowerCase())?.includes(type) === true);
}

const mostQuestions = 100;

/** The machine's own name belongs to its system, so the address is under one of ours. */
const namesOf = ({ id }: AnnouncedEndpoint) => ({
  instance: `${machineLabel(50)} ${id}.${rigbridgeType}`,
  target: `rigbridge-${id}.local`,
});

/** A label of DNS has 63 bytes at most, which a character more or less cannot be cut at. */
function machineLabel(longest: number): string {
  let name = machineName();
  while (Buffer.byteLength(name) > longest) name = name.slice(0, -1);
  return name;
}
