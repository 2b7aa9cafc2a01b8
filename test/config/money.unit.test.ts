import { describe, expect, test } from "@jest/globals";
import { checkedConfig } from "../../src/config/index.ts";
import { RigbridgeError } from "../../src/contract/problems.ts";

/** The mistakes of a configuration, by their paths. */
function mistakes(config: Record<string, unknown>): string[] {
  try {
    checkedConfig(config);
    return [];
  } catch (error) {
    if (!(error instanceof RigbridgeError)) throw error;
    return error.errors.map(({ path, message }) => `${path}: ${message}`);
  }
}

const source = (settings: Record<string, unknown>) => ({ electricity: { source: settings } });

describe("a mistake in the settings of money is one sentence:", () => {
  test.each<[Record<string, unknown>, string[]]>([
    [
      { electricity: { price: 1, source: { type: "awattar" }, zones: [{ from: "1:00", to: "24:00", price: 1 }] } },
      [
        "electricity.zones[0].from: must be a time such as 22:00",
        "electricity.zones[0].to: must be a time such as 22:00",
        "electricity.price: cannot be combined with source; remove one",
        "electricity.zones: cannot be combined with source; remove one",
      ],
    ],
    [
      { electricity: { price: 1, source: { type: "awattar" } } },
      ["electricity.price: cannot be combined with source; remove one"],
    ],
    [{ electricity: { price: -1 } }, ["electricity.price: must be at least 0"]],
    [{ electricity: { add: 0.1 } }, ["electricity.add: needs price, zones or source"]],
    [{ electricity: { price: 1, factor: 0 } }, ["electricity.factor: must be more than 0"]],
    [source({ type: "tibber" }), ["electricity.source.token: is required for tibber"]],
    [
      source({ type: "nordpool", token: "x" }),
      ["electricity.source.token: has no meaning for nordpool", "electricity.source.area: is required for nordpool"],
    ],
    [source({ type: "awattar", area: "ch" }), ["electricity.source.area: must be at or de for awattar"]],
    [
      source({ type: "list", currency: "EUR" }),
      ["electricity.source.url: is required for list, unless topic is set; not both"],
    ],
    [
      source({ type: "list", currency: "EUR", topic: "a/b" }),
      ["electricity.source.topic: needs the MQTT bridge: set mqtt in the configuration"],
    ],
    [
      source({ type: "list", currency: "euro", url: "http://anna:secret@x.example" }),
      [
        "electricity.source.url: must not contain a password; put it in headers or token",
        "electricity.source.currency: must be a currency code such as EUR",
      ],
    ],
    [{ market: { sources: [{ type: "coingecko" }] } }, ["market.sources[0].coins: is required for coingecko"]],
    [
      { market: { sources: [{ type: "coingecko", coins: { KASS: "kaspa" }, every: 10 }] } },
      [
        'market.sources[0].coins.KASS: there is no coin "KASS"; did you mean "KAS"?',
        "market.sources[0].every: must be at least 180",
      ],
    ],
    [
      { market: { sources: [{ type: "minerstat", coins: { KAS: "KAS" } }] } },
      ["market.sources[0].token: is required for minerstat"],
    ],
    [
      source({ type: "awatar", headers: "none", every: "x" }),
      [
        'electricity.source.type: must be one of awattar, energy-charts, nordpool, entsoe, octopus, tibber, list; did you mean "awattar"?',
        "electricity.source.headers: must be a mapping of keys, is text",
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what the sentence says
        "electricity.source.every: must be a number, is text (quotes and ${VARIABLE} make it text)",
      ],
    ],
    [{ rates: { currencies: { USD: 0 } } }, ["rates.currencies.USD: must be more than 0"]],
    [
      {
        pools: [
          { name: "a", url: "stratum+tcp://a:1", view: { type: "ckpool", url: "http://x/{address}", hashrate: "a" } },
        ],
      },
      ["pools[0].view.hashrate: has no meaning for ckpool"],
    ],
    [
      {
        pools: [{ name: "a", url: "stratum+tcp://a:1", view: { type: "json", url: "http://{address}/x", name: "b" } }],
      },
      [
        "pools[0].view.url: must be a web address such as https://pool.example/users/{address}, without a password",
        "pools[0].view.hashrate: is required for json, or rejected or balance",
        "pools[0].view.worker: is required, since worker and name belong together",
      ],
    ],
    [
      {
        groups: [{ name: "Hall", electricity: { zones: [] } }],
        miners: [{ address: "10.0.0.1", electricity: { price: "x" } }],
      },
      [
        // biome-ignore lint/suspicious/noTemplateCurlyInString: it is what the sentence says
        "miners[0].electricity.price: must be a number, is text (quotes and ${VARIABLE} make it text)",
        "groups[0].electricity.zones: needs at least 1 of them",
      ],
    ],
  ])("%j", (config, sentences) => {
    expect(mistakes(config).toSorted()).toEqual(sentences.toSorted());
  });
});
