import { afterEach, expect, test } from "@jest/globals";
import type { Miner } from "../../src/contract/resources.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { onTestFinished } from "../finished.ts";
import { caller, closeBenches, openBench } from "../service/bench.ts";
import { bridgeTo } from "./bridged.ts";
import { startMosquitto, subscribeAt } from "./mosquitto.ts";

afterEach(closeBenches);

test("a group has the hash rate of its one algorithm, the farm of two has none, and each profit says what it leaves out", async () => {
  const rigs: RigSpec[] = [
    { kind: "axeos", warm: true },
    // It does not report its power.
    { kind: "cgminer", warm: true },
    { kind: "xmrig", warm: true },
  ];
  const config = {
    groups: [{ name: "Bitcoin" }, { name: "Monero" }],
    pools: [{ name: "Solo", url: "stratum+tcp://pool.example.com:3333", coin: "BTC" }],
    rates: { btc: 90_000 },
    electricity: { price: 0.3 },
  };
  const [bench, mosquitto] = await Promise.all([openBench({ rigs, config }), startMosquitto()]);
  await bench.service.saveCoin({ shortName: "BTC", profit: 5e-9 }, caller);
  const miners: Miner[] = [];
  for (const [index, group] of ["Bitcoin", "Bitcoin", "Monero"].entries())
    miners.push(await bench.get(await bench.add(bench.rig(index).address, { group })));
  const listening = await subscribeAt(mosquitto.url);
  const bridge = await bridgeTo(bench.service, { url: mosquitto.url });
  onTestFinished(async () => {
    await bridge.close();
    await listening.close();
    await mosquitto.stop();
  });
  const sumsAt = async (topic: string, count: number): Promise<unknown> => {
    const heard = await listening.until(
      (each) => each.topic === topic && JSON.parse(each.payload).miners_mining === count,
    );
    return JSON.parse(heard.payload);
  };
  const [bitcoin, monero] = await bench.service.listGroups({}, caller);
  const [known, silent, cpu] = miners;
  const sha256 = (known?.readings.hashrate ?? Number.NaN) + (silent?.readings.hashrate ?? Number.NaN);
  const { profitPerDay = null } = known?.money ?? {};
  expect([profitPerDay, silent?.money.profitPerDay]).toEqual([expect.any(Number), null]);
  expect(await sumsAt(`rigbridge/group/${bitcoin?.id}/state`, 2)).toMatchObject({
    hashrate: expect.closeTo(sha256, -6),
    hashrate_display: expect.any(Number),
    profit: expect.closeTo(profitPerDay ?? Number.NaN, 6),
    miners_without_profit: 1,
  });
  expect(await sumsAt(`rigbridge/group/${monero?.id}/state`, 1)).toMatchObject({ hashrate: cpu?.readings.hashrate });
  expect(await sumsAt("rigbridge/summary", 3)).toMatchObject({
    hashrate: null,
    hashrate_display: null,
    profit: expect.closeTo(profitPerDay ?? Number.NaN, 6),
    miners_without_profit: 2,
  });
  const { components } = JSON.parse(
    (
      await listening.until(
        ({ topic, payload }) => topic === "homeassistant/device/rigbridge_farm/config" && payload.includes("profit"),
      )
    ).payload,
  );
  expect(components).toMatchObject({
    profit: { name: "Profit per day" },
    miners_without_profit: { name: "Miners of unknown profit" },
  });
});
