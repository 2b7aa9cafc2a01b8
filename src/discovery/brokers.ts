import { oneLine } from "../client/secrets.ts";
import { announcementsIn } from "./announcements.ts";
import { mdnsPort, queryService } from "./mdns.ts";
import { networkAddresses } from "./own-machine.ts";

/** A possible MQTT broker. */
export interface FoundBroker {
  /** From its announcement: unreliable. */
  readonly name: string;
  /** Like mqtt://192.168.1.2:1883. */
  readonly url: string;
  /** home-assistant: a Home Assistant, whose own broker usually has the same address. */
  readonly kind: "mqtt" | "home-assistant";
}

export interface BrokerSearch {
  readonly signal: AbortSignal;
  /** Default 3,000. */
  readonly timeoutMs?: number;
  /** Own addresses of the interfaces to listen on; default: those in private networks. */
  readonly interfaces?: readonly string[];
  /** Default: 5353. */
  readonly udpPort?: number;
}

const types = { mqtt: "_mqtt._tcp.local", "home-assistant": "_home-assistant._tcp.local" } as const;
const usualPort = 1883;
const mostBrokers = 20;
const longestName = 100;

/** The brokers and Home Assistants that announce themselves on the network; brokers first. Never rejects. */
export async function findBrokers({
  signal,
  timeoutMs,
  interfaces = networkAddresses(),
  udpPort = mdnsPort,
}: BrokerSearch): Promise<FoundBroker[]> {
  const found = new Map<string, FoundBroker>();
  const options = { interfaces, signal, port: udpPort, ...(timeoutMs === undefined ? {} : { timeoutMs }) };
  const search = (kind: FoundBroker["kind"]): Promise<unknown> =>
    queryService(types[kind], options, (packet, sender) => {
      for (const { label, hosts, port } of announcementsIn(packet, sender, types[kind])) {
        const [host] = hosts;
        const at = kind === "mqtt" ? port : usualPort;
        if (host === undefined || at === null || found.size >= mostBrokers) continue;
        const url = `mqtt://${host}:${at}`;
        // A broker's own announcement is more reliable than a guess from Home Assistant.
        if (kind === "mqtt" || !found.has(url)) found.set(url, { name: oneLine(label, longestName), url, kind });
      }
    });
  await Promise.all([search("mqtt"), search("home-assistant")]);
  return [...found.values()].sort((one, other) => Number(one.kind !== "mqtt") - Number(other.kind !== "mqtt"));
}
