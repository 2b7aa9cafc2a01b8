import { mkdtemp, rm } from "node:fs/promises";
import { networkInterfaces, tmpdir } from "node:os";
import { join } from "node:path";
import {
  type ClientNode,
  ControllerBehavior,
  type Endpoint,
  Environment,
  Lifecycle,
  Logger,
  LogLevel,
  ServerNode,
} from "@matter/main";
import { OnOffClient } from "@matter/main/behaviors/on-off";
import { PeerSet } from "@matter/main/protocol";
import { freeUdpPort } from "../free-port.ts";
import { type HomebridgeOptions, type RunningHomebridge, startHomebridge } from "./homebridge.ts";

/**
 * The loopback interface if it has IPv6, which Matter requires; otherwise undefined. Nothing is discovered by mDNS
 * here: IPv4 multicast is off, and loopback either has no route for IPv6 multicast or does not pass it on.
 */
const loopback = Object.entries(networkInterfaces()).find(([, addresses]) =>
  addresses?.some(({ address }) => address === "::1"),
)?.[0];
const ip = "::1";

export const isMatterPossible = loopback !== undefined;
if (!isMatterPossible) process.stderr.write("Left out: this machine has no IPv6 on loopback, which Matter needs.\n");

/** A Homebridge with the plugin, with Matter on loopback only, commissioned by the controller. */
export async function matterHome(platform: object, controller: MatterController) {
  const port = await freeUdpPort();
  // Homebridge announces itself on the first; HAP listens on 0.0.0.0.
  const bridge = { bind: [loopback, "0.0.0.0"], matter: { port, disableIpv4: true } };
  const options: HomebridgeOptions = { platform, bridge };
  const homebridge = await startHomebridge(options);
  const hub = await controller.commission(homebridge, port);
  return { options, homebridge, hub };
}

/**
 * What Homebridge failed to do. Failing to notify of a changed list of devices while that list is being read does not
 * count: the list has changed.
 */
export const failuresOf = ({ lines }: RunningHomebridge): readonly string[] =>
  lines.filter((line) => /Failed to (?!notify)|not shown in Matter|not removed from Matter/.test(line));

/** A Matter controller, like the hub of a home. */
export class MatterController {
  readonly #node: ServerNode;
  readonly #folder: string;

  private constructor(node: ServerNode, folder: string) {
    this.#node = node;
    this.#folder = folder;
  }

  static async start(): Promise<MatterController> {
    const folder = await mkdtemp(join(tmpdir(), "rigbridge-matter-"));
    const { vars } = Environment.default;
    vars.set("mdns.networkInterface", loopback ?? "");
    vars.set("mdns.ipv4", false);
    vars.set("storage.path", folder);
    Logger.level = LogLevel.FATAL;
    const node = await ServerNode.create(ServerNode.RootEndpoint.with(ControllerBehavior), {
      id: "controller",
      network: { port: await freeUdpPort() },
      commissioning: { enabled: false },
      controller: { adminFabricLabel: "Tests" },
    });
    await node.start();
    return new MatterController(node, folder);
  }

  /** Commissions the bridge of a Homebridge with the pairing code from its log. */
  async commission(homebridge: RunningHomebridge, port: number): Promise<MatterHub> {
    const [, code = ""] = /Pairing Code: ([\d-]+)/.exec(await homebridge.until(/Manual Pairing Code: /)) ?? [];
    const address = { type: "udp", ip, port } as const;
    const isHere = this.#node.env.get(PeerSet).peers.added;
    const observer = isHere.use((peer) => {
      peer.descriptor.operationalAddress = address;
    });
    const peer = await this.#node.peers.forDescriptor({ addresses: [address] });
    await peer.commission({ pairingCode: code.replaceAll("-", "") });
    observer[Symbol.dispose]();
    return new MatterHub(peer);
  }

  async close(): Promise<void> {
    await this.#node.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The bridge of a Homebridge with its devices. */
export class MatterHub {
  readonly #peer: ClientNode;

  constructor(peer: ClientNode) {
    this.#peer = peer;
  }

  /** Without those that the controller is adding or removing at the moment. */
  get devices(): readonly MatterDevice[] {
    return [...this.#peer.parts]
      .flatMap((aggregator) => [...aggregator.parts])
      .filter(({ construction }) => construction.status === Lifecycle.Status.Active)
      .map((each) => new MatterDevice(each));
  }

  /** Throws if it does not exist. */
  device(name: string): MatterDevice {
    const found = this.devices.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no device ${name} among ${this.devices.map((each) => each.name)}`);
    return found;
  }

  has(name: string): boolean {
    return this.devices.some((each) => each.name === name);
  }

  /** After a restart of Homebridge: reconnects immediately and reads the changes. */
  async reconnect(): Promise<void> {
    await this.#peer.stop();
    await this.#peer.start();
  }
}

export class MatterDevice {
  readonly #endpoint: Endpoint;

  constructor(endpoint: Endpoint) {
    this.#endpoint = endpoint;
  }

  /** The controller's permanent number for it. */
  get number(): number {
    return this.#endpoint.number;
  }

  get name(): string {
    return String(this.read("bridgedDeviceBasicInformation", "nodeLabel"));
  }

  get reachable(): boolean {
    return this.read("bridgedDeviceBasicInformation", "reachable") === true;
  }

  /** As last reported by the bridge; undefined = it has no such attribute. */
  read(cluster: string, attribute: string): unknown {
    const state: unknown = Reflect.get(this.#endpoint.state, cluster);
    return typeof state === "object" && state !== null ? Reflect.get(state, attribute) : undefined;
  }

  /** The status; 0 = success. */
  async switch(to: "on" | "off" | "toggle"): Promise<number> {
    return status(async () => await this.#endpoint.commandsOf(OnOffClient)[to]());
  }

  /** The status; 0 = success. */
  async write(cluster: string, attributes: Readonly<Record<string, unknown>>): Promise<number> {
    return status(async () => await this.#endpoint.setStateOf(cluster, attributes));
  }
}

async function status(work: () => Promise<unknown>): Promise<number> {
  try {
    await work();
    return 0;
  } catch (error) {
    if (error instanceof Error && "code" in error && typeof error.code === "number") return error.code;
    throw error;
  }
}
