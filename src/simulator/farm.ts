import { createServer, type Server, type Socket } from "node:net";
import { RigbridgeError } from "../contract/problems.ts";
import type { RigSpec } from "./rig-spec.ts";
import { type RigNetwork, SimulatedRig } from "./simulated-rig.ts";

export interface FarmOptions {
  readonly rigs: readonly RigSpec[];
  /** One listener for each port, on all addresses, serves every rig by its own 127.x.y.z; each rig must have a port. */
  readonly oneListener?: boolean;
  /** Epoch ms; by default the machine's clock. */
  readonly clock?: () => number;
  /** The same seed and clock give the same readings; default 1. */
  readonly seed?: number;
}

export interface Farm {
  readonly rigs: readonly SimulatedRig[];
  /** Cuts every connection and stops listening. */
  close(): Promise<void>;
}

/** Starts virtual rigs. Throws `not.possible` when an address or port is not available. */
export async function startFarm(options: FarmOptions): Promise<Farm> {
  const network = options.oneListener ? new SharedListeners() : new ListenersPerRig();
  const settings = { now: options.clock ?? Date.now, seed: options.seed ?? 1, network };
  const rigs = options.rigs.map((spec, index) => new SimulatedRig(spec, index, settings));
  try {
    for (const rig of rigs) await network.attach(rig);
  } catch (error) {
    await network.close();
    throw error;
  }
  return { rigs, close: () => network.close() };
}

/** Open connections by rig. */
class Connections {
  readonly #open = new Map<Socket, SimulatedRig>();

  take(socket: Socket, rig: SimulatedRig): void {
    this.#open.set(socket, rig);
    socket.on("error", () => socket.destroy());
    socket.once("close", () => this.#open.delete(socket));
    rig.serve(socket);
  }

  /** Those of one rig, or all. */
  cut(rig?: SimulatedRig): void {
    for (const [socket, owner] of this.#open) {
      if (rig === undefined || owner === rig) socket.destroy();
    }
  }
}

/** A listener for each port of each rig. */
class ListenersPerRig implements RigNetwork {
  readonly #servers = new Map<SimulatedRig, Server[]>();
  readonly #connections = new Connections();

  async attach(rig: SimulatedRig): Promise<void> {
    if (!rig.listening || this.#servers.has(rig)) return;
    const servers: Server[] = [];
    this.#servers.set(rig, servers);
    try {
      const ports: number[] = [];
      for (const port of rig.ports) {
        const server = createServer({ allowHalfOpen: true }, (socket) => this.#connections.take(socket, rig));
        ports.push(await listen(server, port, rig.host));
        servers.push(server);
      }
      rig.ports = ports;
    } catch (error) {
      this.detach(rig);
      throw error;
    }
  }

  detach(rig: SimulatedRig): void {
    for (const server of this.#servers.get(rig) ?? []) server.close();
    this.#servers.delete(rig);
  }

  cut(rig: SimulatedRig): void {
    this.#connections.cut(rig);
  }

  async close(): Promise<void> {
    this.#connections.cut();
    await Promise.all([...this.#servers.values()].flat().map(closed));
    this.#servers.clear();
  }
}

/**
 * One listener for each port, shared by all rigs; the local address of a connection selects the rig. It is bound to
 * every address, so it resets connections to other addresses unread. A rig that is off resets the connection.
 */
class SharedListeners implements RigNetwork {
  readonly #ports = new Map<number, { server: Server; rigs: Map<string, SimulatedRig> }>();
  readonly #connections = new Connections();

  async attach(rig: SimulatedRig): Promise<void> {
    for (const port of rig.ports) {
      const { rigs } = this.#ports.get(port) ?? (await this.#open(port));
      rigs.set(rig.host, rig);
    }
  }

  detach(): void {}

  cut(rig: SimulatedRig): void {
    this.#connections.cut(rig);
  }

  async close(): Promise<void> {
    this.#connections.cut();
    await Promise.all([...this.#ports.values()].map(({ server }) => closed(server)));
    this.#ports.clear();
  }

  async #open(port: number): Promise<{ rigs: Map<string, SimulatedRig> }> {
    const rigs = new Map<string, SimulatedRig>();
    const server = createServer({ allowHalfOpen: true }, (socket) => {
      const rig = rigs.get(socket.localAddress ?? "");
      if (rig === undefined) socket.resetAndDestroy();
      else this.#connections.take(socket, rig);
    });
    await listen(server, port, "0.0.0.0");
    const opened = { server, rigs };
    this.#ports.set(port, opened);
    return opened;
  }
}

const closed = (server: Server): Promise<void> => new Promise((resolve) => server.close(() => resolve()));

const backlog = 4096;

/** Returns the port. */
function listen(server: Server, port: number, host: string): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", (error) => reject(notPossible(error, host, port)));
    server.listen({ port, host, backlog }, () => {
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}

const advice: Readonly<Record<string, string>> = {
  EACCES: "ports below 1024 need a right that this process does not have; give a higher port, or run it as root",
  EADDRINUSE: "something listens there already; stop it, or give another port",
  EADDRNOTAVAIL: "this machine does not have that address; on macOS only 127.0.0.1 is there until others are added",
  EMFILE: "too many files are open; raise the limit with ulimit -n, or let one listener serve all rigs",
};

function notPossible(error: Error, host: string, port: number): RigbridgeError {
  const code = "code" in error ? String(error.code) : error.message;
  const message = `A virtual rig cannot listen on ${host}:${port}: ${advice[code] ?? code}`;
  return new RigbridgeError("not.possible", message, { cause: error });
}
