import { lookup } from "node:dns";
import { isIP } from "node:net";
import { setTimeout as sleep } from "node:timers/promises";
import { Semaphore } from "../async/index.ts";
import type { Declared } from "../fleet/declared.ts";
import type { RigState } from "../fleet/state.ts";
import { canonicalHost, type RigAddress, storedAddress } from "../link/address.ts";
import { drivers } from "../link/drivers/index.ts";
import type { LookupAll } from "../link/forbidden-addresses.ts";
import { unreadPlug } from "../link/plugs/plugged-rig.ts";
import { programPorts, usualPorts } from "../link/ports.ts";
import { isLoopbackHost, isThisMachine, ownHosts } from "./own-address.ts";

/** A device that steps control, and that web hooks must not reach. */
export interface KnownDevice {
  readonly kind: "miner" | "plug" | "broker";
  /** Null for the broker, and for a device of the facility. */
  readonly minerId: number | null;
}

/** The target of a request: every spelling and address of its host, as `canonicalHost` writes it. */
export interface Place {
  readonly hosts: readonly string[];
  readonly port: number;
}

/** The known address and identity of a miner. */
export interface KnownRig {
  readonly id: number;
  readonly declared: Pick<Declared, "address" | "supply" | "program" | "driver">;
  readonly state: Pick<RigState, "driver" | "at" | "missed"> & {
    readonly reading: { readonly readings: { readonly notes: readonly string[] } } | null;
  };
}

export interface BrokerPlace {
  readonly host: string;
  readonly port: number;
}

/** A device of the facility; of those that are only read at a web address, nothing is protected. */
export interface FacilityPlace {
  readonly settings: { readonly driver: string; readonly address?: string };
}

export interface KnownDevicesOptions {
  readonly registry: {
    /** Changes whenever the miners or their addresses change. */
    readonly addressesAt: number;
    all(): Iterable<{ readonly rig: KnownRig }>;
    find(minerId: number): { readonly rig: KnownRig } | undefined;
  };
  /** The miner whose program has its API at this port of this machine, or of the host with this name. */
  readonly managed: { minerAt(host: string, port: number | null): number | undefined };
  /** Whether the configuration file declares a miner. */
  isOfFile(minerId: number): boolean;
  /** The MQTT broker, the same object until it changes; null without one. */
  readonly broker: () => BrokerPlace | null;
  /** The addresses of PDUs, meters and fans, the same list until it changes. */
  readonly facility: () => readonly FacilityPlace[];
  readonly resolve?: LookupAll;
}

interface Index {
  readonly at: number;
  readonly broker: BrokerPlace | null;
  readonly facility: readonly FacilityPlace[];
  readonly byHost: Map<string, Located[]>;
  readonly named: readonly Located[];
}

interface Located extends KnownDevice {
  readonly host: string;
  readonly port: number | null;
  readonly tls: boolean;
}

const facilityPorts: Readonly<Record<string, number>> = { modbus: 502, snmp: 161 };

/** ms for which resolved addresses of device names are cached, and ms that a request waits for all names. */
const namesKeptMs = 30_000;
const namesWaitMs = 2_000;
/** Names resolved at the same time. The system's resolver has four threads for the whole process. */
const resolvedAtOnce = 2;

/** The miners, plugs and broker by their addresses. */
export class KnownDevices {
  readonly #options: KnownDevicesOptions;
  readonly #slots = new Semaphore(resolvedAtOnce);
  readonly #addresses = new Map<string, { readonly until: number; readonly found: Promise<readonly string[]> }>();
  #index: Index | null = null;

  constructor(options: KnownDevicesOptions) {
    this.#options = options;
  }

  /**
   * The device at this place, by its literal address. `forAll`: whether the sender has access to everything. Such a
   * sender's requests are blocked only by devices that the file declares or that were identified: otherwise anyone who
   * may add a miner could block requests by giving it a foreign address.
   */
  at(place: Place, forAll: boolean): KnownDevice | null {
    const { byHost } = this.#indexed();
    const isHere = place.hosts.some(isThisMachine);
    const hosts = new Set(isHere ? [...place.hosts, ...ownHosts(), loopback] : place.hosts);
    const managed = this.#managedAt(hosts, place.port);
    if (managed !== null) return managed;
    for (const host of hosts) {
      const isOwn = isThisMachine(host);
      const found = byHost.get(host)?.find((device) => this.#isAt(device, place.port, isOwn, forAll));
      if (found !== undefined) return found;
    }
    return null;
  }

  /** Like `at`, and also finds devices that are declared by name. */
  async resolvedAt(place: Place, forAll: boolean): Promise<KnownDevice | null> {
    const written = this.at(place, forAll);
    const { named } = this.#indexed();
    if (written !== null || named.length === 0) return written;
    const isHere = place.hosts.some(isThisMachine);
    let there: KnownDevice | null = null;
    const lookups = named.map(async (device) => {
      for (const address of await this.#addressesOf(device.host)) {
        const isOwn = isThisMachine(address);
        const isThere = place.hosts.includes(address) || (isHere && isOwn);
        if (isThere && this.#isAt(device, place.port, isOwn, forAll)) there = device;
      }
    });
    // A name that cannot be resolved does not lead this service to a device either.
    const waiting = new AbortController();
    await Promise.race([Promise.all(lookups), sleep(namesWaitMs, null, { signal: waiting.signal }).catch(() => null)]);
    waiting.abort();
    return there;
  }

  #managedAt(hosts: Iterable<string>, port: number): KnownDevice | null {
    for (const host of hosts) {
      const minerId = this.#options.managed.minerAt(host, port);
      if (minerId !== undefined) return { kind: "miner", minerId };
    }
    return null;
  }

  #isAt(device: Located, port: number, isHere: boolean, forAll: boolean): boolean {
    // Many devices share a host only in a simulation, which may have thousands.
    if (isHere && device.port !== null && device.port !== port) return false;
    return this.#ports(device, isHere)?.includes(port) !== false && (!forAll || this.#isSure(device));
  }

  /**
   * The ports of a device; null: its whole address. A mining program, a broker and everything on this machine share
   * their address with other services.
   */
  #ports({ kind, minerId, port, tls }: Located, isHere: boolean): readonly number[] | null {
    if (kind !== "miner") return isHere || kind === "broker" ? [port ?? (tls ? 443 : 80)] : null;
    const rig = this.#options.registry.find(minerId ?? 0)?.rig;
    const id = rig?.state.driver ?? rig?.declared.driver ?? null;
    const ports = drivers.find((driver) => driver.id === id)?.ports ?? (port === null ? usualPorts : [port]);
    const isProgram = ports.every((each) => (id === null ? programPorts.includes(each) : !usualPorts.includes(each)));
    if (!isHere && !isProgram) return null;
    if (port !== null) return [port];
    return isProgram ? ports : [...ports, ...usualPorts, ...(tls ? [443] : [])];
  }

  #isSure({ kind, minerId, host }: Located): boolean {
    if (minerId === null || this.#options.isOfFile(minerId)) return true;
    const state = this.#options.registry.find(minerId)?.rig.state;
    if (state === undefined) return false;
    if (kind === "plug") return state.reading?.readings.notes.every((note) => !note.startsWith(unreadPlug)) === true;
    // A name may resolve elsewhere than when the rig was identified.
    return isIP(host) === 0 ? state.missed === 0 && state.at !== null : state.driver !== null;
  }

  #indexed() {
    const { registry } = this.#options;
    const broker = this.#options.broker();
    const facility = this.#options.facility();
    const kept = this.#index;
    if (kept?.at === registry.addressesAt && kept.broker === broker && kept.facility === facility) return kept;
    const byHost = new Map<string, Located[]>();
    const named: Located[] = [];
    const add = (device: KnownDevice, { host: written, port, tls }: RigAddress): void => {
      const host = canonicalHost(written);
      const located = { ...device, host, port, tls };
      const key = isLoopbackHost(host) ? loopback : host;
      const there = byHost.get(key);
      if (there === undefined) byHost.set(key, [located]);
      else there.push(located);
      if (isIP(host) === 0 && !isLoopbackHost(host)) named.push(located);
    };
    if (broker !== null) add({ kind: "broker", minerId: null }, { ...broker, tls: false });
    for (const { rig } of registry.all()) {
      const { address, supply, program } = rig.declared;
      if (program === undefined) add({ kind: "miner", minerId: rig.id }, address);
      if (supply != null && supply.type !== "mqtt" && supply.type !== "outlet")
        add({ kind: "plug", minerId: rig.id }, storedAddress(supply.address));
    }
    for (const { settings } of facility) {
      if (settings.address === undefined) continue;
      const place = storedAddress(settings.address);
      const port = place.port ?? facilityPorts[settings.driver] ?? null;
      add({ kind: "plug", minerId: null }, { ...place, port });
    }
    const names = new Set(named.map(({ host }) => host));
    for (const name of this.#addresses.keys()) if (!names.has(name)) this.#addresses.delete(name);
    this.#index = { at: registry.addressesAt, broker, facility, byHost, named };
    return this.#index;
  }

  #addressesOf(name: string): Promise<readonly string[]> {
    const now = performance.now();
    const kept = this.#addresses.get(name);
    if (kept !== undefined && kept.until > now) return kept.found;
    const { resolve = lookup } = this.#options;
    const found = this.#slots.run(
      () =>
        new Promise<readonly string[]>((settle) => {
          resolve(name, { all: true }, (error, addresses) =>
            settle(error === null ? addresses.map(({ address }) => canonicalHost(address)) : []),
          );
        }),
    );
    this.#addresses.set(name, { until: now + namesKeptMs, found });
    return found;
  }
}

/** Key of all devices at loopback addresses: a program that listens at one may listen at all. */
const loopback = "127.0.0.1";
