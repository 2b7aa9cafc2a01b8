import { afterEach, describe, expect, test } from "@jest/globals";
import type { ServiceEvent } from "../../../src/contract/events.ts";
import type { Notification } from "../../../src/contract/resources.ts";
import { closedNotificationsKeptMs } from "../../../src/store/notifications.ts";
import { openStore } from "../../any-store.ts";
import { newNotification } from "../../notification-rows.ts";
import { until } from "../../until.ts";
import { type Bench, caller, closeBenches, openBench } from "../bench.ts";

afterEach(closeBenches);

const rig = { kind: "cgminer", warm: true } as const;

const list = async ({ service }: Bench): Promise<Notification[]> =>
  (await service.listNotifications({}, caller)).notificationList;

const polls = async (bench: Bench, id: number, times: number): Promise<void> => {
  for (let read = 0; read < times; read += 1) await bench.poll(id);
};

test("a notification names the rule that made it, and no other", async () => {
  const bench = await openBench();
  for (const key of ["rule:7:0:all", "rule:8:guard", "system:rule:9:x", null])
    bench.store.notifications.raise(newNotification({ key }));
  expect((await list(bench)).map(({ ruleId }) => ruleId)).toEqual([null, null, 8, 7]);
});

test("a notification gives its texts by code, also after a restart; what a rule says has none", async () => {
  const bench = await openBench({ rigs: [rig] });
  const id = await bench.add(bench.rig(0).address);
  bench.store.notifications.raise(newNotification({ title: "Own words" }));
  bench.rig(0).powerOff();
  await polls(bench, id, 8);
  await bench.restart();
  const [open, own] = await list(bench);
  const at = bench.rig(0).address;
  expect(open?.message).toBe(`Cannot be reached: ${at}: connection refused, nothing listens there`);
  expect(open?.coded).toEqual({
    title: { code: "notices.disconnected.title", values: {} },
    message: { code: "notices.disconnected.message", values: { why: { code: "link.ECONNREFUSED", values: { at } } } },
  });
  expect(own).toMatchObject({ title: "Own words", coded: { title: null, message: null } });
});

describe("a rig that goes away", () => {
  test("is one open notification, which is closed once it answers", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address, { name: "garage" });
    bench.rig(0).powerOff();
    await polls(bench, id, 8);
    const { uid } = await bench.get(id);
    const [open] = await list(bench);
    expect(open).toMatchObject({ title: "Disconnected", minerId: id, uid, severity: "warning", isWarning: true });
    expect(open).toMatchObject({ count: 1, closedUtc: null, lastUtc: open?.timeUtc });
    await bench.rig(0).powerOn();
    await bench.poll(id);
    const closed = await list(bench);
    expect(closed).toMatchObject([{ id: open?.id, isAcknowledged: false, closedUtc: expect.stringMatching(/Z$/) }]);
    bench.rig(0).powerOff();
    await polls(bench, id, 3);
    expect((await list(bench)).map(({ closedUtc }) => closedUtc === null)).toEqual([true, false]);
  });

  test("is not reported again by the next run of the service, which closes it", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address);
    bench.rig(0).powerOff();
    await polls(bench, id, 3);
    await bench.restart();
    await polls(bench, id, 4);
    expect(await list(bench)).toMatchObject([{ count: 1, closedUtc: null }]);
    await bench.rig(0).powerOn();
    await bench.restart();
    await bench.poll(id);
    expect(await list(bench)).toMatchObject([{ count: 1, closedUtc: expect.any(String) }]);
  });

  test("is closed when the miner is removed", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address);
    bench.rig(0).powerOff();
    await polls(bench, id, 3);
    await bench.service.deleteMiner({ id }, caller);
    expect(await list(bench)).toMatchObject([{ minerId: id, closedUtc: expect.any(String) }]);
  });

  test("is an event with the same id when it begins and when it is over", async () => {
    const bench = await openBench({ rigs: [rig] });
    const id = await bench.add(bench.rig(0).address);
    const ending = new AbortController();
    const seen: Extract<ServiceEvent, { type: "notification" }>["data"][] = [];
    const watching = (async () => {
      for await (const event of bench.service.watchEvents({}, caller, ending.signal))
        if (event.type === "notification") seen.push(event.data);
    })();
    bench.rig(0).powerOff();
    await polls(bench, id, 3);
    await until(() => seen.length === 1, "the notification");
    await bench.rig(0).powerOn();
    await bench.poll(id);
    await until(() => seen.length === 2, "its closing");
    ending.abort();
    await watching;
    expect(seen.map(({ closedUtc }) => closedUtc === null)).toEqual([true, false]);
    expect(new Set(seen.map((each) => each.id)).size).toBe(1);
  });
});

test("a rig at the wrong address is closed once the right one answers", async () => {
  const bench = await openBench({
    rigs: [
      { kind: "axeos", warm: true },
      { kind: "axeos", warm: true },
    ],
  });
  const id = await bench.add(bench.rig(0).address);
  await bench.service.changeMiner({ id, address: bench.rig(1).address }, caller);
  await bench.poll(id);
  expect(await list(bench)).toMatchObject([{ title: "Not taken in", closedUtc: null }]);
  await bench.service.changeMiner({ id, address: bench.rig(0).address }, caller);
  await bench.poll(id);
  expect(await list(bench)).toMatchObject([{ title: "Not taken in", closedUtc: expect.any(String) }]);
});

describe("stored notifications", () => {
  const warning = newNotification({ key: "k", severity: "warning", message: "first" });

  test("count a repeat while they are open, with the newest message and without a new id", async () => {
    let now = 1_000_000;
    const { notifications, close } = await openStore({ file: ":memory:", now: () => now });
    const first = notifications.raise(warning);
    now += 60_000;
    const again = notifications.raise({ ...warning, message: "again", severity: "critical" });
    expect(again).toMatchObject({ id: first?.id, time: 1_000_000, last: 1_060_000, count: 2, message: "again" });
    expect(again?.severity).toBe("critical");
    notifications.close("k");
    expect(notifications.raise(warning)).toMatchObject({ id: (first?.id ?? 0) + 1, count: 1 });
    expect(notifications.close("unknown")).toBeUndefined();
    await close();
  });

  test("that are cleared while they are open come back only after they were closed", async () => {
    const { notifications, close } = await openStore({ file: ":memory:", now: () => 0 });
    notifications.raise(warning);
    await notifications.clear("all");
    expect(notifications.raise(warning)).toBeNull();
    notifications.close("k");
    expect(notifications.raise(warning)).toMatchObject({ count: 1 });
    notifications.raise(newNotification({ key: "best" }));
    await notifications.clear("all");
    expect(notifications.raise(newNotification({ key: "best" }))).toMatchObject({ count: 1 });
    await close();
  });

  test("that are closed are dropped after 30 days, open ones never", async () => {
    let now = 1_000_000;
    const store = await openStore({ file: ":memory:", now: () => now });
    store.notifications.raise(warning);
    store.notifications.raise({ ...warning, key: "other" });
    store.notifications.close("k");
    now += closedNotificationsKeptMs - 1;
    expect(store.notifications.list()).toHaveLength(2);
    now += 3_600_001;
    expect(store.notifications.list().map(({ key }) => key)).toEqual(["other"]);
    await store.close();
  });
});
