import { createHash, randomBytes } from "node:crypto";
import type { Logger } from "pino";
import { type HostGpu, laterEpochCode, type OwnSoftware, type ProgramState } from "../../contract/agent.ts";
import type { AgentConnection, AgentReceiver, ClosedBy } from "../../contract/agent-connection.ts";
import { RigbridgeError } from "../../contract/problems.ts";
import type { AgentEntry, AgentToken, HostAgent } from "../../contract/resources.ts";
import type { Outage } from "../../link/driver.ts";
import { detail } from "../../messages/detail.ts";
import type { Store } from "../../store/index.ts";
import { findOwn } from "../crud.ts";
import { AgentSession, type SessionListener } from "./agent-session.ts";
import { hostSoftware } from "./software.ts";

/** Receives the reports of agents. */
export interface AgentListener {
  /** The agent is connected and knows the present state of its programs. */
  connected(hostId: number): void;
  disconnected(hostId: number): void;
  /** The agent has not reconnected within the grace period. */
  away(hostId: number): void;
  /** The state of a program has changed; `before` is null for a new program. */
  program(hostId: number, state: ProgramState, before: ProgramState | null): void;
}

/**
 * ms for an agent to connect before its host counts as away: it retries at most every 4 s, and restarts within a second
 * or two.
 */
export const agentGraceMs = 10_000;

/** `at`: epoch ms. */
interface GpuList {
  readonly at: number;
  readonly list: readonly HostGpu[];
}

const ifRestored = "if it was restored from a backup, start one service once with --accept-restored";

/** Tokens are 32 random bytes, so a plain digest is enough. */
const digestOf = (token: string): string => createHash("sha256").update(token).digest("hex");

/** The tokens of host agents, and the connected agents. */
export class HostAgents {
  readonly #store: Store;
  readonly #log: Logger;
  readonly #now: () => number;
  readonly #sessions = new Map<number, AgentSession>();
  /** The GPUs as last reported in this run, by host. */
  readonly #gpus = new Map<number, GpuList>();
  /** Epoch ms of the last message, by host. */
  readonly #heard = new Map<number, number>();
  /** By host: the grace period of an agent that may still connect. */
  readonly #graces = new Map<number, NodeJS.Timeout>();
  readonly #graceMs: number;
  /** By host: an epoch of the store's lease that its agent has seen, and for which it refuses this service. */
  readonly #laterEpochs = new Map<number, number>();
  /** The service's own machine as a host, if the service is its agent. */
  #ownHost: number | null = null;
  #listener: AgentListener | null = null;
  #isClosed = false;

  constructor(store: Store, log: Logger, now: () => number, graceMs = agentGraceMs) {
    this.#store = store;
    this.#log = log;
    this.#now = now;
    this.#graceMs = graceMs;
  }

  /**
   * Set later, because miners are opened after their agents. The agents of the last run then have the grace period in
   * which to reconnect.
   */
  watch(listener: AgentListener): void {
    this.#listener = listener;
    for (const { id } of this.#store.hosts.all()) this.#startGrace(id);
  }

  knows(digest: string): boolean {
    return this.#store.agents.all().some((agent) => agent.digest === digest);
  }

  /** The connection of the agent with this token; undefined if it was revoked in the meantime. */
  take(digest: string, connection: AgentConnection): AgentReceiver | undefined {
    const agent = this.#store.agents.all().find((each) => each.digest === digest);
    return agent === undefined ? undefined : this.#open(agent.hostId, connection);
  }

  /** The agent of the service's own machine. */
  takeOwn(hostId: number, connection: AgentConnection): AgentReceiver {
    this.#ownHost = hostId;
    return this.#open(hostId, connection);
  }

  /** undefined unless the agent is connected and has introduced itself. */
  session(hostId: number): AgentSession | undefined {
    const session = this.#sessions.get(hostId);
    return session === undefined || session.host === null ? undefined : session;
  }

  /** Throws `host.no.agent`, or `host.away`. */
  required(hostId: number, hostname: string): AgentSession {
    const session = this.session(hostId);
    if (session !== undefined) return session;
    throw this.absence(hostId, hostname);
  }

  /** Why no agent of the host is connected: `host.no.agent`, or `host.away`. */
  absence(hostId: number, hostname: string): RigbridgeError {
    if (!this.hasAgent(hostId)) return noAgent(hostname);
    const seen = this.#laterEpochs.get(hostId);
    const epoch = this.#store.lease?.epoch ?? 0;
    return new RigbridgeError(
      "host.away",
      seen === undefined
        ? detail("host.away", { host: hostname })
        : detail("host.laterEpoch", { host: hostname, epoch, seen }),
    );
  }

  hasAgent(hostId: number): boolean {
    return this.#ownHost === hostId || this.#store.agents.all().some((agent) => agent.hostId === hostId);
  }

  /** Brief until the grace period ends; lasting after it, and without an agent. */
  outage(hostId: number): Outage | null {
    if (this.session(hostId) !== undefined) return null;
    return this.#graces.has(hostId) ? "brief" : "lasting";
  }

  /** Whether this is the machine that the service runs on. */
  isOwn(hostId: number): boolean {
    return this.#ownHost === hostId;
  }

  present(hostId: number): HostAgent | null {
    if (!this.hasAgent(hostId)) return null;
    const session = this.session(hostId);
    const at = this.#heard.get(hostId);
    const { gpus: _, ...report } = session?.host ?? { gpus: [] };
    return {
      tokenId: this.#store.agents.all().find((agent) => agent.hostId === hostId)?.id ?? null,
      connected: session !== undefined,
      at: at === undefined ? null : new Date(at).toISOString(),
      version: session?.version ?? null,
      permissions: session?.permissions ?? null,
      software: session === undefined ? null : hostSoftware(session.software, session.host?.system ?? ""),
      report: "name" in report ? report : null,
    };
  }

  /** The GPUs as last reported, also before a restart; null if never reported. */
  gpusOf(hostId: number): GpuList | null {
    return this.#gpus.get(hostId) ?? this.#store.hosts.get(hostId)?.gpus ?? null;
  }

  /** Programs from the configurations of the connected agents. */
  *software(): Iterable<OwnSoftware> {
    for (const session of this.#sessions.values()) yield* session.software;
  }

  list(): AgentEntry[] {
    return this.#store.agents
      .all()
      .map(({ id, hostId }) => ({ id, hostId, connected: this.session(hostId) !== undefined }));
  }

  /** Creates a token; a host has one. Throws `in.use`. */
  async add(hostId: number): Promise<AgentToken> {
    const existing = this.#store.agents.all().find((agent) => agent.hostId === hostId);
    if (existing !== undefined)
      throw new RigbridgeError("in.use", detail("host.hasToken", { id: hostId, agent: existing.id }));
    const token = randomBytes(32).toString("base64url");
    const { id } = await this.#store.agents.add({ hostId, digest: digestOf(token) });
    this.#startGrace(hostId);
    return { id, hostId, token };
  }

  /** Revokes a token; its agent's connection ends at once. Throws `not.found`. */
  async remove(id: number): Promise<number> {
    const { hostId } = findOwn(this.#store.agents, id, "token");
    await this.#store.agents.remove(id);
    // Without a token it cannot connect again, so nothing waits for it.
    const wasWaiting = this.#endGrace(hostId);
    this.#sessions.get(hostId)?.end("its token was revoked");
    if (wasWaiting) this.#listener?.away(hostId);
    return hostId;
  }

  /** Removes the token of a host that is removed. */
  async forget(hostId: number): Promise<void> {
    for (const agent of this.#store.agents.all()) if (agent.hostId === hostId) await this.remove(agent.id);
    this.#heard.delete(hostId);
    this.#laterEpochs.delete(hostId);
    this.#gpus.delete(hostId);
    this.#endGrace(hostId);
  }

  close(): void {
    this.#isClosed = true;
    for (const grace of this.#graces.values()) clearTimeout(grace);
    for (const session of this.#sessions.values()) session.end("the service stops", "away");
  }

  /** Whether a grace period was running. */
  #endGrace(hostId: number): boolean {
    clearTimeout(this.#graces.get(hostId));
    return this.#graces.delete(hostId);
  }

  #startGrace(hostId: number): void {
    if (this.#isClosed) return;
    this.#endGrace(hostId);
    const leave = (): void => {
      this.#graces.delete(hostId);
      this.#listener?.away(hostId);
    };
    this.#graces.set(hostId, setTimeout(leave, this.#graceMs).unref());
  }

  #open(hostId: number, connection: AgentConnection): AgentReceiver {
    // An agent may reconnect before the service notices that its old connection is dead.
    this.#sessions.get(hostId)?.end("a newer connection with the same token has replaced this one");
    const session = new AgentSession(hostId, connection, this.#events);
    this.#sessions.set(hostId, session);
    return {
      message: (message) => {
        this.#heard.set(hostId, this.#now());
        session.message(message);
      },
      frame: (channel, bytes) => session.frame(channel, bytes),
      closed: (by) => {
        if (by?.code === laterEpochCode) this.#refused(hostId, by);
        session.closed();
      },
    };
  }

  #refused(host: number, { reason }: ClosedBy): void {
    if (!/^\d{1,15}$/.test(reason)) return;
    const seen = Number(reason);
    if (this.#laterEpochs.get(host) === seen) return;
    this.#laterEpochs.set(host, seen);
    this.#log.error(
      { host },
      `The agent of a host refuses this service, whose database is older than it has seen it, or a copy (seen: epoch ${seen}); ${ifRestored}`,
    );
  }

  readonly #events: SessionListener = {
    introduced: (session) => {
      this.#log.info({ host: session.hostId, version: session.version }, "the agent of a host is connected");
      this.#laterEpochs.delete(session.hostId);
      this.#keepGpus(session);
      this.#endGrace(session.hostId);
      this.#listener?.connected(session.hostId);
    },
    reported: (session) => this.#keepGpus(session),
    changed: (session, state, before) => this.#listener?.program(session.hostId, state, before),
    closed: (session) => {
      const { hostId } = session;
      if (this.#sessions.get(hostId) !== session) return;
      this.#sessions.delete(hostId);
      // It was not connected yet, so nothing has changed.
      if (session.host === null) return;
      this.#log.info({ host: hostId }, "the agent of a host is no longer connected");
      if (this.hasAgent(hostId)) this.#startGrace(hostId);
      this.#listener?.disconnected(hostId);
    },
  };

  /** Stored when the cards change, so that they are listed while the agent is away; their readings are not stored. */
  #keepGpus({ hostId, host }: AgentSession): void {
    const stored = this.#store.hosts.get(hostId);
    if (host === null || stored === undefined) return;
    this.#gpus.set(hostId, { at: this.#now(), list: host.gpus });
    const cards = (list: typeof host.gpus): string =>
      JSON.stringify(list.map(({ id, name, pciBusId }) => [id, name, pciBusId]));
    if (stored.gpus !== null && cards(stored.gpus.list) === cards(host.gpus)) return;
    this.#store.hosts
      .change(hostId, { gpus: { at: this.#now(), list: host.gpus.map(withoutFigures) } })
      .catch((error: unknown) => this.#log.error({ err: error }, "the GPUs of a host could not be stored"));
  }
}

const withoutFigures = ({ id, name, vendor, vendorId, pciBusId, memory }: HostGpu): HostGpu => ({
  id,
  name,
  vendor,
  vendorId,
  pciBusId,
  memory,
  lost: false,
  activity: null,
  clock: null,
  memoryClock: null,
  voltage: null,
  powertune: null,
  fanRpm: null,
  fanPercent: null,
  temperature: null,
  memoryTemperature: null,
  power: null,
  powerLimit: null,
});

export const neverConnected = (hostname: string): RigbridgeError =>
  new RigbridgeError("host.no.agent", detail("host.never", { host: hostname }));

export const noAgent = (hostname: string): RigbridgeError =>
  new RigbridgeError("host.no.agent", detail("host.noAgent", { host: hostname }));
