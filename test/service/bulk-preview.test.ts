import { afterEach, expect, test } from "@jest/globals";
import type { Input } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const whatsminer: RigSpec = { kind: "whatsminer", password: "admin", warm: true, restartSeconds: 0 };
/** Reports no power. */
const cgminer: RigSpec = { kind: "cgminer", warm: true };
const axeos: RigSpec = { kind: "axeos", warm: true };

async function withRigs(rigs: readonly RigSpec[], config: Record<string, unknown> = {}) {
  const bench = await openBench({ rigs, config });
  const ids: number[] = [];
  for (const { address, kind } of bench.farm.rigs)
    ids.push(await bench.add(address, { driver: kind, ...(kind === "whatsminer" ? { password: "admin" } : {}) }));
  return { bench, ids };
}

type Asked = Partial<Input<"startBulkAction">>;

async function rehearsed(bench: Bench, miners: readonly number[], asked: Asked) {
  const body = { parameters: {}, parallel: 16, delay: 0, dryRun: true, action: "stop", ...asked } as const;
  const { id } = await bench.service.startBulkAction({ ...body, miners: [...miners] }, caller);
  const { preview, results } = await bench.service.getBulkAction({ id }, caller);
  if (preview === null) throw new Error("a dry run has a preview");
  return { preview, order: results.map(({ minerId }) => minerId) };
}

const powerOf = async (bench: Bench, id: number): Promise<number> => (await bench.get(id)).readings.power ?? Number.NaN;

test("a preview says what a stop changes, and when", async () => {
  const { bench, ids } = await withRigs([whatsminer, whatsminer, axeos, whatsminer]);
  bench.rig(3).fault = "off";
  await bench.poll(ids[3] ?? 0);
  const powers = await Promise.all(ids.slice(0, 3).map((id) => powerOf(bench, id)));
  const seconds = await Promise.all(
    ids.slice(0, 3).map(async (id) => (await bench.get(id)).controls.find(({ key }) => key === "mining")?.seconds ?? 0),
  );
  const { preview } = await rehearsed(bench, ids, {});
  expect(preview.power.now).toBeCloseTo(powers.reduce((sum, each) => sum + each, 0));
  expect(preview.power).toMatchObject({ after: 0, unknown: 0 });
  expect(preview.seconds?.all).toBe(Math.max(...seconds));
  expect(preview.leftOut).toEqual([{ code: "rig.unreachable", message: "The rig cannot be reached", miners: 1 }]);
  const { preview: slow } = await rehearsed(bench, ids, { parallel: 1 });
  expect(slow.seconds?.all).toBe(seconds.reduce((sum, each) => sum + each, 0));
});

test("a lower limit, a mode and a throttle change the power to theirs; a limit above the draw changes nothing", async () => {
  const { bench, ids } = await withRigs([whatsminer]);
  const [id = 0] = ids;
  const power = await powerOf(bench, id);
  const after = async (asked: Asked) => (await rehearsed(bench, ids, asked)).preview.power.after;
  expect(await after({ action: "set_power_limit", parameters: { watts: 2000 } })).toBe(2000);
  expect(await after({ action: "restart" })).toBe(power);
  expect(await after({ action: "locate", parameters: { on: true } })).toBe(power);
  await bench.act(id, { action: "stop" });
  // Once it mines, it takes what its limit allows.
  expect(await after({ action: "start" })).toBeGreaterThan(2500);
});

test("the waits of a rule count until its last change", async () => {
  const { bench, ids } = await withRigs([axeos], {
    rules: [{ key: "slow", manual: true, do: [{ wait: "10m" }, { action: "stop" }, { wait: "5m" }] }],
  });
  const asked: Asked = { action: "rule", parameters: { rule_id: "slow" } };
  const seconds = (await bench.get(ids[0] ?? 0)).controls.find(({ key }) => key === "mining")?.seconds ?? 0;
  expect((await rehearsed(bench, ids, asked)).preview.seconds?.all).toBe(600 + seconds);
});

test("rigs without a measured power are counted, not promised", async () => {
  const { bench, ids } = await withRigs([axeos, cgminer]);
  const { preview } = await rehearsed(bench, ids, { action: "restart" });
  expect(preview.power).toMatchObject({ unknown: 1 });
  expect(preview.power.now).toBe(preview.power.after);
  expect(preview.seconds).toBeNull();
});

test("the order decides who is first, unknown ones last", async () => {
  const { bench, ids } = await withRigs([axeos, cgminer, whatsminer]);
  const [small = 0, unmeasured = 0, large = 0] = ids;
  const { order: listed } = await rehearsed(bench, ids, { action: "restart" });
  expect(listed).toEqual(ids);
  const { order } = await rehearsed(bench, ids, { action: "restart", order: "power" });
  expect(order).toEqual([large, small, unmeasured]);
  const { order: worst } = await rehearsed(bench, ids, { action: "restart", order: "efficiency" });
  expect(worst.at(-1)).toBe(unmeasured);
});

test("revenue that a stop costs is said per hour", async () => {
  const { bench, ids } = await withRigs([axeos], {
    rates: { btc: 100_000 },
    display: { currency: "EUR" },
    coins: [{ name: "Test", shortName: "TST", algorithm: "sha256", profit: 1e-9 }],
    pools: [{ name: "Pool", url: "stratum+tcp://pool.example.com:3333", coin: "TST" }],
  });
  const { revenuePerDay } = (await bench.get(ids[0] ?? 0)).money;
  const { preview } = await rehearsed(bench, ids, {});
  expect(preview.currency).toBe("EUR");
  expect(revenuePerDay).toBeGreaterThan(0);
  expect(preview.revenueLost).toBeCloseTo((revenuePerDay ?? Number.NaN) / 24);
});
