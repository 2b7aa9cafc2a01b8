import { connect, type Socket } from "node:net";
import { setImmediate } from "node:timers/promises";
import { Semaphore } from "../async/index.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Identity } from "../contract/readings.ts";
import { formatAddress, type RigAddress } from "./address.ts";
import type { LoginNeed } from "./driver.ts";
import { ClosedRig, type Identified, recogniseAt, UnreadableRig } from "./identify.ts";
import { type Place, placesOf, plannedPorts, type SearchPlan } from "./networks.ts";
import { programPorts, usualPorts } from "./ports.ts";

/** A rig that answers. */
export interface FoundRig {
  /** As it is typed: without the port where that is a usual one. */
  readonly address: string;
  /** Id of its driver; null for a device that this version cannot read. */
  readonly driver: string | null;
  readonly identity: Identity;
  /** Why it cannot be read, for people. */
  readonly note: string | null;
  /** The login that it takes; null where it has none. */
  readonly login: LoginNeed | null;
}

export interface Progress {
  /** Addresses scanned. */
  readonly scanned: number;
  /** Addresses to scan; grows when rigs announce themselves elsewhere. */
  readonly total: number;
}

export interface ScanOptions {
  readonly plan: SearchPlan;
  /** Announced services; those within the plan are not scanned twice. */
  readonly announced?: Promise<readonly Announced[]>;
  /** Ends the scan early; results so far stay valid. */
  readonly signal: AbortSignal;
  /** Whether notes may quote answers that are not a rig's; only for the owner of this machine. */
  readonly quotes?: true;
  found(rig: FoundRig): void;
  progress?(progress: Progress): void;
}

export interface Announced {
  readonly host: string;
  readonly port: number;
}

/** Make and model in one name; most models already begin with their make. */
export function describeRig({ make, model }: Identity): string {
  const parts = make !== null && model?.startsWith(make) ? [model] : [make, model];
  return parts.filter((part) => part !== null).join(" ") || "A rig";
}

/** At most 1,000 sockets: an identification uses two. A /24 of silent addresses is probed in one go. */
const atOnce = { addresses: 400, probes: 800, identifications: 100 };
/** Longer than the second after which a lost connection request is retransmitted. */
const connectTimeoutMs = 1_200;
/** For each answer of a device that is being recognised, for all of them, and for reading it then. */
const answerTimeoutMs = 5_000;
const recogniseTimeoutMs = 15_000;
const readTimeoutMs = 10_000;
/** Refusals from nearby arrive at once; more of them in one turn of the event loop would block this process. */
const probesPerTurn = 32;

/**
 * Scans for rigs: probes for open ports, then identifies the devices. The ports of mining programs are probed only at
 * addresses where something answered, even with a refusal, so that they cost nothing at the many unused addresses. No
 * credentials are sent. Resolves when all addresses are scanned or the signal is aborted. Throws `not.possible` when
 * this machine runs out of sockets.
 */
export async function scan(options: ScanOptions): Promise<void> {
  await new Scan(options).run();
}

class Scan {
  readonly #options: ScanOptions;
  /** Aborted when the scan ends, for any reason. */
  readonly #ending = new AbortController();
  readonly #sockets = new Set<Socket>();
  readonly #probes = new Semaphore(atOnce.probes);
  readonly #identifications = new Semaphore(atOnce.identifications);
  #probesThisTurn = 0;
  #nextTurn: Promise<void> | null = null;
  #scanned = 0;
  #total: number;

  constructor(options: ScanOptions) {
    this.#options = options;
    this.#total = options.plan.total;
  }

  async run(): Promise<void> {
    const { plan, announced, signal } = this.#options;
    const stop = (): void => {
      this.#ending.abort();
      for (const socket of this.#sockets) socket.destroy();
    };
    signal.addEventListener("abort", stop);
    try {
      if (signal.aborted) return;
      await this.#scanAll(placesOf(plan));
      const elsewhere = placesBeyond(plan, (await announced) ?? []);
      this.#total += elsewhere.length;
      await this.#scanAll(elsewhere.values());
    } finally {
      signal.removeEventListener("abort", stop);
      stop();
    }
  }

  /** Addresses are generated as earlier ones are finished, so a large network takes no more memory than a small one. */
  async #scanAll(places: Iterator<Place, unknown>): Promise<void> {
    const worker = async (): Promise<void> => {
      for (let next = places.next(); next.done !== true && !this.#ending.signal.aborted; next = places.next()) {
        await this.#scanPlace(next.value);
      }
    };
    const workers = Array.from({ length: Math.min(atOnce.addresses, this.#total) }, worker);
    try {
      await Promise.all(workers);
    } catch (error) {
      this.#ending.abort();
      await Promise.allSettled(workers);
      throw error;
    }
  }

  async #scanPlace({ host, ports }: Place): Promise<void> {
    const open = await this.#openPorts(host, ports);
    if (open.length > 0) await this.#identifyAll(host, open);
    if (this.#ending.signal.aborted) return;
    this.#scanned += 1;
    this.#options.progress?.({ scanned: this.#scanned, total: this.#total });
  }

  /** All ports at once, since each silent one costs the whole timeout. */
  async #openPorts(host: string, ports: readonly number[]): Promise<number[]> {
    const further = programPorts.filter((port) => !ports.includes(port));
    const open = new Set<number>();
    let isThere = false;
    const probe = async (port: number): Promise<void> => {
      const answer = await this.#probe(host, port);
      if (answer === "open") open.add(port);
      if (isThere || answer === "silent" || answer === "no route") return;
      isThere = true;
      await Promise.all(further.map(probe));
    };
    await Promise.all(ports.map(probe));
    return [...ports, ...further].filter((port) => open.has(port));
  }

  async #turn(): Promise<void> {
    while (this.#probesThisTurn >= probesPerTurn) {
      this.#nextTurn ??= setImmediate().then(() => {
        this.#probesThisTurn = 0;
        this.#nextTurn = null;
      });
      await this.#nextTurn;
    }
    this.#probesThisTurn += 1;
  }

  #probe(host: string, port: number): Promise<Answer> {
    return this.#probes.run(async () => {
      await this.#turn();
      return this.#ending.signal.aborted ? "silent" : this.#connect(host, port);
    });
  }

  #connect(host: string, port: number): Promise<Answer> {
    return new Promise((resolve, reject) => {
      const socket = connect({ host, port, timeout: connectTimeoutMs });
      this.#sockets.add(socket);
      let answer: Answer = "closed";
      socket.once("connect", () => {
        answer = "open";
        socket.destroy();
      });
      socket.once("timeout", () => {
        // If this process was busy, the answer may have come and not been read.
        setImmediate().then(() => {
          if (!socket.connecting) return;
          answer = "silent";
          socket.destroy();
        });
      });
      socket.once("error", (error: NodeJS.ErrnoException) => {
        if (noRoute.has(error.code ?? "")) answer = "no route";
        if (error.code === "ETIMEDOUT") answer = "silent";
        if (noSockets.has(error.code ?? "")) reject(outOfSockets(error));
      });
      socket.once("close", () => {
        this.#sockets.delete(socket);
        resolve(answer);
      });
    });
  }

  /**
   * Several rigs may share an address; a rig that answers at several ports is listed once. Its usual ports come first,
   * as one device; the other ports are identified in parallel.
   */
  async #identifyAll(host: string, open: readonly number[]): Promise<void> {
    const here: FoundRig[] = [];
    const list = (rig: FoundRig | null): void => {
      if (rig === null || here.some((other) => isSame(other, rig))) return;
      here.push(rig);
      this.#options.found(rig);
    };
    if (open.some((port) => usualPorts.includes(port))) list(await this.#recognise({ host, port: null, tls: false }));
    const others = open.filter((port) => !usualPorts.includes(port));
    const rigs = await Promise.all(others.map((port) => this.#recognise({ host, port, tls: false })));
    for (const rig of rigs) list(rig);
  }

  #recognise(address: RigAddress): Promise<FoundRig | null> {
    return this.#identifications.run(() => this.#recogniseNow(address));
  }

  /** null when it is not a rig. */
  async #recogniseNow(address: RigAddress): Promise<FoundRig | null> {
    if (this.#ending.signal.aborted) return null;
    // 5 s without an answer ends it; each answer extends that, up to 15 s.
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), answerTimeoutMs);
    const signal = AbortSignal.any([late.signal, this.#within(recogniseTimeoutMs)]);
    try {
      const found = await recogniseAt(address, signal, () => timer.refresh());
      clearTimeout(timer);
      return await this.#named(found);
    } catch (error) {
      if (this.#ending.signal.aborted) return null;
      if (!(error instanceof ClosedRig || error instanceof UnreadableRig)) return null;
      const driver = error instanceof ClosedRig ? error.driver : null;
      const { id = null, login = driver === null ? null : itsToken } = driver ?? {};
      return { address: formatAddress(address), driver: id, identity: error.identity, note: error.reason, login };
    } finally {
      clearTimeout(timer);
    }
  }

  /** A rig whose MAC or model is not known from its signs is read once. */
  async #named({ rig, driver, identity, address }: Identified): Promise<FoundRig> {
    const { id, login = null } = driver;
    const found = { address: formatAddress(address), driver: id, identity, note: null, login };
    try {
      if (identity.mac !== null && identity.model !== null) return found;
      const read = await rig.read(this.#within(readTimeoutMs));
      return { ...found, identity: joined(read.identity, identity) };
    } catch (error) {
      if (!(error instanceof RigbridgeError)) throw error;
      return { ...found, note: this.#options.quotes ? error.message : error.unquoted };
    } finally {
      rig.close();
    }
  }

  #within(ms: number): AbortSignal {
    return AbortSignal.any([this.#ending.signal, AbortSignal.timeout(ms)]);
  }
}

/** For a rig that answers only with its token. */
const itsToken: LoginNeed = { keys: ["token"], adds: "read and controlled" };

/** Why a found rig cannot be read, otherwise the benefit of its login. */
export const remarkOn = ({ note, login }: FoundRig): string | null =>
  note ?? (login === null ? null : `with its ${login.keys.join(" and ")} it can be ${login.adds}`);

type Answer = "open" | "closed" | "silent" | "no route";

/** There is no route to any other port either. */
const noRoute = new Set(["EHOSTUNREACH", "ENETUNREACH", "EHOSTDOWN", "ENETDOWN"]);
/** Limits of this machine, which mean nothing about the address. */
const noSockets = new Set(["EMFILE", "ENFILE", "ENOBUFS", "ENOMEM"]);

const outOfSockets = (cause: Error): RigbridgeError =>
  new RigbridgeError(
    "not.possible",
    "This machine has no sockets left for the scan; raise the limit of open files (ulimit -n)",
    { cause },
  );

/** Whether both are one device, for example at its web port and its RPC port. An unreadable one shows only its make. */
const isSame = ({ identity: one }: FoundRig, { identity: other, driver }: FoundRig): boolean =>
  (one.mac !== null && one.mac === other.mac) ||
  (one.serial !== null && one.serial === other.serial) ||
  (driver === null && one.make === other.make);

/** The values read, with gaps filled from the recognised ones. */
const joined = (read: Identity, recognised: Identity): Identity => ({
  make: read.make ?? recognised.make,
  model: read.model ?? recognised.model,
  firmware: read.firmware ?? recognised.firmware,
  mac: read.mac ?? recognised.mac,
  hostname: read.hostname ?? recognised.hostname,
  serial: read.serial ?? recognised.serial,
});

/** Announced places that the plan does not cover. */
function placesBeyond(plan: SearchPlan, announced: readonly Announced[]): Place[] {
  const portsOf = new Map<string, Set<number>>();
  for (const { host, port } of announced) {
    const planned = plannedPorts(plan, host);
    if (planned.includes(port)) continue;
    const ports = portsOf.get(host) ?? new Set(planned.length > 0 ? [] : usualPorts);
    portsOf.set(host, ports.add(port));
  }
  return [...portsOf].map(([host, ports]) => ({ host, ports: [...ports] }));
}
