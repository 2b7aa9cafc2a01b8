import { afterEach, describe, expect, test } from "@jest/globals";
import { minersIn } from "../../src/contract/miners-in.ts";
import { allMiners } from "../../src/store/index.ts";
import { stoppedClock } from "../clock.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

afterEach(closeBenches);

const bitaxe = { kind: "axeos", warm: true } as const;
const config = { groups: [{ name: "Hall", groups: [{ name: "Row" }] }, { name: "Shed" }] };

/** Three rigs of some 17 W: in a group, in the group inside it, and in none. */
async function openFarm() {
  const clock = stoppedClock();
  const bench = await openBench({ rigs: [bitaxe, bitaxe, bitaxe, bitaxe], clock: clock.now, config });
  const ids = new Map((await bench.service.listGroups({}, caller)).map(({ id, name }) => [name, id]));
  const add = (index: number, group: string | null) =>
    bench.add(bench.rig(index).address, group === null ? {} : { group });
  const miners = [await add(0, "Hall"), await add(1, "Row"), await add(2, null)];
  return { bench, clock, ids, add, miners };
}

/** All rigs draw their power for an hour. */
async function drawAnHour({ bench, clock }: Pick<Awaited<ReturnType<typeof openFarm>>, "bench" | "clock">) {
  await pollAll(bench);
  clock.pass(3600);
  await pollAll(bench);
}

async function pollAll(bench: Bench) {
  const { groupList } = await bench.service.listMiners({}, caller);
  for (const { id } of minersIn(groupList)) await bench.poll(id);
}

/** Wh as the next run of the service has them: of all, and of each group. */
async function energies(bench: Bench, meanwhile?: () => Promise<void>): Promise<Record<string, number | null>> {
  await bench.restart(config, meanwhile);
  const { energy = null, groupList = [] } = await bench.service.getSummary({}, caller);
  return Object.fromEntries([["all", energy], ...groupList.map((group) => [group.name, group.energy])]);
}

describe("the energy of groups and of all miners", () => {
  test("is counted with the groups inside, over restarts of the service, and gaps are not guessed", async () => {
    const farm = await openFarm();
    expect(await energies(farm.bench)).toEqual({ all: 0, Hall: 0, Row: 0, Shed: null });
    await drawAnHour(farm);
    const first = await energies(farm.bench);
    expect(first).toEqual({
      all: expect.closeTo(52, -0.6),
      Hall: expect.closeTo(35, -0.6),
      Row: expect.closeTo(17, -0.6),
      Shed: null,
    });
    farm.clock.pass(86_400);
    await pollAll(farm.bench);
    expect(await energies(farm.bench)).toEqual(first);
  });

  test("does not change when a miner leaves, joins, or moves to another group", async () => {
    const farm = await openFarm();
    const { bench, ids, miners } = farm;
    await drawAnHour(farm);
    const before = await energies(bench);
    await bench.service.deleteMiner({ id: miners[0] ?? 0 }, caller);
    await farm.add(3, "Hall");
    await bench.service.changeMiner({ id: miners[1] ?? 0, group: "Shed" }, caller);
    await pollAll(bench);
    expect(await energies(bench)).toEqual({ ...before, Shed: 0 });
    await drawAnHour(farm);
    const after = await energies(bench);
    expect(after.all).toBeGreaterThan((before.all ?? 0) + 45);
    // What the miner that moved draws from now on counts for its new group.
    expect([after.Row, after.Shed]).toEqual([before.Row, expect.closeTo(17, -0.6)]);
    expect(after.Hall).toBeGreaterThan((before.Hall ?? 0) + 15);
    expect(ids.size).toBe(3);
  });

  test("goes on from the sums of the miners in a store of a version that had no counters", async () => {
    const farm = await openFarm();
    await drawAnHour(farm);
    const counted = await energies(farm.bench);
    const forgotten = async (): Promise<void> => {
      for (const id of [allMiners, 0, ...farm.ids.values()]) await farm.bench.store.groupEnergies.forget(id);
    };
    expect(await energies(farm.bench, forgotten)).toEqual(counted);
  });

  test("is that of the visible groups for a user who sees only some", async () => {
    const farm = await openFarm();
    await drawAnHour(farm);
    const { Hall, Row } = await energies(farm.bench);
    const { service } = farm.bench;
    const hall = farm.ids.get("Hall") ?? 0;
    const { id } = await service.saveUser({ id: 0, name: "Ann", privilege: "view", groups: [hall] }, caller);
    const { energy, groupList } = await service.getSummary({}, { actor: "ann", userId: id });
    expect(energy).toBe(Hall);
    expect(groupList?.map((group) => [group.name, group.energy])).toEqual([
      ["Hall", Hall],
      ["Row", Row],
    ]);
  });
});
