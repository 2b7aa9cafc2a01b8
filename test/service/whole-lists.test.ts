import { afterEach, expect, test } from "@jest/globals";
import { problem } from "../errors.ts";
import { caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const rig = {
  kind: "whatsminer",
  warm: true,
  restartSeconds: 0,
  pools: [
    { url: "stratum+tcp://one.example:3333", user: "acct.one", password: "first-secret" },
    { url: "stratum+tcp://two.example:3333", user: "acct.one", password: "second-secret" },
  ],
} as const;
const unsaid = {
  description: undefined,
  coinClass: undefined,
  coinShortName: undefined,
  coinAlgorithm: undefined,
  walletAddress: undefined,
};
const login = { username: "admin", password: "admin" };

test("a rig that takes whole lists, and shows no passwords, keeps those that it has", async () => {
  const bench = await openBench({ rigs: [rig] });
  const id = await bench.add(bench.rig(0).address, login);
  const add = (host: string, plainWorkerPassword: string) =>
    bench.service.savePool(
      { ...unsaid, id: 0, url: `stratum+tcp://${host}:3333`, workerName: "acct.one", plainWorkerPassword },
      caller,
    );
  const third = await add("three.example", "third-secret");
  const change = () => bench.act(id, { action: "add_pool", pool_id: third.id, pool_type: "single" });

  // Nobody knows the passwords of the two that it has.
  expect((await bench.get(id)).canPool).toBe(false);
  expect(await problem(change())).toMatchObject({
    code: "not.possible",
    message: expect.stringContaining("hides their passwords; that of stratum+tcp://two.example:3333 is not known"),
  });

  await add("one.example", "first-secret");
  await add("two.example", "second-secret");
  await bench.poll(id);
  expect((await bench.get(id)).canPool).toBe(true);
  expect(await change()).toMatchObject({ state: "done" });
  expect(bench.rig(0).model.pools.map(({ url, password }) => [url, password])).toEqual([
    ["stratum+tcp://one.example:3333", "first-secret"],
    ["stratum+tcp://two.example:3333", "second-secret"],
    ["stratum+tcp://three.example:3333", "third-secret"],
  ]);
  const [first] = (await bench.get(id)).poolList;
  await bench.service.minerPoolAction({ id, poolId: first?.id ?? 0, action: "remove" }, caller);
  expect(bench.rig(0).model.pools).toHaveLength(2);
  expect(JSON.stringify(await bench.get(id))).not.toMatch(/secret/);
});

test("a rig is sent no password of a pool that an administrator of its group does not see", async () => {
  const bench = await openBench({ rigs: [rig] });
  const group = await bench.service.addGroup({ name: "Hall", parentId: 0 }, caller);
  const id = await bench.add(bench.rig(0).address, { ...login, group: group.id });
  const [shared] = await Promise.all(
    ["one.example", "two.example"].map((host) =>
      bench.service.savePool(
        { ...unsaid, id: 0, url: `stratum+tcp://${host}:3333`, workerName: "acct.one", plainWorkerPassword: "s3cret" },
        caller,
      ),
    ),
  );
  // The order can be changed only if every password is known: the rig takes whole lists.
  const canPrioritize = async (): Promise<boolean> => {
    await bench.poll(id);
    return (await bench.get(id)).poolList.some((pool) => pool.canPrioritize);
  };
  expect(await canPrioritize()).toBe(true);
  const { id: userId } = await bench.service.saveUser(
    { id: 0, name: "Lodger", privilege: "administrator", groups: [group.id], pools: [shared?.id ?? 0] },
    caller,
  );
  expect(await canPrioritize()).toBe(false);
  await bench.service.deleteUser({ id: userId }, caller);
  expect(await canPrioritize()).toBe(true);
});
