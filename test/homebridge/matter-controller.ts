import { randomInt } from "node:crypto";
import { createSocket } from "node:dgram";
import { once } from "node:events";
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
import { type HomebridgeOptions, type RunningHomebridge, startHomebridge } from "./homebridge.ts";

/**
 * The loopback interface, where Matter, which is IPv6, can be spoken on it; else undefined. Nothing is found by mDNS
 * here: IPv4 multicast is switched off, and loopback has no route for IPv6 multicast or keeps it to itself.
 */
const loopback = Object.entries(networkInterfaces()).find(([, addresses]) =>
  addresses?.some(({ address }) => address === "::1"),
)?.[0];
const ip = "::1";

export const isMatterPossible = loopback !== undefined;
if (!isMatterPossible) process.stderr.write("Left out: this machine has no IPv6 on loopback, which Matter needs.\n");

/** A Homebridge with the plugin, that speaks Matter on loopback only, in the controller's home. */
export async function matterHome(platform: object, controller: MatterController) {
  const port = await freeMatterPort();
  // Homebridge announces itself at the first of them; 0.0.0.0 is where HAP listens.
  const bridge = { bind: [loopback, "0.0.0.0"], matter: { port, disableIpv4: true } };
  const options: HomebridgeOptions = { platform, bridge };
  const homebridge = await startHomebridge(options);
  const hub = await controller.commission(homebridge, port);
  return { options, homebridge, hub };
}

/** One that no outgoing connection is ever given, since Homebridge has to come back to it. */
async function freeMatterPort(): Promise<number> {
  for (;;) {
    const port = randomInt(15_000, 32_000);
    const socket = createSocket("udp6").bind(port);
    const isFree = await once(socket, "listening").then(
      () => true,
      () => false,
    );
    if (!isFree) continue;
    socket.close();
    return port;
  }
}

/**
 * What Homebridge did not do of what it was asked. That it could not tell that the list of devices has changed, since
 * the list was just being read, is none of it: it has changed.
 */
export const failuresOf = ({ lines }: RunningHomebridge): readonly string[] =>
  lines.filter((line) => /Failed to (?!notify)|not shown in Matter|not removed from Matter/.test(line));

/**
 * A list of devices that changes while the controller is reading it, as it may on a busy machine, is told with the next
 * regular report only, up to a minute later.
 */
export const nextReport = { timeoutMs: 90_000 };

/** A controller of Matter, as a home's hub. */
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
      network: { port: await freeMatterPort() },
      commissioning: { enabled: false },
      controller: { adminFabricLabel: "Tests" },
    });
    await node.start();
    return new MatterController(node, folder);
  }

  /** Takes the bridge of a Homebridge into its home, by the code that Homebridge says. */
  async commission(homebridge: RunningHomebridge, port: number): Promise<MatterHub> {
    const [, code = ""] = /Pairing Code: ([\d-]+)/.exec(await homebridge.until(/Manual Pairing Code: /)) ?? [];
    const address = { type: "udp", ip, port } as const;
    const isHere = this.#node.env.get(PeerSet).peers.added;
    const told = isHere.use((peer) => {
      peer.descriptor.operationalAddress = address;
    });
    const peer = await this.#node.peers.forDescriptor({ addresses: [address] });
    await peer.commission({ pairingCode: code.replaceAll("-", "") });
    told[Symbol.dispose]();
    return new MatterHub(peer);
  }

  async close(): Promise<void> {
    await this.#node.close();
    await rm(this.#folder, { recursive: true, force: true });
  }
}

/** The bridge of a Homebridge, with the devices behind it. */
export class MatterHub {
  readonly #peer: ClientNode;

  constructor(peer: ClientNode) {
    this.#peer = peer;
  }

  /** Without those that the controller is just taking in or letting go. */
  get devices(): readonly MatterDevice[] {
    return [...this.#peer.parts]
      .flatMap((aggregator) => [...aggregator.parts])
      .filter(({ construction }) => construction.status === Lifecycle.Status.Active)
      .map((each) => new MatterDevice(each));
  }

  /** Throws when it is not there. */
  device(name: string): MatterDevice {
    const found = this.devices.find((each) => each.name === name);
    if (found === undefined) throw new Error(`no device ${name} among ${this.devices.map((each) => each.name)}`);
    return found;
  }

  has(name: string): boolean {
    return this.devices.some((each) => each.name === name);
  }

  /** After Homebridge was away: connects anew at once, and hears what has changed. */
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

  /** By which the controller knows it for ever. */
  get number(): number {
    return this.#endpoint.number;
  }

  get name(): string {
    return String(this.read("bridgedDeviceBasicInformation", "nodeLabel"));
  }

  get reachable(): boolean {
    return this.read("bridgedDeviceBasicInformation", "reachable") === true;
  }

  /** As the bridge has told it last; undefined = it has no such attribute. */
  read(cluster: string, attribute: string): unknown {
    const state: unknown = Reflect.get(this.#endpoint.state, cluster);
    return typeof state === "object" && state !== null ? Reflect.get(state, attribute) : undefined;
  }

  /** The status; 0 = it was done. */
  async switch(to: "on" | "off" | "toggle"): Promise<number> {
    return status(async () => await this.#endpoint.commandsOf(OnOffClient)[to]());
  }

  /** The status; 0 = it was done. */
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
