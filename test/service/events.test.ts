import { setImmediate } from "node:timers/promises";
import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { RigbridgeError } from "../../src/contract/problems.ts";
import type { Command, Notification, Summary } from "../../src/contract/resources.ts";
import type { Caller } from "../../src/contract/service.ts";
import type { AnyEvent, CurrentMiner } from "../../src/service/events/event-ring.ts";
import { type EventLimits, Events, eventLimits } from "../../src/service/events/events.ts";
import type { EventView } from "../../src/service/events/subscriber.ts";
import { AccessBook } from "../../src/service/users/access.ts";
import type { Store } from "../../src/store/index.ts";
import { openStore } from "../any-store.ts";
import { off } from "../homebridge/miners.ts";
import { addedFields } from "../notification-rows.ts";
import { until, within } from "../until.ts";
import { closeBenches, openBench } from "./bench.ts";

const everybody: Caller = { actor: "test" };
const start = 1_800_000_000_000;

const notification = (id: number): Notification => ({
  id,
  minerId: null,
  minerName: "rig",
  title: "Disconnected",
  timeUtc: "2026-01-31T12:00:00.000Z",
  time: "2026-01-31 12:00:00",
  source: "System",
  message: "Cannot be reached",
  isAcknowledged: false,
  isWarning: true,
  ...addedFields,
});
const command = (id: number, minerId: number): Command => ({
  id,
  minerId,
  minerName: "rig",
  actor: "test",
  action: "reboot",
  parameters: {},
  state: "sent",
  message: "",
  time: "2026-01-31T12:00:00.000Z",
  updated: "2026-01-31T12:00:00.000Z",
});
const summary = (runningCount: number, updated: string): Summary => ({
  runningCount,
  totalCount: 3,
  gpuCount: 0,
  pgaCount: 0,
  asicCount: 3,
  exchangeRate: "$0.00",
  revenuePerDay: "$0.00",
  revenuePerMonth: "$0.00",
  coinList: [],
  algorithmList: [],
  metaData: { updated, edition: "", version: "", infoList: [], warningList: [] },
});

/** A miner that is told apart from its other versions by `step`. */
const minerAt = (id: number, groupId: number, step = 0) => ({
  ...off({ id, uid: `uid-${id}`, groupId, canStop: false }),
  step,
});

/** Where miners stand, and what a service would tell of them. */
interface Farm {
  readonly store: Store;
  readonly events: Events;
  readonly view: EventView;
  readonly groups: Map<number, number>;
  readonly miners: Map<number, CurrentMiner>;
  /** What the summary says, and for whom it was made. */
  running: number;
  readonly summaries: Caller[];
  tell(id: number, step?: number): CurrentMiner;
  move(id: number, groupId: number): void;
  remove(id: number): void;
  user(name: string, groups: number[] | null): Promise<number>;
}

const open: (() => Promise<void>)[] = [];
const ending = new AbortController();
afterEach(async () => {
  for (const close of open.splice(0)) await close();
});

async function openFarm(limits: Partial<EventLimits> = {}): Promise<Farm> {
  const store = await openStore({ file: ":memory:", now: () => start });
  const accessBook = new AccessBook(store);
  const groups = new Map<number, number>();
  const miners = new Map<number, CurrentMiner>();
  const summaries: Caller[] = [];
  const farm: Farm = {
    store,
    groups,
    miners,
    running: 0,
    summaries,
    events: new Events({
      now: () => start,
      limits: { ...eventLimits, intervalMs: 0, summaryIntervalMs: 5, ...limits },
    }),
    view: {
      accessOf: (caller) => accessBook.of(caller),
      sees: (id, access) => access.seesGroup(groups.get(id) ?? -1),
      seesNotification: ({ minerId }, access) => minerId !== null && access.seesGroup(groups.get(minerId) ?? -1),
      current: (id) => miners.get(id),
      row: () => undefined,
      summaryFor: async (caller) => {
        summaries.push(caller);
        return summary(farm.running, `${summaries.length}`);
      },
    },
    tell: (id: number, step = 0) => {
      const groupId = groups.get(id) ?? 0;
      const miner = minerAt(id, groupId, step);
      const shown = { miner, json: Buffer.from(JSON.stringify(miner)) };
      miners.set(id, shown);
      farm.events.miner(miner, groups.has(id) ? groupId : null);
      groups.set(id, groupId);
      return shown;
    },
    move: (id: number, groupId: number) => {
      const before = groups.get(id) ?? 0;
      const miner = minerAt(id, groupId);
      groups.set(id, groupId);
      miners.set(id, { miner, json: Buffer.from(JSON.stringify(miner)) });
      farm.events.miner(miner, before);
    },
    remove: (id: number) => {
      farm.events.minerRemoved({ id, uid: `uid-${id}`, groupId: groups.get(id) ?? 0 });
      groups.delete(id);
      miners.delete(id);
    },
    user: async (name: string, seen: number[] | null) =>
      (await store.users.add({ name, privilege: "view", groups: seen, pools: null, keyHash: null })).id,
  };
  open.push(async () => {
    farm.events.close();
    await store.close();
  });
  return farm;
}

/** What a listener has seen, but for summaries; it listens from the moment of the call. */
interface Seen {
  readonly events: AnyEvent[];
  readonly summaries: number[];
  /** In short: `type id`, with the miner's step. */
  readonly short: string[];
  readonly last: number;
  failure: unknown;
  done: boolean;
  stop(): Promise<void>;
}

async function listen(farm: Farm, caller: Caller = everybody, after?: number): Promise<Seen> {
  const leaving = new AbortController();
  const stream = farm.events.watch(farm.view, { after }, caller, AbortSignal.any([leaving.signal, ending.signal]));
  const seen: Seen = {
    events: [],
    summaries: [],
    get short() {
      return seen.events.map(short);
    },
    get last() {
      return seen.events.at(-1)?.id ?? 0;
    },
    failure: undefined,
    done: false,
    stop: async () => {
      leaving.abort();
      await within(finished, "the left stream to end");
    },
  };
  const run = async (): Promise<void> => {
    try {
      for await (const event of stream) {
        if (event.type === "summary") seen.summaries.push(event.data.runningCount);
        else seen.events.push(event);
      }
    } catch (error) {
      seen.failure = error;
    }
    seen.done = true;
  };
  const finished = run();
  open.push(async () => {
    await seen.stop();
  });
  await setImmediate();
  return seen;
}

function short(event: AnyEvent): string {
  const { type, data } = event;
  if (type === "miner") return `miner ${data.id}${"step" in data ? `:${data.step}` : ""}`;
  if (type === "miner-removed") return `miner-removed ${data.id} ${data.uid}`;
  if ("ids" in data) return `${type} ${data.ids}`;
  return "id" in data ? `${type} ${data.id}` : type;
}

const next = <T, R>(stream: AsyncGenerator<T, R>) => within(stream.next(), "the next events of the stream");

/** Where one who begins to listen now stands. */
async function newest(farm: Farm): Promise<number> {
  const stream = farm.events.encoded(farm.view, {}, everybody, ending.signal);
  const { value } = await next(stream);
  await stream.return();
  return value?.at(-1)?.id ?? Number.NaN;
}

const codeOf = (error: unknown): string => (error instanceof RigbridgeError ? error.code : String(error));

describe("a subscriber", () => {
  test("gets what happens from then on, in order, under ids that count up", async () => {
    const farm = await openFarm();
    farm.tell(1, 1);
    const seen = await listen(farm);
    farm.tell(1, 2);
    farm.events.notification(notification(7), { minerId: 1, key: null });
    farm.events.command(command(9, 1));
    farm.events.minerRemoved({ id: 2, uid: null, groupId: 0 });
    await until(() => seen.events.length === 4, "all four events to arrive");
    expect(seen.short).toEqual(["miner 1:2", "notification 7", "command 9", "miner-removed 2 null"]);
    const ids = seen.events.map(({ id }) => id);
    expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
    expect(ids[0]).toBeGreaterThan(start);
    expect(String(ids[0])).toMatch(/^\d{15}$/);
  });

  test("shares the bytes that were made once", async () => {
    const farm = await openFarm();
    const takes = [1, 2].map(() => farm.events.encoded(farm.view, {}, everybody, ending.signal));
    const { json } = farm.tell(5);
    for (const take of takes) {
      const { value } = await next(take);
      expect(value?.[0]?.json).toBe(json);
      await take.return();
    }
  });

  test("in the same process gets the object, and so does one that resumes much later", async () => {
    const farm = await openFarm();
    const seen = await listen(farm);
    const { miner } = farm.tell(1, 1);
    await until(() => seen.events.length === 1, "the event to arrive");
    const [first] = seen.events;
    expect(first?.data).toBe(miner);
    for (let id = 2; id < 302; id += 1) farm.tell(id);
    const later = await listen(farm, everybody, (first?.id ?? 0) - 1);
    await until(() => later.events.length > 0, "the kept event to arrive");
    expect(later.events[0]).toEqual(first);
    expect(later.events[0]?.data).toBe(miner);
  });

  test("gets a miner that changed several times meanwhile once, as it is then", async () => {
    const farm = await openFarm();
    const seen = await listen(farm);
    for (let step = 1; step <= 5; step += 1) for (const id of [1, 2]) farm.tell(id, step);
    await until(() => seen.events.length === 2, "both miners to arrive");
    farm.tell(3);
    await until(() => seen.short.at(-1) === "miner 3:0", "the third miner to arrive");
    expect(seen.short).toEqual(["miner 1:5", "miner 2:5", "miner 3:0"]);
  });

  test("has nothing made for it that it does not take", async () => {
    const farm = await openFarm();
    const made: string[] = [];
    const lazily = (id: number): CurrentMiner => ({
      get miner() {
        made.push(`object ${id}`);
        return minerAt(id, 0);
      },
      get json() {
        made.push(`bytes ${id}`);
        return Buffer.from(JSON.stringify(minerAt(id, 0)));
      },
    });
    for (const id of [1, 2]) farm.tell(id);
    expect(made).toEqual([]);
    const [inProcess, other] = [await listen(farm), await listen(farm)];
    farm.tell(3);
    farm.miners.set(3, lazily(3));
    await until(() => inProcess.events.length === 1 && other.events.length === 1, "the miner to arrive at both");
    expect(made).toEqual(["object 3"]);
    const overHttp = farm.events.encoded(farm.view, { after: inProcess.last - 1 }, everybody, ending.signal);
    await next(overHttp);
    await overHttp.return();
    expect(made).toEqual(["object 3", "bytes 3"]);
  });

  test("is removed when it is aborted, stops reading, or the service closes", async () => {
    const farm = await openFarm();
    const [aborted, closed] = [await listen(farm), await listen(farm)];
    const left = farm.events.encoded(farm.view, {}, everybody, ending.signal);
    farm.tell(1);
    await next(left);
    expect(farm.events.subscribers).toBe(3);
    await left.return();
    await aborted.stop();
    expect([farm.events.subscribers, aborted.failure]).toEqual([1, undefined]);
    farm.events.close();
    await until(() => closed.done, "the other subscriber's stream to end");
    expect([farm.events.subscribers, closed.failure]).toEqual([0, undefined]);
    const late = await listen(farm);
    expect(late.done).toBe(true);
  });
});

describe("a subscriber that resumes", () => {
  test("misses nothing and gets nothing twice, wherever it left", async () => {
    const visits = fc.array(fc.tuple(fc.integer({ min: 1, max: 40 }), fc.integer({ min: 0, max: 40 })), {
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(visits, fc.integer({ min: 1, max: 64 }), async (bursts, batch) => {
        const farm = await openFarm({ batch });
        let last = await newest(farm);
        const stayed = await listen(farm);
        const got: number[] = [];
        let miners = 1;
        for (const [burst, kept] of bursts) {
          for (let told = 0; told < burst; told += 1, miners += 1) farm.tell(miners);
          const visit = farm.events.encoded(farm.view, { after: last }, everybody, ending.signal);
          const ids = (await next(visit)).value?.map(({ id }) => id) ?? [];
          await visit.return();
          got.push(...ids.slice(0, kept));
          last = got.at(-1) ?? last;
        }
        farm.tell(0);
        const rest = await listen(farm, everybody, last);
        await until(
          () => rest.short.at(-1) === "miner 0:0" && stayed.short.at(-1) === "miner 0:0",
          "both subscribers to hear of miner 0",
        );
        expect([...got, ...rest.events.map(({ id }) => id)]).toEqual(stayed.events.map(({ id }) => id));
        await rest.stop();
        await stayed.stop();
      }),
      { numRuns: 50 },
    );
  });

  test.each([
    ["of an earlier run", (first: number) => first - 1_000_000],
    ["that has left the ring", (first: number) => first - 1],
    ["of the future", (first: number) => first + 1_000_000],
    ["0", () => 0],
  ])("behind an event %s starts anew", async (_, after) => {
    // A summary takes a place among them too.
    const farm = await openFarm({ kept: 10, summaryIntervalMs: 3_600_000 });
    const seen = await listen(farm);
    for (let step = 0; step < 15; step += 1) {
      farm.tell(100 + step);
      await until(() => seen.events.length === step + 1, "the miner's change to be told");
    }
    const known = (seen.events.at(-10)?.id ?? 0) - 1;
    const [whole, resumed] = [await listen(farm, everybody, known), await listen(farm, everybody, after(known))];
    await until(
      () => whole.events.length === 10 && resumed.events.length === 1,
      "the kept events and the reset to arrive",
    );
    farm.tell(2, 99);
    await until(() => resumed.events.length === 2, "the change of miner 2 to arrive");
    expect(resumed.short).toEqual(["reset", "miner 2:99"]);
    expect(resumed.events[0]?.id).toBe(seen.events[14]?.id);
    await until(() => whole.events.length === 11, "the other subscriber to hear it too");
    expect(whole.events.slice(0, 10)).toEqual(seen.events.slice(5, 15));
  });

  test("over the whole ring is not cut while it takes what comes", async () => {
    const farm = await openFarm({ kept: 1_000, lag: 50, batch: 10 });
    const after = await newest(farm);
    let miners = 0;
    const tellSome = (some: number): void => {
      for (let told = 0; told < some; told += 1, miners += 1) farm.tell(miners);
    };
    tellSome(900);
    const stream = farm.events.encoded(farm.view, { after }, everybody, ending.signal);
    const ids: number[] = [];
    while (ids.length < 1_300) {
      // Five come while ten are taken, and whoever stands still is looked at in between.
      tellSome(5);
      await new Promise((resolve) => setTimeout(resolve, 2));
      const { value = [] } = await next(stream);
      ids.push(...value.map(({ id }) => id));
    }
    expect(ids).toEqual(ids.map((_, index) => after + 1 + index));
    await stream.return();
  });
});

/** What somebody knows of a farm who has taken these events: the step of each miner. */
function replayed(known: Map<number, number>, events: readonly AnyEvent[]): Map<number, number> {
  for (const { type, data } of events) {
    if (type === "miner" && "step" in data && typeof data.step === "number") known.set(data.id, data.step);
    else if (type === "miner-removed") known.delete(data.id);
  }
  return known;
}

/** All that is new to a subscriber who visits. */
async function takenBy(farm: Farm, who: Caller, after: number | undefined): Promise<AnyEvent[]> {
  const stream = farm.events.encoded(farm.view, { after }, who, ending.signal);
  farm.tell(99);
  const { value } = await next(stream);
  await stream.return();
  return value?.map(({ event }) => event) ?? [];
}

describe("whoever resumes after Last-Event-ID", () => {
  test("gets every miner that changed once, as it is, and of a removed one only the removal", async () => {
    const farm = await openFarm();
    const seen = await listen(farm);
    for (const id of [1, 2, 3, 4]) farm.tell(id, 1);
    await until(() => seen.events.length === 4, "all four miners to arrive");
    await seen.stop();
    for (const step of [2, 3]) for (const id of [2, 3, 4]) farm.tell(id, step);
    farm.remove(3);
    farm.tell(4, 4);
    farm.tell(5, 1);
    farm.remove(5);
    const resumed = await listen(farm, everybody, seen.last);
    await until(() => resumed.events.length >= 4, "what was missed to arrive");
    expect(resumed.short).toEqual(["miner 2:3", "miner-removed 3 uid-3", "miner 4:4", "miner-removed 5 uid-5"]);
    const ids = resumed.events.map(({ id }) => id);
    expect(ids).toEqual(ids.toSorted((a, b) => a - b));
    expect(ids[0]).toBeGreaterThan(seen.last);
  });

  test("knows the farm as it is, wherever they left and whatever they see of it", async () => {
    const op = fc.oneof(
      { weight: 6, arbitrary: fc.record({ change: fc.integer({ min: 1, max: 6 }) }) },
      { weight: 2, arbitrary: fc.record({ move: fc.integer({ min: 1, max: 6 }), to: fc.integer({ min: 0, max: 2 }) }) },
      { weight: 1, arbitrary: fc.record({ remove: fc.integer({ min: 1, max: 6 }) }) },
    );
    const visits = fc.array(fc.tuple(fc.array(op, { maxLength: 20 }), fc.integer({ min: 0, max: 20 })), {
      minLength: 1,
      maxLength: 6,
    });
    await fc.assert(
      fc.asyncProperty(visits, async (rounds) => {
        const farm = await openFarm({ summaryIntervalMs: 3_600_000 });
        const groups = [0];
        for (const name of ["north", "south"]) groups.push((await farm.store.groups.add({ name, parentId: 0 })).id);
        const anna: Caller = { actor: "x", userId: await farm.user("anna", groups.slice(1, 2)) };
        // All see this one, so that there is always something to take.
        farm.groups.set(99, groups[1] ?? 0);
        const people = [everybody, anna].map((who) => ({ who, last: 0, known: new Map<number, number>() }));
        for (const person of people) person.last = (await takenBy(farm, person.who, undefined)).at(-1)?.id ?? 0;
        let step = 0;
        for (const [ops, kept] of [...rounds, [[], Number.POSITIVE_INFINITY] as const]) {
          for (const each of ops) {
            step += 1;
            if ("change" in each) farm.tell(each.change, step);
            else if ("remove" in each) farm.remove(each.remove);
            else if (farm.groups.has(each.move)) farm.move(each.move, groups[each.to] ?? 0);
          }
          for (const person of people) {
            const missed = await takenBy(farm, person.who, person.last);
            const taken = missed.slice(0, kept);
            const miners = taken.flatMap(({ type, data }) => (type === "miner" ? [data.id] : []));
            expect(miners).toEqual([...new Set(miners)]);
            replayed(person.known, taken);
            person.last = taken.at(-1)?.id ?? person.last;
          }
        }
        for (const { who, known } of people) {
          const access = farm.view.accessOf(who);
          const seen = [...farm.miners].filter(([id]) => farm.view.sees(id, access));
          expect(known).toEqual(new Map(seen.map(([id, { miner }]) => [id, Object(miner).step])));
        }
      }),
      { numRuns: 100 },
    );
  });
});

describe("a subscriber that lags", () => {
  test("is cut, and resumes without loss", async () => {
    const farm = await openFarm({ lag: 20, batch: 8 });
    const stayed = await listen(farm);
    const slow = farm.events.encoded(farm.view, {}, everybody, ending.signal);
    farm.tell(1, 0);
    const taken = [...((await next(slow)).value ?? [])];
    for (let id = 2; id <= 21; id += 1) farm.tell(id);
    await until(() => stayed.events.length === 21, "the quick subscriber to hear 21 events");
    taken.push(...((await next(slow)).value ?? []));
    for (let id = 22; id <= 61; id += 1) farm.tell(id);
    await until(() => stayed.events.length === 61, "the quick subscriber to hear 61 events");
    const cut = await next(slow).catch(codeOf);
    expect(cut).toBe("service.not-ready");
    const ids = taken.filter(({ type }) => type === "miner").map(({ id }) => id);
    const resumed = await listen(farm, everybody, ids.at(-1));
    await until(() => resumed.last === stayed.last, "the resumed subscriber to catch up");
    expect([...ids, ...resumed.events.map(({ id }) => id)]).toEqual(stayed.events.map(({ id }) => id));
  });

  test("is not cut for what a reset has made void", async () => {
    const farm = await openFarm({ lag: 20 });
    const slow = farm.events.encoded(farm.view, {}, everybody, ending.signal);
    farm.tell(1, 0);
    await next(slow);
    for (let id = 3; id <= 52; id += 1) farm.tell(id);
    farm.events.reset();
    const other = await listen(farm);
    farm.tell(2, 7);
    await until(() => other.events.length === 1, "the other subscriber to hear of miner 2");
    const { value } = await next(slow);
    expect(value?.map(({ type }) => type)).toEqual(expect.arrayContaining(["reset"]));
    await slow.return();
  });
});

describe("a user", () => {
  test("sees only the miners of their groups, and how they come and go", async () => {
    const farm = await openFarm();
    const { id: north } = await farm.store.groups.add({ name: "north", parentId: 0 });
    const { id: south } = await farm.store.groups.add({ name: "south", parentId: 0 });
    const [anna, bert] = [await farm.user("anna", [north]), await farm.user("bert", [south])];
    farm.groups.set(1, north).set(2, south);
    const [all, a, b] = [
      await listen(farm),
      await listen(farm, { actor: "x", userId: anna }),
      await listen(farm, { actor: "x", userId: bert }),
    ];
    farm.tell(1, 1);
    farm.tell(2, 1);
    farm.events.command(command(4, 2));
    farm.events.notification(notification(5), { minerId: 1, key: null });
    farm.events.notification(notification(6), { minerId: null, key: null });
    await until(() => a.events.length === 2, "Anna to hear of her miner");
    farm.move(1, south);
    await until(() => b.events.length === 3, "Bert to hear of the miner that came");
    farm.remove(1);
    await until(() => all.events.length === 7, "the unrestricted subscriber to hear all events");
    expect(a.short).toEqual(["miner 1:1", "notification 5", "miner-removed 1 uid-1"]);
    expect(b.short).toEqual(["miner 2:1", "command 4", "miner 1:0", "miner-removed 1 uid-1"]);
    expect(all.short.slice(-2)).toEqual(["miner 1:0", "miner-removed 1 uid-1"]);
  });

  test("is told which of their notifications were handled, and all together in one event", async () => {
    const farm = await openFarm();
    const { id: north } = await farm.store.groups.add({ name: "north", parentId: 0 });
    farm.groups.set(1, north).set(2, 0);
    const [anna, bert] = [await farm.user("anna", [north]), await farm.user("bert", [])];
    const [all, a, b] = [
      await listen(farm),
      await listen(farm, { actor: "x", userId: anna }),
      await listen(farm, { actor: "x", userId: bert }),
    ];
    const some = [1, 2, null].map((minerId, index) => ({ id: 5 + index, minerId, key: null }));
    farm.events.notificationsHandled("acknowledged", some);
    farm.events.notificationsHandled("removed", some);
    farm.events.notificationsHandled("removed", []);
    farm.events.rule({ kind: "rule", id: 3, key: "hot", state: "active" }, anna);
    farm.events.rule({ kind: "schedule", id: 4, key: "night", state: "idle" }, null);
    await until(() => all.events.length === 4 && a.events.length === 3, "both to hear of it");
    expect(all.short).toEqual([
      ...["notification-acknowledged 5,6,7", "notification-removed 5,6,7"],
      ...["rule 3", "rule 4"],
    ]);
    expect(a.short).toEqual(["notification-acknowledged 5", "notification-removed 5", "rule 3"]);
    expect(b.short).toEqual([]);
  });

  test("gets reset when their groups change, or the tree of groups, also while disconnected", async () => {
    const farm = await openFarm();
    const { id: north } = await farm.store.groups.add({ name: "north", parentId: 0 });
    const { id: south } = await farm.store.groups.add({ name: "south", parentId: 0 });
    const caller = { actor: "x", userId: await farm.user("anna", [north]) };
    farm.groups.set(1, south);
    const [seen, all] = [await listen(farm, caller), await listen(farm)];
    await farm.store.users.change(caller.userId, { groups: [south] });
    farm.events.changed();
    await until(() => seen.events.length === 1, "Anna's stream to start anew");
    farm.tell(1, 1);
    await until(() => seen.events.length === 2, "the change of her new miner to arrive");
    expect([seen.short, all.short]).toEqual([["reset", "miner 1:1"], ["miner 1:1"]]);

    await seen.stop();
    await farm.store.groups.change(south, { parentId: north });
    const resumed = await listen(farm, caller, seen.last);
    await until(() => resumed.events.length === 1, "the resumed stream to start anew");
    expect(resumed.short).toEqual(["reset"]);
    await resumed.stop();
    farm.tell(1, 2);
    const again = await listen(farm, caller, resumed.last);
    await until(() => again.events.length === 1, "the change behind the reset to arrive");
    expect(again.short).toEqual(["miner 1:2"]);
  });

  test("who is removed gets no more events", async () => {
    const farm = await openFarm();
    const caller = { actor: "x", userId: await farm.user("anna", null) };
    const seen = await listen(farm, caller);
    await farm.store.users.remove(caller.userId);
    farm.events.changed();
    await until(() => seen.done, "the removed user's stream to end");
    expect([codeOf(seen.failure), farm.events.subscribers]).toEqual(["not.found", 0]);
    expect(() => farm.events.encoded(farm.view, {}, caller, ending.signal)).toThrow("There is no user 1");
  });
});

describe("the summary", () => {
  test("comes first, and again when its figures have changed", async () => {
    const farm = await openFarm();
    farm.tell(1);
    const seen = await listen(farm);
    await until(() => seen.summaries.length === 1, "the first summary to arrive");
    const made = farm.summaries.length;
    farm.tell(1, 2);
    await until(() => farm.summaries.length > made, "another summary to be made");
    await until(() => seen.events.length === 1, "the miner's change to arrive");
    farm.running = 2;
    farm.tell(1, 3);
    await until(() => seen.summaries.length === 2, "the changed summary to arrive");
    expect(seen.summaries).toEqual([0, 2]);
  });

  test("has an id of its own, in order with all other events, behind which one resumes", async () => {
    const farm = await openFarm();
    const anna = await farm.user("anna", null);
    const all: AnyEvent[][] = [[], []];
    const stop = new AbortController();
    const callers = [everybody, { actor: "x", userId: anna }];
    const watching = callers.map(async (caller, index) => {
      for await (const event of farm.events.watch(farm.view, {}, caller, stop.signal)) all[index]?.push(event);
    });
    const of = (type: string) => all.map((events) => events.filter((event) => event.type === type).length);
    for (let step = 1; step <= 5; step += 1) {
      farm.running = step;
      farm.tell(1, step);
      await until(() => of("summary").every((count) => count === step), "the summary to arrive at both subscribers");
      await until(() => of("miner").every((count) => count === step), "the miner's change to arrive at both");
    }
    stop.abort();
    await Promise.all(watching);
    for (const events of all) {
      const ids = events.map(({ id }) => id);
      expect(ids).toEqual([...new Set(ids)].sort((a, b) => a - b));
      const last = events.filter(({ type }) => type === "summary").at(-2);
      const resumed = await listen(farm, everybody, last?.id);
      await until(() => resumed.events.length > 0, "what came behind the summary");
      const behind = events.filter(({ id, type }) => type === "miner" && id > (last?.id ?? 0));
      expect(resumed.events).toEqual(behind);
      await resumed.stop();
    }
  });

  test("comes behind a reset too, under a later id", async () => {
    const farm = await openFarm();
    const stream = farm.events.encoded(farm.view, {}, everybody, ending.signal);
    const taking = next(stream);
    farm.tell(1);
    await taking;
    farm.running = 7;
    const other = await listen(farm);
    farm.events.reset();
    await until(() => other.summaries.includes(7), "the summary to be made");
    const events: { readonly id: number; readonly type: string }[] = [];
    while (!events.some(({ type }) => type === "summary")) events.push(...((await next(stream)).value ?? []));
    expect(events.map(({ type }) => type).filter((type) => type !== "miner")).toEqual(["reset", "summary"]);
    const [reset, summary] = events.filter(({ type }) => type !== "miner");
    expect(summary?.id).toBeGreaterThan(reset?.id ?? Number.POSITIVE_INFINITY);
    await stream.return();
  });

  test("is each user's own, and made once for all users with the same access", async () => {
    // The first is made a fifth of that after the first subscriber: all have come by then, also on a busy machine.
    const farm = await openFarm({ summaryIntervalMs: 10_000 });
    const anna = await farm.user("anna", []);
    const listeners = [
      await listen(farm),
      await listen(farm),
      await listen(farm, { actor: "x", userId: anna }),
      await listen(farm, { actor: "y", userId: anna }),
    ];
    await until(
      () => listeners.every(({ summaries }) => summaries.length === 1),
      "every subscriber's first summary to arrive",
    );
    expect(farm.summaries.map(({ userId }) => userId)).toEqual([undefined, anna]);
  });

  test("is not made without subscribers", async () => {
    const farm = await openFarm();
    const seen = await listen(farm);
    await until(() => seen.summaries.length === 1, "the first summary to arrive");
    await seen.stop();
    const other = await openFarm();
    farm.tell(1);
    const later = await listen(other);
    other.tell(1);
    await until(
      () => later.summaries.length === 1 && later.events.length === 1,
      "the summary and the miner's change to arrive",
    );
    expect(farm.summaries).toHaveLength(1);
  });

  test("that cannot be made ends the stream with the reason", async () => {
    const store = await openStore({ file: ":memory:", now: () => start });
    const accessBook = new AccessBook(store);
    const events = new Events({
      now: () => start,
      limits: { ...eventLimits, summaryIntervalMs: 1 },
    });
    const view: EventView = {
      accessOf: (caller) => accessBook.of(caller),
      sees: () => true,
      seesNotification: () => true,
      current: () => undefined,
      row: () => undefined,
      summaryFor: async () => Promise.reject(new RigbridgeError("internal", "no figures")),
    };
    const stream = events.encoded(view, {}, everybody, ending.signal);
    expect(await next(stream).catch(codeOf)).toBe("internal");
    await store.close();
  });
});

test("a service that keeps few events resets subscribers that resume after older ones", async () => {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }], eventsKept: 2 });
  const id = await bench.add(bench.rig(0).address);
  const first = async (after?: number) => {
    // The first summary comes 200 ms after the subscriber, which may be before the rig has answered.
    const types = ["miner" as const];
    const stream = bench.service.watchEvents({ types, after }, everybody, ending.signal);
    const next = stream[Symbol.asyncIterator]().next();
    await bench.poll(id);
    return (await next).value;
  };
  const seen = await first();
  // One after the other: reads within a few milliseconds are one event.
  for (let events = 0; events < 3; events += 1) await first();
  expect([seen?.type, (await first(seen?.id))?.type]).toEqual(["miner", "reset"]);
  await closeBenches();
});
