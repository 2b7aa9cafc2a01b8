import type { ResponsePacket } from "multicast-dns";
import { isPrivateAddress } from "../link/networks.ts";

export type Records = Partial<Pick<ResponsePacket, "answers" | "additionals">>;

/** A service that a device in the network announces (RFC 6763). */
export interface Announcement {
  /** Its unique name, like `desk._http._tcp.local`; lower case. */
  readonly instance: string;
  /** The readable part of its name, before the service. */
  readonly label: string;
  /** Private addresses: those in the packet, or if there are none, the sender's. */
  readonly hosts: readonly string[];
  /** null if the packet has none. */
  readonly port: number | null;
  /** Its TXT record; keys in lower case. */
  readonly text: ReadonlyMap<string, string>;
}

/** Limits for one packet: an honest device sends few records, and each is compared with others. */
const limits = { records: 500, hosts: 4, texts: 16 };

/** The announcements of a service in a packet. A loopback address counts only if loopback sent the packet. */
export function announcementsIn(packet: Records, sender: string, service: string): Announcement[] {
  const records = [...(packet.answers ?? []), ...(packet.additionals ?? [])]
    .slice(0, limits.records)
    // A TTL of 0 withdraws a record.
    .filter((each) => !("ttl" in each && each.ttl === 0));
  const instances = records.flatMap((each) => (each.type === "PTR" && same(each.name, service) ? [each.data] : []));
  return instances.flatMap((instance): Announcement[] => {
    const place = records.find((each) => each.type === "SRV" && same(each.name, instance));
    const { port, target } = place?.type === "SRV" ? place.data : { port: null, target: "" };
    const named = records.flatMap((each) => (each.type === "A" && same(each.name, target) ? [each.data] : []));
    const hosts = (named.length > 0 ? named : [sender]).filter((host) => isReachable(host, sender));
    if (hosts.length === 0 || port === 0) return [];
    const text = records.find((each) => each.type === "TXT" && same(each.name, instance));
    return [
      {
        instance: instance.toLowerCase(),
        label: same(instance.slice(-service.length), service) ? instance.slice(0, -service.length - 1) : instance,
        hosts: hosts.slice(0, limits.hosts),
        port,
        text: text?.type === "TXT" ? textsIn([text.data].flat()) : new Map(),
      },
    ];
  });
}

const isReachable = (host: string, sender: string): boolean =>
  isPrivateAddress(host) && (isLoopback(sender) || !isLoopback(host));

const isLoopback = (address: string): boolean => address.startsWith("127.");

/** DNS names are not case-sensitive. */
const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Each is `key=value`; of a repeated key the first counts (RFC 6763, 6.4). */
function textsIn(texts: readonly (string | Buffer)[]): Map<string, string> {
  const pairs = texts.slice(0, limits.texts).map((text): [string, string] => {
    const [key = "", ...value] = text.toString().split("=");
    return [key.toLowerCase(), value.join("=")];
  });
  return new Map(pairs.toReversed());
}
