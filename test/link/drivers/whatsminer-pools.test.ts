import { describe, expect, test } from "@jest/globals";
import type { Reading, Rig } from "../../../src/link/driver.ts";
import { whatsminer } from "../../../src/link/drivers/whatsminer/index.ts";
import type { SimulatedRig, WhatsminerSpec } from "../../../src/simulator/index.ts";
import { startRig } from "../../simulated-rig.ts";
import { deadline, listed, poolAt, rigAt } from "../rigs.ts";

const pool = (name: string) => ({
  url: `stratum+tcp://${name}.example.com:3333`,
  user: "w",
  password: `secret-${name}`,
});
const login = (name: string) => ({ url: pool(name).url, worker: "w", password: `secret-${name}` });

async function start(
  generation: "v1" | "v2" | "v3",
  names: readonly string[],
  spec: Partial<WhatsminerSpec> = {},
): Promise<{ rig: Rig; simulated: SimulatedRig }> {
  const own = { kind: "whatsminer", generation, warm: true, pools: names.map(pool), ...spec } as const;
  const simulated = await startRig(own, () => 1.8e12);
  return {
    rig: rigAt(whatsminer, simulated.address, { password: generation === "v3" ? "super" : "admin" }),
    simulated,
  };
}

const read = (rig: Rig): Promise<Reading> => rig.read(deadline());
const names = async (rig: Rig): Promise<string[]> =>
  listed(await read(rig)).map((each) => each.replace(".example.com:3333", ""));
const passwords = ({ model }: SimulatedRig): string[] => model.pools.map(({ password }) => password);

describe.each([["v1"], ["v2"], ["v3"]] as const)("the pools of a WhatsMiner of %s", (generation) => {
  test("are written as whole lists whose passwords are all known", async () => {
    const { rig, simulated } = await start(generation, ["a"]);
    expect((await read(rig)).poolActions).toEqual(["use"]);
    await rig.pools.use?.(login("b"), deadline());
    expect(await names(rig)).toEqual(["*b"]);
    expect((await read(rig)).poolActions).toEqual(["add", "use"]);
    await rig.pools.add?.(login("c"), deadline());
    await rig.pools.add?.(login("d"), deadline());
    expect(await names(rig)).toEqual(["*b", "c", "d"]);
    expect((await read(rig)).poolActions).toEqual(["use", "switch", "prioritize", "remove"]);
    await rig.pools.switch?.(await poolAt(rig, 2), deadline());
    expect(await names(rig)).toEqual(["*d", "b", "c"]);
    await rig.pools.prioritize?.(await poolAt(rig, 1), deadline());
    expect(await names(rig)).toEqual(["*b", "d", "c"]);
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    expect(await names(rig)).toEqual(["*b", "c"]);
    await rig.pools.use?.(login("e"), deadline());
    expect(await names(rig)).toEqual(["*e", "c"]);
    expect(passwords(simulated)).toEqual(["secret-e", "secret-c"]);
  });

  test("are left alone where a password would be lost", async () => {
    const { rig, simulated } = await start(generation, ["a", "b"]);
    expect((await read(rig)).poolActions).toEqual([]);
    const second = await poolAt(rig, 1);
    for (const attempt of [
      () => rig.pools.use?.(login("c"), deadline()),
      () => rig.pools.add?.(login("c"), deadline()),
      () => rig.pools.switch?.(second, deadline()),
      () => rig.pools.remove?.(second, deadline()),
    ]) {
      await expect(attempt()).rejects.toMatchObject({
        code: "not.possible",
        message: expect.stringMatching(/^(?!.*secret).*password/),
      });
    }
    expect(simulated.requests.writes).toEqual([]);
    expect(passwords(simulated)).toEqual(["secret-a", "secret-b"]);
  });

  test("of which one password is not known can lose just that one", async () => {
    const { rig, simulated } = await start(generation, ["a"]);
    await read(rig);
    await rig.pools.use?.(login("b"), deadline());
    const [first] = simulated.model.pools;
    if (first === undefined) throw new Error("no pool");
    simulated.model.setPools([first, { ...first, ...pool("x"), priority: 1 }]);
    expect((await read(rig)).poolActions).toEqual(["remove"]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "not.possible" });
    await rig.pools.remove?.(await poolAt(rig, 1), deadline());
    expect(await names(rig)).toEqual(["*b"]);
  });

  test("stay as they are when the list is refused", async () => {
    const { rig, simulated } = await start(generation, ["a"]);
    await read(rig);
    const refused = rig.pools.use?.({ ...login("b"), url: "http://b.example.com:3333" }, deadline());
    await expect(refused).rejects.toMatchObject({
      code: "rig.refused",
      message: expect.not.stringContaining("secret"),
    });
    expect(await names(rig)).toEqual(["*a"]);
    expect(passwords(simulated)).toEqual(["secret-a"]);
    expect((await read(rig)).poolActions).toEqual(["use"]);
  });

  test("never end in an empty list, nor in one that is too long", async () => {
    const { rig, simulated } = await start(generation, ["a"]);
    await expect(rig.pools.remove?.(await poolAt(rig, 0), deadline())).rejects.toMatchObject({ code: "pool.last" });
    await rig.pools.use?.(login("b"), deadline());
    await rig.pools.add?.(login("c"), deadline());
    await rig.pools.add?.(login("d"), deadline());
    const writes = simulated.requests.writes.length;
    await expect(rig.pools.add?.(login("e"), deadline())).rejects.toMatchObject({ code: "not.possible" });
    await expect(rig.pools.add?.({ ...login("e"), url: "a|b" }, deadline())).rejects.toMatchObject({
      code: "input.invalid",
    });
    const gone = { ...(await poolAt(rig, 0)), url: "stratum+tcp://gone.example.com:1" };
    await expect(rig.pools.switch?.(gone, deadline())).rejects.toMatchObject({ code: "not.possible" });
    expect(simulated.requests.writes).toHaveLength(writes);
  });
});

test("a WhatsMiner without any pool takes its first", async () => {
  const { rig } = await start("v2", []);
  expect((await read(rig)).poolActions).toEqual(["add", "use"]);
  await rig.pools.add?.(login("a"), deadline());
  expect(await names(rig)).toEqual(["*a"]);
});
