import { afterEach, expect, test } from "@jest/globals";
import type { Entry } from "../../../src/service/miners/miner-entries.ts";
import { noticeKeys } from "../../../src/service/miners/miner-notices.ts";
import { Outages } from "../../../src/service/miners/outages.ts";
import { onTestFinished } from "../../finished.ts";
import { until } from "../../until.ts";
import { entryOf } from "../automation/rule-bench.ts";
import { caller, closeBenches, openBench } from "../bench.ts";
import { openDouble } from "./doubles.ts";
import { offline, openOutboxBench } from "./outbox-bench.ts";

afterEach(closeBenches);

/** 1,000 rigs at two sites over the store and the outbox, with a phone that hears. */
async function openSites() {
  const { heard, url } = await openDouble();
  const entries = new Map<number, Entry>();
  const bench = await openOutboxBench([{ type: "ntfy", topic: "t", url }], (key, id) => {
    const entry = entries.get(id);
    return entry !== undefined && key === noticeKeys.disconnected(id) && outages.covers(entry);
  });
  const { store, notices, clock } = bench;
  for (let id = 1; id <= 1_000; id += 1) {
    const { facts, rig } = entryOf(id);
    const site = id <= 600 ? "North" : "South";
    entries.set(id, { facts: { ...facts, location: { ...facts.location, site } }, rig });
  }
  const stateOf = (id: number, state: object): void => {
    const entry = entries.get(id);
    if (entry !== undefined) Object.assign(entry.rig, { state: { ...entry.rig.state, ...state } });
  };
  const open = () => {
    const outages = new Outages({
      entries: () => entries.values(),
      store,
      notices,
      now: () => clock.now,
      reportAbsence: ({ rig }) => notices.raise(offline(rig.id)),
    });
    outages.start();
    return outages;
  };
  let outages = open();
  const entry = (id: number): Entry => entries.get(id) ?? entryOf(id);
  return {
    bench,
    entries,
    restart: () => {
      for (const id of entries.keys()) stateOf(id, { at: null, missed: 0 });
      outages = open();
    },
    /** A read of each of these rigs: all answer, or none. */
    read: (ids: readonly number[], answers: boolean): void => {
      for (const id of ids) {
        const { missed, at } = entry(id).rig.state;
        const isBack = answers && (missed > 0 || at === null);
        stateOf(id, answers ? { missed: 0, at: clock.now } : { missed: Math.min(3, missed + 1) });
        if (isBack) notices.close(noticeKeys.disconnected(id), "It answers again");
        if (!answers && missed === 2) {
          outages.gone(entry(id));
          notices.raise(offline(id));
        }
        outages.read(entry(id), isBack);
      }
    },
    open: () =>
      store.notifications
        .list()
        .filter(({ closed }) => closed === null)
        .map(({ title, message }) => `${title}: ${message}`),
    titles: () => heard.map(({ body }) => JSON.parse(body).title),
  };
}

const range = (first: number, last: number): number[] =>
  Array.from({ length: last - first + 1 }, (_, index) => first + index);

test("600 of 1,000 rigs that go away at once are one notification; those that stay away have their own when it is over", async () => {
  const { bench, read, open, titles } = await openSites();
  read(range(1, 1_000), true);
  for (let round = 0; round < 4; round += 1) {
    await bench.pass(10);
    read(range(1, 600), false);
    read(range(601, 1_000), true);
  }
  const outage = "Site North offline: 600 of 600 rigs do not answer. Check the network and the power there";
  expect(open()).toEqual([outage]);
  await bench.pass(30);
  // One of the other site is its own.
  for (let round = 0; round < 3; round += 1) read([700], false);
  expect(open()).toEqual([expect.stringMatching(/^Disconnected/), outage]);
  read([700], true);

  // They come back little by little, and 20 do not.
  for (let last = 100; last <= 500; last += 100) {
    read(range(last - 99, last), true);
    await bench.pass(60);
    expect(open()).toEqual([outage]);
  }
  read(range(501, 580), true);
  await bench.pass(10);
  read(range(581, 600), false);
  expect(open()).toHaveLength(20);
  expect(open().every((text) => text === "Disconnected: Cannot be reached: no answer")).toBe(true);
  for (let turn = 0; turn < 4; turn += 1) await bench.pass(60);
  expect(titles()).toEqual([
    "Site North offline",
    expect.stringMatching(/Disconnected/),
    expect.stringMatching(/^(22|21) notifications$/),
  ]);
});

test("after a restart the notification of a site stays open until its rigs are read", async () => {
  const { bench, read, open, restart } = await openSites();
  read(range(1, 1_000), true);
  for (let round = 0; round < 3; round += 1) read(range(1, 600), false);
  restart();
  await bench.pass(10);
  read(range(601, 1_000), true);
  await bench.pass(10);
  for (let round = 0; round < 3; round += 1) read(range(1, 600), false);
  expect(open()).toEqual([expect.stringMatching(/^Site North offline/)]);
  read(range(1, 600), true);
  await bench.pass(10);
  read([1], true);
  expect(open()).toEqual([]);
});

test("rigs that were off long before are no outage", async () => {
  const { bench, read, open } = await openSites();
  read(range(1, 1_000), true);
  for (const id of range(1, 299)) {
    await bench.pass(10);
    for (let round = 0; round < 3; round += 1) read([id], false);
  }
  read(range(300, 1_000), true);
  await bench.pass(1200);
  read(range(300, 1_000), true);
  for (let round = 0; round < 3; round += 1) read([300], false);
  expect(open()).toHaveLength(300);
  expect(open().every((text) => text.startsWith("Disconnected"))).toBe(true);
});

test("a group whose rigs lose their power is one notification for users who see it, and over when they are back", async () => {
  const { heard, url } = await openDouble();
  const clock = { now: Date.parse("2026-03-01T12:00:00Z") };
  const turns: (() => Promise<void>)[] = [];
  const bench = await openBench({
    rigs: Array.from({ length: 8 }, () => ({ kind: "cgminer" as const, warm: true })),
    clock: () => clock.now,
    config: {
      groups: [{ name: "Barn" }, { name: "House" }],
      channels: [{ key: "phone", type: "ntfy", url, topic: "farm", groups: ["Barn"] }],
    },
    repeat: (work) => {
      turns.push(work);
      return () => undefined;
    },
  });
  const { service } = bench;
  const ids: number[] = [];
  for (const [index, rig] of bench.farm.rigs.entries())
    ids.push(await bench.add(rig.address, { group: index < 6 ? "Barn" : "House" }));
  const inBarn = ids.slice(0, 6);
  const pollAll = async () => {
    for (const id of ids) await bench.poll(id);
  };
  const titles = async (asked = caller) =>
    (await service.listNotifications({}, asked)).notificationList
      .filter(({ closedUtc, title }) => closedUtc === null && title !== "New best share")
      .map(({ title }) => title);
  const pass = async (seconds: number) => {
    clock.now += seconds * 1000;
    for (const turn of turns) await turn();
  };
  await pollAll();
  for (const index of inBarn.keys()) bench.rig(index).powerOff();
  for (let round = 0; round < 4; round += 1) await pollAll();
  expect(await titles()).toEqual(["Group Barn offline"]);
  const groupIds = (await service.listGroups({}, caller)).map(({ id }) => id);
  const users = await Promise.all(
    groupIds.map((id) => service.saveUser({ id: 0, name: `user ${id}`, privilege: "view", groups: [id] }, caller)),
  );
  expect(await Promise.all(users.map(({ id }) => titles({ ...caller, userId: id })))).toEqual([
    ["Group Barn offline"],
    [],
  ]);
  const { notificationList } = await service.listNotifications({}, caller);
  const outage = notificationList.find(({ title }) => title === "Group Barn offline")?.id ?? 0;
  const ended = new AbortController();
  onTestFinished(() => ended.abort());
  const events: string[][] = users.map(() => []);
  for (const [index, { id }] of users.entries())
    void (async () => {
      const types = ["notification", "notification-acknowledged"] as const;
      for await (const event of service.watchEvents({ types: [...types] }, { ...caller, userId: id }, ended.signal))
        if ("ids" in event.data ? event.data.ids.includes(outage) : "id" in event.data && event.data.id === outage)
          events[index]?.push(event.type);
    })();
  await service.allNotificationsAction({ action: "ack_all" }, caller);
  await pass(30);
  expect(heard.map(({ body }) => JSON.parse(body).title)).toEqual(["Group Barn offline"]);
  for (const index of inBarn.keys()) await bench.rig(index).powerOn();
  await pollAll();
  await pass(10);
  await pollAll();
  expect(await titles()).toEqual([]);
  await until(() => events[0]?.length === 2, "the user who sees Barn to hear of its end");
  expect(events).toEqual([["notification-acknowledged", "notification"], []]);
  await pass(30);
  expect(heard.map(({ body }) => JSON.parse(body).title)).toEqual(["Group Barn offline", "Group Barn offline – over"]);
});
