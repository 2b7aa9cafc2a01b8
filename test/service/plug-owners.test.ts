import { afterEach, beforeEach, describe, expect, test } from "@jest/globals";
import type { PlugSettings } from "../../src/contract/plug-settings.ts";
import type { Caller } from "../../src/contract/service.ts";
import { startPlug, type VirtualPlug } from "../../src/simulator/index.ts";
import { problem, refusal } from "../errors.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";

/** Two farms: anna administers the barn and nothing else, and the plug powers a rig in the attic. */
let bench: Bench;
let plug: VirtualPlug;
let anna: Caller;
let attic: number;
let barn: number;
const groups = { barn: 1, attic: 2 };
const sticks = { kind: "cgminer", hardware: "sticks", warm: true } as const;

beforeEach(async () => {
  bench = await openBench({ rigs: [sticks, sticks] });
  plug = await startPlug({ kind: "shelly2", rig: bench.rig(0) });
  for (const name of ["Barn", "Attic"]) await bench.service.addGroup({ name, parentId: 0 }, caller);
  const { id } = await bench.service.saveUser(
    { id: 0, name: "anna", privilege: "administrator", groups: [groups.barn] },
    caller,
  );
  anna = { actor: "anna", userId: id };
  attic = await bench.add(bench.rig(0).address, { name: "attic rig", group: "Attic", supply: plugAt(plug.address) });
  barn = await bench.add(bench.rig(1).address, { name: "barn rig", group: "Barn" });
});

afterEach(async () => {
  await closeBenches();
  await plug.close();
});

const plugAt = (
  address: string,
  more: { readonly channel?: number; readonly type?: "shelly" | "tasmota" } = {},
): PlugSettings => ({
  type: "shelly",
  address,
  channel: 0,
  cutPower: true,
  delay: 0,
  ...more,
});

const take = (supply: PlugSettings, who = anna) => bench.service.changeMiner({ id: barn, supply }, who);
const add = (supply: PlugSettings, who = anna) =>
  bench.service.addMiner({ address: "127.0.0.1:9", group: groups.barn, supply }, who);

describe("the plug of another miner", () => {
  test("is refused, however its address is written, and whatever its type", async () => {
    const port = plug.address.split(":")[1];
    for (const supply of [
      plugAt(plug.address),
      plugAt(`http://${plug.address}/`),
      plugAt(`[::ffff:127.0.0.1]:${port}`),
      plugAt(`[::ffff:7f00:1]:${port}`),
      plugAt(plug.address, { type: "tasmota" }),
    ]) {
      expect(await refusal(take(supply))).toBe("address.known");
      expect(await refusal(add(supply))).toBe("address.known");
      expect(await refusal(take(supply, caller))).toBe("address.known");
    }
    await refusal(bench.service.minerAction({ id: barn, action: "stop" }, anna));
    expect([plug.on, plug.switched]).toEqual([true, 0]);
  });

  test("is named with its miner only to callers that see the miner", async () => {
    expect((await problem(take(plugAt(plug.address)))).message).toMatch(/belongs to another miner already$/);
    expect((await problem(take(plugAt(plug.address), caller))).message).toMatch(
      /belongs to miner \d+ \(attic rig\) already$/,
    );
  });

  test("cannot share a device with another user's miner, but can with one's own", async () => {
    expect(await refusal(take(plugAt(plug.address, { channel: 1 })))).toBe("user.forbidden");
    expect(await refusal(take(plugAt(plug.address, { channel: 1 }), caller))).toBe("done");
  });

  test("is free once its miner has another, or is gone", async () => {
    await bench.service.changeMiner({ id: attic, supply: plugAt("127.0.0.1:10") }, caller);
    expect(await refusal(take(plugAt(plug.address)))).toBe("done");
    await bench.service.changeMiner({ id: barn, supply: null }, anna);
    await bench.service.changeMiner({ id: attic, supply: plugAt(plug.address) }, caller);
    await bench.service.deleteMiner({ id: attic }, caller);
    expect(await refusal(take(plugAt(plug.address)))).toBe("done");
  });

  test("is not had by asking twice at once", async () => {
    await bench.service.changeMiner({ id: attic, supply: null }, caller);
    const outcomes = await Promise.all([refusal(take(plugAt(plug.address))), refusal(add(plugAt(plug.address)))]);
    expect(outcomes.sort()).toEqual(["address.known", "done"]);
  });

  test("stays its own where an older version has let two have it", async () => {
    await bench.store.miners.change(barn, { supply: plugAt(plug.address) });
    await bench.restart();
    await bench.poll(barn);
    await bench.poll(attic);
    expect((await bench.get(barn)).controls.some(({ key }) => key === "mining")).toBe(false);
    expect((await bench.get(attic)).controls.some(({ key }) => key === "mining")).toBe(true);
  });
});
