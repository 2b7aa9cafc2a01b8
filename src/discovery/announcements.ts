import type { ResponsePacket } from "multicast-dns";
import { isPrivateAddress } from "../link/networks.ts";

export type Records = Partial<Pick<ResponsePacket, "answers" | "additionals">>;

/** What somebody in the network says of a service that it offers (RFC 6763). */
export interface Announcement {
  /** The name that no other has, like `desk._http._tcp.local`; in small letters. */
  readonly instance: string;
  /** What people call it: the part in front of the service. */
  readonly label: string;
  /** Private addresses: those that it names, or where it names none, its sender's. */
  readonly hosts: readonly string[];
  /** null where it does not say. */
  readonly port: number | null;
  /** Its TXT record; keys in small letters. */
  readonly text: ReadonlyMap<string, string>;
}

/** What one packet is read for; an honest device sends a few records, and each is compared with others. */
const most = { records: 500, hosts: 4, texts: 16 };

/** The announcements of a service in a packet. An address of loopback counts only where loopback sent it. */
export function announcementsIn(packet: Records, sender: string, service: string): Announcement[] {
  const records = [...(packet.answers ?? []), ...(packet.additionals ?? [])]
    .slice(0, most.records)
    // What is to be kept for no time is not there any more.
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
        hosts: hosts.slice(0, most.hosts),
        port,
        text: text?.type === "TXT" ? textsIn([text.data].flat()) : new Map(),
      },
    ];
  });
}

const isReachable = (host: string, sender: string): boolean =>
  isPrivateAddress(host) && (isLoopback(sender) || !isLoopback(host));

const isLoopback = (address: string): boolean => address.startsWith("127.");

/** DNS names do not tell capitals from small letters. */
const same = (one: string, other: string): boolean => one.toLowerCase() === other.toLowerCase();

/** Each is `key=value`; of one that is there twice the first counts (RFC 6763, 6.4). */
function textsIn(texts: readonly (string | Buffer)[]): Map<string, string> {
  const pairs = texts.slice(0, most.texts).map((text): [string, string] => {
    const [key = "", ...value] = text.toString().split("=");
    return [key.toLowerCase(), value.join("=")];
  });
  return new Map(pairs.toReversed());
}
