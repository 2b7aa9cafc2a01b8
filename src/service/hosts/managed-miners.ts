import type { Logger } from "pino";
import type { Program, ProgramState } from "../../contract/agent.ts";
import { storedAddress } from "../../link/address.ts";
import type { HostProgram, ProgramHosts } from "../../link/programs/host-program.ts";
import { coded } from "../../messages/coded.ts";
import { textOf } from "../../messages/service-texts.ts";
import type { Store, Stored, StoredHost, StoredManagedMiner } from "../../store/index.ts";
import { enabled } from "../crud.ts";
import { blankMiner, type ManagedRow } from "../miners/declared-miner.ts";
import type { MinerRegistry } from "../miners/miner-registry.ts";
import type { Coins } from "../money/coins.ts";
import type { FarmNotices } from "../notifications/notices.ts";
import type { Sections } from "../settings/live-settings.ts";
import type { Benchmarks } from "./benchmarks.ts";
import type { AgentListener, HostAgents } from "./host-agents.ts";
import { ManagedProgram } from "./managed-program.ts";
import { programHosts } from "./program-hosts.ts";
import { type Lack, programOf } from "./program-of.ts";
import { type Software, softwareOf } from "./software.ts";
import { minerUid } from "./uids.ts";

export interface ManagedMinersOptions {
  readonly store: Store;
  readonly agents: HostAgents;
  readonly coins: Coins;
  readonly notices: Pick<FarmNotices, "raise" | "close">;
  readonly benchmarks: Benchmarks;
  /** From the configuration file. */
  readonly settings: Sections<"gpuSettings">;
  readonly log: Logger;
  /** Called only once something happens to a miner or a host, because the registry is opened later. */
  readonly registry: () => MinerRegistry;
}

/** Limit per host; agents refuse more. */
export const mostPrograms = 100;

/** The managed miners as rigs of the fleet and as programs of their hosts. */
export class ManagedMiners implements AgentListener {
  readonly #options: ManagedMinersOptions;
  /** The programs last sent to each host, as JSON. */
  readonly #sent = new Map<number, string>();
  readonly #polled = new Set<number>();
  /** Ids of hosts by name and group; null until it is needed. */
  #hostNames: ReadonlyMap<string, number> | null = null;

  constructor(options: ManagedMinersOptions) {
    this.#options = options;
    options.agents.watch(this);
  }

  get #registry(): MinerRegistry {
    return this.#options.registry();
  }

  /** All managed miners as rows of the registry. */
  rows(): ManagedRow[] {
    return enabled(this.#options.store.managedMiners).flatMap((miner) => this.row(miner) ?? []);
  }

  /** Undefined without its host. */
  row(miner: Stored<StoredManagedMiner>): ManagedRow | undefined {
    const host = this.#host(miner);
    if (host === undefined) return undefined;
    const { id, owner, key, disabled, description } = miner;
    return {
      ...blankMiner,
      id,
      owner,
      key,
      disabled,
      address: host.hostname,
      name: description || this.nameOf(miner, host),
      uid: minerUid(host.uid ?? `host-${host.id}`, id),
      groupId: miner.groupId ?? host.groupId,
      program: { software: miner.softwareType, driver: this.softwareOf(miner)?.api ?? null },
    };
  }

  /** A managed miner or its host has been added or changed. */
  put(miner: Stored<StoredManagedMiner>): void {
    const row = this.row(miner);
    if (row !== undefined) this.#registry.put(row);
    this.#registry.arrange();
    this.sync(miner.hostId);
  }

  /** Groups have changed. */
  refresh(): void {
    this.hostsChanged();
    for (const row of this.rows()) this.#registry.put(row);
  }

  /** Sends a host its programs if they have changed since the last time. */
  sync(hostId: number): void {
    const session = this.#options.agents.session(hostId);
    if (session === undefined) return;
    const programs = this.#of(hostId).flatMap((miner) => {
      const program = this.programOf(miner);
      return "message" in program ? [] : [program];
    });
    const json = JSON.stringify(programs);
    if (this.#sent.get(hostId) === json) return;
    this.#sent.set(hostId, json);
    session.sendPrograms(programs);
  }

  /** Pools, pool groups, coins or algorithms have changed. */
  syncAll(): void {
    for (const hostId of this.#sent.keys()) this.sync(hostId);
  }

  softwareOf({ softwareType, hostId }: Pick<StoredManagedMiner, "softwareType" | "hostId">): Software | undefined {
    return softwareOf(softwareType, this.#options.agents.session(hostId)?.software ?? []);
  }

  /** The program of a managed miner, or why it cannot run. */
  programOf(miner: Stored<StoredManagedMiner>): Program | Lack {
    const { store, coins, agents, settings: own } = this.#options;
    const session = agents.session(miner.hostId);
    // If its agent does not allow GPU settings, those of the file are left out: otherwise no program would start.
    const settings = session?.permissions?.gpuSettings === true ? own.gpuSettings : [];
    return programOf(miner, {
      store,
      coins,
      software: this.softwareOf(miner),
      name: miner.description || this.nameOf(miner),
      system: session?.host?.system ?? "",
      modelSettings: { settings, gpus: session?.host?.gpus ?? [] },
    });
  }

  nameOf(miner: Stored<StoredManagedMiner>, host = this.#host(miner)): string {
    return `${this.softwareOf(miner)?.name ?? "Managed miner"} on ${host?.hostname ?? "an unknown host"}`;
  }

  stateOf({ id, hostId }: Pick<Stored<StoredManagedMiner>, "id" | "hostId">): ProgramState | undefined {
    return this.#options.agents.session(hostId)?.program(id);
  }

  /** Last output of its program before it failed for good or was restarted; null if unknown. */
  lastOutputOf(minerId: number): string | null {
    const miner = this.#options.store.managedMiners.get(minerId);
    const lines = miner === undefined ? [] : (this.stateOf(miner)?.lastLines ?? []);
    return lines.length === 0 ? null : lines.join("\n");
  }

  isManaged(minerId: number): boolean {
    return this.#options.store.managedMiners.get(minerId)?.disabled === false;
  }

  /** The miner whose program has its API at this port of this machine, or of the host with this name. */
  minerAt(host: string, port: number | null): number | undefined {
    if (port === null) return undefined;
    const { store, agents } = this.#options;
    return enabled(store.managedMiners).find((miner) => {
      const isHost = agents.isOwn(miner.hostId) ? isThisMachine.test(host) : this.#host(miner)?.hostname === host;
      return isHost && this.stateOf(miner)?.apiPort === port;
    })?.id;
  }

  /** The host with this name and group, or the service's own machine. */
  hostOf(name: string, groupId: number): number | undefined {
    this.#hostNames ??= new Map(
      enabled(this.#options.store.hosts).flatMap(({ id, owner, hostname, groupId: group }) => [
        [hostKey(hostname, group), id] as const,
        ...(owner === "file" ? [[hostKey("localhost", group), id] as const] : []),
      ]),
    );
    const local = isThisMachine.test(name) ? this.#hostNames.get(hostKey("localhost", groupId)) : undefined;
    return this.#hostNames.get(hostKey(name, groupId)) ?? local;
  }

  /** After hosts were added, changed or removed: programs at their names gain or lose what their agents can do. */
  hostsChanged(): void {
    this.#hostNames = null;
    const registry = this.#registry;
    for (const miner of enabled(this.#options.store.miners)) {
      const hostId = registry.find(miner.id)?.rig.declared.hostId;
      if (this.hostOf(storedAddress(miner.address).host, miner.groupId) !== hostId) registry.put(miner);
    }
  }

  readonly hosts: ProgramHosts = (hostId, port) =>
    programHosts(this.#options.agents, this.#options.store)(hostId, port);

  /** The program for its rig. */
  readonly programs = (minerId: number): HostProgram => new ManagedProgram(minerId, this, this.#options);

  connected(hostId: number): void {
    this.#sent.delete(hostId);
    this.sync(hostId);
    // Its custom software, and whether it may reboot its host, are only known now.
    for (const miner of this.#of(hostId)) {
      const row = this.row(miner);
      if (row !== undefined) this.#registry.put(row);
      const state = this.stateOf(miner);
      if (state !== undefined) this.#notify(state, null);
      this.#poll(miner.id);
    }
    // The agent's actions for declared programs are only known now, too.
    for (const { rig } of this.#registry.all()) if (rig.declared.hostId === hostId) this.#poll(rig.id);
    this.#registry.arrange();
  }

  disconnected(hostId: number): void {
    this.#sent.delete(hostId);
    this.away(hostId);
  }

  away(hostId: number): void {
    for (const { id } of this.#of(hostId)) this.#poll(id);
  }

  program(_hostId: number, state: ProgramState, before: ProgramState | null): void {
    if (!this.isManaged(state.id)) return;
    this.#notify(state, before);
    this.#poll(state.id);
  }

  #of(hostId: number): Stored<StoredManagedMiner>[] {
    return enabled(this.#options.store.managedMiners).filter((miner) => miner.hostId === hostId);
  }

  #host({ hostId }: Pick<StoredManagedMiner, "hostId">): Stored<StoredHost> | undefined {
    const host = this.#options.store.hosts.get(hostId);
    return host?.disabled === false ? host : undefined;
  }

  #notify({ id, status, message, lastLines, download }: ProgramState, before: ProgramState | null): void {
    if (status === before?.status) return;
    const { notices } = this.#options;
    const [failed, confirming] = [`program:${id}`, `download:${id}`];
    if (status === "failed") {
      const output = lastLines.length === 0 ? "" : ` Its last output:\n${lastLines.join("\n")}`;
      const said = message ?? coded("notices.program.message");
      const text = output === "" ? said : `${textOf(said, "en")}${output}`.slice(0, 4_000);
      const title = coded("notices.program.title");
      notices.raise({ ...ofSystem, key: failed, minerId: id, title, message: text, severity: "critical" });
    } else if (status === "running" || status === "stopped") notices.close(failed, coded("notices.program.over"));
    if (status === "confirming" && download !== null) {
      const text = coded("notices.download.message", { url: download.url, sum: download.sha256, id });
      const title = coded("notices.download.title");
      notices.raise({ ...ofSystem, key: confirming, minerId: id, title, message: text, severity: "warning" });
    } else if (status !== "downloading") notices.close(confirming, coded("notices.download.over"));
  }

  /** Reads a miner soon, once for all changes of this turn. */
  #poll(id: number): void {
    const registry = this.#registry;
    if (this.#polled.has(id)) return;
    this.#polled.add(id);
    setImmediate(() => {
      this.#polled.delete(id);
      const rig = registry.find(id)?.rig;
      if (rig === undefined || rig.declared.disabled) return;
      registry.fleet.poll(rig).catch((error: unknown) => {
        this.#options.log.error({ err: error, miner: id }, "a managed miner could not be read");
      });
    });
  }
}

const hostKey = (name: string, groupId: number): string => `${groupId} ${name.toLowerCase()}`;
const ofSystem = { source: "System" } as const;
const isThisMachine = /^(localhost|127\.\d+\.\d+\.\d+|::1)$/;
