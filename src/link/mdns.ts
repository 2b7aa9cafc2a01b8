import { announcementsIn, type Records } from "../discovery/announcements.ts";
import { type QueryOptions, queryService } from "../discovery/mdns.ts";
import type { Announced } from "./scan.ts";

export interface MdnsPacket {
  readonly announced: readonly Announced[];
  /** On which interfaces nothing could be asked, and why. */
  readonly notes: readonly string[];
}

/** As many announcements are taken from one search; whoever sends more is no honest device. */
const mostAnnounced = 1_000;

/**
 * Asks by multicast DNS (RFC 6762) which devices have a web interface, as AxeOS announces its own. Only private
 * addresses are taken from the answers. Resolves when the time is over or the signal was aborted; never rejects.
 */
export async function listenForRigs(options: QueryOptions): Promise<MdnsPacket> {
  const places = new Map<string, Announced>();
  const notes = await queryService(service, options, (packet, sender) => {
    for (const place of announcedIn(packet, sender)) {
      if (places.size < mostAnnounced) places.set(`${place.host}:${place.port}`, place);
    }
  });
  return { announced: [...places.values()], notes };
}

const service = "_http._tcp.local";

/** Where the web services that a packet tells of are; where it does not say, at its sender's port 80. */
export const announcedIn = (packet: Records, sender: string): Announced[] =>
  announcementsIn(packet, sender, service).flatMap(({ hosts, port }) =>
    hosts.map((host) => ({ host, port: port ?? 80 })),
  );
