import { afterEach, describe, expect, test } from "@jest/globals";
import type { Input } from "../../src/contract/service.ts";
import type { RigSpec } from "../../src/simulator/index.ts";
import { problem, refusal } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const token = "token-of-the-rig";
const url = (name: string, scheme = "stratum+tcp://") => `${scheme}${name}.example.com:3333`;
const poolsOf = (names: readonly string[], scheme?: string) =>
  names.map((name) => ({ url: url(name, scheme), user: "acct.rig" }));

const specs = {
  cgminer: (names) => ({ kind: "cgminer", warm: true, pools: poolsOf(names) }),
  axeos: (names) => ({ kind: "axeos", warm: true, restartSeconds: 0, pools: poolsOf(names) }),
  xmrig: (names) => ({ kind: "xmrig", warm: true, token, restricted: false, pools: poolsOf(names, "") }),
} as const satisfies Record<string, (names: readonly string[]) => RigSpec>;
type Kind = keyof typeof specs;

async function withPools(kind: Kind, names: readonly string[]): Promise<{ bench: Bench; id: number }> {
  const bench = await openBench({ rigs: [specs[kind](names)] });
  return { bench, id: await bench.add(bench.rig(0).address, { token, driver: kind }) };
}

type PoolInput = Input<"savePool">;
const blank: PoolInput = {
  id: 0,
  description: undefined,
  coinClass: undefined,
  coinShortName: undefined,
  coinAlgorithm: undefined,
  workerName: undefined,
  walletAddress: undefined,
  plainWorkerPassword: undefined,
};

const define = async (bench: Bench, name: string): Promise<number> => {
  const pool = { ...blank, description: name, url: url(name), workerName: "acct.new", plainWorkerPassword: "x" };
  return (await bench.service.savePool(pool, caller)).id;
};

/** Names in order of priority; `*` the one in use, `-` what is switched off. */
async function listed(bench: Bench, id: number): Promise<string[]> {
  const { poolList, pool } = await bench.poll(id);
  return poolList
    .toSorted((a, b) => a.priorityInfo.priority - b.priorityInfo.priority)
    .map(({ additionalInfo: { displayUrl }, statusInfo }) => {
      const host = displayUrl.replace(/:\d+$/, "");
      const mark = `${host === pool ? "*" : ""}${statusInfo.statusDisplay === "Disabled" ? "-" : ""}`;
      return `${mark}${host.replace(".example.com", "")}`;
    });
}

async function idOf(bench: Bench, id: number, name: string): Promise<number> {
  const { poolList } = await bench.get(id);
  const found = poolList.find(({ additionalInfo }) => additionalInfo.displayUrl.startsWith(name));
  if (found === undefined) throw new Error(`no pool ${name}`);
  return found.id;
}

const act = async (bench: Bench, id: number, name: string, action: Input<"minerPoolAction">["action"]) =>
  bench.service.minerPoolAction({ id, poolId: await idOf(bench, id, name), action }, caller);

test("a pool command to an XMRig, which takes up its configuration after its answer, ends done with the list as it is", async () => {
  const { bench, id } = await withPools("xmrig", ["one", "two"]);
  for (const action of ["prioritize", "disable", "enable", "remove"] as const) await act(bench, id, "two", action);
  const { poolList } = await bench.get(id);
  expect(poolList.map(({ additionalInfo }) => additionalInfo.displayUrl)).toEqual(["one.example.com:3333"]);
  expect((await bench.commands(id)).map(({ state }) => state)).toEqual(["done", "done", "done", "done"]);
});

describe.each<Kind>(["cgminer", "xmrig"])("pools of a %s", (kind) => {
  test("are added, changed to, put first, switched off and on, and removed", async () => {
    const { bench, id } = await withPools(kind, ["one", "two"]);
    expect(await listed(bench, id)).toEqual(["*one", "two"]);
    const three = await define(bench, "three");

    await bench.act(id, { action: "add_pool", pool_id: three, pool_type: "single" });
    expect(await listed(bench, id)).toEqual(["*one", "two", "three"]);
    await bench.act(id, { action: "change_pool", pool_id: three, pool_type: "single" });
    expect(await listed(bench, id)).toEqual(["*three", "one", "two"]);
    await act(bench, id, "two", "prioritize");
    expect(await listed(bench, id)).toEqual(["*two", "three", "one"]);
    await act(bench, id, "one", "disable");
    expect(await listed(bench, id)).toEqual(["*two", "three", "-one"]);
    await act(bench, id, "one", "enable");
    await act(bench, id, "three", "remove");
    expect(await listed(bench, id)).toEqual(["*two", "one"]);
  });

  test("of a group are all added, and the first is mined at", async () => {
    const { bench, id } = await withPools(kind, ["one"]);
    const pools = [await define(bench, "three"), await define(bench, "four")];
    const group = await bench.service.savePoolGroup({ id: 0, name: "both", pools }, caller);
    await bench.act(id, { action: "change_pool", pool_id: Number(group.id), pool_type: "group" });
    expect(await listed(bench, id)).toEqual(["*three", "one", "four"]);
    const again = await bench.act(id, { action: "add_pool", pool_id: Number(group.id), pool_type: "group" });
    expect(again.message).toContain("already");
    expect(await listed(bench, id)).toEqual(["*three", "one", "four"]);
  });

  test("keep their ids when one is removed, when one comes back, and over a restart of the service", async () => {
    const { bench, id } = await withPools(kind, ["one", "two", "three"]);
    const ids = async () =>
      Object.fromEntries(
        (await bench.poll(id)).poolList.map(({ id: own, additionalInfo }) => [additionalInfo.displayUrl, own]),
      );
    const before = await ids();
    expect(new Set(Object.values(before)).size).toBe(3);
    await act(bench, id, "two", "remove");
    const { "two.example.com:3333": gone, ...rest } = before;
    expect(await ids()).toEqual(rest);
    await bench.restart();
    expect(await ids()).toEqual(rest);
    const pool = { ...blank, url: url("two"), workerName: "acct.rig", plainWorkerPassword: "x" };
    const { id: two } = await bench.service.savePool(pool, caller);
    await bench.act(id, { action: "add_pool", pool_id: two, pool_type: "single" });
    expect(await ids()).toEqual({ ...rest, "two.example.com:3333": gone });
    await expect(bench.service.getMinerPool({ id, poolId: gone ?? 0 }, caller)).resolves.toMatchObject({
      id: gone,
      minerID: id,
      additionalInfo: { displayUrl: "two.example.com:3333", worker: "acct.rig" },
    });
  });

  test("cannot lose the last one", async () => {
    const { bench, id } = await withPools(kind, ["one"]);
    expect((await bench.get(id)).poolList).toMatchObject([
      { canRemove: false, canDisable: false, canPrioritize: false },
    ]);
    expect(await problem(act(bench, id, "one", "remove"))).toMatchObject({ code: "pool.last", status: 409 });
    expect(bench.rig(0).requests.writes).toEqual([]);
    expect(await listed(bench, id)).toEqual(["*one"]);
  });
});

describe("pools of a Bitaxe", () => {
  test("are chosen between with a restart, since the firmware can", async () => {
    const { bench, id } = await withPools("axeos", ["one", "two"]);
    await act(bench, id, "two", "prioritize");
    expect((await listed(bench, id))[0]).toContain("two");
    expect(bench.rig(0).requests.writes).toHaveLength(2);
  });

  test("a change to a new one takes the place of the primary", async () => {
    const { bench, id } = await withPools("axeos", ["one", "two"]);
    const three = await define(bench, "three");
    await bench.act(id, { action: "change_pool", pool_id: three, pool_type: "single" });
    const pools = await listed(bench, id);
    expect(pools).toContain("*three");
    expect(pools).not.toContain("*one");
  });

  test("cannot lose the last one", async () => {
    const { bench, id } = await withPools("axeos", ["one"]);
    expect(await refusal(act(bench, id, "one", "remove"))).toBe("pool.last");
  });

  test("a group of more pools than fit names those that are left out", async () => {
    const { bench, id } = await withPools("axeos", ["one", "two"]);
    const pools = [await define(bench, "three"), await define(bench, "four")];
    const group = await bench.service.savePoolGroup({ id: 0, name: "both", pools }, caller);
    const reply = await bench.act(id, { action: "change_pool", pool_id: Number(group.id), pool_type: "group" });
    expect(reply.message).toContain("left out");
  });
});

test("the pools that can be added are all pools and groups, by name, with their ids as text", async () => {
  const { bench, id } = await withPools("cgminer", ["one"]);
  const three = await define(bench, "three");
  await bench.service.savePoolGroup({ id: 0, name: "just it", pools: [three] }, caller);
  await expect(bench.service.listAddPools({ id }, caller)).resolves.toEqual({
    addPoolList: [
      { name: "three", type: "single", id: String(three) },
      { name: "just it", type: "group", id: "1" },
    ],
  });
  expect(await refusal(bench.service.listAddPools({ id: 5 }, caller))).toBe("not.found");
  expect(await refusal(bench.service.getMinerPool({ id, poolId: 99 }, caller))).toBe("not.found");
  expect(await refusal(bench.service.minerPoolAction({ id, poolId: 99, action: "remove" }, caller))).toBe("not.found");
});

test("a pool's password is in no command and no message", async () => {
  const { bench, id } = await withPools("cgminer", ["one"]);
  const secret = "hunter2-hunter2";
  const pool = { ...blank, url: url("three"), workerName: "acct.new", plainWorkerPassword: secret };
  const { id: poolId } = await bench.service.savePool(pool, caller);
  bench.rig(0).fault = "denied";
  const error = await problem(bench.act(id, { action: "add_pool", pool_id: poolId, pool_type: "single" }));
  expect(`${error.message}${JSON.stringify(await bench.commands(id))}`).not.toContain(secret);
});
