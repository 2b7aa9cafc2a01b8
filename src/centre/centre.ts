import { createHash } from "node:crypto";
import type { Logger } from "pino";
import { z } from "zod";
import type { RowEvent, ServiceEvent } from "../contract/events.ts";
import { newIdempotencyKey } from "../contract/idempotency.ts";
import { withoutActions } from "../contract/may-act.ts";
import { type Operation, type OperationName, operationNames, operations } from "../contract/operations.ts";
import { invalid, notFound, RigbridgeError } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import type { Group } from "../contract/resources.ts";
import type { MinerRow } from "../contract/rows.ts";
import { isSecret, withoutSecrets } from "../contract/secrets.ts";
import type { Caller, CallName, EncodedEvent, Input, MiningService, Reply } from "../contract/service.ts";
import type { About } from "../contract/session.ts";
import { highestThere, isNumberText, numberAt, numberThere, siteOf } from "../contract/site-numbers.ts";
import { coded } from "../messages/coded.ts";
import { Events } from "../service/events/events.ts";
import type { EventView } from "../service/events/subscriber.ts";
import type { RunningService } from "../service/index.ts";
import { minerRows } from "../service/miners/miner-rows.ts";
import { withInnerGroups } from "../service/nested-groups.ts";
import { ReadShares } from "../service/users/read-shares.ts";
import type { Store, Stored, StoredSite } from "../store/index.ts";
import { type Display, type Format, formatFor } from "../units/format.ts";
import { awayGroups, awayMiner, awayText } from "./away-miner.ts";
import { ConnectingSites } from "./connecting-sites.ts";
import { isAboutDefinitions } from "./copies.ts";
import { Definitions } from "./definitions.ts";
import { numbersAt, type Share, SiteJobs } from "./jobs.ts";
import { isLost } from "./lost-answers.ts";
import { LostCommands, parametersOf } from "./lost-commands.ts";
import { keyThere, merged, withKey } from "./merge.ts";
import { CentreRows, groupsOf } from "./rows.ts";
import { Site, type SiteListener } from "./site.ts";
import { SiteEvents } from "./site-events.ts";
import type { SiteLine } from "./site-line.ts";
import { mergedSummary } from "./summary.ts";
import { groupNameAt, inward, numberKeys, outward } from "./translate.ts";

/** A service elsewhere, by its name in the configuration. */
export interface SitePlace {
  readonly name: string;
  /** Its first address, without credentials; null if it connects by itself. */
  readonly url: string | null;
  readonly service: MiningService;
  /** Present if it connects by itself. */
  readonly line?: SiteLine | undefined;
}

export interface CentreOptions {
  /** The service in this process: its rigs are site 0, and its users are the users of the centre. */
  readonly own: RunningService;
  readonly places: readonly SitePlace[];
  readonly store: Pick<
    Store,
    | "sites"
    | "siteJobs"
    | "lostCommands"
    | "instance"
    | "rules"
    | "schedules"
    | "pools"
    | "poolGroups"
    | "templates"
    | "maintenance"
  >;
  readonly display: () => Display;
  readonly log: Logger;
}

/** Operations that send a command to a rig, whose number is their `id`. */
const commanding: ReadonlySet<CallName> = new Set(["minerAction"]);

/** In one answer. */
const mostCommands = 1_000;

/** ms that a site may take for its share of a reply. */
const answerMs = 5_000;

type Calls = Pick<MiningService, CallName>;

/**
 * A service composed of the one in this process and of services elsewhere, so that every front end works over all sites
 * without knowing. Numbers of a site are `site × 10^10 + number there`; a site that cannot be reached keeps its rows, marked.
 * Each site acts on its own: nothing waits here for one that is away.
 */
export async function openCentre(options: CentreOptions): Promise<MiningService> {
  const centre = new Centre(options);
  await centre.open();
  return centre.service();
}

class Centre {
  readonly #options: CentreOptions;
  readonly #own: RunningService;
  /** By number, the centre itself (0) first. */
  readonly #sites = new Map<number, Site>();
  readonly #connecting: ConnectingSites;
  readonly #events: Events;
  readonly #rows: CentreRows;
  readonly #list: ReturnType<typeof minerRows>;
  readonly #jobs: SiteJobs;
  readonly #definitions: Definitions;
  readonly #lost: LostCommands;
  readonly #listener: SiteListener;
  readonly #view: EventView;

  constructor(options: CentreOptions) {
    this.#options = options;
    this.#own = options.own;
    this.#events = new Events({ now: Date.now });
    this.#rows = new CentreRows(this.#sites, this.#events);
    const accessBook = { of: (caller: Caller) => this.#own.accessOf(caller) };
    this.#list = minerRows({
      listed: this.#rows,
      accessBook,
      shares: new ReadShares(() => performance.now()),
      changes: this.#events,
    });
    this.#jobs = new SiteJobs(options.store.siteJobs, {
      start: async (site, { parameters, ...body }, caller) => {
        const there = { ...body, parameters: parametersThere(site, parameters) };
        return this.#at(site, "startBulkAction", there, caller);
      },
      get: (id, caller) => this.#at(siteOf(id), "getBulkAction", { id: numberThere(id) }, caller),
      cancel: (id, caller) => this.#at(siteOf(id), "cancelBulkAction", { id: numberThere(id) }, caller),
      find: async (site, request) => (await this.#at(site, "listBulkActions", { request }, { actor: "centre" }))[0],
      // The service in this process always answers.
      keyAt: (site, caller) =>
        site === 0 || caller.idempotency === undefined ? null : requestThere(caller, caller.idempotency.key),
      place: (site) => this.#sites.get(site),
      seesAll: (caller) => this.#own.accessOf(caller).all,
    });
    this.#connecting = new ConnectingSites({
      store: options.store,
      nameOf: (id) => (id === 0 ? undefined : this.#sites.get(id)?.name),
    });
    this.#definitions = new Definitions({
      own: this.#own,
      events: this.#events,
      store: options.store,
      sites: () => this.#others(),
    });
    this.#lost = new LostCommands(options.store.lostCommands, {
      changed: (command) => this.#events.command(command),
      find: (site, request) => this.#at(site, "listCommands", { request }, { actor: "centre" }),
    });
    this.#listener = new SiteEvents({
      own: this.#own,
      sites: this.#sites,
      events: this.#events,
      rows: this.#rows,
      definitions: this.#definitions,
      lost: [this.#lost, this.#jobs],
      log: options.log,
    });
    this.#view = {
      accessOf: (caller) => this.#own.accessOf(caller),
      sees: (minerId, access) => this.#rows.sees(minerId, access),
      seesNotification: ({ minerId }, access) => access.all || (minerId !== null && this.#rows.sees(minerId, access)),
      // Whole miners are asked for when they are wanted: see #watchEvents.
      current: () => undefined,
      row: this.#list.changedRow,
      summaryFor: (caller) => this.#summary(caller),
    };
  }

  async open(): Promise<void> {
    const { places, store } = this.#options;
    const listener = this.#listener;
    const numbers = await store.sites.declare(
      new Map(
        // A token is only for a site that connects by itself.
        places.map(({ name, line }) => {
          const { instance = null, digest = null } = this.#stored(name) ?? {};
          return [name, { name, instance, digest: line === undefined ? null : digest }];
        }),
      ),
    );
    const itself = { id: 0, name: "", url: "", service: this.#own, accept: async () => undefined };
    this.#sites.set(0, new Site({ listener, ...itself }));
    for (const { name, url, service, line } of places) {
      const id = numbers.get(name)?.id ?? 0;
      const accept = (about: About) => this.#accept(id, name, about);
      const connecting = line && {
        line,
        hasToken: () => this.#stored(name)?.digest != null,
        isKnown: () => this.#instanceOf(name) !== null,
      };
      if (line !== undefined) this.#connecting.add(id, line);
      this.#sites.set(id, new Site({ listener, id, name, url, service, connecting, accept }));
    }
    this.#own.useSiteTokens({
      admitSite: (input) => this.#connecting.admit(input),
      revokeSite: (input) => this.#connecting.revoke(input),
    });
    for (const site of this.#sites.values()) site.start();
  }

  #stored(name: string): Stored<StoredSite> | undefined {
    return this.#options.store.sites.all().find((site) => site.name === name);
  }

  #instanceOf(name: string): string | null {
    return this.#stored(name)?.instance ?? null;
  }

  /** Throws `service.refused` for what cannot be a site. */
  async #accept(id: number, name: string, { instance, sites = 0 }: About): Promise<void> {
    const { store, log } = this.#options;
    if (sites > 0)
      throw new RigbridgeError("service.refused", "It shows other sites itself; a centre cannot be a site");
    if (instance === undefined) return;
    if (instance === store.instance) throw new RigbridgeError("service.refused", "It is this service itself");
    const twin = store.sites.all().find((each) => each.id !== id && !each.disabled && each.instance === instance);
    if (twin !== undefined && twin.id < id)
      throw new RigbridgeError("service.refused", `It is the same service as the site ${twin.name}`);
    if (twin !== undefined) {
      await store.sites.change(twin.id, { instance: null });
      this.#sites.get(twin.id)?.introduceAgain();
    }
    const before = this.#instanceOf(name);
    if (before === instance) return;
    await store.sites.change(id, { instance });
    if (before === null) return;
    log.warn({ site: name }, "another store answers at a site");
    this.#own.setWarning?.(coded("notices.site.store", { name }), coded("notices.site.storeText"));
  }

  /** The service that the front ends use. */
  service(): MiningService {
    const own = this.#own;
    const calls = Object.fromEntries(
      operationNames
        .filter((name): name is CallName => operations[name].kind === "call")
        .map((name) => [name, (input: object, caller: Caller) => this.#call(name, input, caller)]),
    ) as unknown as Calls;
    // Metrics read the list of miners instead, which covers every site.
    const { eachMiner: _, ...rest } = own;
    return {
      ...rest,
      ...calls,
      listSites: async (_input, caller) =>
        own.accessOf(caller).all ? this.#others().map((site) => this.#definitions.shown(site)) : [],
      knowsSite: (digest) => this.#connecting.withToken(digest) !== undefined,
      takeSite: (digest, connection) => this.#connecting.take(digest, connection),
      getSummary: (_input, caller) => this.#summary(caller),
      listMinerRows: this.#list.listMinerRows,
      prepare: (operation, input, caller) =>
        operation === "listMinerRows" ? this.#list.prepare(input, caller) : undefined,
      encoded: (operation, input, caller) => {
        if (operation === "listMinerRows") return this.#list.encoded(input, caller);
        const isOwn = operation === "getMiner" && "id" in input && siteOf(Number(input.id)) === 0;
        return isOwn ? own.encoded?.(operation, input, caller) : undefined;
      },
      watchEvents: (input, caller, signal) => this.#watchEvents(input, caller, signal),
      watchMinerRows: (input, caller, signal) => {
        own.checkAccess?.("watchMinerRows", caller);
        return this.#events.watchRows(this.#view, input, caller, signal);
      },
      encodedEvents: (input, caller, signal) => {
        if (!("view" in input)) return encoded(this.#watchEvents(input, caller, signal));
        own.checkAccess?.("watchMinerRows", caller);
        return this.#events.encoded(this.#view, input, caller, signal);
      },
      about: async (caller) => ({ ...(await own.about(caller)), sites: this.#others().length }),
      close: () => this.#close(),
    };
  }

  async #close(): Promise<void> {
    this.#events.close();
    this.#lost.close();
    this.#jobs.close();
    await this.#definitions.close();
    this.#connecting.end("the service stops", "away");
    await Promise.all(this.#others().map((site) => site.close()));
    await this.#sites.get(0)?.stop();
  }

  #others(): Site[] {
    return [...this.#sites.values()].filter(({ id }) => id !== 0);
  }

  async #call(name: CallName, input: object, caller: Caller): Promise<unknown> {
    const { scope, method } = operations[name];
    if (scope === "own") return this.#at(0, name, input, caller);
    if (name === "startBulkAction") return this.#startBulkAction(input as Input<"startBulkAction">, caller);
    if (name === "getBulkAction" && "id" in input) return this.#jobs.get(Number(input.id), caller);
    if (name === "cancelBulkAction" && "id" in input) return this.#jobs.cancel(Number(input.id), caller);
    const { sites, input: there } = this.#addressed(name, input);
    if (scope === "fan") return this.#fan(name, input, caller);
    const [site = 0, another] = sites;
    if (another !== undefined) throw invalid("id", "the numbers belong to different sites; act at each of them");
    if (scope === "site" && method !== "GET" && site !== 0) {
      this.#checkRights(name, caller);
      throw this.#changedThere(site);
    }
    if (method !== "GET" && site === 0 && isAboutDefinitions(name)) {
      const reply = await this.#at(0, name, there, caller);
      return this.#definitions.changed(name, reply, caller);
    }
    if (name === "getMiner" && "id" in there) {
      const away = await this.#awayMiner(site, Number(there.id), caller);
      if (away !== null) return away;
    }
    const isMerged = scope === "merge" || (scope === "site" && method === "GET" && sites.size === 0);
    if (!isMerged) return this.#at(site, name, there, caller);
    const reply = await this.#merged(name, sites.size === 0 ? null : site, there, caller);
    if (name === "listCommands")
      return this.#withLost(reply as Reply<"listCommands">, input as Input<"listCommands">, caller);
    return name === "listMiners"
      ? this.#withAway(reply as Reply<"listMiners">, input as Input<"listMiners">, caller)
      : reply;
  }

  /** The list with the miners of sites that cannot be reached; their status is not known, so that none is asked for. */
  async #withAway(
    reply: Reply<"listMiners">,
    { status, group, tag }: Input<"listMiners">,
    caller: Caller,
  ): Promise<Reply<"listMiners">> {
    const away = this.#others().filter((site) => !site.isReached && site.rows.size > 0);
    if (away.length === 0 || status !== undefined) return reply;
    const { miners } = await this.#list.listMinerRows({ group, tag, fields: ["id"] }, caller);
    const ids = Map.groupBy(miners, ({ id }) => siteOf(id));
    const groups = away.flatMap((site) => {
      const rows = (ids.get(site.id) ?? []).flatMap(({ id }) => site.rows.get(numberThere(id)) ?? []);
      return awayGroups(site, rows, this.#format());
    });
    return { ...reply, groupList: [...reply.groupList, ...groups] };
  }

  /** The commands with those whose answer was lost; only users who see all rigs see other sites. */
  #withLost(
    { commandList }: Reply<"listCommands">,
    input: Input<"listCommands">,
    caller: Caller,
  ): Reply<"listCommands"> {
    const lost = this.#own.accessOf(caller).all && input.request === undefined ? this.#lost.list(input) : [];
    if (lost.length === 0) return { commandList };
    const all = [...lost, ...commandList].toSorted((a, b) => b.time.localeCompare(a.time));
    return { commandList: all.slice(0, mostCommands) };
  }

  /** A miner whose site cannot be reached; null if it can, or if nothing is known of the miner. */
  async #awayMiner(id: number, there: number, caller: Caller): Promise<Reply<"getMiner"> | null> {
    const site = this.#sites.get(id);
    const row = site?.rows.get(there);
    if (site === undefined || site.isReached || row === undefined || !this.#own.accessOf(caller).all) return null;
    this.#own.checkAccess?.("getMiner", caller);
    const { metaData } = await this.#own.getSummary({}, caller);
    return {
      ...awayMiner(site, row, this.#format()),
      metaData: { ...metaData, infoList: [], warningList: [awayText(site)] },
    };
  }

  #changedThere(site: number): RigbridgeError {
    const { name = "", url = null } = this.#sites.get(site) ?? {};
    const where = url === null ? "" : `: ${url}`;
    return new RigbridgeError("not.possible", `It belongs to the site ${name}, and is changed there${where}`);
  }

  /** The input as its site has it, with the sites of its numbers. */
  #addressed(name: CallName, input: object): ReturnType<typeof inward> {
    if (name === "changeRoom" && "key" in input) {
      const { site, key } = keyThere(String(input.key));
      return { sites: new Set(site === 0 ? [] : [site]), input: { ...input, key } };
    }
    const addressed = inward(input, this.#others());
    const [site = 0] = addressed.sites;
    const { group, ...rest } = addressed.input as { readonly group?: unknown };
    // The group that is the site contains all that is there.
    return operations[name].method === "GET" && site !== 0 && group === 0 ? { ...addressed, input: rest } : addressed;
  }

  /** The reply of one site, with the numbers and names of the centre. */
  async #at<K extends CallName>(id: number, name: K, there: object, caller: Caller): Promise<Reply<K>> {
    const site = this.#sites.get(id);
    if (site === undefined) throw notFound("site", id);
    const asked = site.id === 0 || !namesGroup(name) ? there : withoutSite(site.name, there);
    const reply = outward(id, await this.#ask(site, name, asked, caller).catch(rethrown(id)));
    if (id === 0 || !isRecord(reply)) return reply as Reply<K>;
    if (name === "changeRoom") return withKey(site, reply) as Reply<K>;
    return (namesGroup(name) ? { ...reply, name: groupNameAt(site, String(reply.name)) } : reply) as Reply<K>;
  }

  /**
   * Asks one site. What a caller may do there is what they may do here, cut with what the key of the centre may. Secrets
   * never leave a site.
   */
  async #ask(site: Site, name: CallName, input: object, caller: Caller): Promise<unknown> {
    const call = (asked: object, who: Caller): Promise<unknown> =>
      Reflect.apply(site.service[name], site.service, [asked, who]);
    if (site.id === 0) return call(input, caller);
    const access = this.#checkRights(name, caller);
    site.check();
    const asked = withoutEmptySecrets(name, input);
    const who = await this.#callerThere(site, name, caller);
    const answer = await call(asked, who).catch(async (error: unknown) => {
      const key = who.idempotency?.key;
      // A store that is full says so itself; that is not what this request has met.
      if (commanding.has(name) && key !== undefined && isLost(error))
        await this.#lose(site, asked, who, key).catch(() => undefined);
      throw isForbidden(error) ? ofKey(site, error) : error;
    });
    const reply = withoutSecrets(operations[name].reply, answer);
    return access.privilege === "view" ? withoutActions(reply) : reply;
  }

  /** Throws `user.forbidden` if the caller may not do this here, or sees no other sites. */
  #checkRights(name: CallName, caller: Caller): ReturnType<RunningService["accessOf"]> {
    this.#own.checkAccess?.(name, caller);
    const access = this.#own.accessOf(caller);
    if (!access.all)
      throw new RigbridgeError("user.forbidden", "Only users who see all groups and pools see other sites");
    return access;
  }

  /** The caller at a site, which has users of its own: a name for its log, and a key that no other user's can be. */
  async #callerThere(site: Site, name: CallName, caller: Caller): Promise<Caller> {
    const { actor, userId, idempotency } = caller;
    if (operations[name].method === "GET") return { actor };
    const { user } = await this.#own.about({ actor, userId });
    // Without a key, the site could not be asked what has become of a command whose answer was lost.
    const isAsked = commanding.has(name) && site.offers("listCommands");
    const own = idempotency ?? (isAsked ? { key: newIdempotencyKey() } : undefined);
    const actorThere = user.name ?? actor;
    return own === undefined
      ? { actor: actorThere }
      : { actor: actorThere, idempotency: { key: requestThere(caller, own.key) } };
  }

  /** A command whose answer was lost is shown as unknown, until the site is back. */
  async #lose(site: Site, asked: object, { actor }: Caller, key: string): Promise<void> {
    const id = "id" in asked ? Number(asked.id) : 0;
    const action = "action" in asked ? String(asked.action) : "";
    const minerName = site.rows.get(id)?.name ?? "";
    const what = { minerId: numberAt(site.id, id), minerName, action, parameters: parametersOf(asked), actor };
    await this.#lost.add(site, what, key);
  }

  /** One reply over all sites, or over the one that the input names. */
  async #merged(name: CallName, only: number | null, there: object, caller: Caller): Promise<unknown> {
    const isHere = !this.#own.accessOf(caller).all;
    const asked = [...this.#sites.values()].filter(({ id }) => (only === null ? id === 0 || !isHere : id === only));
    if (asked.length === 0) throw notFound("site", only ?? 0);
    const missing: string[] = [];
    const answers = await Promise.all(
      asked.map(async (site) => {
        const reply = await this.#share(site, name, there, caller).catch((error: unknown) => {
          if (!(error instanceof RigbridgeError) || site.id === 0 || only !== null) throw error;
          if (error.code !== "not.found") missing.push(this.#missing(site, error));
          return undefined;
        });
        return reply === undefined ? [] : [{ site, locale: site.about?.display.locale ?? "en-US", reply }];
      }),
    );
    const [first, ...others] = answers.flat();
    if (first === undefined) throw notFound("site", only ?? 0);
    const { currency } = this.#options.display();
    const reply = merged(name, [first, ...others], { currency, format: this.#format(), missing });
    const request = requestIn(there);
    const found =
      name === "listBulkActions" ? this.#jobs.together(reply as Reply<"listBulkActions">, caller, request) : reply;
    // A site that was not asked may have what the request has started.
    if (request !== undefined && missing.length > 0 && isEmpty(found))
      throw new RigbridgeError("service.not-ready", missing.join("; "));
    return found;
  }

  /** The share of a site in a reply; undefined if it has none. */
  async #share(site: Site, name: CallName, there: object, caller: Caller): Promise<unknown> {
    if (name !== "listGroups" && !site.offers(name)) return undefined;
    if (name === "listGroups") {
      const known = site.id !== 0 && (!site.isReached || !site.offers(name));
      const groups = known ? site.groups : await this.#inTime(this.#ask(site, name, there, caller), site);
      return groupsOf({ id: site.id, name: site.name, groups: groups as Group[] });
    }
    const isSince = name === "listNotifications" && "since" in there && typeof there.since === "number";
    const request = site.id === 0 ? undefined : requestIn(there);
    const asked = request === undefined ? there : { ...there, request: requestThere(caller, request) };
    const input = isSince ? { ...asked, since: sinceThere(Number(there.since), site.id) } : asked;
    const reply = await this.#inTime(this.#ask(site, name, input, caller), site);
    return site.id === 0 ? this.#definitions.withCopies(name, reply) : outward(site.id, reply);
  }

  async #inTime<T>(work: Promise<T>, { id, name }: Site): Promise<T> {
    if (id === 0) return work;
    const late = Promise.withResolvers<never>();
    const error = new RigbridgeError("service.unreachable", `${name} did not answer within ${answerMs / 1000} s`);
    const timer = setTimeout(() => late.reject(error), answerMs);
    try {
      return await Promise.race([work, late.promise]);
    } finally {
      clearTimeout(timer);
    }
  }

  /** A sentence for an answer that leaves a site out. */
  #missing({ name, rows }: Site, { message }: RigbridgeError): string {
    return `Without ${name} and its ${counted(rows.size)}: ${message}`;
  }

  async #fan(name: CallName, input: object, caller: Caller): Promise<Reply<"notificationsAction">> {
    const ids = "ids" in input && Array.isArray(input.ids) ? input.ids.map(Number) : null;
    const isHere = !this.#own.accessOf(caller).all;
    const sites = [...this.#sites.values()].filter(({ id }) =>
      ids === null ? id === 0 || !isHere : ids.some((each) => siteOf(each) === id),
    );
    const results = await Promise.allSettled(
      sites.map(async (site) => {
        const its = ids === null ? {} : { ids: ids.filter((each) => siteOf(each) === site.id).map(numberThere) };
        return this.#at(site.id, name, { ...input, ...its }, caller) as Promise<Reply<"notificationsAction">>;
      }),
    );
    const done = results.flatMap((each) => (each.status === "fulfilled" ? [each.value] : []));
    const failed = results.flatMap((each) => (each.status === "rejected" ? [each.reason] : []));
    const [first] = done;
    if (first === undefined) throw failed[0] ?? notFound("notification", ids?.[0] ?? 0);
    const said = failed.map((error: unknown) => (error instanceof Error ? error.message : String(error)));
    return { ...first, message: [...new Set(done.map(({ message }) => message)), ...said].join("; ") };
  }

  async #startBulkAction(body: Input<"startBulkAction">, caller: Caller): Promise<Reply<"startBulkAction">> {
    const isHere = !this.#own.accessOf(caller).all;
    const shares = [...this.#sites.values()]
      .filter(({ id }) => id === 0 || !isHere)
      .flatMap((site) => this.#shareOf(site, body) ?? []);
    if (shares.length === 0) return this.#own.startBulkAction(body, caller);
    const { user } = await this.#own.about(caller);
    // Without a key, a site could not be asked what has become of a share whose answer was lost.
    const idempotency = caller.idempotency ?? { key: newIdempotencyKey() };
    return this.#jobs.start(shares, body, user.name ?? caller.actor, { ...caller, idempotency });
  }

  /** The share of a site in a bulk action; undefined if it has none. */
  #shareOf(site: Site, body: Input<"startBulkAction">): Share | undefined {
    const { miners, groups, places, all, ...rest } = body;
    if (miners !== undefined) {
      const its = miners.filter((each) => siteOf(each) === site.id);
      return its.length === 0
        ? undefined
        : { site: site.id, body: { ...rest, miners: its.map(numberThere) }, miners: its };
    }
    if (groups !== undefined) {
      const its = groups.flatMap((group) => {
        const { sites, input } = inward({ group }, this.#others());
        const [its = 0] = sites;
        return its === site.id ? [(input as { group: number | string }).group] : [];
      });
      const isWhole = site.id !== 0 && its.includes(0);
      const share = isWhole ? { ...rest, all: true as const } : { ...rest, groups: its };
      return its.length === 0 ? undefined : { site: site.id, body: share, miners: minersIn(site, its) };
    }
    if (places !== undefined) {
      // A path is one of this service: those of other sites are named by their numbers.
      const its = places.filter((each) => (typeof each === "number" ? siteOf(each) : 0) === site.id);
      const there = its.map((each) => (typeof each === "number" ? numberThere(each) : each));
      return its.length === 0 ? undefined : { site: site.id, body: { ...rest, places: there }, miners: [] };
    }
    const known = numbersAt(site.id, site.rows.keys());
    return all === true && site.rows.size > 0 ? { site: site.id, body: { ...rest, all }, miners: known } : undefined;
  }

  async #summary(caller: Caller): Promise<Reply<"getSummary">> {
    const own = await this.#own.getSummary({}, caller);
    if (!this.#own.accessOf(caller).all) return own;
    const others = this.#others();
    const parts = others.flatMap((site) =>
      site.isReached && site.summary !== null ? [{ site, summary: site.summary }] : [],
    );
    const missing = others.filter((site) => !parts.some((part) => part.site === site));
    const left = missing.reduce((sum, { rows }) => sum + rows.size, 0);
    const said =
      missing.length === 0
        ? []
        : [`${parts.length} of ${others.length} sites: the sums leave out ${counted(left)} of ${namesOf(missing)}`];
    return mergedSummary(
      [{ site: { id: 0, name: "" }, summary: own }, ...parts],
      this.#format(),
      this.#options.display().currency,
      said,
    );
  }

  #format(): Format {
    return formatFor(this.#options.display());
  }

  /**
   * The events of all sites with whole miners, which are asked for when they change. Throws `not.found` for an unknown
   * user, before anything is answered.
   */
  #watchEvents(input: Input<"watchEvents">, caller: Caller, signal: AbortSignal): AsyncIterable<ServiceEvent> {
    this.#own.checkAccess?.("watchEvents", caller);
    return this.#withMiners(this.#events.watchRows(this.#view, { ...input, view: "list" }, caller, signal), caller);
  }

  async *#withMiners(events: AsyncIterable<RowEvent>, caller: Caller): AsyncIterable<ServiceEvent> {
    for await (const event of events) {
      if (event.type !== "miner") yield event;
      else {
        const miner = await this.#whole(event.data, caller);
        if (miner !== null) yield { ...event, data: miner };
      }
    }
  }

  /** The miner of a row; null if it is gone or its site cannot be reached now. */
  async #whole({ id }: MinerRow, caller: Caller): Promise<Reply<"getMiner"> | null> {
    try {
      return await this.#at(siteOf(id), "getMiner", { id: numberThere(id) }, caller);
    } catch (error) {
      if (error instanceof RigbridgeError) return null;
      throw error;
    }
  }
}

async function* encoded(events: AsyncIterable<ServiceEvent>): AsyncIterable<readonly EncodedEvent[]> {
  for await (const { id, type, data } of events) yield [{ id, type, json: Buffer.from(JSON.stringify(data)) }];
}

/** Throws the error of a site again; what is missing there has its number of the centre. */
const rethrown =
  (site: number) =>
  (error: unknown): never => {
    const id = error instanceof RigbridgeError && error.code === "not.found" ? error.coded?.values.id : undefined;
    if (!(error instanceof RigbridgeError) || typeof id !== "number" || site === 0) throw error;
    const number = String(numberAt(site, id));
    throw new RigbridgeError("not.found", error.message.replace(String(id), number), { cause: error });
  };

const isForbidden = (error: unknown): error is RigbridgeError =>
  error instanceof RigbridgeError && error.code === "user.forbidden";

/** What a site says of "this user" is about the key of the centre, and not about the person at the centre. */
const ofKey = ({ name }: Site, { message, cause }: RigbridgeError): RigbridgeError =>
  new RigbridgeError("user.forbidden", `The centre's key does not allow this at the site ${name}: ${message}`, {
    cause,
  });

const counted = (miners: number): string => `${miners} ${miners === 1 ? "miner" : "miners"}`;

const namesOf = (sites: readonly Site[]): string => sites.map(({ name }) => name).join(", ");

/** A secret that a page of the centre did not get, and sends as it shows it, stays as it is at the site. */
function withoutEmptySecrets(name: CallName, input: object): object {
  const { body }: Operation = operations[name];
  if (!(body instanceof z.ZodObject)) return input;
  const isKept = ([key, value]: [string, unknown]): boolean => value !== "" || !isSecret(body.shape[key] ?? z.never());
  return Object.fromEntries(Object.entries(input).filter(isKept));
}

/** The parameters of an action as a site has them. Throws `input.invalid` for a pool, rule or template of another site. */
function parametersThere(site: number, parameters: Input<"startBulkAction">["parameters"]): typeof parameters {
  const there = ([name, value]: [string, string | number | boolean]) => {
    if (!numberKeys.has(name) || !isNumberText(String(value))) return [name, value] as const;
    if (siteOf(Number(value)) !== site)
      throw invalid(`parameters.${name}`, `${value} belongs to another site than these miners`);
    return [name, numberThere(Number(value))] as const;
  };
  return Object.fromEntries(Object.entries(parameters).map(there));
}

/** The key of a request at a site, where no other user's can be the same. */
const requestThere = ({ userId }: Caller, key: string): string =>
  createHash("sha256")
    .update(JSON.stringify([userId ?? null, key]))
    .digest("hex");

/** The key in a question for what a request has started. */
const requestIn = (input: object): string | undefined =>
  "request" in input && typeof input.request === "string" ? input.request : undefined;

const isEmpty = (found: unknown): boolean => {
  const list = isRecord(found) ? found.commandList : found;
  return Array.isArray(list) && list.length === 0;
};

/** The miners of groups of a site, as last read; their numbers are those of the centre. */
function minersIn({ id: site, groups, rows }: Site, named: readonly (number | string)[]): number[] {
  const ids = groups.filter(({ id, name }) => named.includes(id) || named.includes(name)).map(({ id }) => id);
  const inner = withInnerGroups(ids, groups);
  const its = [...rows.values()].filter(({ group }) => named.includes(0) || inner.has(group));
  return numbersAt(
    site,
    its.map(({ id }) => id),
  );
}

/** Operations whose input and reply have the name of a group. */
const namesGroup = (name: OperationName): boolean => name === "addGroup" || name === "changeGroup";

/** A group is named without its site there. */
function withoutSite(site: string, input: object): object {
  const name = "name" in input ? String(input.name) : undefined;
  return name?.startsWith(`${site} / `) === true ? { ...input, name: name.slice(site.length + 3) } : input;
}

/** The number at a site after which notifications are higher, as numbers of the centre. */
function sinceThere(since: number, site: number): number | undefined {
  if (siteOf(since) === site) return numberThere(since);
  return siteOf(since) < site ? undefined : highestThere;
}
