import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { backOff, pause } from "../async/index.ts";
import type { RowEvent } from "../contract/events.ts";
import { type OperationName, operationNames } from "../contract/operations.ts";
import { RigbridgeError } from "../contract/problems.ts";
import type { Group, Summary } from "../contract/resources.ts";
import { type MinerRow, rowColumnNames } from "../contract/rows.ts";
import type { Caller, MiningService } from "../contract/service.ts";
import type { About } from "../contract/session.ts";
import type { Site as Shown } from "../contract/sites.ts";
import type { SiteLine } from "./site-line.ts";

/** What a site tells the centre. */
export interface SiteListener {
  /** It was reached, or no longer can be. */
  state(site: Site): void;
  /** All of its rows may have changed, and its groups. `before`: its rows until now. */
  rows(site: Site, before: ReadonlyMap<number, MinerRow>): void;
  /** A row is new or has changed; its group was another before, undefined for a new one. */
  row(site: Site, row: MinerRow, groupBefore: number | undefined): void;
  removed(site: Site, row: MinerRow): void;
  /** Any other event, with the numbers of the site. */
  event(site: Site, event: Exclude<RowEvent, { readonly type: "miner" | "miner-removed" | "reset" }>): void;
}

export interface SiteOptions {
  readonly id: number;
  readonly name: string;
  /** Its first address; null if it connects by itself. */
  readonly url: string | null;
  readonly service: MiningService;
  /** Present if it connects by itself. */
  readonly connecting?: SiteConnecting | undefined;
  /** Throws if what answers cannot be a site, with the reason. */
  accept(about: About): Promise<void>;
  readonly listener: SiteListener;
  /** Rows that are kept at most; a site with more is refused. */
  readonly mostRows?: number;
}

/** 20 times a large site; as many rows take a third of a gigabyte. */
const usualMostRows = 100_000;

/** How a site that connects by itself does so. */
export interface SiteConnecting {
  readonly line: Pick<SiteLine, "isOpen" | "graceMs" | "onChange">;
  hasToken(): boolean;
  /** Whether it has been connected before, in this run or an earlier one. */
  isKnown(): boolean;
}

/** Who reads at the sites. */
const reader: Caller = { actor: "centre" };

/** A site that refuses is asked again after this long: a person has to change something. */
const retryRefused = { firstMs: 15_000, longestMs: 60_000 };
const retryAway = { firstMs: 500, longestMs: 10_000 };

/** Seconds from which a difference of clocks is said. */
const odd = 2;

/** One site: its rows, groups and sums as they last were, kept up to date by its stream of events. */
export class Site {
  readonly id: number;
  readonly name: string;
  readonly url: string | null;
  readonly service: MiningService;
  readonly #options: SiteOptions;
  readonly #closing = new AbortController();
  /** Ends the present connection, so that the site is introduced again. */
  #again = new AbortController();
  #done: Promise<void> = Promise.resolve();
  #rows = new Map<number, MinerRow>();
  #groups: readonly Group[] = [];
  #summary: Summary | null = null;
  #about: About | null = null;
  #lacks: readonly OperationName[] = [];
  #version: string | null = null;
  #clock: number | null = null;
  #state: Shown["state"] = "connecting";
  #since = Date.now();
  #problem: string | null = null;
  /** Rows were read at least once. */
  #isKnown = false;

  constructor(options: SiteOptions) {
    this.#options = options;
    this.id = options.id;
    this.name = options.name;
    this.url = options.url;
    this.service = options.service;
  }

  /** By their ids there. */
  get rows(): ReadonlyMap<number, MinerRow> {
    return this.#rows;
  }

  /** As the site has them. */
  get groups(): readonly Group[] {
    return this.#groups;
  }

  /** As it last was; null before the first. */
  get summary(): Summary | null {
    return this.#summary;
  }

  /** Whether it offers the operation, as far as is known. */
  offers(name: OperationName): boolean {
    return !this.#lacks.includes(name);
  }

  get about(): About | null {
    return this.#about;
  }

  get isReached(): boolean {
    return this.#state === "connected";
  }

  /** ISO; since when its rows are out of date, null while they are not. */
  get unreachableSince(): string | null {
    return this.isReached ? null : new Date(this.#since).toISOString();
  }

  /** Throws `service.not-ready` while it is out of reach: nothing is sent then, and nothing waits at the centre. */
  check(): void {
    const problem = this.#notConnected() ?? this.#problem;
    if (this.isReached && problem === null) return;
    const why = problem === null ? "" : `: ${problem}`;
    throw new RigbridgeError("service.not-ready", `The site ${this.name} cannot be reached, so nothing was sent${why}`);
  }

  shown(): Shown {
    return {
      id: this.id,
      name: this.name,
      url: this.url,
      state: this.#state,
      since: new Date(this.#since).toISOString(),
      admitted: this.#options.connecting?.hasToken() ?? null,
      problem: this.#notConnected() ?? this.#problem,
      version: this.#version,
      miners: this.#isKnown ? this.#rows.size : null,
      clock: this.#clock,
      lacks: [...this.#lacks],
    };
  }

  start(): void {
    const { connecting } = this.#options;
    if (connecting !== undefined) connecting.line.onChange = () => this.#again.abort();
    this.#done = this.#follow();
  }

  /** Asks again who answers there; what was read belongs to another site. */
  introduceAgain(): void {
    this.#again.abort();
    const before = this.#rows;
    this.#rows = new Map();
    this.#isKnown = false;
    this.#options.listener.rows(this, before);
  }

  /** Ends its stream. */
  async stop(): Promise<void> {
    this.#closing.abort();
    await this.#done;
  }

  /** Ends its stream and the connection. */
  async close(): Promise<void> {
    await this.stop();
    await this.service.close();
  }

  async #follow(): Promise<void> {
    const { signal } = this.#closing;
    for (let failures = 1; !signal.aborted; ) {
      // Before it is introduced, so that whoever wants that done again meanwhile is heard.
      this.#again = new AbortController();
      const again = AbortSignal.any([signal, this.#again.signal]);
      try {
        await this.#connected(again);
        if (again.aborted) continue;
        await this.#introduce();
        failures = 1;
        await this.#watch(again);
      } catch (error) {
        if (again.aborted) continue;
        const isRefused = error instanceof RigbridgeError && refusals.has(error.code);
        // The stream of the service in this process may fall behind; it is read again.
        if (this.id !== 0)
          this.#lost(isRefused ? "refused" : "unreachable", error instanceof Error ? error.message : String(error));
        await backOff(failures, isRefused ? retryRefused : retryAway, again);
        failures += 1;
      }
    }
  }

  /** Waits for a site that connects by itself, until the signal is aborted; it is lost if that takes long. */
  async #connected(signal: AbortSignal): Promise<void> {
    const { connecting } = this.#options;
    if (connecting === undefined || connecting.line.isOpen) return;
    // One that was never here is not missed.
    if (connecting.isKnown()) {
      await pause(connecting.hasToken() ? connecting.line.graceMs : 0, signal);
      if (!signal.aborted) this.#lost("unreachable", this.#notConnected() ?? "");
    }
    if (!signal.aborted) await once(signal, "abort");
  }

  /** Why a site that connects by itself is not connected; null if it is. */
  #notConnected(): string | null {
    const { connecting } = this.#options;
    if (connecting === undefined || connecting.line.isOpen) return null;
    if (!connecting.hasToken()) return "It has no token with which it could connect";
    return connecting.isKnown() ? "It is not connected to here" : "It has not connected to here yet";
  }

  /** Asks who answers there. Throws if that cannot be a site. */
  async #introduce(): Promise<void> {
    const { service } = this;
    const features = await service.features();
    const asked = Date.now();
    const about = await service.about(reader);
    this.#clock = clockOf(about, asked, Date.now());
    await this.#options.accept(about);
    this.#about = about;
    this.#lacks = operationNames.filter((name) => !features.has(name));
    this.#version = features.has("getVersion") ? (await service.getVersion({}, reader)).version : null;
  }

  async #watch(signal: AbortSignal): Promise<void> {
    const fields = [...rowColumnNames];
    while (!signal.aborted) {
      const { service } = this;
      const [list, groups, summary] = await Promise.all([
        service.listMinerRows({ view: "list", fields }, reader),
        this.offers("listGroups") ? service.listGroups({}, reader) : [],
        service.getSummary({}, reader),
      ]);
      if (signal.aborted) return;
      this.#checkSize(list.miners.length);
      const before = this.#rows;
      this.#rows = new Map(list.miners.map((row): [number, MinerRow] => [row.id, row]));
      [this.#groups, this.#summary, this.#isKnown] = [groups, summary, true];
      this.#reached();
      this.#options.listener.rows(this, before);
      const reach = (error: RigbridgeError | null): void =>
        error === null ? this.#reached() : this.#lost("unreachable", error.message);
      const events = service.watchMinerRows({ view: "list", fields, after: list.version }, reader, signal, reach);
      for await (const event of events) {
        if (event.type === "reset") break;
        // A client marks the rows of a service that is away; here they stay as they were.
        if (this.isReached) this.#take(event);
      }
      await sleep(resetMs, undefined, { signal }).catch(() => undefined);
    }
  }

  #take(event: Exclude<RowEvent, { readonly type: "reset" }>): void {
    const { listener } = this.#options;
    if (event.type === "miner") {
      const before = this.#rows.get(event.data.id);
      if (before === undefined) this.#checkSize(this.#rows.size + 1);
      this.#rows.set(event.data.id, event.data);
      listener.row(this, event.data, before?.group);
    } else if (event.type === "miner-removed") {
      const gone = this.#rows.get(event.data.id);
      if (gone === undefined) return;
      this.#rows.delete(event.data.id);
      listener.removed(this, gone);
    } else {
      if (event.type === "summary") this.#summary = event.data;
      listener.event(this, event);
    }
  }

  /** Throws `service.garbled` for more rows than a site may have; the service in this process has its own limit. */
  #checkSize(rows: number): void {
    const { mostRows = usualMostRows } = this.#options;
    if (this.id !== 0 && rows > mostRows)
      throw new RigbridgeError(
        "service.garbled",
        `${this.name} has more than ${mostRows} miners; split it into several sites`,
      );
  }

  #reached(): void {
    if (this.isReached) return;
    this.#change("connected", null);
  }

  #lost(state: "unreachable" | "refused", problem: string): void {
    if (this.#state === state) this.#problem = problem;
    else this.#change(state, problem);
  }

  #change(state: Shown["state"], problem: string | null): void {
    [this.#state, this.#problem, this.#since] = [state, problem, Date.now()];
    this.#options.listener.state(this);
  }
}

/** ms between two whole lists, so that a site which resets all the time cannot keep the centre busy. */
const resetMs = 250;

const refusals: ReadonlySet<string> = new Set([
  "key.missing",
  "key.wrong",
  "user.forbidden",
  "address.forbidden",
  "host.unknown",
  "service.refused",
  "service.unsupported",
  "service.garbled",
]);

/** Seconds by which its clock is ahead; null if it is not, or unknown. */
function clockOf({ time }: About, asked: number, answered: number): number | null {
  if (time === undefined) return null;
  const ahead = (Date.parse(time) - (asked + answered) / 2) / 1000;
  // The way there and back may have taken any part of the time of the request.
  return Math.abs(ahead) < odd + (answered - asked) / 2000 ? null : Math.round(ahead);
}
