import type { QueryPacket, ResponseOutgoingPacket } from "multicast-dns";
import { machineName } from "./own-machine.ts";

/** The service type of a Rigbridge (RFC 6763). */
export const rigbridgeType = "_rigbridge._tcp.local";

/** A Rigbridge as announced on one interface. */
export interface AnnouncedEndpoint {
  /** The part of its name that is unique in the network, at most 12 bytes. */
  readonly id: string;
  /** The interface's. */
  readonly address: string;
  readonly port: number;
  readonly version: string;
}

/** The TTL of an address record (RFC 6762, 10), so that a killed service soon disappears. */
const ttlSeconds = 120;

/** The records that announce a Rigbridge, or with a `ttl` of 0 withdraw it. */
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

/** Whether one of the questions is about this Rigbridge. */
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

/** The machine's own name belongs to its operating system, so the address has a name of its own. */
const namesOf = ({ id }: AnnouncedEndpoint) => ({
  instance: `${machineLabel(50)} ${id}.${rigbridgeType}`,
  target: `rigbridge-${id}.local`,
});

/** A DNS label has at most 63 bytes; a multi-byte character must not be cut. */
function machineLabel(longest: number): string {
  let name = machineName();
  while (Buffer.byteLength(name) > longest) name = name.slice(0, -1);
  return name;
}
