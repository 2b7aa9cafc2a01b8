import { afterEach, describe, expect, test } from "@jest/globals";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { refusal } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const rig = { kind: "cgminer", warm: true } as const;

const polls = async (bench: Bench, id: number, times: number): Promise<void> => {
  for (let read = 0; read < times; read += 1) await bench.poll(id);
};

const open = async ({ service }: Bench): Promise<(string | null)[]> =>
  (await service.listNotifications({}, caller)).notificationList
    .filter(({ closedUtc }) => closedUtc === null)
    .map(({ title }) => title);

const repair = (bench: Bench, id: number, note: string | null) =>
  bench.service.changeMiner({ id, repair: note === null ? null : { note } }, caller);

describe("a rig in repair", () => {
  test("is part of no sum but the number of all, which says how many are left out", async () => {
    const bench = await openBench({ rigs: [rig, rig], config: { groups: [{ name: "Hall" }] } });
    const [one] = [await bench.add(bench.rig(0).address, { group: "Hall" }), await bench.add(bench.rig(1).address)];
    const both = await bench.service.getSummary({}, caller);
    expect(both).toMatchObject({ runningCount: 2, totalCount: 2, inRepair: 0, groupList: [{ inRepair: 0 }] });
    await repair(bench, one ?? 0, "board 2 sent to the workshop");
    const summary = await bench.service.getSummary({}, caller);
    expect(summary).toMatchObject({
      runningCount: 1,
      totalCount: 2,
      inRepair: 1,
      groupList: [{ inRepair: 1, money: { minerCount: 0 } }],
      money: { minerCount: 1 },
    });
    expect(summary.metaData.infoList).toContain("The sums leave out 1 miner in repair");
    expect(summary.algorithmList).toMatchObject([{ activeCount: 1 }]);
  });

  test("is still read and shown, and takes commands; off is off", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address);
    await repair(bench, id, "fans");
    expect(await bench.poll(id)).toMatchObject({ statusInfo: { statusDisplay: "Mining" }, repair: { note: "fans" } });
    bench.rig(0).powerOff();
    await polls(bench, id, 3);
    const { miners } = await bench.service.listMinerRows({ view: "list" }, caller);
    expect(miners).toMatchObject([{ status: "Disconnected", repair: { note: "fans" }, alarms: 0 }]);
    await bench.rig(0).powerOn();
    await bench.poll(id);
    expect(await bench.act(id, { action: "restart" })).toMatchObject({ success: true });
  });

  test("raises no alarm; what was open is closed, and what is wrong afterwards is reported", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address);
    bench.rig(0).powerOff();
    await polls(bench, id, 3);
    expect(await open(bench)).toEqual(["Disconnected"]);
    await repair(bench, id, "");
    expect(await open(bench)).toEqual([]);
    await bench.rig(0).powerOn();
    await bench.poll(id);
    bench.rig(0).powerOff();
    await polls(bench, id, 4);
    expect(await open(bench)).toEqual([]);
    await repair(bench, id, null);
    expect(await open(bench)).toEqual(["Disconnected"]);
  });

  test("stays so over a restart, also one of the configuration file, since the same time", async () => {
    const clock = stoppedClock();
    const store = await openStore({ file: ":memory:", now: clock.now });
    const config = { miners: [{ address: "127.0.0.1:9", name: "attic" }] };
    const bench = await openBench({ store, clock: clock.now, config });
    const [{ id } = { id: 0 }] = store.miners.all();
    await repair(bench, id, "board 1");
    const since = (await bench.get(id)).repair?.since;
    clock.pass(3_600);
    await bench.restart();
    expect((await bench.get(id)).repair).toEqual({ note: "board 1", since });
    await repair(bench, id, "board 2");
    expect((await bench.get(id)).repair).toEqual({ note: "board 2", since });
    expect(await refusal(bench.service.changeMiner({ id, repair: null, name: "x" }, caller))).toBe("owned.by-file");
  });

  test("is in the activity with who marked it, once for each change", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address);
    for (const note of ["fans", "fans", null, null]) await repair(bench, id, note);
    expect((await bench.commands(id)).map(({ action, actor, parameters }) => [action, actor, parameters])).toEqual([
      ["end_repair", "test", {}],
      ["repair", "test", { note: "fans" }],
    ]);
  });
});
