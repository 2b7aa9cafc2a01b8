import { afterEach, describe, expect, test } from "@jest/globals";
import { whatsminer as whatsminerDriver } from "../../src/link/drivers/whatsminer/index.ts";
import type { CommandTimeouts } from "../../src/service/commands/command-executor.ts";
import type { RigModel } from "../../src/simulator/index.ts";
import { stoppedClock } from "../clock.ts";
import { refusal } from "../errors.ts";
import { deadline, rigAt } from "../link/rigs.ts";
import { limits, until, within } from "../until.ts";
import { closeLoopBenches, openLoopBench, openValueServer } from "./loop-bench.ts";

afterEach(closeLoopBenches);

const bitaxe = { kind: "axeos", warm: true } as const;
const api = { api: true };

interface RoomOptions {
  readonly roomTemperature?: Record<string, unknown>;
  readonly rigs?: number;
  readonly heating?: Record<string, unknown>;
  readonly isStopped?: boolean;
}

/** A room with virtual rigs that can only be stopped; all of them mine, unless they are stopped from the first read. */
async function heatedRoom({ roomTemperature = api, rigs = 1, heating = {}, isStopped = false }: RoomOptions = {}) {
  const clock = stoppedClock();
  const bench = await openLoopBench({
    rigs: Array.from({ length: rigs }, () => bitaxe),
    clock: clock.now,
    isStopped,
    config: (addresses) => ({
      groups: [{ name: "den", groups: [{ name: "shelf" }] }],
      miners: addresses.map((address, index) => ({
        address,
        name: `rig ${index}`,
        group: index === 0 ? "den" : "shelf",
      })),
      heating: { name: "Den", group: "den", target: 21, roomTemperature, minOn: 300, minOff: 300, ...heating },
    }),
  });
  const room = (temperature: number) => bench.act(0, { action: "set_room_temperature", temperature });
  const pass = async (seconds: number) => {
    clock.pass(seconds);
    await bench.turn();
  };
  return { bench, clock, room, pass };
}

const shown = async (bench: Awaited<ReturnType<typeof openLoopBench>>) => (await bench.miner(0)).heating;

function powerOf(model: RigModel): number {
  model.advance();
  return model.power;
}

describe("a heated room", () => {
  test("says that a rig is not started while its power is unknown, until it has mined once", async () => {
    const { bench, room, pass } = await heatedRoom({ isStopped: true });
    await room(19);
    await pass(5);
    expect(bench.mining()).toEqual([false]);
    expect(await bench.notifications()).toEqual([
      expect.stringMatching(/^Den: rig 0 is stopped, and its power is not/),
    ]);
    await bench.act(0, { action: "start" });
    await pass(120);
    await pass(3_600);
    await room(22);
    await pass(5);
    await pass(600);
    await room(19);
    await pass(5);
    expect(bench.mining()).toEqual([true]);
    const { notificationList } = await bench.service.listNotifications({}, { actor: "test" });
    const about = notificationList.find(({ message }) => message.includes("its power is not known"));
    expect(about?.closedUtc).toEqual(expect.any(String));
  });

  test("is kept between the edges of its band, and rigs get no command for what they do already", async () => {
    const { bench, room, pass } = await heatedRoom({ rigs: 2 });
    await room(21.5);
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    for (const celsius of [21.4, 21.2]) {
      await room(celsius);
      await pass(600);
    }
    expect(bench.mining()).toEqual([false, false]);
    await room(21);
    await pass(5);
    expect(bench.mining()).toEqual([true, false]);
    await room(20.5);
    await pass(5);
    expect(bench.mining()).toEqual([true, true]);
    expect((await bench.commands()).map((command) => command.replace(/ 1[78] /, " all "))).toEqual([
      "1 service for Den set power_target 0 done",
      "2 service for Den set power_target 0 done",
      "1 service for Den set power_target all done",
      "2 service for Den set power_target all done",
    ]);
  });

  test("is shown by its miners", async () => {
    const { bench, room, pass, clock } = await heatedRoom({ rigs: 2 });
    expect(await shown(bench)).toEqual({ name: "Den", target: 21, room: null, at: null, demand: null, held: false });
    await room(20.8);
    const at = new Date(clock.now()).toISOString();
    expect(await shown(bench)).toMatchObject({ room: 20.8, at });
    await pass(5);
    expect(await shown(bench)).toEqual({ name: "Den", target: 21, room: 20.8, at, demand: 0.7, held: false });
    expect((await bench.miner(1)).heating?.name).toBe("Den");
    const events = bench.service
      .watchEvents({}, { actor: "test" }, AbortSignal.timeout(limits.waitMs))
      [Symbol.asyncIterator]();
    const next = events.next();
    await room(20.6);
    expect(JSON.stringify((await next).value)).toContain("miner");
  });

  test("keeps the target that a user sets, also across restarts, until the file has another", async () => {
    const { bench, room, pass } = await heatedRoom();
    await bench.act(0, { action: "set_target_temperature", temperature: 18 });
    await room(19);
    await pass(5);
    expect(bench.mining()).toEqual([false]);
    await bench.restart();
    expect(await shown(bench)).toMatchObject({ target: 18, room: null });
    await bench.restart({ heating: { name: "Den", group: "den", target: 20, roomTemperature: api } });
    expect(await shown(bench)).toMatchObject({ target: 20 });
    expect(await bench.commands()).toContain("1 test set_target_temperature 18 done");
  });

  test("does nothing after a restart until the room temperature is known again", async () => {
    const { bench, room, pass } = await heatedRoom();
    await room(25);
    await pass(5);
    await bench.restart();
    await pass(600);
    expect(bench.mining()).toEqual([false]);
    await room(15);
    await pass(5);
    expect(bench.mining()).toEqual([true]);
    expect(await bench.notifications()).toEqual([]);
  });

  test("is not heated when its temperature is too old; one notification for that, closed when it is known again", async () => {
    const { bench, room, pass } = await heatedRoom();
    await room(15);
    await pass(900);
    expect([bench.mining(), await bench.notifications()]).toEqual([[true], []]);
    await pass(1);
    expect(bench.mining()).toEqual([false]);
    await pass(600);
    await pass(6000);
    expect(await bench.notifications()).toEqual([
      "Den: The room temperature is older than 15 minutes, so heating has stopped",
    ]);
    expect(await shown(bench)).toMatchObject({ demand: 0, room: null });
    await room(15);
    await pass(5);
    expect(bench.mining()).toEqual([true]);
    const { notificationList } = await bench.service.listNotifications({}, { actor: "test" });
    expect(notificationList.filter(({ title }) => title === "Den")).toMatchObject([
      { count: 1, closedUtc: expect.any(String) },
    ]);
  });

  test("is read from an address, whose last answer is in the notification after too many failures", async () => {
    const values = await openValueServer("15");
    const { bench, pass } = await heatedRoom({ roomTemperature: { url: values.url, every: 60 } });
    await pass(60);
    expect(bench.mining()).toEqual([true]);
    for (const answer of ["25", "<p>15</p>", '{"room": 1', "NaN"]) {
      values.answer = answer;
      await pass(60);
      expect([answer, bench.mining()]).toEqual([answer, [false]]);
    }
    expect(values.asked).toHaveLength(5);
    values.answer = (response) => response.writeHead(500).end();
    for (let turn = 0; turn < 15; turn += 1) await pass(60);
    const host = new URL(values.url).host;
    expect(await bench.notifications()).toEqual([
      `Den: The room temperature is older than 15 minutes, so heating has stopped; ${host} answers 500`,
    ]);
    values.answer = "15";
    await pass(60);
    expect(bench.mining()).toEqual([true]);
  });

  test("whose thermometer never answers holds up neither another nor the end", async () => {
    const asked = Promise.withResolvers<void>();
    const { url } = await openValueServer(() => asked.resolve());
    const clock = stoppedClock();
    const bench = await openLoopBench({
      rigs: [bitaxe, bitaxe],
      clock: clock.now,
      config: (addresses) => ({
        miners: addresses.map((address, index) => ({ address, name: `rig ${index}` })),
        heating: [
          { name: "Den", miner: "rig 0", target: 21, roomTemperature: { url } },
          { name: "Hall", miner: "rig 1", target: 21, roomTemperature: api },
        ],
      }),
    });
    await bench.act(1, { action: "set_room_temperature", temperature: 25 });
    const turning = bench.turn();
    await within(asked.promise, "the thermometer to be asked");
    await until(() => bench.mining()[1] === false, "the rig of the other room to stop");
    await bench.service.close();
    await turning;
    expect(bench.mining()).toEqual([true, false]);
  });

  test("spares its rigs the times of the heating before those of all", async () => {
    const { bench, room, pass } = await heatedRoom({ heating: { minOff: 1200 } });
    await room(25);
    await pass(5);
    await room(15);
    await pass(600);
    expect(bench.mining()).toEqual([false]);
    await room(15);
    await pass(600);
    expect(bench.mining()).toEqual([true]);
  });
});

describe("what a person sets", () => {
  test("a stop holds until a person starts the rig, also over a restart", async () => {
    const { bench, room, pass } = await heatedRoom();
    await bench.act(0, { action: "stop" });
    for (const wait of [5, 600, 600, 80_000]) {
      await room(15);
      await pass(wait);
    }
    await bench.restart();
    await room(15);
    await pass(5);
    expect(bench.mining()).toEqual([false]);
    await bench.act(0, { action: "start" });
    await room(25);
    await pass(3599);
    await room(25);
    expect(bench.mining()).toEqual([true]);
    await pass(5);
    expect(bench.mining()).toEqual([false]);
  });

  test("is shown by the rig for as long as it holds", async () => {
    const { bench, room, pass } = await heatedRoom({ rigs: 2 });
    await room(15);
    await pass(5);
    await bench.act(0, { action: "stop" });
    expect([(await bench.miner(0)).heating?.held, (await bench.miner(1)).heating?.held]).toEqual([true, false]);
    await bench.restart();
    await pass(5);
    expect(await shown(bench)).toMatchObject({ held: true });
    await bench.act(0, { action: "set_target_temperature", temperature: 21 });
    expect(await shown(bench)).toMatchObject({ held: false });
  });

  test("a new target takes the rig back", async () => {
    const { bench, room, pass } = await heatedRoom();
    await bench.act(0, { action: "stop" });
    await room(15);
    await pass(400);
    expect(bench.mining()).toEqual([false]);
    await bench.act(0, { action: "set_target_temperature", temperature: 22 });
    await pass(5);
    expect(bench.mining()).toEqual([true]);
  });

  test("at the rig itself holds until it mines again, with one notification", async () => {
    const { bench, room, pass } = await heatedRoom();
    await room(25);
    await pass(5);
    await room(15);
    await pass(400);
    expect(bench.mining()).toEqual([true]);
    const [rig] = bench.farm.rigs;
    rig?.model.change((model) => {
      model.mining = false;
    });
    for (let turn = 0; turn < 4; turn += 1) {
      await room(15);
      await pass(700);
    }
    expect(bench.mining()).toEqual([false]);
    expect(await bench.notifications()).toEqual([
      "Den: rig 0 was started and does not mine; it is left alone until it mines again",
    ]);
  });
});

describe("a rig that is in trouble", () => {
  test("is left alone while it cannot be reached, and taken up again", async () => {
    const { bench, room, pass } = await heatedRoom({ rigs: 2 });
    const [rig] = bench.farm.rigs;
    if (rig === undefined) throw new Error("two rigs");
    rig.fault = "off";
    await room(25);
    await pass(60);
    expect(bench.mining()).toEqual([true, false]);
    await pass(60);
    expect(await bench.commands()).toHaveLength(1);
    rig.fault = null;
    await bench.service.pollMiner({ id: bench.ids[0] ?? 0 }, { actor: "test" });
    await pass(60);
    expect(bench.mining()).toEqual([false, false]);
  });

  test("and refuses is tried again after longer and longer waits, with one notification", async () => {
    const { bench, room, pass } = await heatedRoom();
    const [rig] = bench.farm.rigs;
    if (rig === undefined) throw new Error("a rig");
    rig.fault = "denied";
    for (let turn = 0; turn < 30; turn += 1) {
      await room(25);
      await pass(30);
    }
    const failed = await bench.commands();
    expect(failed.every((command) => command.endsWith("failed"))).toBe(true);
    // Of 30 turns: what may have been done counts as done, so it has to have mined for its time anew, too.
    expect(failed).toHaveLength(3);
    const told = await bench.notifications();
    expect(told).toHaveLength(1);
    expect(told[0]).toMatch(/^Den: rig 0 was not brought to 0 W: /);
    rig.fault = null;
    await pass(600);
    expect(bench.mining()).toEqual([false]);
  });
});

describe("actions for a room", () => {
  test("are refused without a room, if the room has another source, and for impossible temperatures", async () => {
    const { bench, room } = await heatedRoom({ rigs: 1 });
    expect(await refusal(room(61))).toBe("input.invalid temperature");
    expect(await refusal(bench.act(0, { action: "set_target_temperature", temperature: 4 }))).toBe(
      "input.invalid temperature",
    );
    expect(await refusal(bench.act(0, { action: "set_surplus", surplus: 100 }))).toBe("not.possible");
    const { url } = await openValueServer("20");
    const other = await heatedRoom({ roomTemperature: { url } });
    expect(await refusal(other.room(20))).toBe("not.possible");
    expect(await refusal(other.bench.act(0, { action: "set_target_temperature", temperature: 20 }))).toBe("done");
  });

  test("go to many miners as one bulk action, and a dry run shows the result for each", async () => {
    const { bench } = await heatedRoom({ rigs: 2 });
    const bulk = async (dryRun: boolean) => {
      const { service } = bench;
      const asked = { action: "set_target_temperature", parameters: { temperature: 19 }, all: true } as const;
      const { id } = await service.startBulkAction({ ...asked, parallel: 1, delay: 0, dryRun }, { actor: "test" });
      const job = () => service.getBulkAction({ id }, { actor: "test" });
      await bench.idle();
      return (await job()).results.map(({ state }) => state);
    };
    expect(await bulk(true)).toEqual(["possible", "possible"]);
    expect(await shown(bench)).toMatchObject({ target: 21 });
    expect(await bulk(false)).toEqual(["done", "done"]);
    expect(await shown(bench)).toMatchObject({ target: 19 });
  });

  test("need access to all miners of the loop", async () => {
    const { bench } = await heatedRoom({ rigs: 2 });
    const [, shelf] = bench.store.groups.all();
    const ann = await bench.service.saveUser(
      { id: 0, name: "ann", privilege: "control", groups: [shelf?.id ?? 0] },
      { actor: "test" },
    );
    const asked = { id: bench.ids[1] ?? 0, action: "set_target_temperature", temperature: 30 } as const;
    expect(await refusal(bench.service.minerAction(asked, { actor: "http", userId: ann.id }))).toBe("user.forbidden");
  });
});

describe("a simulated day of heating over sockets", () => {
  test("keeps the room in its band, and no rig is switched oftener than allowed", async () => {
    const values = await openValueServer();
    const { bench, pass } = await heatedRoom({ roomTemperature: { url: values.url, path: "state" }, rigs: 3 });
    let room = 20;
    const rooms: number[] = [];
    const minutes = 4;
    for (let minute = 0; minute < 1440; minute += minutes) {
      if (minute === 720) await bench.restart();
      const outside = -6 * Math.cos(((minute / 60 - 2) / 12) * Math.PI);
      const watts = bench.farm.rigs.reduce((sum, { model }) => sum + powerOf(model), 0);
      // 52 W of rigs in a box of 1.4 W/K.
      room += ((watts - 1.4 * (room - outside)) * minutes * 60) / 60_000;
      if (minute > 120) rooms.push(room);
      values.answer = JSON.stringify({ state: room.toFixed(1) });
      await pass(minutes * 60);
    }
    expect(Math.min(...rooms)).toBeGreaterThan(20.3);
    expect(Math.max(...rooms)).toBeLessThan(21.7);
    const { commandList } = await bench.service.listCommands({}, { actor: "test" });
    expect(commandList.every(({ state }) => state === "done")).toBe(true);
    for (const id of bench.ids) {
      const times = commandList.filter(({ minerId }) => minerId === id).map(({ time }) => Date.parse(time));
      for (const [index, time] of times.entries())
        if (index > 0) expect((times[index - 1] ?? 0) - time).toBeGreaterThanOrEqual(300_000);
    }
    expect(await bench.notifications()).toEqual([]);
  });
});

describe("a heated room with a WhatsMiner", () => {
  const whatsminer = { kind: "whatsminer", warm: true } as const;
  const password = "admin";

  async function openRoom(restartSeconds: number, timeouts?: CommandTimeouts) {
    const clock = stoppedClock();
    const bench = await openLoopBench({
      rigs: [{ ...whatsminer, restartSeconds }],
      clock: clock.now,
      ...(timeouts === undefined ? {} : { timeouts }),
      config: ([address]) => ({
        miners: [{ address, name: "rig", password }],
        heating: { name: "Den", miner: "rig", target: 21, roomTemperature: api },
        power: { changesPerHour: 60 },
      }),
    });
    const [rig] = bench.farm.rigs;
    if (rig === undefined) throw new Error("there is a rig");
    const pass = async (seconds: number) => {
      clock.pass(seconds);
      await bench.act(0, { action: "set_room_temperature", temperature: 15 });
      await bench.turn();
    };
    const limits = () => rig.requests.writes.filter((write) => write.startsWith("adjust_power_limit"));
    return { bench, clock, rig, pass, limits };
  }

  test("sets it to its highest power once, although that is less than it accepts", async () => {
    const { bench, pass, limits } = await openRoom(0);
    for (let turn = 0; turn < 5; turn += 1) await pass(600);
    expect(limits()).toHaveLength(1);
    expect(new Set((await bench.commands()).map((command) => command.split(" ").at(-1)))).toEqual(new Set(["done"]));
    expect(await bench.notifications()).toEqual([]);
  });

  test("leaves it alone for half an hour, then longer, after a change with an unknown result", async () => {
    // It restarts for minutes, so a request does not wait for the result, and the command gives up.
    const timeouts = { queueMs: 60_000, requestMs: 50, answerMs: 5_000, changeMs: 300 };
    const { bench, clock, rig, pass } = await openRoom(120, timeouts);
    const refused = async () => {
      await bench.idle();
      // Somebody else sets it to less meanwhile.
      clock.pass(130);
      await rigAt(whatsminerDriver, rig.address, { password }).set("power_limit", 2_000, deadline());
      clock.pass(130);
    };
    const sent = async () => (await bench.commands()).length;
    await pass(5);
    await refused();
    expect(await bench.commands()).toEqual([expect.stringMatching(/^1 service for Den set power_target \d+ unknown$/)]);
    for (let minutes = 5; minutes < 25; minutes += 5) await pass(300);
    expect(await sent()).toBe(1);
    expect(await bench.notifications()).toEqual([expect.stringMatching(/^Den: rig was not brought to \d+ W: The rig/)]);
    await pass(600);
    expect(await sent()).toBe(2);
    await refused();
    for (let minutes = 5; minutes < 55; minutes += 5) await pass(300);
    expect(await sent()).toBe(2);
  });
});
