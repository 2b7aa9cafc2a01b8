import { describe, expect, test } from "@jest/globals";
import { hardware, type Pool, RigModel } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";

const pool = (priority: number): Pool => ({
  url: `stratum+tcp://pool${priority}.example.com:3333`,
  user: "acct.worker",
  password: "x",
  difficulty: 1024,
  enabled: true,
  alive: true,
  priority,
  quota: 1,
  hashes: 0,
  lastShareAt: null,
});

function bitaxe(seed = 1) {
  const clock = stoppedClock();
  const pools = [pool(0), pool(1)];
  const model = new RigModel({ hardware: hardware.bitaxe, pools, now: clock.now, seed, warm: false });
  const pass = (seconds: number) => {
    clock.pass(seconds);
    model.advance();
  };
  return { model, pass };
}

describe("a virtual rig's physics", () => {
  test("the hash rate rises over a minute and then stays near its rating", () => {
    const { model, pass } = bitaxe();
    expect(model.hashrate()).toBe(0);
    pass(30);
    expect(model.hashrate() / model.ratedHashrate).toBeCloseTo(0.46, 1);
    pass(60);
    expect(model.hashrate() / model.ratedHashrate).toBeCloseTo(1, 1);
  });

  test("temperature follows power with delay, and falls when it pauses", () => {
    const { model, pass } = bitaxe();
    pass(60);
    expect(model.temperature).toBeGreaterThan(26);
    expect(model.temperature).toBeLessThan(50);
    pass(1200);
    const warm = model.temperature;
    expect(warm).toBeCloseTo(hardware.bitaxe.temperature, 0);
    model.change(() => {
      model.mining = false;
    });
    expect(model.power).toBeLessThan(3);
    pass(1200);
    expect(model.temperature).toBeLessThan(warm - 20);
    expect(model.fan).toBeLessThan(0.3);
  });

  test("shares are in proportion to hash rate and difficulty", () => {
    const { model, pass } = bitaxe();
    pass(90);
    const before = model.shares.accepted;
    pass(600);
    const expected = (600 * hardware.bitaxe.hashrate) / (1024 * 2 ** 32);
    expect(Math.abs(model.shares.accepted - before - expected)).toBeLessThan(4);
  });

  test("counters do not depend on how often the rig is read", () => {
    const often = bitaxe();
    const rarely = bitaxe();
    for (let i = 0; i < 90; i++) often.pass(10);
    rarely.pass(900);
    expect(often.model.hashes / rarely.model.hashes).toBeCloseTo(1, 9);
    expect(often.model.shares).toEqual(rarely.model.shares);
  });

  test("more frequency gives more hash rate, more power and more heat", () => {
    const { model, pass } = bitaxe();
    pass(1200);
    const { power, temperature } = model;
    model.change(() => {
      model.frequency = 600e6;
      model.voltage = 1.2;
    });
    pass(1200);
    expect(model.hashrate() / hardware.bitaxe.hashrate).toBeCloseTo(600 / 525, 1);
    expect(model.power).toBeGreaterThan(power * 1.1);
    expect(model.temperature).toBeGreaterThan(temperature);
  });

  test("a dead pool is replaced by the next one, and without a live one hashing stops", () => {
    const { model, pass } = bitaxe();
    pass(120);
    model.setPoolAlive(0, false);
    expect(model.activePool).toBe(model.pools[1]);
    pass(120);
    expect(model.pools[1]?.hashes).toBeGreaterThan(0);
    model.setPoolAlive(1, false);
    pass(10);
    expect(model.hashrate()).toBe(0);
    model.setPoolAlive(0, true);
    pass(90);
    expect(model.hashrate()).toBeGreaterThan(0);
  });

  test("in a hot room it stops hashing until it is restarted", () => {
    const { model, pass } = bitaxe();
    model.change(() => {
      model.ambient = 62;
    });
    pass(1800);
    expect(model.overheated).toBe(true);
    expect(model.hashrate()).toBe(0);
    model.change(() => {
      model.ambient = 25;
    });
    pass(60);
    expect(model.hashrate()).toBe(0);
    model.restart(3);
    expect(model.starting).toBe(true);
    pass(120);
    expect(model.elapsed).toBe(117);
    expect(model.hashrate()).toBeGreaterThan(1e12);
  });

  test("a clock that steps back reduces no counter", () => {
    const { model, pass } = bitaxe();
    pass(600);
    const { hashes } = model;
    pass(-300);
    expect(model.hashes).toBe(hashes);
    expect(model.elapsed).toBe(600);
  });
});
