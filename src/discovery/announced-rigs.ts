import type { Announced } from "../link/scan.ts";
import { announcementsIn, type Records } from "./announcements.ts";
import { type QueryOptions, queryService } from "./mdns.ts";

export interface MdnsPacket {
  readonly announced: readonly Announced[];
  /** Interfaces that could not be queried, and why. */
  readonly notes: readonly string[];
}

/** Limit per search; honest devices send fewer. */
const mostAnnounced = 1_000;

/**
 * Queries by multicast DNS (RFC 6762) which devices have a web interface, as announced by AxeOS. Only private addresses
 * are accepted. Resolves when time is up or the signal is aborted; never rejects.
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

/** The web services announced by a packet; port 80 if it names none. */
export const announcedIn = (packet: Records, sender: string): Announced[] =>
  announcementsIn(packet, sender, service).flatMap(({ hosts, port }) =>
    hosts.map((host) => ({ host, port: port ?? 80 })),
  );
