import { expect, test } from "@jest/globals";
import type { Dual } from "../../src/contract/readings.ts";
import { minerMetrics, minerSamples } from "../../src/metrics/miner-metrics.ts";
import { minerState } from "../../src/mqtt/miner-state.ts";
import { miner, readings } from "../homebridge/miners.ts";

const dualOf = (algorithm: string | null): Dual => ({
  algorithm,
  hashrate: 2.5e9,
  hashrateAverage: null,
  shares: { accepted: null, rejected: null, hardwareErrors: null },
});

const ratesOf = (algorithm: string | null): string[] => {
  const metric = minerMetrics.find(({ name }) => name === "rigbridge_miner_hashrate_hashes_per_second");
  const rig = miner({ readings: readings({ algorithm: "etchash", hashrate: 3e8, dual: dualOf(algorithm) }) });
  return metric === undefined ? [] : minerSamples(metric, rig, 'uid="a"').trimEnd().split("\n");
};

const first = 'rigbridge_miner_hashrate_hashes_per_second{uid="a",algorithm="etchash"} 300000000';

test("the rate of a second algorithm is a sample of its own, with its own label", () => {
  expect(ratesOf("kheavyhash")).toEqual([
    first,
    'rigbridge_miner_hashrate_hashes_per_second{uid="a",algorithm="kheavyhash"} 2500000000',
  ]);
});

test.each([null, "etchash"])("a second algorithm called %s gives no sample twice", (algorithm) => {
  expect(ratesOf(algorithm)).toEqual([first]);
});

test("over MQTT both are fields, in H/s and in the unit that Home Assistant shows", () => {
  const state = minerState(miner({ readings: readings({ dual: dualOf("kheavyhash") }) }), null);
  expect(state).toMatchObject({ dual_hashrate: 2.5e9, dual_hashrate_mh: 2500, dual_algorithm: "kheavyhash" });
  expect(minerState(miner(), null)).toMatchObject({
    dual_hashrate: null,
    dual_hashrate_mh: null,
    dual_algorithm: null,
  });
});
