import { afterEach, expect, test } from "@jest/globals";
import { PoolBody } from "../../src/contract/inputs.ts";
import { withoutActions } from "../../src/contract/may-act.ts";
import { type OperationName, operationNames, operations } from "../../src/contract/operations.ts";
import type { Caller, Encoded } from "../../src/contract/service.ts";
import { until } from "../until.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

/** The names of what can be done in a reply, with the values that they have. */
function canDo(value: unknown): Set<string> {
  const found = new Set<string>();
  JSON.stringify(value, (name, each: unknown) => {
    if (/^can[A-Z]/.test(name)) found.add(`${name} ${String(each)}`);
    return each;
  });
  return found;
}

/** Its texts try to pass for what can be done. */
const trap = '"canStop":true,\\"canReboot\\":true';

async function openFarm() {
  const bench = await openBench({ rigs: [{ kind: "cgminer", warm: true }] });
  const { service } = bench;
  const id = await bench.add(bench.rig(0).address, { name: trap, tags: [trap] });
  await service.savePool(PoolBody.parse({ url: "stratum+tcp://pool.example:3333", description: trap }), caller);
  const viewer = await service.saveUser({ id: 0, name: "viewer", privilege: "view" }, caller);
  const anna = await service.saveUser({ id: 0, name: "anna", privilege: "control" }, caller);
  const asViewer: readonly Caller[] = [
    { ...caller, userId: viewer.id },
    { ...caller, privilege: "view" },
  ];
  return { bench, id, asViewer, anna: { ...caller, userId: anna.id } };
}

const parsed = (encoded: Encoded | undefined): object => JSON.parse(Buffer.concat(encoded?.chunks ?? []).toString());

/** Without the time of the reply, which may be another second's. */
const timeless = (reply: object): object => ({ ...reply, metaData: null });

test("no reply to a caller that may only view offers an action", async () => {
  const { bench, id, asViewer } = await openFarm();
  const { service } = bench;
  const reads = operationNames.filter((name) => operations[name].kind === "call" && operations[name].method === "GET");
  const poolId = (await bench.get(id)).poolList[0]?.id ?? 0;
  const seen = new Set<string>();
  for (const name of reads) {
    const input = inputs(id, poolId)[name] ?? {};
    for (const who of asViewer) {
      const reply: unknown = await Promise.resolve(Reflect.apply(service[name], service, [input, who])).catch(
        () => null,
      );
      for (const each of canDo(reply)) seen.add(each);
    }
  }
  expect(seen.size).toBeGreaterThan(10);
  expect([...seen].filter((each) => !each.endsWith(" false"))).toEqual([]);
});

const inputs = (id: number, poolId: number): Partial<Record<OperationName, object>> => ({
  getMiner: { id },
  listAddPools: { id },
  getMinerPool: { id, poolId },
  getPool: { id: 1 },
  getHistory: { id },
});

test("cached bytes and events are the same as the methods' replies for a caller that may only view", async () => {
  const { bench, id, asViewer, anna } = await openFarm();
  const { service } = bench;
  for (const who of [...asViewer, anna, caller]) {
    const list = parsed(service.encoded?.("listMiners", {}, who));
    expect(timeless(list)).toEqual(timeless(await service.listMiners({}, who)));
    const miner = parsed(service.encoded?.("getMiner", { id }, who));
    expect(timeless(miner)).toEqual(timeless(await service.getMiner({ id }, who)));
    const part = { tag: trap, fields: ["canRestart", "tags", "poolList"] as const };
    expect(JSON.stringify(parsed(service.encoded?.("listMiners", { ...part }, who)))).toContain(
      `"canRestart":${!asViewer.includes(who)}`,
    );
  }
  const stopping = new AbortController();
  const heard = [...asViewer, anna].map(async (who) => {
    for await (const event of service.watchEvents({}, who, stopping.signal))
      if (event.type === "miner") return event.data;
    return null;
  });
  await until(async () => {
    await service.changeMiner({ id, tags: [trap, `${Math.random()}`] }, caller);
    return (await Promise.race([Promise.all(heard), new Promise((resolve) => setImmediate(resolve))])) !== undefined;
  }, "everybody to hear of the miner");
  stopping.abort();
  const [viewer, limited, acting] = await Promise.all(heard);
  expect(viewer).toEqual(limited);
  expect([...canDo(acting)]).toContain("canRestart true");
  expect({ ...viewer, tags: [] }).toEqual(withoutActions({ ...acting, tags: [] }));
});

test("one miner has another tag for a caller that may only view", async () => {
  const { bench, id, asViewer } = await openFarm();
  const tagFor = (who: Caller) => bench.service.encoded?.("getMiner", { id }, who)?.etag;
  const [viewer = caller] = asViewer;
  expect(tagFor(viewer)).not.toBe(tagFor(caller));
});
