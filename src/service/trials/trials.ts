import { isIP } from "node:net";
import type { Logger } from "pino";
import type { RemoteWriteSettings } from "../../config/history.ts";
import type { SourceSettings } from "../../config/loops.ts";
import type { MqttSettings } from "../../config/mqtt.ts";
import type { Config } from "../../config/schema.ts";
import type { Messages, ReceivedMessage } from "../../contract/messages.ts";
import { messageIn, RigbridgeError } from "../../contract/problems.ts";
import { finding, type SettingsFinding, type SettingsSection, type TopicList } from "../../contract/settings.ts";
import { type Interfaces, ownNetworks, parseNetworks, planSearch } from "../../link/networks.ts";
import { numberIn, type Quantity } from "../../link/quantity.ts";
import type { Detail } from "../../messages/coded-text.ts";
import { detail } from "../../messages/detail.ts";
import type { KeptValues, Store } from "../../store/index.ts";
import type { Format } from "../../units/format.ts";
import type { FeedContext } from "../market/feed.ts";
import { coinFeed } from "../market/market.ts";
import { runPrices } from "../market/price-feeds.ts";
import { Tariffs } from "../money/tariffs.ts";
import { isLoopbackHost } from "../own-address.ts";
import { readSource, roomTemperature, sourceLimits, surplus } from "../power/source.ts";

/** Tests whether a broker can be used with these settings. */
export type TryBroker = (settings: MqttSettings, signal: AbortSignal) => Promise<SettingsFinding[]>;

/** Tests whether a receiver of remote write takes requests with these settings. */
export type TryReceiver = (settings: RemoteWriteSettings, signal: AbortSignal) => Promise<SettingsFinding>;

/** Topics at a broker whose messages contain a number. Rejects with `service.unreachable`. */
export type FindTopics = (settings: MqttSettings, signal: AbortSignal) => Promise<TopicList["topics"]>;

export interface TrialContext {
  readonly messages: Messages;
  /** Null where this service has no bridge. */
  readonly tryBroker: TryBroker | null;
  /** Null where this service has no remote write. */
  readonly tryReceiver: TryReceiver | null;
  readonly interfaces: () => Interfaces;
  readonly store: Store;
  /** Money of the display currency per unit of another; null if it is unknown. */
  readonly rateOf: (currency: string) => number | null;
  readonly format: Format;
  /** The actual port of the server; null before it listens. */
  readonly ownPort: () => number | null;
  /** Epoch ms. */
  readonly now: () => number;
  readonly log: Logger;
}

type Trial = (config: Config, context: TrialContext, signal: AbortSignal) => Promise<SettingsFinding[]>;

/** ms within which every trial ends. */
const trialMs = 15_000;
/** ms in which a topic must deliver a message: meters publish every few seconds, thermometers retain. */
const topicMs = 10_000;
/** Sources queried concurrently. */
const mostSources = 20;

const right = (what: string | Detail): SettingsFinding => finding(true, what);
const wrong = (what: string | Detail): SettingsFinding => finding(false, what);
const unknown = (what: string | Detail): SettingsFinding => finding(null, what);

/** How to test a section of a configuration; null where there is nothing to test. */
export function trialOf(
  section: SettingsSection,
  context: TrialContext,
): ((config: Config) => Promise<SettingsFinding[]>) | null {
  const trial = trials[section];
  return trial === undefined ? null : (config) => trial(config, context, AbortSignal.timeout(trialMs));
}

/** Nothing that a test reads is kept. */
const trials: Partial<Record<SettingsSection, Trial>> = {
  mqtt: async ({ mqtt }, { tryBroker }, signal) => {
    if (mqtt === undefined) return [unknown(detail("trial.noBroker"))];
    if (tryBroker === null) return [unknown(detail("trial.noBridge"))];
    return tryBroker(mqtt, signal);
  },
  history: async ({ history: { remoteWrite } }, { tryReceiver }, signal) => [
    remoteWrite === undefined || tryReceiver === null
      ? unknown(detail("trial.noReceiver"))
      : await tryReceiver(remoteWrite, signal),
  ],
  electricity: (config, context, signal) => tryPrices(config, context, signal),
  market: async ({ market, display }, context, signal) => {
    if (market.sources.length === 0) return [unknown(detail("trial.noSource"))];
    return Promise.all(
      market.sources.slice(0, mostSources).map(async (settings) => {
        let coins = 0;
        const take = <T extends { readonly coins: readonly unknown[] }>(facts: T): T => {
          coins = facts.coins.length;
          return facts;
        };
        const feed = coinFeed(settings, display.currency, take, feedContext(context, signal));
        if (!(await feed.poll())) return wrong(feed.problem ?? late(feed.host));
        const known = detail("trial.coins", { source: feed.host, count: coins });
        return right(feed.problem === null ? known : `${known.text}; ${feed.problem}`);
      }),
    );
  },
  http: async ({ http }, { interfaces, ownPort }) => {
    const at = (host: string): string => `http://${host}:${http.port || ownPort()}`;
    if (isLoopbackHost(http.host)) return [unknown(detail("trial.onlyHere", { url: at("localhost") }))];
    const own = isIP(http.host) !== 0 && !/^(0\.0\.0\.0|::)$/.test(http.host);
    const hosts = own ? [http.host] : ownNetworks(interfaces()).addresses;
    if (hosts.length === 0) return [unknown(detail("trial.noNetwork"))];
    return hosts.map((host) => ({
      ...right(detail("trial.openAt", { url: at(host) })),
      url: at(host),
    }));
  },
  heating: ({ heating }, context, signal) =>
    trySources(
      heating.map(({ name, roomTemperature: source }) => ({ name, source })),
      roomTemperature,
      "°C",
      context,
      signal,
    ),
  follow: ({ follow }, context, signal) =>
    trySources(
      follow.map(({ name, surplus: source }) => ({ name, source })),
      surplus,
      "W",
      context,
      signal,
    ),
  scan: async ({ scan }, { interfaces, format }) => {
    const own = ownNetworks(interfaces());
    const networks = scan?.networks === undefined ? own.networks : parseNetworks(scan.networks);
    if (networks.length === 0) return [wrong(detail("trial.nameNetworks"))];
    const { total } = planSearch(networks, { ports: [], yes: true });
    const isNear = networks.every(({ first, last }) =>
      own.networks.some((each) => each.first <= first && last <= each.last),
    );
    const count = format.grouped(total);
    return [isNear ? right(detail("trial.searched", { count })) : unknown(detail("trial.searchedBeyond", { count }))];
  },
};

const late = (source: string): Detail => detail("trial.late", { source });

const nothingKept: KeptValues = {
  get: () => undefined,
  save: async () => undefined,
  keep: async () => undefined,
};

const feedContext = ({ now, log }: TrialContext, signal: AbortSignal): FeedContext => ({
  kept: nothingKept,
  now,
  closing: signal,
  log,
});

async function tryPrices(config: Config, context: TrialContext, signal: AbortSignal): Promise<SettingsFinding[]> {
  const { now, format, store, rateOf, messages } = context;
  const settings = { electricity: config.electricity, display: config.display, groups: [], miners: [] };
  const tariffs = new Tariffs({ settings, store, rateOf });
  const findings = await Promise.all(
    tariffs.feeds.map(async ({ settings: source, curve }): Promise<SettingsFinding> => {
      const heard = Promise.withResolvers<void>();
      const changed = (): void => heard.resolve();
      const running = runPrices({ settings: source, curve }, { ...feedContext(context, signal), messages, changed });
      if (source.topic !== undefined && messages.isConfigured) await within(heard.promise, topicMs, signal);
      else await running.poll();
      const last = curve.periods.at(-1);
      if (last === undefined) return wrong(curve.problem ?? silent(curve.source));
      const prices = { source: curve.source, count: curve.periods.length, currency: String(curve.currency) };
      return right(
        Number.isFinite(last.end)
          ? detail("trial.pricesUntil", { ...prices, time: format.localTime(last.end) })
          : detail("trial.prices", prices),
      );
    }),
  );
  const tariff = tariffs.ofGroup(0);
  if (tariff === undefined) return [unknown(detail("trial.noPrice"))];
  const { price } = tariff.at(now());
  const currency = config.display.currency;
  if (price !== null) return [...findings, right(detail("trial.priceNow", { price: format.decimal(price), currency }))];
  const foreign = tariff.curve?.currency ?? null;
  const isRateless = foreign !== null && foreign !== currency && rateOf(foreign) === null;
  return [
    ...findings,
    wrong(isRateless ? detail("trial.noRate", { from: foreign, to: currency }) : detail("trial.priceUnknown")),
  ];
}

interface NamedSource {
  readonly name: string;
  readonly source: SourceSettings;
}

async function trySources(
  sources: readonly NamedSource[],
  quantity: Quantity,
  unit: string,
  context: TrialContext,
  signal: AbortSignal,
): Promise<SettingsFinding[]> {
  if (sources.length === 0) return [unknown(detail("trial.nothing"))];
  return Promise.all(
    sources.slice(0, mostSources).map(async ({ name, source }) => {
      if (source.api === true) return unknown(detail("trial.overApi", { name }));
      try {
        const value = await readValue(source, quantity, context, signal);
        return right(detail("trial.value", { name, value: Number(value.toFixed(1)), unit }));
      } catch (error) {
        if (!(error instanceof RigbridgeError)) throw error;
        return wrong(detail("trial.wrong", { name, why: messageIn(error) }));
      }
    }),
  );
}

async function readValue(
  source: SourceSettings,
  quantity: Quantity,
  { messages }: TrialContext,
  signal: AbortSignal,
): Promise<number> {
  const { url, topic = "", path } = source;
  if (url !== undefined) return readSource({ ...source, url }, quantity, signal);
  if (!messages.isConfigured) throw new RigbridgeError("not.possible", detail("trial.needsMqtt", { topic }));
  const heard = Promise.withResolvers<ReceivedMessage>();
  const stop = messages.listen(topic, heard.resolve);
  const message = await within(heard.promise, topicMs, signal);
  stop();
  if (message === null) throw new RigbridgeError("service.unreachable", silent(topic));
  const isLong = message.payload.length > sourceLimits.bytes;
  const found = isLong ? "is too long" : numberIn(message.payload, path, quantity);
  if (typeof found === "string") throw new RigbridgeError("service.garbled", `${topic} ${found}`);
  return found;
}

const silent = (source: string): Detail => detail("trial.silent", { source, seconds: topicMs / 1000 });

/** Null if it takes longer. */
async function within<T>(promise: Promise<T>, ms: number, signal: AbortSignal): Promise<T | null> {
  const ended = AbortSignal.any([signal, AbortSignal.timeout(ms)]);
  const { promise: late, resolve } = Promise.withResolvers<null>();
  ended.addEventListener("abort", () => resolve(null), { once: true });
  return Promise.race([promise, late]);
}
