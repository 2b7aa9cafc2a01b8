import { createHash } from "node:crypto";
import { type Messages, needsMessages } from "../../contract/messages.ts";
import type { PriceCurve } from "../money/tariff.ts";
import type { PriceFeed } from "../money/tariffs.ts";
import { addressOf, Feed, type FeedContext } from "./feed.ts";
import { PriceFacts, pricesOf } from "./price-facts.ts";
import { readPrices } from "./price-list.ts";
import { priceSources } from "./price-sources.ts";

/** A running source of electricity prices. */
export interface RunningPrices {
  readonly key: string;
  readonly curve: PriceCurve;
  poll(): Promise<boolean>;
}

export interface PriceFeedContext extends FeedContext {
  readonly messages: Messages;
  /** Prices arrived in a message. */
  readonly changed: () => void;
}

/** Queries the address of a source, or subscribes to its topic, and fills its curve. */
export const runPrices = (feed: PriceFeed, context: PriceFeedContext): RunningPrices =>
  feed.settings.topic === undefined ? byAddress(feed, context) : byTopic(feed, feed.settings.topic, context);

/** The content of a curve, as it is stored. */
const held = (curve: PriceCurve, currency: string): PriceFacts => ({ currency, periods: [...curve.periods] });

function byAddress({ settings, curve }: PriceFeed, context: PriceFeedContext): RunningPrices {
  const shape = priceSources[settings.type];
  const url = addressOf(shape, settings.url);
  const feed = new Feed(
    {
      shape,
      settings,
      url,
      everyMs: settings.every * 1000,
      schema: PriceFacts,
      identity: [
        "prices",
        settings.type,
        settings.area,
        settings.tariff,
        settings.home,
        settings.currency,
        settings.path,
      ],
      take: ({ currency, periods }: PriceFacts, at: number) => {
        curve.take(periods, currency, at);
        return held(curve, currency);
      },
    },
    context,
  );
  curve.problem = feed.problem;
  return {
    key: feed.key,
    curve,
    poll: async () => {
      const isNew = await feed.poll();
      curve.problem = feed.problem;
      return isNew;
    },
  };
}

const longestMessage = 262_144;

function byTopic({ settings, curve }: PriceFeed, topic: string, context: PriceFeedContext): RunningPrices {
  const { messages, kept, now, closing, changed } = context;
  const { currency = "", path } = settings;
  const key = `prices ${createHash("sha256")
    .update(JSON.stringify([topic, currency, path]))
    .digest("base64url")
    .slice(0, 22)}`;
  const row = kept.get(key);
  const before = PriceFacts.safeParse(row?.value);
  if (row !== undefined && before.success) curve.take(before.data.periods, currency, row.at);
  const noBroker = `${topic} ${needsMessages}`;
  const receive = (payload: string, at: number): void => {
    const found = payload.length > longestMessage ? "is too long" : readMessage(payload, path, at);
    if (typeof found === "string") {
      curve.problem = `${topic} ${found}`;
      return;
    }
    curve.problem = null;
    const facts = pricesOf(currency, found, (sentence) => {
      curve.problem = `${topic}: ${sentence}`;
    });
    if (facts === null) return;
    curve.take(facts.periods, currency, at);
    kept.save(key, held(curve, currency), at).catch((error: unknown) => {
      context.log.warn({ err: error, source: topic }, "the value of a source cannot be kept");
    });
    changed();
  };
  closing.addEventListener(
    "abort",
    messages.listen(topic, ({ payload }) => receive(payload, now())),
  );
  return {
    key,
    curve,
    poll: async () => {
      if (!messages.isConfigured) curve.problem = noBroker;
      else if (curve.problem === noBroker) curve.problem = null;
      return false;
    },
  };
}

/** A list of prices, or the price from now on, valid until the next message. */
function readMessage(payload: string, path: string | undefined, at: number) {
  let json: unknown;
  try {
    json = JSON.parse(payload);
  } catch {
    return "has something other than JSON or a number";
  }
  const found = readPrices(json, path, at);
  return typeof found === "string" ? "has neither a list of prices nor a number" : found;
}
