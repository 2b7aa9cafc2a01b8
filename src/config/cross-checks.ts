import type { z } from "zod";
import { algorithms, bareName } from "../catalogue/algorithms.ts";
import { coins as predefinedCoins } from "../catalogue/coins.ts";
import { needsMessages } from "../contract/messages.ts";
import { didYouMean } from "../contract/nearest.ts";
import { PlugSettings } from "../contract/plug-settings.ts";
import { invalid, RigbridgeError, thing } from "../contract/problems.ts";
import { isRecord } from "../contract/record.ts";
import { MaintenanceSettings, RuleSettings, ScheduleSettings } from "../contract/rules.ts";
import { everySite, hereName, runsHere } from "../contract/runs-at.ts";
import { formatAddress, parseAddress } from "../link/address.ts";
import { isPrivate, type Network, parseNetwork, planSearch, unconfirmedAddresses } from "../link/networks.ts";
import { outletOf } from "../link/plugs/outlet.ts";
import type { Detail } from "../messages/coded-text.ts";
import { detail } from "../messages/detail.ts";
import { isDatabaseUrl } from "./database-url.ts";
import type { Finding, Path } from "./document.ts";
import { facilityFindings } from "./facility-checks.ts";
import { isLoopback } from "./mqtt.ts";
import { ownTopics, reservedTopic } from "./plug-topics.ts";
import { type KnownNames, maintenanceFindings, ruleFindings, ruleLoops, scheduleFindings } from "./rule-checks.ts";
import { resolveRule } from "./rule-resolution.ts";
import { signalFindings } from "./signal-checks.ts";
import { Software, softwareFindings } from "./software.ts";
import { hookHost } from "./webhook-hosts.ts";

/** Names added over the API, which the configuration may use besides its own. */
export interface NamesOutside {
  readonly groups: ReadonlySet<string>;
  /** Names and uids. */
  readonly miners: ReadonlySet<string>;
  /** The sites are those saved over the API, and not of the file. */
  readonly hasSavedSites?: boolean;
}

const noNames: NamesOutside = { groups: new Set(), miners: new Set() };

/**
 * Checks across values: unknown names, duplicates, a service open to everyone. Runs on the configuration before
 * validation, so that these mistakes are reported together with all others.
 */
export function crossChecks(value: unknown, also: NamesOutside = noNames): Finding[] {
  const config = isRecord(value) ? value : {};
  const [miners, pools, poolGroups, users] = [
    entriesOf(config, "miners"),
    entriesOf(config, "pools"),
    entriesOf(config, "poolGroups"),
    entriesOf(config, "users"),
  ];
  const channels = entriesOf(config, "channels");
  const logins = entriesOf(config, "logins");
  const groups = groupsIn(config, []);
  const groupNames = new Set([...textsOf(groups, "name"), ...also.groups]);
  const poolNames = textsOf(pools, "name");
  return [
    ...listening(config),
    ...otherStore(config),
    ...twice(entriesOf(config, "sites"), "name"),
    ...(also.hasSavedSites === true ? [] : unknownSites(config)),
    ...centreOfCentre(config),
    ...addresses(miners),
    ...miners.flatMap(plugAddress),
    ...switchTopics(config, miners),
    ...sharedPlugs(miners),
    ...topics(config, miners),
    ...networks(config),
    ...twice(miners, "uid"),
    ...twice(groups, "name"),
    ...twice(logins, "name"),
    ...entriesOf(config, "defaults").flatMap((entry) => [
      ...unknownNames(entry, "group", "group", groupNames),
      ...unknownNames(entry, "login", "login", textsOf(logins, "name")),
      ...rangeFinding(entry),
    ]),
    ...triedLogins(config, logins),
    ...twice(pools, "name"),
    ...twice(poolGroups, "name"),
    ...twice(users, "name"),
    ...twice(entriesOf(config, "templates"), "name"),
    ...automation(config, miners, groupNames, poolNames),
    ...webhookHosts(config, miners),
    ...twice(entriesOf(config, "maintenance"), "name"),
    ...twice(channels, "key"),
    ...channels.flatMap((channel) => channelFindings(channel, groupNames)),
    ...twice(entriesOf(config, "hooks"), "name"),
    ...twice(entriesOf(config, "hooks"), "secret"),
    ...twice(entriesOf(config, "coins"), "shortName"),
    ...twice(entriesOf(config, "algorithms"), "id"),
    // A key identifies its user, so it must be unique.
    ...twice([...(isRecord(config.http) ? [{ path: ["http"], fields: config.http }] : []), ...users], "key"),
    ...loops(config, new Set([...textsOf(miners, "name"), ...textsOf(miners, "uid"), ...also.miners]), groupNames),
    ...facilityFindings(config, {
      miners: new Set([...textsOf(miners, "name"), ...textsOf(miners, "uid"), ...also.miners]),
      groups: groupNames,
    }),
    ...signalFindings(config, textsOf(entriesOf(config, "hooks"), "name")),
    ...unknownCoins(config),
    ...miners.flatMap((miner) => unknownNames(miner, "group", "group", groupNames)),
    ...miners.flatMap((miner) => unknownNames(miner, "login", "login", textsOf(logins, "name"))),
    ...(isRecord(config.agent)
      ? unknownNames({ path: ["agent"], fields: config.agent }, "group", "group", groupNames)
      : []),
    ...users.flatMap((user) => unknownNames(user, "groups", "group", groupNames)),
    ...users.flatMap((user) => unknownNames(user, "pools", "pool", poolNames)),
    ...poolGroups.flatMap((group) => unknownNames(group, "pools", "pool", poolNames)),
    ...poolGroups.flatMap(emptyPoolGroup),
    ...entriesOf(config, "templates")
      // What its names mean elsewhere is for the sites to say.
      .filter(({ fields }) => runsHere(textList(fields.runsAt)))
      .flatMap(({ path, fields }) => entriesOf(fields, "do", path))
      .flatMap((step) => [
        ...unknownNames(step, "pool", "pool", poolNames),
        ...unknownNames(step, "poolGroup", "pool group", textsOf(poolGroups, "name")),
      ]),
    ...software(config),
    ...unknownAlgorithms(entriesOf(config, "algorithms"), [
      ...pools,
      ...entriesOf(config, "coins"),
      ...entriesOf(config, "gpuSettings"),
    ]),
  ];
}

interface Listening {
  readonly host: string;
  readonly key?: string | undefined;
  readonly ingress?: string | undefined;
  readonly open: boolean;
}

/** Why the service must not listen there, or null. Without a key it listens on loopback only. */
export const exposed = (http: Listening): string | null => exposure(http)?.text ?? null;

function exposure({ host, key, ingress, open }: Listening): Detail | null {
  if (key !== undefined || ingress !== undefined || open || isLoopback(host)) return null;
  return detail("input.exposed", { host });
}

interface Entry {
  readonly path: Path;
  readonly fields: Readonly<Record<string, unknown>>;
}

const entriesOf = (config: Readonly<Record<string, unknown>>, key: string, at: Path = []): Entry[] => {
  const list = config[key];
  if (!Array.isArray(list)) return [];
  return list.flatMap((fields: unknown, index) => (isRecord(fields) ? [{ path: [...at, key, index], fields }] : []));
};

const groupsIn = (config: Readonly<Record<string, unknown>>, at: Path): Entry[] =>
  entriesOf(config, "groups", at).flatMap((group) => [group, ...groupsIn(group.fields, group.path)]);

const textsOf = (entries: readonly Entry[], key: string): Set<string> =>
  new Set(entries.map(({ fields }) => fields[key]).filter((text) => typeof text === "string"));

function listening({ http }: Readonly<Record<string, unknown>>): Finding[] {
  if (!isRecord(http) || typeof http.host !== "string") return [];
  const key = http.key === undefined ? undefined : "given";
  const ingress = typeof http.ingress === "string" ? http.ingress : undefined;
  const why = exposure({ host: http.host, key, ingress, open: http.open === true });
  return why === null ? [] : [{ path: ["http", "host"], message: why.text, coded: why.coded }];
}

function otherStore({ store }: Readonly<Record<string, unknown>>): Finding[] {
  if (!isRecord(store) || typeof store.url !== "string") return [];
  if (isDatabaseUrl(store.url))
    return store.site === undefined
      ? [
          {
            path: ["store", "site"],
            message: "is required with a PostgreSQL database: the name of the site that it is for",
          },
        ]
      : [];
  if (/^[a-z][a-z0-9+]*:\/\//i.test(store.url))
    return [{ path: ["store", "url"], message: "must be the name of a file, or the URL of a PostgreSQL database" }];
  return ["site", "allowLoss"]
    .filter((key) => store[key] !== undefined)
    .map((key) => ({ path: ["store", key], message: "is only for a store in a PostgreSQL database" }));
}

function centreOfCentre({ sites, centre }: Readonly<Record<string, unknown>>): Finding[] {
  if (!isRecord(centre) || !Array.isArray(sites) || sites.length === 0) return [];
  return [{ path: ["centre"], message: "cannot be set beside sites: a centre cannot be a site of another one" }];
}

/**
 * Sites of `runsAt` that the file does not have. Without the section `sites` in the file, sites may be saved over the API:
 * a definition for one that does not exist then says so when the service runs.
 */
function unknownSites(config: Readonly<Record<string, unknown>>): Finding[] {
  if (!Array.isArray(config.sites)) return [];
  const known = new Set([...textsOf(entriesOf(config, "sites"), "name"), hereName, everySite]);
  const sections = ["rules", "schedules", "maintenance", "pools", "poolGroups", "templates"];
  return sections
    .flatMap((key) => entriesOf(config, key))
    .flatMap((entry) => unknownNames(entry, "runsAt", "site", known));
}

function malformedAddress(path: Path, address: unknown): Finding[] {
  if (typeof address !== "string" || address === "") return [];
  const message = refusalOf(() => parseAddress(address));
  return message === null ? [] : [{ path, message }];
}

/** The programs of the service's own machine; other hosts declare theirs in the file of their agent. */
function software({ software: list, agent }: Readonly<Record<string, unknown>>): Finding[] {
  const parsed = Software.safeParse(list);
  const isUsed = isRecord(agent) && agent.enabled === true;
  const message = "has no effect without agent.enabled: true; other hosts declare programs in their agent's file";
  return [
    ...(Array.isArray(list) && list.length > 0 && !isUsed ? [{ path: ["software"], message }] : []),
    ...(parsed.success ? softwareFindings(parsed.data) : []),
  ];
}

const plugAddress = ({ path, fields: { supply } }: Entry): Finding[] =>
  isRecord(supply) ? malformedAddress([...path, "supply", "address"], supply.address) : [];

const addresses = (miners: readonly Entry[]): Finding[] => [
  ...miners.flatMap(({ path, fields }) => malformedAddress([...path, "address"], fields.address)),
  ...duplicates(miners, "address", "address", ({ address }) =>
    typeof address !== "string" || refusalOf(() => parseAddress(address)) !== null
      ? undefined
      : formatAddress(parseAddress(address)),
  ),
];

/** A plug must not be switched at a topic where messages command something else. */
function switchTopics({ mqtt }: Readonly<Record<string, unknown>>, miners: readonly Entry[]): Finding[] {
  const own = ownTopics(mqtt);
  return miners.flatMap(({ path, fields: { supply } }) => {
    const topics = isRecord(supply) && isRecord(supply.topics) ? supply.topics : {};
    const message = typeof topics.set === "string" ? reservedTopic(topics.set, own) : null;
    return message === null ? [] : [{ path: [...path, "supply", "topics", "set"], message }];
  });
}

/** A plug belongs to one miner. */
const sharedPlugs = (miners: readonly Entry[]): Finding[] =>
  duplicates(miners, "supply", "plug", (fields) => {
    const supply = PlugSettings.safeParse(fields.supply).data;
    return supply === undefined || refusalOf(() => outletOf(supply)) !== null ? undefined : outletOf(supply).id;
  });

/** Topics need a broker. */
function topics(config: Readonly<Record<string, unknown>>, miners: readonly Entry[]): Finding[] {
  if (config.mqtt !== undefined) return [];
  const sources = [
    ...oneOrMore(config, "heating").map(({ path, fields }) => ({ path: [...path, "roomTemperature"], fields })),
    ...oneOrMore(config, "follow").map(({ path, fields }) => ({ path: [...path, "surplus"], fields })),
  ];
  const priced = [{ path: [], fields: config }, ...groupsIn(config, []), ...miners];
  const needing = [
    ...priced.flatMap(({ path, fields: { electricity } }) => {
      const source = isRecord(electricity) ? electricity.source : undefined;
      return isRecord(source) && source.topic !== undefined ? [[...path, "electricity", "source", "topic"]] : [];
    }),
    ...miners.flatMap(({ path, fields: { supply } }) =>
      isRecord(supply) && supply.type === "mqtt" ? [[...path, "supply", "type"]] : [],
    ),
    ...sources.flatMap(({ path, fields }) => {
      const source = fields[String(path.at(-1))];
      return isRecord(source) && source.topic !== undefined ? [[...path, "topic"]] : [];
    }),
  ];
  return needing.map((path) => ({ path, message: needsMessages }));
}

/** Nobody is asked before these logins are tried, so each must be for one kind of rig. */
function triedLogins({ scan }: Readonly<Record<string, unknown>>, logins: readonly Entry[]): Finding[] {
  if (!isRecord(scan)) return [];
  const all = unknownNames({ path: ["scan"], fields: scan }, "logins", "login", textsOf(logins, "name"));
  const tried: unknown[] = Array.isArray(scan.logins) ? scan.logins : [];
  const withoutKind = logins.flatMap(({ fields: { name, driver } }) =>
    tried.includes(name) && driver === undefined
      ? [
          {
            path: ["scan", "logins", tried.indexOf(name)],
            message: "needs a driver in its login: it is tried only there",
          },
        ]
      : [],
  );
  return [...all, ...withoutKind];
}

function rangeFinding({ path, fields: { range } }: Entry): Finding[] {
  if (typeof range !== "string" || range === "") return [];
  const message = refusalOf(() => {
    if (parseNetwork(range).port !== null) throw invalid("range", "takes no port");
  });
  return message === null ? [] : [{ path: [...path, "range"], message }];
}

/** These networks are searched automatically, without the confirmation that a large or public one needs. */
function networks({ scan }: Readonly<Record<string, unknown>>): Finding[] {
  const at = ["scan", "networks"];
  const texts: unknown[] = isRecord(scan) && Array.isArray(scan.networks) ? scan.networks : [];
  const parsed: Network[] = [];
  const findings = texts.flatMap((text, index): Finding[] => {
    if (typeof text !== "string" || text === "") return [];
    const path = [...at, index];
    try {
      const network = parseNetwork(text);
      const why = tooLarge(network.last - network.first + 1) ?? (isPrivate(network) ? null : publicNetwork);
      if (why === null) parsed.push(network);
      return why === null ? [] : [{ path, message: why.text, coded: why.coded }];
    } catch (error) {
      const [mistake] = error instanceof RigbridgeError ? error.errors : [];
      if (mistake === undefined) throw error;
      return [{ path, message: mistake.message, coded: mistake.coded }];
    }
  });
  const together = tooLarge(planSearch(parsed, { ports: [], yes: true }).total);
  return together === null ? findings : [...findings, { path: at, message: together.text, coded: together.coded }];
}

const publicNetwork = detail("input.publicNetwork");

const tooLarge = (addresses: number): Detail | null =>
  addresses <= unconfirmedAddresses
    ? null
    : detail("input.largeNetworks", {
        count: addresses.toLocaleString("en-US"),
        most: unconfirmedAddresses.toLocaleString("en-US"),
      });

function refusalOf(check: () => void): string | null {
  try {
    check();
    return null;
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors[0]?.message ?? error.message;
  }
}

/** Entries whose value, as compared by `idOf`, occurred before; undefined is not compared. */
function duplicates(
  entries: readonly Entry[],
  key: string,
  what: string,
  idOf: (fields: Entry["fields"]) => string | undefined,
): Finding[] {
  const seen = new Map<string, Path>();
  return entries.flatMap(({ path, fields }) => {
    const value = idOf(fields);
    const first = value === undefined ? undefined : seen.get(value);
    if (value !== undefined && first === undefined) seen.set(value, path);
    const message = `is also the ${what} of ${pathText(first ?? [])}`;
    return first === undefined ? [] : [{ path: [...path, key], message, coded: givenTwice }];
  });
}

const twice = (entries: readonly Entry[], key: string): Finding[] =>
  duplicates(entries, key, key, ({ [key]: text }) => (typeof text === "string" ? text : undefined));

/** One name or a list of them. */
function unknownNames({ path, fields }: Entry, key: string, what: string, known: ReadonlySet<string>): Finding[] {
  const value = fields[key];
  const names = Array.isArray(value)
    ? value.map((name: unknown, index) => ({ name, path: [...path, key, index] }))
    : [{ name: value, path: [...path, key] }];
  return names.flatMap(({ name, path: at }) =>
    typeof name !== "string" || known.has(name) ? [] : [noNamed(at, what, name, known)],
  );
}

/** `there is no group "Hal"; did you mean "Hall"?` */
const noNamed = (path: Path, what: string, name: string, known: Iterable<string>): Finding => ({
  path,
  message: `there is no ${what} "${name}"${didYouMean(name, known)}`,
  coded: detail("input.noThing", { thing: thing(what), id: `"${name}"` }).coded,
});

const givenTwice = detail("input.twice").coded;

/** Rooms and surpluses: their groups and miners exist, and belong to only one of them. */
function loops(
  config: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string>,
  groupNames: ReadonlySet<string>,
): Finding[] {
  const [heatings, follows] = [oneOrMore(config, "heating"), oneOrMore(config, "follow")];
  const ofMiners = (entry: Entry, key: string): Finding[] =>
    // A uid may be a MAC, which only the rig itself reports.
    unknownNames(entry, key, "miner", known).filter(({ path }) => !/^[0-9a-f]{12}$/.test(textAt(config, path)));
  return [
    ...twice(heatings, "name"),
    ...twice(follows, "name"),
    ...twice([...heatings, ...follows], "group"),
    ...twice(heatings, "miner"),
    ...[...heatings, ...follows].flatMap((entry) => unknownNames(entry, "group", "group", groupNames)),
    ...heatings.flatMap((entry) => ofMiners(entry, "miner")),
    ...follows.flatMap((entry) => ofMiners(entry, "order")),
  ];
}

/** Rules, schedules and maintenance windows that are valid on their own: their references, and loops between them. */
function automation(
  config: Readonly<Record<string, unknown>>,
  miners: readonly Entry[],
  groups: ReadonlySet<string>,
  pools: ReadonlySet<string>,
): Finding[] {
  const named = (key: string): ReadonlySet<string> => textsOf(entriesOf(config, key), "name");
  const keyed = (key: string): ReadonlySet<string> => {
    const entries = entriesOf(config, key);
    return new Set([...textsOf(entries, "key"), ...textsOf(entries, "name")]);
  };
  const rules = parsedEntries(config, "rules", RuleSettings);
  const schedules = parsedEntries(config, "schedules", ScheduleSettings);
  const known: KnownNames = {
    groups,
    miners: new Set([...textsOf(miners, "name"), ...textsOf(miners, "uid")]),
    pools,
    channels: keyed("channels"),
    hooks: keyed("hooks"),
    plans: null,
    targets: {
      poolGroups: named("poolGroups"),
      templates: named("templates"),
      rules: new Set(
        entriesOf(config, "rules").flatMap(({ fields }) =>
          runsHere(textList(fields.runsAt)) ? (ruleKey(fields) ?? []) : [],
        ),
      ),
    },
    // Those of the store, where locations of this file add theirs when it is read.
    places: null,
    // All that names sites is checked together: see unknownSites.
    sites: null,
    hasMessages: config.mqtt !== undefined,
    programs: isRecord(config.automation) && config.automation.programs === true,
  };
  const resolved = rules.flatMap(({ settings }) => resolveRule(settings).rule ?? []);
  return [
    ...duplicates(entriesOf(config, "rules"), "key", "key", ruleKey),
    ...twice(entriesOf(config, "schedules"), "key"),
    ...rules.flatMap(({ settings, path }) => ruleFindings(settings, path, known)),
    ...ruleLoops(resolved).flatMap(({ key, path }) => {
      const at = rules.find(({ settings }) => ruleKey(settings) === key)?.path ?? ["rules"];
      return [{ path: [...at, "do"], message: `the rules run each other in a loop: ${path}` }];
    }),
    ...schedules.flatMap(({ settings, path }) => scheduleFindings(settings, path, known)),
    ...parsedEntries(config, "maintenance", MaintenanceSettings).flatMap(({ settings, path }) =>
      maintenanceFindings(settings, path, known),
    ),
  ];
}

/** A host that is listed twice, or is the address of a miner, which web hooks must not reach. */
function webhookHosts(
  { automation: settings }: Readonly<Record<string, unknown>>,
  miners: readonly Entry[],
): Finding[] {
  const listed = isRecord(settings) ? settings.webhookHosts : null;
  const texts: unknown[] = Array.isArray(listed) ? listed : [];
  const placeOf = (text: unknown): string | undefined => {
    const { host, port } = (typeof text === "string" ? hookHost(text) : undefined) ?? {};
    return host === undefined ? undefined : `${host} ${port ?? ""}`;
  };
  const minerAt = new Map(miners.map(({ path, fields }) => [placeOf(fields.address), pathText(path)]));
  const places = texts.map(placeOf);
  return places.flatMap((place, index): Finding[] => {
    if (place === undefined) return [];
    const path = ["automation", "webhookHosts", index];
    const first = places.indexOf(place);
    const sameAs = `is the same host as automation.webhookHosts[${first}]`;
    if (first < index) return [{ path, message: sameAs, coded: givenTwice }];
    const miner = place.endsWith(" ") ? undefined : minerAt.get(place);
    return miner === undefined ? [] : [{ path, message: `is the address of ${miner}, to which no web hook is sent` }];
  });
}

const textList = (value: unknown): string[] | undefined => (Array.isArray(value) ? value.map(String) : undefined);

/** The key of a rule. */
function ruleKey({ key, name, use }: { readonly key?: unknown; readonly name?: unknown; readonly use?: unknown }) {
  const found = key ?? name ?? use;
  return typeof found === "string" ? found : undefined;
}

const parsedEntries = <T>(config: Readonly<Record<string, unknown>>, key: string, schema: z.ZodType<T>) =>
  entriesOf(config, key).flatMap(({ path, fields }) => {
    const parsed = schema.safeParse(fields);
    return parsed.success ? [{ path, settings: parsed.data }] : [];
  });

const oneOrMore = (config: Readonly<Record<string, unknown>>, key: string): Entry[] => {
  const fields = config[key];
  return isRecord(fields) ? [{ path: [key], fields }] : entriesOf(config, key);
};

const textAt = (config: unknown, path: Path): string => {
  let value = config;
  for (const step of path) value = typeof value === "object" && value !== null ? Reflect.get(value, step) : undefined;
  return typeof value === "string" ? value : "";
};

/** Algorithms are known by id, name or alias, as in GET /api/algorithms, or declared in the file. */
function unknownAlgorithms(own: readonly Entry[], naming: readonly Entry[]): Finding[] {
  const listed = [...algorithms.map(({ id }) => id), ...textsOf(own, "id"), ...textsOf(own, "name")];
  const known = new Set([...algorithms.flatMap(({ name, aliases }) => [name, ...aliases]), ...listed].map(bareName));
  return naming.flatMap(({ path, fields: { algorithm } }) =>
    typeof algorithm !== "string" || algorithm === "" || known.has(bareName(algorithm))
      ? []
      : [noNamed([...path, "algorithm"], "algorithm", algorithm, listed)],
  );
}

/** The findings of one channel, whose keys may have their own mistakes. */
export const channelFindings = (channel: Entry, groupNames: ReadonlySet<string>): Finding[] => [
  ...unknownNames(channel, "groups", "group", groupNames),
  ...unknownNames(channel, "sharedWith", "group", groupNames),
  ...half(channel),
];

/** A mail server's login needs both its parts. */
const half = ({ path, fields: { username, password } }: Entry): Finding[] => {
  if ((username === undefined) === (password === undefined)) return [];
  const missing = username === undefined ? "username" : "password";
  return [{ path: [...path, missing], message: "is missing: a login needs username and password" }];
};
/** Coins of a market source are predefined or declared. */
function unknownCoins({ market, coins }: Readonly<Record<string, unknown>>): Finding[] {
  const declared = textsOf(entriesOf({ coins }, "coins"), "shortName");
  const known = new Set([...predefinedCoins.map(({ shortName }) => shortName), ...declared]);
  const capitals = new Set([...known].map((shortName) => shortName.toUpperCase()));
  return entriesOf(isRecord(market) ? market : {}, "sources", ["market"]).flatMap(
    ({ path, fields: { coins: asked } }) =>
      Object.keys(isRecord(asked) ? asked : {})
        .filter((shortName) => !capitals.has(shortName.toUpperCase()))
        .map((shortName) => noNamed([...path, "coins", shortName], "coin", shortName, known)),
  );
}

const emptyPoolGroup = ({ path, fields }: Entry): Finding[] =>
  Array.isArray(fields.pools) && fields.pools.length === 0
    ? [{ path: [...path, "pools"], message: "needs at least one pool" }]
    : [];

/** `miners[1].address`. */
export const pathText = (path: Path): string =>
  path.reduce<string>((text, step) => {
    if (typeof step === "number") return `${text}[${step}]`;
    return text === "" ? String(step) : `${text}.${String(step)}`;
  }, "");
