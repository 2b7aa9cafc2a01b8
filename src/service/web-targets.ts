import type { MqttSettings } from "../config/mqtt.ts";
import { canonicalHost, hostIn, portIn } from "../link/address.ts";
import type { BrokerPlace, KnownDevice, KnownDevices } from "./known-devices.ts";
import { addressRefusal } from "./own-address.ts";
import type { Access } from "./users/access.ts";

/**
 * The addresses that web hooks and channels must not reach: this service, forbidden addresses, and devices that steps
 * control.
 */
export interface WebTargets {
  /** Why nothing may be sent to a literal address; null if allowed. `sender`: whose request it is. */
  refusal(url: URL, sender: Sender): string | null;
  /** Like `refusal`, for the addresses that its host resolves to. */
  resolvedRefusal(url: URL, addresses: readonly string[], sender: Sender): Promise<string | null>;
}

/** Device names are revealed only to senders with access to everything. */
type Sender = Pick<Access, "all">;

/** The owner, to whom channels belong. */
export const ownerSends: Sender = { all: true };

export interface WebTargetsOptions {
  readonly devices: Pick<KnownDevices, "at" | "resolvedAt">;
  isOwnAddress(url: URL): boolean;
  /** Undefined for a miner removed in the meantime. */
  nameOf(minerId: number): string | undefined;
}

export function openWebTargets({ devices, isOwnAddress, nameOf }: WebTargetsOptions): WebTargets {
  const sentence = ({ kind, minerId }: KnownDevice, sender: Sender): string => {
    if (kind === "broker") return "is the address of the MQTT broker; use the step publish";
    const name = sender.all && minerId !== null ? nameOf(minerId) : undefined;
    const miner = name === undefined ? "a miner" : `the miner ${name}`;
    if (kind === "plug" && minerId === null) return "is the address of a device of the facility";
    return kind === "plug"
      ? `is the address of the plug of ${miner}; use the step plug`
      : `is the address of ${miner}; use a step for miners, such as action: restart`;
  };
  const refusal = (url: URL, sender: Sender): string | null => {
    const refused = addressRefusal(url, isOwnAddress);
    if (refused !== null) return refused;
    const device = devices.at({ hosts: [hostIn(url)], port: portIn(url) }, sender.all);
    return device === null ? null : sentence(device, sender);
  };
  return {
    refusal,
    resolvedRefusal: async (url, addresses, sender) => {
      const refused = refusal(url, sender);
      if (refused !== null) return refused;
      const port = portIn(url);
      for (const address of addresses) {
        const host = address.includes(":") ? `[${address}]` : address;
        const found = addressRefusal(new URL(`${url.protocol}//${host}:${port}`), isOwnAddress);
        if (found !== null) return found;
      }
      const hosts = [hostIn(url), ...addresses.map(canonicalHost)];
      const device = await devices.resolvedAt({ hosts, port }, sender.all);
      return device === null ? null : sentence(device, sender);
    },
  };
}

const brokerPorts: Readonly<Record<string, number>> = { "mqtt:": 1883, "mqtts:": 8883, "ws:": 80, "wss:": 443 };

/** The address of the MQTT broker; null without one. */
export function brokerPlace(mqtt: MqttSettings | undefined): BrokerPlace | null {
  if (mqtt === undefined) return null;
  const { url, broker } = mqtt;
  if (url === undefined) return { host: "localhost", port: typeof broker === "object" ? broker.port : 1883 };
  const { hostname, port, protocol } = new URL(url);
  return { host: hostname.replace(/^\[|\]$/g, ""), port: Number(port) || (brokerPorts[protocol] ?? 1883) };
}
