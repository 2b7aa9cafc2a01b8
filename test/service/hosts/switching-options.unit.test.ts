import { expect, test } from "@jest/globals";
import { pricedOptions } from "../../../src/service/hosts/switching-options.ts";

const kawpow = { key: "0", expected: { hashrate: 100e6, power: 1_000 }, worth: 0.05 };
const etchash = { key: "1", expected: { hashrate: 300e6, power: 500 }, worth: null };
const unmeasured = { key: "2", expected: null, worth: 1 };

test("a choice earns by its hash rate and costs by its power", () => {
  expect(pricedOptions([kawpow, etchash, unmeasured], 0.1)).toEqual([
    { key: "0", hashrate: 100e6, power: 1_000, revenue: 5, cost: expect.closeTo(2.4), knownCost: expect.closeTo(2.4) },
    { key: "1", hashrate: 300e6, power: 500, revenue: null, cost: expect.closeTo(1.2), knownCost: expect.closeTo(1.2) },
    { key: "2", hashrate: null, power: null, revenue: null, cost: null, knownCost: null },
  ]);
});

test("electricity costs nothing without a price, and an unknown amount while its price is unknown", () => {
  expect(pricedOptions([kawpow], undefined)).toMatchObject([{ revenue: 5, cost: 0, knownCost: 0 }]);
  expect(pricedOptions([kawpow], null)).toMatchObject([{ revenue: 5, cost: null, knownCost: null }]);
  expect(pricedOptions([kawpow], 0)).toMatchObject([{ revenue: 5, cost: 0, knownCost: 0 }]);
});

test("choices whose power is unknown are compared by their revenue if that of all is", () => {
  const cpu = { ...kawpow, expected: { hashrate: 100e6, power: null } };
  expect(pricedOptions([cpu, unmeasured], 0.1).map(({ cost }) => cost)).toEqual([0, 0]);
  expect(pricedOptions([cpu, unmeasured], 0.1).map(({ knownCost }) => knownCost)).toEqual([null, null]);
  expect(pricedOptions([cpu, kawpow], 0.1).map(({ cost }) => cost)).toEqual([null, expect.closeTo(2.4)]);
});
