import { expect, test } from "@jest/globals";
import { pino } from "pino";
import { openCore } from "../../src/service/core.ts";
import { startRooms } from "../../src/service/room.ts";
import { openMiners } from "../../src/service/rooms/miners.ts";
import { openMoney } from "../../src/service/rooms/money.ts";
import { startFarm } from "../../src/simulator/index.ts";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { onTestFinished } from "../finished.ts";
import { ownHost } from "../own-host.ts";
import { caller, configOf } from "./bench.ts";

const log = pino({ level: "silent" });
const hour = 3_600_000;

/** A Bitaxe, which can only be on or off, and the values that rules ask for. */
async function openEconomics(electricity: Record<string, unknown>) {
  const clock = stoppedClock(Date.parse("2026-11-22T00:00:00Z"));
  const farm = await startFarm({ rigs: [{ kind: "axeos", warm: true, host: ownHost() }], clock: clock.now });
  const store = await openStore({ file: ":memory:", now: clock.now });
  const config = configOf({
    electricity,
    rates: { btc: 100_000 },
    miners: [{ address: farm.rigs[0]?.address, name: "rig" }],
    pools: [{ name: "Solo", url: "stratum+tcp://pool.example.com:3333", coin: "BTC" }],
  });
  const options = { config, store, log, now: clock.now };
  const core = await openCore(options);
  const miners = openMiners(core);
  const close = await startRooms([core, miners]);
  onTestFinished(async () => {
    await close();
    await store.close();
    await farm.close();
  });
  const { pollMiner } = miners.operations;
  const id = 1_000_000_001;
  const run = async (minutes: number) => {
    for (let minute = 0; minute < minutes; minute += 1) {
      await pollMiner({ id }, caller);
      clock.pass(60);
    }
  };
  const { economics } = openMoney(core, miners);
  return { core, clock, id, run, economics, rig: farm.rigs[0]?.model, profit: () => economics.profitPerDay(id) };
}

test("the best setting of a rig is on while it earns, and off while electricity costs more, once it has settled", async () => {
  const zones = [{ from: "12:00", to: "18:00", price: 50 }];
  const { core, clock, id, run, economics, rig, profit } = await openEconomics({ price: 0.01, zones, timeZone: "UTC" });
  await run(5);
  expect([economics.best(id), profit()]).toEqual([null, null]);
  // 1.2e6 MH/s × 1e-12 BTC × 100,000 is 0.12 a day; 17 W for 24 h are 0.4 kWh: 0.004 at 0.01, and 20 at 50.
  await core.coins.saveCoin({ shortName: "BTC", profit: 1e-12 }, caller);
  expect(economics.best(id)).toEqual({ watts: 0, profitPerDay: 0 });
  await run(20);
  const on = economics.best(id);
  expect(on?.watts).toBeCloseTo(rig?.power ?? 0, -0.8);
  expect(on?.profitPerDay).toBeGreaterThan(0);
  expect(profit()).toBeCloseTo(on?.profitPerDay ?? 0, 1);
  expect([economics.priceAt(id, clock.now()), economics.priceAt(id, clock.now() + 12 * hour)]).toEqual([0.01, 50]);
  clock.pass(12 * 3600);
  await run(1);
  expect(economics.best(id)).toEqual({ watts: 0, profitPerDay: 0 });
  expect(economics.best(77)).toBeNull();
  expect([economics.priceAt(77, clock.now()), economics.profitPerDay(77)]).toEqual([50, null]);
});

test("without a price of electricity the best setting is the one that hashes most, and no price is told", async () => {
  const { core, id, run, economics, clock } = await openEconomics({});
  await core.coins.saveCoin({ shortName: "BTC", profit: 1e-12 }, caller);
  await run(25);
  expect(economics.best(id)?.watts).toBeGreaterThan(0);
  expect(economics.priceAt(id, clock.now())).toBeNull();
});
