import { expect, test } from "@jest/globals";
import { BenchmarkMeter, type Sample } from "../../../src/service/hosts/benchmark-meter.ts";

type Device = Sample["devices"][number];
const card = (name: string, hashrate: number | null, power: number | null, more: Partial<Device> = {}): Device => ({
  name,
  hashrate,
  power,
  status: "enabled" as const,
  ...more,
});

/** Reads every 30 s from a start; the first average, and when it came. */
function measured(read: (uptime: number) => readonly Device[], until = 1_000, subject = (_: number) => "kawpow") {
  const meter = new BenchmarkMeter();
  for (let uptime = 0; uptime <= until; uptime += 30) {
    const found = meter.take({ subject: subject(uptime), uptime, devices: read(uptime), at: 5_000 + uptime * 1000 });
    if (found !== null) return { found, uptime };
  }
  return null;
}

test("each model is averaged over three minutes after two minutes of warming up", () => {
  const read = (uptime: number) =>
    uptime < 120
      ? [card("RTX 3080", 1e6, 300), card("RTX 3080", 1e6, 300), card("RX 6800", 1e6, 100)]
      : [card("RTX 3080", 44e6, 210), card("RTX 3080", 46e6, 230), card("RX 6800", 30e6, 120)];
  expect(measured(read)).toEqual({
    found: [
      { model: "RTX 3080", hashrate: 45e6, power: 220 },
      { model: "RX 6800", hashrate: 30e6, power: 120 },
    ],
    uptime: 300,
  });
});

test("a card that does not hash, is sick or starts anew makes it begin again", () => {
  const good = [card("A", 10e6, 100)];
  const at = (uptime: number, odd: readonly Device[]) => (now: number) => (now === uptime ? odd : good);
  expect(measured(at(240, [card("A", 0, 100)]))?.uptime).toBe(450);
  expect(measured(at(240, [card("A", null, 100)]))?.uptime).toBe(450);
  expect(measured(at(240, [card("A", 10e6, 100, { status: "sick" })]))?.uptime).toBe(450);
  expect(measured(at(240, []))?.uptime).toBe(450);
  expect(measured(() => [card("A", 0, 100, { status: "disabled" }), ...good])?.found).toHaveLength(1);
});

test("another algorithm, another start and an unknown uptime begin anew", () => {
  const good = [card("A", 10e6, 100)];
  expect(
    measured(
      () => good,
      1_000,
      (uptime) => (uptime < 200 ? "a" : "b"),
    )?.uptime,
  ).toBe(390);
  const meter = new BenchmarkMeter();
  const take = (uptime: number | null, at: number) => meter.take({ subject: "a", uptime, devices: good, at });
  for (let at = 0; at < 170_000; at += 30_000) expect(take(1_000 + at / 1000, at)).toBeNull();
  expect(take(130, 180_000)).toBeNull();
  for (let at = 210_000; at < 330_000; at += 30_000) expect(take(at / 1000, at)).toBeNull();
  expect(take(null, 340_000)).toBeNull();
  expect(take(500, 360_000)).toBeNull();
});

test("a few reads far apart are no benchmark, and power that one read lacks is unknown", () => {
  const meter = new BenchmarkMeter();
  const take = (minute: number, power: number | null = 100) =>
    meter.take({ subject: "a", uptime: 1_000 + minute * 60, devices: [card("A", 1e6, power)], at: minute * 60_000 });
  expect([take(0), take(2), take(4), take(6)]).toEqual([null, null, null, null]);
  expect(take(8, null)).toEqual([{ model: "A", hashrate: 1e6, power: null }]);
});
