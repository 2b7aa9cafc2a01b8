import { afterEach, describe, expect, test } from "@jest/globals";
import { minersIn } from "../../src/contract/miners-in.ts";
import { MinerDetail, MinerList } from "../../src/contract/resources.ts";
import type { Encoded, Input } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { openStore } from "../any-store.ts";
import { stoppedClock } from "../clock.ts";
import { refusal } from "../errors.ts";
import { onTestFinished } from "../finished.ts";
import { http, serve } from "../link/servers.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const axeos: RigSpec = { kind: "axeos", warm: true };
const cgminer: RigSpec = { kind: "cgminer", warm: true };

describe("adding a miner", () => {
  test("answers at once, and recognises it in the background", async () => {
    const bench = await openBench({ rigs: [axeos] });
    const added = await bench.service.addMiner(
      {
        address: bench.rig(0).address,
        name: "desk",
        tags: ["home"],
        location: { site: "A", container: null, rack: "1", slot: null },
      },
      caller,
    );
    expect(MinerDetail.parse(added)).toMatchObject({
      id: 1_000_000_001,
      uid: null,
      name: "desk",
      tags: ["home"],
      location: { site: "A", rack: "1" },
      statusInfo: { statusDisplay: "Starting" },
      hasValidStatus: false,
      isOffline: false,
      readings: { at: null, stale: true, notes: ["The rig is being recognised"] },
      metaData: { infoList: [expect.stringContaining("desk is being recognised")] },
    });
    await until(async () => (await bench.get(added.id)).uid !== null, "the added miner to be read");
    expect(await bench.get(added.id)).toMatchObject({ hasValidStatus: true, statusInfo: { statusDisplay: "Mining" } });
  });

  test.each([
    ["as it was typed", (place: string) => place],
    ["with a scheme", (place: string) => `http://${place}`],
    ["with a slash", (place: string) => `http://${place}/`],
  ])("twice is refused, %s", async (_, again) => {
    const bench = await openBench({ rigs: [cgminer] });
    const { address } = bench.rig(0);
    const id = await bench.add(address);
    expect(await refusal(bench.service.addMiner({ address: again(address) }, caller))).toBe("address.known");
    expect(await refusal(bench.service.changeMiner({ id, address: again(address) }, caller))).toBe("done");
  });

  test("that this version cannot read is in error and not disconnected, since it answers", async () => {
    const page = "<html><title>DragonMint</title></html>";
    const server = await serve((socket) => socket.end(http(200, page)));
    onTestFinished(() => server.close());
    const bench = await openBench();
    const address = `127.0.0.1:${server.port}`;
    const { id } = await bench.service.addMiner({ address, username: "root", password: "secret" }, caller);
    await until(
      async () => (await bench.get(id)).statusInfo.statusDisplay === "Error",
      "the added device to be asked what it is",
    );
    const { isOffline, readings } = await bench.get(id);
    expect(isOffline).toBe(false);
    expect(readings.notes).toEqual([`${address} is an Innosilicon, which this version cannot read`]);
  });

  test("twice at once adds one", async () => {
    const bench = await openBench();
    const adds = ["rig.example", "RIG.example", "rig.example"].map((address) =>
      refusal(bench.service.addMiner({ address }, caller)),
    );
    expect((await Promise.all(adds)).sort()).toEqual(["address.known", "address.known", "done"]);
  });

  test.each<[string, Input<"addMiner">, string]>([
    ["an address with a path", { address: "10.0.0.1/admin" }, "input.invalid address"],
    ["a link-local address", { address: "169.254.169.254" }, "input.invalid address"],
    ["an unknown driver", { address: "10.0.0.1", driver: "toaster" }, "input.invalid driver"],
    ["an unknown group", { address: "10.0.0.1", group: "nowhere" }, "input.invalid group"],
    [
      "a plug without an address",
      { address: "10.0.0.1", supply: { type: "shelly", address: "a b", channel: 0, cutPower: false, delay: 0 } },
      "input.invalid supply.address",
    ],
  ])("is refused for %s, and adds nothing", async (_, body, refused) => {
    const bench = await openBench();
    expect(await refusal(bench.service.addMiner(body, caller))).toBe(refused);
    expect(bench.store.miners.all()).toEqual([]);
  });

  test("without a port shows the usual one of what was recognised there", async () => {
    const bench = await openBench({ rigs: [{ ...cgminer, host: "127.77.3.4", port: 4028 }] });
    const id = await bench.add("127.77.3.4");
    expect(await bench.get(id)).toMatchObject({ hostDescription: "127.77.3.4:4028", name: "127.77.3.4:4028" });
  });
});

describe("changing a miner", () => {
  test("keeps what was not named, and what was read", async () => {
    const bench = await openBench({ rigs: [axeos] });
    const id = await bench.add(bench.rig(0).address, { name: "desk", tags: ["home"] });
    const { id: group } = await bench.service.addGroup({ name: "office", parentId: 0 }, caller);
    const before = bench.rig(0).requests.count;
    const changed = await bench.service.changeMiner({ id, group: "office" }, caller);
    expect(changed).toMatchObject({
      name: "desk",
      tags: ["home"],
      groupId: group,
      groupID: group,
      hasValidStatus: true,
      statusInfo: { statusDisplay: "Mining" },
    });
    expect(bench.rig(0).requests.count).toBe(before);
    expect(await refusal(bench.service.changeMiner({ id: 7, name: "x" }, caller))).toBe("not.found");
  });
});

describe("removing a miner", () => {
  test("forgets all of it, also what was about to be written", async () => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [axeos], clock: clock.now, config: { poll: { interval: 60 } } });
    const id = await bench.add(bench.rig(0).address);
    for (let read = 0; read < 3; read += 1) {
      clock.pass(30);
      await bench.poll(id);
    }
    await bench.service.deleteMiner({ id }, caller);
    expect(await refusal(bench.get(id))).toBe("not.found");
    await bench.restart();
    expect(bench.store.miners.all()).toEqual([]);
    expect(bench.store.memory.get(id)).toBeUndefined();
    expect(await bench.store.samples.read(id, 0, clock.now() + 1)).toEqual([]);
    expect(await refusal(bench.service.deleteMiner({ id }, caller))).toBe("not.found");
    const again = await bench.add(bench.rig(0).address);
    expect(again).toBe(id + 1);
    expect((await bench.get(again)).uid).not.toBeNull();
  });

  test("while it is being recognised leaves nothing behind", async () => {
    const bench = await openBench({ rigs: [{ ...axeos, fault: { name: "delay", ms: 300 } }] });
    const { id } = await bench.service.addMiner({ address: bench.rig(0).address }, caller);
    const read = bench.service.pollMiner({ id }, caller);
    await bench.service.deleteMiner({ id }, caller);
    await refusal(read);
    expect(bench.store.memory.all()).toEqual([]);
  });
});

describe("a miner of the configuration file", () => {
  const declared = (...miners: object[]) => ({ miners });
  const listed = async (bench: Bench) =>
    (await bench.service.listMiners({}, caller)).groupList.flatMap(({ minerList }) =>
      minerList.map(({ id, name }) => `${id} ${name}`),
    );

  test("belongs to the file", async () => {
    const bench = await openBench({ config: declared({ name: "one", address: "10.9.9.1" }) });
    const id = 1_000_000_001;
    expect(await refusal(bench.service.changeMiner({ id, name: "x" }, caller))).toBe("owned.by-file");
    expect(await refusal(bench.service.deleteMiner({ id }, caller))).toBe("owned.by-file");
  });

  test("is left out when the file no longer has it, and has its id again when it returns", async () => {
    const one = { name: "one", address: "10.9.9.1" };
    const two = { name: "two", address: "10.9.9.2" };
    const bench = await openBench({ config: declared(one, two) });
    expect(await listed(bench)).toEqual(["1000000001 one", "1000000002 two"]);
    await bench.restart(declared(two));
    expect(await listed(bench)).toEqual(["1000000002 two"]);
    expect(await refusal(bench.get(1_000_000_001))).toBe("not.found");
    await bench.restart(declared(one, two));
    expect(await listed(bench)).toEqual(["1000000001 one", "1000000002 two"]);
  });

  test("keeps id and uid when its address changes but not its name, and its old address is free", async () => {
    const rigs: RigSpec[] = [{ ...axeos, mac: "02:51:00:00:00:09" }, cgminer];
    const bench = await openBench({ rigs });
    const [first, second] = [bench.rig(0).address, bench.rig(1).address];
    const id = 1_000_000_001;
    await bench.restart(declared({ name: "one", address: "10.9.9.1", driver: "axeos" }));
    await bench.restart(declared({ name: "one", address: first, driver: "axeos" }));
    expect(await bench.poll(id)).toMatchObject({ id, uid: "025100000009" });
    await bench.restart(
      declared({ name: "one", address: first, driver: "axeos" }, { name: "new", address: "10.9.9.1" }),
    );
    expect(await listed(bench)).toEqual(["1000000001 one", "1000000002 new"]);
    await bench.restart(declared({ name: "one", address: first, driver: "axeos" }, { name: "new", address: second }));
    expect(await listed(bench)).toEqual(["1000000001 one", "1000000002 new"]);
  });

  test("two that moved from one name do not become one", async () => {
    const bench = await openBench({ config: declared({ name: "rig", address: "10.9.9.1" }) });
    await bench.restart(declared({ name: "rig", address: "10.9.9.2" }, { name: "rig", address: "10.9.9.3" }));
    expect(await listed(bench)).toEqual(["1000000001 rig", "1000000002 rig"]);
  });

  test("gets the uid of its rig, even if a miner that is no longer declared had it", async () => {
    const bench = await openBench({ rigs: [{ ...axeos, host: "127.0.0.1", mac: "02:51:00:00:00:0A" }] });
    const { address } = bench.rig(0);
    const id = await (async () => {
      await bench.restart(declared({ name: "old", address, driver: "axeos" }));
      await bench.poll(1_000_000_001);
      await bench.restart(
        declared({ name: "other", address: address.replace("127.0.0.1", "localhost"), driver: "axeos" }),
      );
      return 1_000_000_002;
    })();
    expect(await bench.poll(id)).toMatchObject({ name: "other", uid: "02510000000a" });
    expect(await bench.notifications()).toEqual([]);
  });
});

const text = ({ chunks }: Encoded): string => Buffer.concat(chunks).toString();

function encoded(bench: Bench, id?: number): Encoded {
  const { service } = bench;
  const bytes =
    id === undefined ? service.encoded?.("listMiners", {}, caller) : service.encoded?.("getMiner", { id }, caller);
  if (bytes === undefined) throw new Error("nothing is encoded");
  return bytes;
}

describe("ready-made bytes", () => {
  test("say what the methods say, with groups in groups and without miners", async () => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [axeos, cgminer, axeos], clock: clock.now });
    const same = async () => {
      const list = encoded(bench);
      expect(list.length).toBe(Buffer.byteLength(text(list)));
      const parsed: unknown = JSON.parse(text(list));
      expect(parsed).toEqual(await bench.service.listMiners({}, caller));
      MinerList.strict().parse(parsed);
    };
    await same();
    const top = await bench.service.addGroup({ name: 'Käller "1"', parentId: 0 }, caller);
    const inner = await bench.service.addGroup({ name: "rack", parentId: top.id }, caller);
    await bench.service.addGroup({ name: "empty", parentId: top.id }, caller);
    await same();
    const [first, second, third] = [
      await bench.add(bench.rig(0).address, { group: inner.id, name: "Ω" }),
      await bench.add(bench.rig(1).address, { group: top.id }),
      await bench.add(bench.rig(2).address),
    ];
    await same();
    await bench.service.deleteMiner({ id: second }, caller);
    await same();
    for (const id of [first, third]) {
      expect(JSON.parse(text(encoded(bench, id)))).toEqual(await bench.get(id));
    }
    expect(bench.service.encoded?.("getMiner", { id: second }, caller)).toBeUndefined();
  });

  test("have the same tag while nothing but time passes, and another after a change", async () => {
    const clock = stoppedClock();
    const bench = await openBench({
      rigs: [{ kind: "xmrig", warm: true, token: "t", restricted: false }],
      clock: clock.now,
    });
    const id = await bench.add(bench.rig(0).address, { token: "t" });
    await bench.act(id, { action: "stop" });
    clock.pass(3_600);
    await bench.poll(id);
    const tags = () => [encoded(bench).etag, encoded(bench, id).etag];
    const before = tags();
    const { readings } = await bench.get(id);
    clock.pass(60);
    await bench.poll(id);
    expect((await bench.get(id)).readings.at).not.toBe(readings.at);
    expect(tags()).toEqual(before);
    await bench.service.changeMiner({ id, name: "new" }, caller);
    const renamed = tags();
    expect(renamed.map((tag, index) => tag === before[index])).toEqual([false, false]);
    await bench.act(id, { action: "start" });
    clock.pass(60);
    await bench.poll(id);
    expect(tags().map((tag, index) => tag === renamed[index])).toEqual([false, false]);
  });
});

describe("what clients look for", () => {
  test("hostname is where the miner is reached; its own name is in the identity, and its name without another", async () => {
    const bench = await openBench({ rigs: [{ ...axeos, name: "desk" }, axeos] });
    const { address } = bench.rig(0);
    const [host] = address.split(":");
    expect(await bench.get(await bench.add(address))).toMatchObject({
      hostname: host,
      hostDescription: address,
      name: "desk",
      identity: { hostname: "desk" },
    });
    const named = await bench.add(bench.rig(1).address, { name: "shelf" });
    expect(await bench.get(named)).toMatchObject({ name: "shelf", hostname: bench.rig(1).address.split(":")[0] });
  });

  test("counts of miners, pools and devices are bare digits in every locale", async () => {
    const clock = stoppedClock();
    const config = { display: { locale: "sv-SE" } };
    const bench = await openBench({ rigs: [cgminer], config, clock: clock.now });
    clock.pass(7 * 86_400);
    const { progressInfo, poolList, asicList, pgaList } = await bench.get(await bench.add(bench.rig(0).address));
    expect(progressInfo.acceptedValue).toBeGreaterThan(1_000);
    expect(progressInfo).toMatchObject({
      line1: `Accepted: ${progressInfo.acceptedValue}`,
      line2: `Rejected: ${progressInfo.rejectedValue}`,
      line3: `HW Errors: ${progressInfo.hwErrorsValue}`,
    });
    const counts = [...poolList, ...asicList, ...pgaList].flatMap((each) => Object.values(each.progressInfo));
    expect(counts.some((count) => count.length > 3)).toBe(true);
    for (const count of counts) expect(count).toMatch(/^\d+$/);
  });
});

describe("demo miners", () => {
  test("are shown, take commands and can be changed, and leave no miner, memory or history in the store", async () => {
    const store = await openStore({ file: ":memory:", now: Date.now });
    const farm = await openBench({ rigs: [axeos] });
    const demo = [{ address: farm.rig(0).address, name: "demo" }];
    const bench = await openBench({ store, demo });
    const id = 1_900_000_001;
    const shown = MinerDetail.parse(await bench.poll(id));
    expect(shown).toMatchObject({ name: "demo", tags: ["demo"], hasValidStatus: true });
    await bench.act(id, { action: "stop" });
    expect(await bench.service.changeMiner({ id, name: "x" }, caller)).toMatchObject({ name: "x" });
    expect(await refusal(bench.service.changeMiner({ id, address: "127.0.0.1:9" }, caller))).toBe("not.possible");
    await bench.service.deleteMiner({ id }, caller);
    expect(await refusal(bench.poll(id))).toBe("not.found");
    await bench.service.close();
    expect(store.miners.all()).toEqual([]);
    expect(store.memory.all()).toEqual([]);
    expect(await store.samples.read(id, 0, Date.now() + 1)).toEqual([]);
  });
});

describe("demo miners and real ones", () => {
  const demoOf = (farm: Bench) => [0, 1].map((index) => ({ address: farm.rig(index).address, name: `demo ${index}` }));
  const idsOf = async ({ service }: Bench): Promise<number[]> =>
    (await service.listMiners({}, caller)).groupList.flatMap(({ minerList }) => minerList.map(({ id }) => id));

  test("the demo is named where its figures count, and leaves with the first real miner", async () => {
    const farm = await openBench({ rigs: [axeos, axeos, cgminer, cgminer] });
    let left = 0;
    const bench = await openBench({ demo: demoOf(farm), demoLeft: () => (left += 1) });
    const { service } = bench;
    const seen: string[] = [];
    const stop = new AbortController();
    const watching = (async () => {
      for await (const event of service.watchEvents({}, caller, stop.signal)) {
        seen.push(event.type);
      }
    })();
    const said = [
      "Includes 2 demo miners, virtual rigs to try things out; they are removed when the first real miner is added",
    ];
    expect((await service.listMiners({}, caller)).metaData.infoList).toEqual(said);
    const summary = await service.getSummary({}, caller);
    expect([summary.totalCount, summary.metaData.infoList]).toEqual([2, said]);
    expect((await service.encoded?.("listMiners", {}, caller))?.chunks.map(String).join("")).toContain(said[0]);
    expect((await bench.get(1_900_000_001)).metaData.infoList).toEqual([
      expect.stringMatching(/^Includes 1 demo miner,/),
    ]);

    // Two at once are both welcome, and the demo leaves once.
    const added = await Promise.all([2, 3].map((index) => bench.add(farm.rig(index).address)));
    expect(await idsOf(bench)).toEqual(added);
    expect(left).toBe(1);
    const after = await service.getSummary({}, caller);
    expect([after.totalCount, after.metaData.infoList]).toEqual([2, []]);
    expect((await service.listMiners({}, caller)).metaData.infoList).toEqual([]);
    expect((await bench.get(added[0] ?? 0)).metaData.infoList).toEqual([]);
    expect(await refusal(bench.poll(1_900_000_001))).toBe("not.found");
    await until(() => seen.includes("reset"), "subscribers to be told that they must read everything again");
    stop.abort();
    await watching.catch(() => undefined);
  });

  test("a demo that was requested beside real miners stays, and is named", async () => {
    const farm = await openBench({ rigs: [axeos, axeos, cgminer, cgminer] });
    const bench = await openBench({ demo: demoOf(farm), config: { miners: [{ address: farm.rig(2).address }] } });
    await bench.add(farm.rig(3).address);
    expect(await idsOf(bench)).toHaveLength(4);
    const { metaData } = await bench.service.getSummary({}, caller);
    expect(metaData.infoList).toEqual(["Includes 2 demo miners, virtual rigs to try things out"]);
  });

  test("a miner that is refused drives no demo away", async () => {
    const farm = await openBench({ rigs: [axeos, axeos] });
    const bench = await openBench({ demo: demoOf(farm) });
    expect(await refusal(bench.service.addMiner({ address: farm.rig(0).address }, caller))).toBe("address.known");
    expect(await idsOf(bench)).toHaveLength(2);
  });
});

describe("groups", () => {
  test("nest, never in themselves, and give what they held to their parent", async () => {
    const bench = await openBench({ rigs: [axeos] });
    const { service } = bench;
    const top = await service.addGroup({ name: "top", parentId: 0 }, caller);
    const middle = await service.addGroup({ name: "middle", parentId: top.id }, caller);
    const low = await service.addGroup({ name: "low", parentId: middle.id }, caller);
    const id = await bench.add(bench.rig(0).address, { group: "middle" });
    const change = (group: number, parentId: number) => refusal(service.changeGroup({ id: group, parentId }, caller));
    expect(await change(top.id, low.id)).toBe("input.invalid parentId");
    expect(await change(top.id, top.id)).toBe("input.invalid parentId");
    expect(await change(top.id, 99)).toBe("input.invalid parentId");
    expect(await refusal(service.addGroup({ name: "x", parentId: 99 }, caller))).toBe("input.invalid parentId");
    expect(await refusal(service.changeGroup({ id: 99, name: "x" }, caller))).toBe("not.found");

    await service.deleteGroup({ id: middle.id }, caller);
    expect(await service.listGroups({}, caller)).toEqual([
      { id: top.id, name: "top", parentId: 0 },
      { id: low.id, name: "low", parentId: top.id },
    ]);
    expect(await bench.get(id)).toMatchObject({ groupId: top.id, hasValidStatus: true });
    const { groupList } = await service.listMiners({}, caller);
    expect(groupList).toMatchObject([
      { name: "top", minerList: [{ id }], groupList: [{ name: "low", minerList: [] }] },
    ]);
    await service.deleteGroup({ id: top.id }, caller);
    expect((await bench.get(id)).groupId).toBe(0);
  });

  test("of the file belong to it; a group that it no longer has contains no miners", async () => {
    const config = { groups: [{ name: "hall", groups: [{ name: "rack" }] }] };
    const bench = await openBench({ config, rigs: [axeos] });
    const [hall, rack] = await bench.service.listGroups({}, caller);
    expect([hall?.name, rack?.name, rack?.parentId]).toEqual(["hall", "rack", hall?.id]);
    expect(await refusal(bench.service.deleteGroup({ id: rack?.id ?? 0 }, caller))).toBe("owned.by-file");
    expect([hall?.owner, rack?.owner]).toEqual(["file", "file"]);
    const id = await bench.add(bench.rig(0).address, { group: "rack" });
    await bench.restart({});
    expect(await bench.get(id)).toMatchObject({ groupId: 0, groupID: 0 });
    expect((await bench.service.listMiners({}, caller)).groupList).toMatchObject([{ id: 0, minerList: [{ id }] }]);
    await bench.restart(config);
    expect((await bench.get(id)).groupId).toBe(rack?.id);
  });

  test("are rooms where the file or a user says so", async () => {
    const bench = await openBench({ config: { groups: [{ name: "study", room: true }, { name: "rack" }] } });
    const { id } = await bench.service.addGroup({ name: "attic", parentId: 0, room: true }, caller);
    const rooms = async () =>
      (await bench.service.listGroups({}, caller)).flatMap(({ name, room }) =>
        room === undefined ? [] : [name, room],
      );
    expect(await rooms()).toEqual(["study", true, "attic", true]);
    await bench.service.changeGroup({ id, room: false }, caller);
    expect(await rooms()).toEqual(["study", true]);
    await bench.restart({ groups: [{ name: "study" }, { name: "rack" }] });
    expect(await rooms()).toEqual([]);
  });
});

test.each(["was listed before", "was never listed"])(
  "while a miner that %s is removed, no list fails over it, and none shows it once another has left it out",
  async (when) => {
    const silent: RigSpec = { kind: "axeos", fault: "silent" };
    const store = await openStore({ file: ":memory:", now: Date.now });
    const { forget } = store.memory;
    // A disk that takes its time.
    const slowly: typeof forget = async (id) => {
      for (let turn = 0; turn < 20; turn += 1) await new Promise((resolve) => setImmediate(resolve));
      await forget(id);
    };
    Object.assign(store.memory, { forget: slowly });
    const bench = await openBench({ rigs: [silent, silent, silent], store });
    for (const { address } of bench.farm.rigs) await bench.service.addMiner({ address }, caller);
    await bench.restart();
    const { service } = bench;
    const listed = (): number => {
      const { chunks = [] } = service.encoded?.("listMiners", {}, caller) ?? {};
      return minersIn(JSON.parse(Buffer.concat([...chunks]).toString()).groupList).length;
    };
    const counts: number[] = when === "was listed before" ? [listed()] : [];
    const [gone] = store.miners.all();
    let isRemoved = false;
    const removing = service.deleteMiner({ id: gone?.id ?? 0 }, caller).finally(() => {
      isRemoved = true;
    });
    while (!isRemoved) {
      await new Promise((resolve) => setImmediate(resolve));
      counts.push(minersIn((await service.listMiners({}, caller)).groupList).length);
      counts.push(listed());
      counts.push((await service.getSummary({}, caller)).totalCount);
    }
    await removing;
    expect(counts).toEqual(counts.toSorted((a, b) => b - a));
    expect(counts.at(-1)).toBe(2);
  },
);

test("null takes back what was set of a miner", async () => {
  const bench = await openBench({ rigs: [cgminer], config: { poll: { interval: 3600 } } });
  const id = await bench.add(bench.rig(0).address, { name: "desk", interval: 7, username: "u", password: "hush" });
  const settings = () => bench.service.getMinerSettings({ id }, caller);
  await bench.service.changeMiner({ id, driver: "cgminer" }, caller);
  expect(await settings()).toMatchObject({ interval: 7, driver: "cgminer", hasLogin: true });
  await bench.service.changeMiner({ id, interval: null, driver: null, username: null, password: null }, caller);
  expect(await settings()).toMatchObject({ interval: null, driver: null, hasLogin: false });
  const { name } = await bench.service.changeMiner({ id, name: null }, caller);
  expect(name).not.toBe("desk");
});
