import { afterEach, describe, expect, test } from "@jest/globals";
import fc from "fast-check";
import { pino } from "pino";
import { HttpSettings } from "../../src/config/schema.ts";
import { MinerRowsQuery } from "../../src/contract/inputs.ts";
import { minersIn } from "../../src/contract/miners-in.ts";
import { type MinerRow, MinerRowList, requiredColumns, rowColumnNames, rowOf } from "../../src/contract/rows.ts";
import type { Caller, Input } from "../../src/contract/service.ts";
import { startHttpServer } from "../../src/http/index.ts";
import { refusal } from "../errors.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

type Ask = Omit<Input<"listMinerRows">, "view">;

const rows = (bench: Bench, ask: Ask = {}, who: Caller = caller) =>
  bench.service.listMinerRows({ view: "list", ...ask }, who);

/** As HTTP hands it on. */
function sent(bench: Bench, query: Readonly<Record<string, string>>, who: Caller = caller) {
  const input = MinerRowsQuery.parse({ view: "list", ...query });
  const encoded = bench.service.encoded?.("listMinerRows", input, who);
  if (encoded === undefined) throw new Error("the list is not encoded");
  const bytes = Buffer.concat(encoded.chunks);
  expect(bytes).toHaveLength(encoded.length);
  const list: Record<string, unknown> & { version: string; whole: boolean; miners: MinerRow[]; removed: number[] } =
    JSON.parse(bytes.toString());
  return { list, etag: encoded.etag };
}

/** An Antminer, a Bitaxe, and a rig that is off. */
async function openThree(config: Record<string, unknown> = {}) {
  const bench = await openBench({
    rigs: [
      { kind: "cgminer", warm: true },
      { kind: "axeos", warm: true },
    ],
    config: { display: { timeZone: "UTC" }, ...config },
  });
  const ant = await bench.add(bench.rig(0).address, { name: "ant", tags: ["loud"] });
  const bitaxe = await bench.add(bench.rig(1).address, { name: "bitaxe" });
  const { id: off } = await bench.service.addMiner({ address: "127.0.0.1:1", name: "off" }, caller);
  for (let reads = 0; reads < 3; reads += 1) await bench.poll(off);
  return { bench, ant, bitaxe, off };
}

describe("a row", () => {
  test("shows in each column what the whole miner shows", async () => {
    const { bench, bitaxe } = await openThree({
      pools: [{ name: "North", url: "stratum+tcp://pool.example.com:3333", worker: "farm", coin: "BTC" }],
      electricity: { price: 0.1 },
      rates: { btc: 60_000 },
    });
    await bench.act(bitaxe, { action: "stop" });
    const { miners } = await rows(bench, { fields: rowColumnNames });
    const { groupList } = await bench.service.listMiners({}, caller);
    const alarms = (id: number) => miners.find((row) => row.id === id)?.alarms ?? null;
    expect(miners).toEqual(minersIn(groupList).map((miner) => rowOf(miner, alarms(miner.id))));
    expect(miners.map(({ status }) => status)).toEqual(["Mining", "Stopped", "Disconnected"]);
    expect(Object.keys(miners[0] ?? {}).toSorted()).toEqual([...rowColumnNames].toSorted());
  });

  test("has nulls for what is unknown, the time of the last read only once a read has failed, and its alarms", async () => {
    const { bench, bitaxe, off } = await openThree();
    const byId = async () => new Map((await rows(bench)).miners.map((row) => [row.id, row]));
    expect((await byId()).get(off)).toMatchObject({
      uid: null,
      location: null,
      status: "Disconnected",
      hashrate: null,
      power: null,
      temperature: null,
      pool: null,
      coin: null,
      profit: null,
      alarms: 1,
      readAt: null,
    });
    expect((await byId()).get(bitaxe)).toMatchObject({ alarms: 0, readAt: null });
    const { readings } = await bench.get(bitaxe);
    bench.rig(1).powerOff();
    await bench.poll(bitaxe);
    expect((await byId()).get(bitaxe)).toMatchObject({ readAt: readings.at });
  });

  test("is about 250 bytes long", async () => {
    const { bench } = await openThree();
    const { miners } = sent(bench, {}).list;
    for (const row of miners) expect(JSON.stringify(row).length).toBeLessThan(320);
  });
});

describe("the list of rows", () => {
  test("has the usual columns, or the id and the requested ones; filters leave out the others", async () => {
    const { bench, ant, off } = await openThree();
    const all = sent(bench, {}).list;
    expect(all).toMatchObject({ whole: true, removed: [] });
    for (const row of all.miners) expect(Object.keys(row)).toEqual(requiredColumns);
    expect(sent(bench, { tag: "loud", fields: "model,name" }).list.miners).toEqual([
      { id: ant, name: "ant", model: (await bench.get(ant)).hardware },
    ]);
    expect(sent(bench, { status: "Disconnected", fields: "id" }).list.miners).toEqual([{ id: off }]);
    expect(await refusal(rows(bench, { group: "Cellar" }))).toBe("input.invalid group");
  });

  test.each([
    ["fields", "name,statusInfo", "must be one or more fields of a row"],
    ["fields", "name,hashrat", 'did you mean "hashrate"?'],
    ["since", "x".repeat(101), "too long"],
    ["since", "1\n2", "one line"],
  ])("says what is wrong with %s=%s", (parameter, text, words) => {
    const { error } = MinerRowsQuery.safeParse({ view: "list", [parameter]: text });
    expect(error?.issues[0]?.message ?? "").toMatch(words === "too long" ? /100/ : words);
  });

  test("repeats no row whose values are the same, and has those that differ", async () => {
    const { bench, ant, bitaxe } = await openThree();
    const { version } = await rows(bench);
    await bench.service.changeMiner({ id: ant, name: "big ant" }, caller);
    const changed = await rows(bench, { since: version });
    expect(changed).toMatchObject({ whole: false, removed: [], miners: [{ id: ant, name: "big ant" }] });
    await bench.service.changeMiner({ id: ant, name: "big ant" }, caller);
    expect(await rows(bench, { since: changed.version })).toMatchObject({ whole: false, miners: [], removed: [] });
    await bench.service.deleteMiner({ id: bitaxe }, caller);
    expect(await rows(bench, { since: changed.version })).toMatchObject({ miners: [], removed: [bitaxe] });
    expect((await rows(bench, { since: version })).removed).toEqual([bitaxe]);
  });

  test("is sent whole for every version that is not of this request, this user and this run", async () => {
    const { bench } = await openThree();
    const anna = await bench.service.saveUser({ id: 0, name: "anna" }, caller);
    const { version } = await rows(bench);
    const isWhole = async (ask: Ask, who: Caller = caller) => (await rows(bench, ask, who)).whole;
    expect(await isWhole({ since: version })).toBe(false);
    const [run, event, digest] = version.split(".");
    for (const since of [
      "",
      "0",
      "nonsense",
      `${run}.${Number(event) + 1}.${digest}`,
      `${run}.x.${digest}`,
      `${run}..`,
    ])
      expect([since, await isWhole({ since })]).toEqual([since, true]);
    expect(await isWhole({ since: version, status: ["Mining"] })).toBe(true);
    expect(await isWhole({ since: version, fields: ["name"] })).toBe(true);
    expect(await isWhole({ since: version }, { ...caller, userId: anna.id })).toBe(true);
    await bench.restart();
    const after = await rows(bench, { since: version });
    expect([after.whole, after.miners.length]).toEqual([true, 3]);
  });

  test("names to a user the miners that have left what the user sees, and no others", async () => {
    const { bench, ant, bitaxe, off } = await openThree();
    const groups = await Promise.all(
      ["Hall", "Barn", "Attic"].map((name) => bench.service.addGroup({ name, parentId: 0 }, caller)),
    );
    const [hall = 0, barn = 0, attic = 0] = groups.map(({ id }) => id);
    const anna = await bench.service.saveUser({ id: 0, name: "anna", groups: [hall] }, caller);
    const who = { ...caller, userId: anna.id };
    for (const id of [ant, bitaxe]) await bench.service.changeMiner({ id, group: hall }, caller);
    const before = await rows(bench, {}, who);
    expect(before.miners.map(({ id }) => id)).toEqual([ant, bitaxe]);
    await bench.service.changeMiner({ id: ant, group: barn }, caller);
    await bench.service.changeMiner({ id: off, group: attic }, caller);
    await bench.service.deleteMiner({ id: off }, caller);
    const after = await rows(bench, { since: before.version }, who);
    expect(after).toMatchObject({ whole: false, miners: [], removed: [ant] });
    await bench.service.changeMiner({ id: ant, group: hall }, caller);
    const back = await rows(bench, { since: after.version }, who);
    expect(back).toMatchObject({ whole: false, miners: [{ id: ant }], removed: [] });
    await bench.service.saveUser({ id: anna.id, groups: [barn] }, caller);
    expect(await rows(bench, { since: back.version }, who)).toMatchObject({ whole: true, miners: [] });
  });

  test("has another tag as soon as a row has changed, and the same until then", async () => {
    const { bench, ant } = await openThree();
    const before = sent(bench, {}).etag;
    expect(sent(bench, {}).etag).toBe(before);
    await bench.service.changeMiner({ id: ant, name: "big ant" }, caller);
    expect(sent(bench, {}).etag).not.toBe(before);
  });

  test("counts an alarm no longer once its notification is cleared", async () => {
    const { bench, off } = await openThree();
    const { version } = await rows(bench);
    await bench.service.allNotificationsAction({ action: "clear_all" }, caller);
    expect((await rows(bench, { since: version })).miners).toMatchObject([{ id: off, alarms: 0 }]);
  });
});

/** What a client has that applies lists and changes. */
class Mirror {
  readonly known = new Map<number, MinerRow>();
  version: string | undefined;

  apply({ version, whole, miners, removed }: MinerRowList): void {
    if (whole) this.known.clear();
    for (const row of miners) this.known.set(row.id, row);
    for (const id of removed) this.known.delete(id);
    this.version = version;
  }

  get rows(): MinerRow[] {
    return [...this.known.values()].toSorted((one, other) => one.id - other.id);
  }
}

const sorted = (miners: readonly MinerRow[]) => miners.toSorted((one, other) => one.id - other.id);

/** One step of what may happen to a farm; numbers choose among what there is. */
const steps = fc.array(
  fc.tuple(
    fc.constantFrom(
      ...(["rename", "tag", "move", "stop", "poll", "add", "remove", "nest", "regroup", "see", "clear"] as const),
    ),
    fc.nat(9),
    fc.nat(9),
  ),
  { minLength: 12, maxLength: 25 },
);
type Step = [string, number, number];

/** A farm with two groups, a rig that can be stopped, some that are off, and a user who sees one group. */
async function openChanging() {
  const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }] });
  const { service } = bench;
  const hall = (await service.addGroup({ name: "Hall", parentId: 0 }, caller)).id;
  const barn = (await service.addGroup({ name: "Barn", parentId: 0 }, caller)).id;
  const rig = await bench.add(bench.rig(0).address, { group: hall, tags: ["a"] });
  for (let port = 1; port <= 3; port += 1)
    await service.addMiner({ address: `127.0.0.1:${port}`, group: port === 1 ? barn : 0 }, caller);
  const { id: user } = await service.saveUser({ id: 0, name: "anna", groups: [hall] }, caller);
  let port = 4;
  const ids = async () => (await rows(bench)).miners.map(({ id }) => id);
  const take = async ([what, one, other]: Step): Promise<void> => {
    const all = await ids();
    const id = all[one % all.length] ?? rig;
    const group = [0, hall, barn][other % 3] ?? 0;
    if (what === "rename") await service.changeMiner({ id, name: `rig ${other}` }, caller);
    if (what === "tag") await service.changeMiner({ id, tags: other % 2 === 0 ? ["a"] : ["b"] }, caller);
    if (what === "move") await service.changeMiner({ id, group }, caller);
    if (what === "stop") await bench.act(rig, { action: (await bench.get(rig)).canStop ? "stop" : "start" });
    if (what === "poll") await bench.poll(id);
    if (what === "add") await service.addMiner({ address: `127.0.0.1:${port++}`, group }, caller);
    if (what === "remove" && id !== rig) await service.deleteMiner({ id }, caller);
    if (what === "nest") await service.changeGroup({ id: barn, parentId: other % 2 === 0 ? hall : 0 }, caller);
    if (what === "regroup") await service.changeGroup({ id: hall, name: `Hall ${other}` }, caller);
    if (what === "see") await service.saveUser({ id: user, groups: other % 2 === 0 ? [hall] : [hall, barn] }, caller);
    if (what === "clear") await service.allNotificationsAction({ action: "clear_all" }, caller);
  };
  return { bench, take, hall, anna: { ...caller, userId: user } };
}

describe("whatever changes,", () => {
  test("lists and changes put together are the list, for each user, filter and choice of columns", async () => {
    const { bench, take, hall, anna } = await openChanging();
    const asks: [Readonly<Record<string, string>>, Caller][] = [
      [{}, caller],
      [{}, anna],
      [{ status: "Mining,Idle" }, caller],
      [{ tag: "a" }, anna],
      [{ group: String(hall) }, caller],
      [{ fields: "name", tag: "b" }, caller],
      [{ fields: "energy,model", group: String(hall), status: "Mining" }, anna],
    ];
    const clients = asks.map(([ask, who]) => ({ ask, who, mirror: new Mirror() }));
    let deltas = 0;
    await fc.assert(
      fc.asyncProperty(steps, async (all) => {
        for (const step of all) {
          await take(step);
          for (const [index, { ask, who, mirror }] of clients.entries()) {
            // Some ask seldom.
            if ((step[1] + index) % 3 === 0) continue;
            // In one turn, since rigs are read meanwhile.
            const { list } = sent(bench, mirror.version === undefined ? ask : { ...ask, since: mirror.version }, who);
            const { miners } = sent(bench, ask, who).list;
            if (!list.whole) deltas += 1;
            mirror.apply(list);
            expect(mirror.rows).toEqual(sorted(miners));
          }
        }
      }),
      { numRuns: 4, endOnFailure: true },
    );
    expect(deltas).toBeGreaterThan(100);
  });

  test("a list and the events after it, put together, are the list at any time", async () => {
    const { bench, take, anna } = await openChanging();
    const server = await startHttpServer({
      service: bench.service,
      log: pino({ level: "silent" }),
      version: "0",
      settings: HttpSettings.parse({ port: 0 }),
    });
    const clients = [await follow(server.url, caller), await follow(server.url, anna)];
    const caughtUp = async ({ who, mirror, repeated, failure }: (typeof clients)[number]): Promise<void> => {
      const listed = () => JSON.stringify(sorted(sent(bench, {}, who).list.miners));
      await until(() => JSON.stringify(mirror.rows) === listed(), "the rows that the events have made", {
        details: () => `${failure()} ${JSON.stringify(mirror.rows)} instead of ${listed()}`,
      });
      expect(repeated).toEqual([]);
    };
    try {
      await fc.assert(
        fc.asyncProperty(steps, async (all) => {
          for (const step of all) {
            await take(step);
            // After each: a row that changes and changes back before it is sent is rightly sent once more.
            for (const each of clients) await caughtUp(each);
          }
        }),
        { numRuns: 3, endOnFailure: true },
      );
      expect(clients[0]?.changes()).toBeGreaterThan(5);
    } finally {
      for (const { end } of clients) end();
      await server.close();
    }
  });
});

/** Lists, follows the events after that version, and does so again after each reset. */
async function follow(url: string, who: Caller) {
  const user = who.userId === undefined ? "" : `&user_id=${who.userId}`;
  const mirror = new Mirror();
  const ending = new AbortController();
  const repeated: MinerRow[] = [];
  let changes = 0;
  const list = async (): Promise<void> => {
    const answer = await fetch(`${url}/api/miners?view=list${user}`);
    mirror.apply(MinerRowList.parse(await answer.json()));
  };
  const take = (event: string, data: string): boolean => {
    if (event === "reset") return true;
    const row: MinerRow = JSON.parse(data);
    if (event === "miner-removed") mirror.known.delete(row.id);
    if (event === "miner") {
      changes += 1;
      if (JSON.stringify(mirror.known.get(row.id)) === data) repeated.push(row);
      mirror.known.set(row.id, row);
    }
    return false;
  };
  const stream = async (): Promise<void> => {
    const types = "types=miner,miner-removed";
    const answer = await fetch(`${url}/api/events?view=list&${types}${user}&after=${mirror.version}`, {
      signal: ending.signal,
    });
    if (answer.body === null) throw new Error("no events");
    let text = "";
    for await (const chunk of answer.body.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const events = text.split("\n\n");
      text = events.pop() ?? "";
      for (const event of events) {
        const [, type = "", data = ""] = /^event: (.*)\nid: \d+\ndata: (.*)$/.exec(event) ?? [];
        if (type === "") continue;
        if (!["miner", "miner-removed", "reset"].includes(type)) throw new Error(`${type} was not asked for`);
        if (take(type, data)) return;
      }
    }
  };
  const run = async (): Promise<void> => {
    while (!ending.signal.aborted) {
      await list();
      await stream();
    }
  };
  await list();
  let failure: unknown;
  run().catch((error: unknown) => {
    failure = error;
  });
  return { who, mirror, repeated, failure: () => failure, changes: () => changes, end: () => ending.abort() };
}

describe("rows of a page that shows only some", () => {
  /** Two rigs whose figures move with each read, and a clock that the test moves. */
  const openTwo = async () => {
    let ahead = 0;
    const bench = await openBench({
      rigs: [
        { kind: "cgminer", warm: true },
        { kind: "cgminer", warm: true },
      ],
      monotonicNow: () => performance.now() + ahead,
    });
    const [first, second] = [
      await bench.add(bench.rig(0).address, { name: "first" }),
      await bench.add(bench.rig(1).address, { name: "second" }),
    ];
    const halve = async () => {
      for (const [index, id] of [first, second].entries()) {
        const { boardsOff } = bench.rig(index).model;
        if (!boardsOff.delete(0)) boardsOff.add(0);
        await bench.poll(id);
      }
    };
    return { bench, first, second, halve, pass: (seconds: number) => (ahead += 1000 * seconds) };
  };
  const idsIn = ({ miners }: { readonly miners: readonly MinerRow[] }): number[] => miners.map(({ id }) => id);

  test("a list names the others only after a minute, and those that are shown always", async () => {
    const { bench, first, second, halve, pass } = await openTwo();
    const before = await rows(bench, { shown: [first] });
    expect(idsIn(before)).toEqual([first, second]);
    await halve();
    const soon = await rows(bench, { shown: [first], since: before.version });
    expect([soon.whole, idsIn(soon)]).toEqual([false, [first]]);
    // All of it for a page that comes to show the other, whose change is before that version.
    const scrolled = sent(bench, { shown: String(second), since: soon.version });
    expect(idsIn(scrolled.list)).toEqual([second]);
    expect(scrolled.etag).not.toBe(sent(bench, { shown: "", since: soon.version }).etag);
    expect(idsIn(await rows(bench, { since: before.version }))).toEqual([first, second]);
    await halve();
    expect(idsIn(await rows(bench, { shown: [], since: soon.version }))).toEqual([]);
    pass(61);
    await halve();
    expect(idsIn(await rows(bench, { shown: [], since: soon.version }))).toEqual([first, second]);
  });

  test("a stream carries every change of those that are shown, and a status of any", async () => {
    const { bench, first, second, halve } = await openTwo();
    const ending = new AbortController();
    const { version: after } = await rows(bench, { shown: [first] });
    const events = bench.service.watchMinerRows({ view: "list", shown: [first], after }, caller, ending.signal);
    const got: number[] = [];
    const following = (async () => {
      for await (const { type, data } of events) if (type === "miner") got.push(data.id);
    })();
    await until(async () => {
      await halve();
      return got.length > 3;
    }, "some changes");
    expect(new Set(got)).toEqual(new Set([first]));
    bench.rig(1).powerOff();
    await bench.poll(second);
    await until(() => got.includes(second), "the other rig");
    ending.abort();
    await following;
  });

  test("a user gets nothing of a rig of another group by naming it", async () => {
    const { bench, first, second } = await openTwo();
    const { id: hall } = await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller);
    await bench.service.changeMiner({ id: first, group: hall }, caller);
    const { id: userId } = await bench.service.saveUser({ id: 0, name: "anna", groups: [hall] }, caller);
    const guest = { ...caller, userId };
    const { version } = await rows(bench, {}, guest);
    expect(idsIn(await rows(bench, { shown: [first, second], since: version }, guest))).toEqual([first]);
  });

  test("at most 300 ids are taken", () => {
    const ids = Array.from({ length: 301 }, (_, index) => 1_000_000_001 + index);
    const parsed = (given: readonly number[]) => MinerRowsQuery.safeParse({ view: "list", shown: given.join() });
    expect(parsed(ids).success).toBe(false);
    expect(parsed(ids.slice(1)).data?.shown).toEqual(ids.slice(1));
    expect(MinerRowsQuery.safeParse({ view: "list", shown: "1,,2" }).success).toBe(false);
  });
});
