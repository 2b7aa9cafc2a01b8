import { afterEach, describe, expect, test } from "@jest/globals";
import type { Caller, Input } from "../../src/contract/service.ts";
import { stoppedClock } from "../clock.ts";
import { problem, refusal } from "../errors.ts";
import { caller } from "./bench.ts";
import { closeLoopBenches, openLoopBench } from "./loop-bench.ts";

afterEach(closeLoopBenches);

const bitaxe = { kind: "axeos", warm: true } as const;
const braiins = { kind: "braiins", warm: true, restartSeconds: 0 } as const;
/** It cannot be stopped. */
const nano = { kind: "avalon", generation: "nano3s", warm: true } as const;
const api = { api: true };

interface HouseOptions {
  readonly rigs?: readonly (typeof bitaxe | typeof braiins | typeof nano)[];
  readonly config?: Record<string, unknown>;
}

/** A den whose rigs are a room; times of rest are short enough for a test. */
async function openHouse({ rigs = [bitaxe, bitaxe], config = {} }: HouseOptions = {}) {
  const clock = stoppedClock();
  const bench = await openLoopBench({
    rigs,
    clock: clock.now,
    config: (addresses) => ({
      power: { minOn: 0, minOff: 0, changesPerHour: 20 },
      groups: [{ name: "Den", room: true }, { name: "Hall" }],
      miners: addresses.map((address, index) => ({
        address,
        name: `rig ${index}`,
        group: "Den",
        ...(rigs[index] === braiins ? { username: "root", password: "" } : {}),
        ...(rigs[index] === nano ? { username: "root", password: "root" } : {}),
      })),
      ...config,
    }),
  });
  const rooms = (who: Caller = caller) => bench.service.listRooms({}, who);
  const room = async (name = "Den") => {
    const found = (await rooms()).find((each) => each.name === name);
    if (found === undefined) throw new Error(`there is no room ${name}`);
    return found;
  };
  const set = async (change: Omit<Input<"changeRoom">, "key">, { name = "Den", who = caller } = {}) =>
    bench.service.changeRoom({ key: (await room(name)).key, ...change }, who);
  const pass = async (seconds: number) => {
    clock.pass(seconds);
    await bench.turn();
  };
  const user = async (privilege: "administrator" | "control" | "view", groups: number[] | null = null) => {
    const { id } = await bench.service.saveUser({ id: 0, name: `${privilege} ${groups}`, privilege, groups }, caller);
    return { actor: "test", userId: id };
  };
  return { bench, clock, rooms, room, set, pass, user };
}

describe("a group that is a room", () => {
  test("has one slider for all its rigs, with the powers that they have", async () => {
    const { bench, room, set } = await openHouse();
    const shown = await room();
    expect(shown).toMatchObject({
      key: "group-1",
      kind: "power",
      groupId: 1,
      miners: bench.ids,
      on: true,
      changing: false,
      heldBy: null,
      control: { unit: "W", value: expect.any(Number), min: 0, step: null },
      temperature: null,
      temperatureAt: null,
      demand: null,
      surplus: null,
      max: null,
    });
    const [off, one = 0, both] = shown.control?.options ?? [];
    expect([off, both]).toEqual([0, shown.control?.max]);
    expect(shown.control?.value).toBe(shown.highest);
    expect(await set({ power: one })).toMatchObject({ on: true, heldBy: { what: "test" } });
    expect(bench.mining()).toEqual([true, false]);
    expect((await room()).control?.value).toBe(Math.round((await bench.miner(0)).readings.power ?? 0));
    await set({ power: 0 });
    expect(bench.mining()).toEqual([false, false]);
    expect(await room()).toMatchObject({ on: false, control: { value: 0 } });
    await set({ on: true });
    expect(bench.mining()).toEqual([true, true]);
    await set({ on: false });
    expect(bench.mining()).toEqual([false, false]);
  });

  test("has what it used and cost today, by the clock on its wall", async () => {
    const { room, pass } = await openHouse({ config: { electricity: { price: 0.5 } } });
    const before = (await room()).today;
    expect(before).toMatchObject({ energy: null, cost: null, revenue: null, profit: null, currency: "USD" });
    for (let minute = 0; minute < 10; minute += 1) await pass(61);
    const { power, today } = await room();
    const wattHours = ((power ?? 0) * 610) / 3600;
    expect(today).toMatchObject({ date: before.date, incomplete: true, revenue: null, profit: null });
    expect(today.energy).toBeCloseTo(wattHours, 0);
    expect(today.cost).toBeCloseTo((wattHours / 1000) * 0.5, 4);
    await pass(86_400);
    expect((await room()).today).toMatchObject({ energy: null, cost: null });
  });

  test("refuses what it has not, with every mistake at once", async () => {
    const { room, set } = await openHouse();
    const highest = (await room()).highest ?? 0;
    expect((await problem(set({ target: 20, power: highest + 10 }))).errors).toMatchObject([
      { path: "target", message: "cannot be set: Den does not hold a temperature" },
      { path: "power", message: `must be at most ${highest} W, which is all that its rigs can take` },
    ]);
    expect(await refusal(set({ on: true }, { name: "Den", who: { actor: "x", userId: 99 } }))).toBe("not.found");
  });

  test("is seen by those who see all its rigs, and set by those who may control", async () => {
    const { bench, rooms, set, user } = await openHouse();
    const hall = (await bench.service.listGroups({}, caller)).find(({ name }) => name === "Hall")?.id ?? 0;
    const [stranger, viewer, family] = [await user("control", [hall]), await user("view"), await user("control", [1])];
    expect([(await rooms(stranger)).length, (await rooms(viewer)).length]).toEqual([0, 1]);
    expect(await refusal(set({ on: false }, { who: stranger }))).toBe("not.found");
    expect(await refusal(set({ on: false }, { who: viewer }))).toBe("user.forbidden");
    await set({ on: false }, { who: family });
    expect(bench.mining()).toEqual([false, false]);
    expect(await refusal(set({ max: 100 }, { who: family }))).toBe("user.forbidden");
  });
});

describe("a room that holds a temperature", () => {
  const heating = { name: "Study", group: "Den", target: 21, roomTemperature: api, minOn: 0, minOff: 0 };

  test("has a slider for its target, and is switched off until it is switched on again", async () => {
    const { bench, room, rooms, set, pass } = await openHouse({ config: { heating } });
    await bench.act(0, { action: "set_room_temperature", temperature: 15 });
    await pass(5);
    expect((await rooms()).map(({ name }) => name)).toEqual(["Study"]);
    expect(await room("Study")).toMatchObject({
      kind: "target",
      on: true,
      temperature: 15,
      temperatureAt: expect.any(String),
      demand: 1,
      heldBy: null,
      control: { unit: "°C", value: 21, min: 5, max: 35, step: 0.5, options: null },
    });
    expect(await set({ target: 14 }, { name: "Study" })).toMatchObject({ control: { value: 14 } });
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    expect(await room("Study")).toMatchObject({ on: true, heldBy: null });
    await set({ target: 21 }, { name: "Study" });
    await pass(5);
    expect(bench.mining()).toEqual([true, true]);
    await set({ on: false }, { name: "Study" });
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    expect(await room("Study")).toMatchObject({ on: false, heldBy: { what: "test", until: null } });
    await set({ on: true }, { name: "Study" });
    await pass(5);
    expect(bench.mining()).toEqual([true, true]);
    expect((await problem(set({ power: 10 }, { name: "Study" }))).errors).toMatchObject([
      { path: "power", message: "cannot be set: Study holds a temperature; set target" },
    ]);
  });

  test("is heated up to its maximum, and no more", async () => {
    const { bench, room, pass } = await openHouse({ rigs: [braiins], config: { heating: { ...heating, max: 2000 } } });
    await bench.act(0, { action: "set_room_temperature", temperature: 15 });
    await pass(5);
    await pass(60);
    expect(limitOf(await bench.miner(0))).toBe(2000);
    await bench.act(0, { action: "set_room_temperature", temperature: 21 });
    await pass(600);
    expect(limitOf(await bench.miner(0))).toBeLessThan(2000);
    await bench.act(0, { action: "set_room_temperature", temperature: 15 });
    await pass(600);
    expect(limitOf(await bench.miner(0))).toBe(2000);
    expect(await room("Study")).toMatchObject({ max: { watts: 2000, owner: "file" } });
  });
});

const limitOf = (miner: { controls: readonly { key: string; value: unknown }[] }) =>
  miner.controls.find(({ key }) => key === "power_limit")?.value;

describe("a surplus that rigs follow", () => {
  test("is a room with what the roof gives, and is switched off by a person", async () => {
    const follow = { name: "Roof", group: "Den", surplus: api, minOn: 0, minOff: 0 };
    const { bench, room, set, pass } = await openHouse({ config: { follow } });
    expect(await room("Roof")).toMatchObject({ kind: "surplus", surplus: null, surplusAt: null, available: null });
    await bench.act(0, { action: "set_surplus", surplus: 5 });
    await pass(5);
    const shown = await room("Roof");
    expect(shown).toMatchObject({ on: true, surplus: 5, surplusAt: expect.any(String), heldBy: null });
    // The meter shows what is left beside the rigs.
    expect(shown.available).toBe(Math.round((shown.power ?? 0) + 5));
    expect(shown.availableAt).toBe(shown.surplusAt);
    expect(shown.key).toMatch(/^follow-[0-9a-f]{8}$/);
    await set({ on: false }, { name: "Roof" });
    await pass(5);
    expect(await room("Roof")).toMatchObject({ on: false, heldBy: { what: "test" } });
    await pass(900);
    expect(await room("Roof")).toMatchObject({ surplus: null, available: null });
  });

  const follow = { name: "Roof", group: "Den", surplus: api, measures: "available", minOn: 0, minOff: 0, dwell: 60 };
  /** More than enough for all rigs, all the time. */
  const shine = async (
    { bench, pass }: Pick<Awaited<ReturnType<typeof openHouse>>, "bench" | "pass">,
    watts = 9000,
  ) => {
    for (let minute = 0; minute < 3; minute += 1) {
      await bench.act(0, { action: "set_surplus", surplus: watts });
      await pass(61);
    }
  };
  const roof = { name: "Roof" };

  test("has a slider for what its rigs take of it at most, which holds across restarts until it is all again", async () => {
    const house = await openHouse({ rigs: [braiins], config: { follow } });
    const { bench, room, set, pass } = house;
    await shine(house);
    const { control, highest, lowest } = await room("Roof");
    expect(control).toMatchObject({ unit: "W", value: highest, min: 0, max: highest, options: null });
    expect(limitOf(await bench.miner(0))).toBe(highest);
    expect(await set({ power: 2000 }, roof)).toMatchObject({ on: true, control: { value: 2000, max: highest } });
    await pass(5);
    expect(limitOf(await bench.miner(0))).toBe(2000);
    await bench.restart();
    await pass(5);
    expect((await room("Roof")).control?.value).toBe(2000);
    await shine(house);
    expect(limitOf(await bench.miner(0))).toBe(2000);
    expect((await problem(set({ power: 500 }, roof))).errors).toMatchObject([
      { path: "power", message: `must be 0 or at least ${lowest} W, with which one of its rigs can run` },
    ]);
    await set({ power: highest ?? 0 }, roof);
    await pass(1800);
    await shine(house);
    expect(limitOf(await bench.miner(0))).toBe(highest);
    expect(bench.store.followLimits.all()).toEqual([]);
    const changes = (await bench.commands()).filter((command) => command.includes("set_surplus_limit"));
    expect(changes).toEqual([
      "1 test set_surplus_limit Roof none 2000 done",
      "1 test set_surplus_limit Roof 2000 none done",
    ]);
  });

  test("takes no more than a cloud leaves, whatever the slider says, and nothing when that is switched off", async () => {
    const house = await openHouse({ rigs: [braiins], config: { follow } });
    const { bench, room, set, pass } = house;
    await shine(house);
    await set({ power: 2500 }, roof);
    await pass(5);
    await pass(60);
    await shine(house, 1800);
    expect(limitOf(await bench.miner(0))).toBeLessThanOrEqual(1800);
    await set({ power: 0 }, roof);
    expect(bench.mining()).toEqual([false]);
    await shine(house);
    expect(bench.mining()).toEqual([false]);
    expect(await room("Roof")).toMatchObject({ on: false, control: { value: 0 }, heldBy: { what: "test" } });
    await set({ on: true }, roof);
    await pass(5);
    expect([bench.mining(), (await room("Roof")).control?.value]).toEqual([[true], 2500]);
  });

  test("is bounded by the maximum that an administrator has set", async () => {
    const house = await openHouse({ rigs: [braiins], config: { follow } });
    const { room, set, user } = house;
    const family = await user("control");
    await set({ max: 2000 }, roof);
    expect((await room("Roof")).control).toMatchObject({ value: 2000, max: 2000 });
    expect((await problem(set({ power: 2100 }, { ...roof, who: family }))).message).toContain(
      "must be at most 2000 W, the maximum of Roof",
    );
    expect(await refusal(set({ power: 1500 }, { ...roof, who: await user("view") }))).toBe("user.forbidden");
    expect(await set({ power: 1500 }, { ...roof, who: family })).toMatchObject({ control: { value: 1500 } });
    await set({ max: 1200 }, roof);
    expect((await room("Roof")).control).toMatchObject({ value: 1200, max: 1200 });
    await set({ max: null }, roof);
    expect((await room("Roof")).control?.value).toBe(1500);
  });

  test("is followed at once when a person switches it on again", async () => {
    const house = await openHouse({ config: { follow } });
    const { bench, room, set, pass } = house;
    await shine(house);
    await set({ on: false }, roof);
    await shine(house);
    expect(bench.mining()).toEqual([false, false]);
    expect(await set({ on: true }, roof)).toMatchObject({ on: true, heldBy: null });
    await bench.restart();
    await shine(house);
    expect(bench.mining()).toEqual([true, true]);
    // The loop decides again: without sun it stops them, and they wait for it.
    await shine(house, 0);
    expect(bench.mining()).toEqual([false, false]);
    expect(await room("Roof")).toMatchObject({ on: true, heldBy: null });
    const before = (await bench.commands()).filter((command) => command.includes(" follow "));
    expect(before).toEqual(["1 test follow Roof done", "2 test follow Roof done"]);
    await set({ on: true }, roof);
    expect((await bench.commands()).filter((command) => command.includes(" follow "))).toEqual(before);
    // Started by hand, they would mine on without sun for an hour.
    await bench.act(0, { action: "start" });
    await shine(house, 0);
    expect(bench.mining()).toEqual([true, false]);
    expect((await room("Roof")).heldBy).toEqual({ what: "test", until: expect.any(String) });
    await set({ on: true }, roof);
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    expect((await bench.miner(0)).power.heldBy).toEqual({ what: "Roof", until: null });
  });

  test("does not get back at once what a safety rule has stopped", async () => {
    const { bench, clock, set, pass } = await openHouse({ rigs: [bitaxe], config: { follow } });
    const [id = 0] = bench.ids;
    await set({ on: false }, roof);
    const memory = bench.store.power.get(id);
    if (memory === undefined) throw new Error("the stop was not remembered");
    const command = { at: clock.now(), by: "safety", who: "rule Hot", stops: true } as const;
    bench.store.power.save(id, { ...memory, command });
    const { code, message } = await problem(set({ on: true }, roof));
    expect([code, message]).toEqual(["not.possible", expect.stringMatching(/^rig 0: Held back: rule Hot controls/)]);
    expect((await bench.commands()).at(-1)).toBe("1 test follow Roof failed");
    await pass(601);
    await set({ on: true }, roof);
    expect((await bench.commands()).at(-1)).toBe("1 test follow Roof done");
  });
});

describe("the maximum of a room", () => {
  test("lowers what is above it at once, holds for everybody, and outlives a restart", async () => {
    const { bench, room, set, pass, user } = await openHouse({ rigs: [braiins] });
    const family = await user("control");
    const before = Number(limitOf(await bench.miner(0)));
    expect(before).toBeGreaterThan(2000);
    expect(await set({ max: 2000 })).toMatchObject({ max: { watts: 2000, owner: "store" }, control: { max: 2000 } });
    const miner = await bench.miner(0);
    expect([limitOf(miner), miner.power.max]).toEqual([2000, 2000]);
    expect(miner.controls.find(({ key }) => key === "power_target")?.max).toBe(2000);
    const over = [
      { action: "set", property: "power_target", value: "2500" },
      { action: "set", property: "power_limit", value: "2500" },
      { action: "set_power_limit", watts: 2500 },
    ] as const;
    for (const action of over) {
      const { code, message } = await problem(bench.act(0, action));
      expect([code, message]).toEqual([
        "not.possible",
        "Den may take 2000 W at most; only an administrator can raise that",
      ]);
    }
    expect((await problem(set({ power: 2500 }, { who: family }))).message).toContain("the maximum of Den");
    await bench.restart();
    await pass(5);
    expect((await room()).max).toEqual({ watts: 2000, owner: "store" });
    await set({ max: null });
    await bench.act(0, over[0]);
    expect(limitOf(await bench.miner(0))).toBe(2500);
  });

  test("is a command in the list of commands, with who set it, from what, to what and the result", async () => {
    const { bench, set, user } = await openHouse({
      config: {
        groups: [
          { name: "Den", room: true },
          { name: "Bath", room: true },
        ],
      },
    });
    await set({ max: 800 });
    await set({ max: 900.5 }, { who: { actor: "anna" } });
    await set({ max: null });
    await set({ max: 50 }, { name: "Bath" });
    const changes = (await bench.service.listCommands({}, caller)).commandList.filter(
      ({ action }) => action === "set_room_maximum",
    );
    expect(
      changes.toReversed().map(({ minerId, minerName, actor, parameters, state, message }) => ({
        minerId,
        minerName,
        actor,
        parameters,
        state,
        message,
      })),
    ).toEqual([
      {
        minerId: bench.ids[0],
        minerName: "rig 0",
        actor: "test",
        state: "done",
        parameters: { room: "Den", from: "none", to: 800 },
        message: "Den may take 800 W at most",
      },
      {
        minerId: bench.ids[0],
        minerName: "rig 0",
        actor: "anna",
        state: "done",
        parameters: { room: "Den", from: 800, to: 900.5 },
        message: "Den may take 900.5 W at most",
      },
      {
        minerId: bench.ids[0],
        minerName: "rig 0",
        actor: "test",
        state: "done",
        parameters: { room: "Den", from: 900.5, to: "none" },
        message: "Den has no maximum",
      },
      {
        minerId: 0,
        minerName: "Bath",
        actor: "test",
        state: "done",
        parameters: { room: "Bath", from: "none", to: 50 },
        message: "Bath may take 50 W at most",
      },
    ]);
    // Who sees no rig without a room does not see the change of an empty one.
    const family = await user("control", [1]);
    const { commandList } = await bench.service.listCommands({}, family);
    expect(commandList.filter(({ action }) => action === "set_room_maximum")).toHaveLength(3);
    expect(await refusal(set({ max: 5000 }, { who: family }))).toBe("user.forbidden");
    expect((await bench.service.listCommands({}, caller)).commandList).toHaveLength(4);
  });

  test("that its rigs cannot be brought within is a notification, until they are within it", async () => {
    const { bench, set, pass } = await openHouse({ rigs: [nano] });
    await pass(5);
    const watts = Math.round((await bench.miner(0)).readings.power ?? 0);
    expect(watts).toBeGreaterThan(20);
    await set({ max: 20 });
    await pass(5);
    await pass(5);
    const { notificationList } = await bench.service.listNotifications({}, caller);
    const [notice, ...others] = notificationList.filter(({ title }) => title === "Den");
    expect(others).toEqual([]);
    expect(notice).toMatchObject({ severity: "warning", closedUtc: null });
    expect(notice?.message).toMatch(
      /^Den is set to \d+ W, above its maximum of 20 W: its rigs cannot be set lower now$/,
    );
    expect(bench.mining()).toEqual([true]);
    await set({ max: watts + 100 });
    await pass(5);
    const after = (await bench.service.listNotifications({}, caller)).notificationList;
    expect(after.find(({ id }) => id === notice?.id)?.closedUtc).not.toBeNull();
  });

  test("is what its rigs take together", async () => {
    const { bench, room, set, pass } = await openHouse();
    const one = (await room()).control?.options?.[1] ?? 0;
    await set({ max: one + 5 });
    expect(bench.mining()).toEqual([true, false]);
    expect((await room()).control?.options).toEqual([0, one]);
    expect((await problem(bench.act(1, { action: "start" }))).message).toContain(
      `Den may take ${one + 5} W at most, of which`,
    );
    expect((await problem(bench.act(1, { action: "set", property: "mining", value: "on" }))).code).toBe("not.possible");
    await bench.act(0, { action: "stop" });
    await bench.act(1, { action: "start" });
    expect(bench.mining()).toEqual([false, true]);
    expect(await set({ power: one })).toMatchObject({ control: { value: one } });
    expect(bench.mining()).toEqual([true, false]);
    await set({ on: false });
    await set({ on: true });
    expect(bench.mining()).toEqual([true, false]);
    // One that is started at the rig itself is stopped again.
    bench.farm.rigs[1]?.model.change((model) => {
      model.mining = true;
    });
    await pass(5);
    expect(bench.mining()).toEqual([true, false]);
    expect((await bench.commands()).at(-1)).toBe("2 service for the maximum of Den set power_target 0 done");
    await set({ max: null });
    await bench.act(1, { action: "start" });
    expect([bench.mining(), (await room()).max]).toEqual([[true, true], null]);
  });

  test("holds for a rig that starts with what it worked at before", async () => {
    const { bench, set } = await openHouse({ rigs: [braiins] });
    await bench.act(0, { action: "set_power_limit", watts: 3000 });
    await bench.act(0, { action: "stop" });
    await set({ max: 2000 });
    await bench.act(0, { action: "start" });
    expect([bench.mining(), limitOf(await bench.miner(0))]).toEqual([[true], 2000]);
    await bench.act(0, { action: "stop" });
    await set({ max: 300 });
    expect((await problem(bench.act(0, { action: "start" }))).message).toBe(
      "Den may take 300 W at most; only an administrator can raise that",
    );
  });

  test("does not end what a person has set", async () => {
    const heating = { name: "Study", group: "Den", target: 21, roomTemperature: api, minOn: 0, minOff: 0 };
    const { bench, room, set, pass } = await openHouse({ rigs: [braiins], config: { heating } });
    await bench.act(0, { action: "set_room_temperature", temperature: 25 });
    await bench.act(0, { action: "set", property: "power_target", value: "2500" });
    await set({ max: 2000 }, { name: "Study" });
    await pass(5);
    expect([bench.mining(), limitOf(await bench.miner(0))]).toEqual([[true], 2000]);
    expect((await room("Study")).heldBy).toEqual({ what: "test", until: expect.any(String) });
  });

  test("holds for rigs that follow a surplus, in a room inside", async () => {
    const { bench, room, set, pass } = await openHouse({
      config: {
        groups: [{ name: "Roof", groups: [{ name: "Den", room: { max: 0 } }] }, { name: "Hall" }],
        follow: { name: "Sun", group: "Roof", surplus: api, measures: "available", minOn: 0, minOff: 0 },
      },
    });
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    await bench.act(0, { action: "set_surplus", surplus: 500 });
    await pass(5);
    expect(bench.mining()).toEqual([false, false]);
    expect((await room()).max).toEqual({ watts: 0, owner: "file" });
    expect(await refusal(set({ max: 100 }))).toBe("owned.by-file");
  });
});
