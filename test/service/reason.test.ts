import { afterEach, describe, expect, test } from "@jest/globals";
import type { MinerEvent } from "../../src/contract/events.ts";
import { stoppedClock } from "../clock.ts";
import { startAltered } from "../mqtt/altered.ts";
import { until } from "../until.ts";
import { type Bench, caller, closeBenches, openBench } from "./bench.ts";
import { closeLoopBenches, openLoopBench } from "./loop-bench.ts";

const cleanup: (() => unknown)[] = [];
afterEach(async () => {
  for (const close of cleanup.splice(0).toReversed()) await close();
  await closeBenches();
  await closeLoopBenches();
});

const iso = (ms: number): string => new Date(ms).toISOString();

describe("why a miner does not hash", () => {
  test("is that a user stopped it, with the time, also after a restart of the service, and nothing once it hashes", async () => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }], clock: clock.now });
    const id = await bench.add(bench.rig(0).address);
    expect((await bench.get(id)).readings.reason).toBeNull();
    await bench.act(id, { action: "stop" });
    const stopped = { code: "user", text: "It is stopped", since: iso(clock.now()) };
    expect((await bench.get(id)).readings.reason).toMatchObject(stopped);
    clock.pass(600);
    expect((await bench.poll(id)).readings.reason).toMatchObject(stopped);
    await bench.restart();
    // Not before it was asked once more.
    expect((await bench.get(id)).readings.reason).toBeNull();
    expect((await bench.poll(id)).readings.reason).toMatchObject(stopped);
    await bench.act(id, { action: "start" });
    clock.pass(300);
    expect((await bench.poll(id)).readings.reason).toBeNull();
  });

  test("is that it cannot be reached, since the third missed read, over a restart too", async () => {
    const clock = stoppedClock();
    const bench = await openBench({ rigs: [{ kind: "axeos", warm: true }], clock: clock.now });
    const id = await bench.add(bench.rig(0).address);
    bench.rig(0).powerOff();
    const reason = async () => (await bench.poll(id)).readings.reason;
    // Its last readings still stand.
    expect([await reason(), await reason()]).toEqual([null, null]);
    const gone = await reason();
    expect(gone).toMatchObject({ code: "network", text: expect.stringContaining("refused"), since: iso(clock.now()) });
    clock.pass(3_600);
    expect(await reason()).toEqual(gone);
    await bench.restart();
    for (let misses = 0; misses < 2; misses += 1) await reason();
    expect(await reason()).toEqual(gone);
  });

  test("is a login that is wrong", async () => {
    const bench = await openBench({ rigs: [{ kind: "xmrig", token: "right", warm: true }] });
    const id = await bench.add(bench.rig(0).address, { driver: "xmrig", token: "wrong" });
    const { statusInfo, readings } = await bench.get(id);
    expect([statusInfo.statusDisplay, readings.reason]).toMatchObject(["Error", { code: "login" }]);
  });

  test("is the loop that has stopped it, also after a restart, or a person who did so later", async () => {
    const clock = stoppedClock();
    const bench = await openLoopBench({
      rigs: [{ kind: "axeos", warm: true }],
      clock: clock.now,
      config: ([address]) => ({
        groups: [{ name: "shed" }],
        miners: [{ address, group: "shed" }],
        follow: { name: "Roof", group: "shed", surplus: { api: true }, minOn: 0, minOff: 0 },
      }),
    });
    const reason = async () => (await bench.miner(0)).readings.reason;
    await bench.act(0, { action: "set_surplus", surplus: -100 });
    clock.pass(60);
    await bench.turn();
    const byRoof = { code: "power-limit", text: "Stopped by Roof", since: iso(clock.now()) };
    expect(await reason()).toMatchObject(byRoof);
    await bench.restart();
    await bench.turn();
    expect(await reason()).toMatchObject(byRoof);
    await bench.act(0, { action: "start" });
    await bench.act(0, { action: "stop" });
    expect(await reason()).toMatchObject({ code: "user" });
  });
});

describe("events of a miner", () => {
  /** What is told from now on, and what ends the telling. */
  function told(bench: Bench): MinerEvent[] {
    const heard: MinerEvent[] = [];
    const ended = new AbortController();
    cleanup.push(() => ended.abort());
    void (async () => {
      for await (const event of bench.service.watchEvents({}, caller, ended.signal))
        if (event.type === "miner-event") heard.push(event.data);
    })();
    return heard;
  }

  test("are a best share beaten and a block found, each once; what a miner comes with is none", async () => {
    const bench = await openBench({ rigs: [{ kind: "luxos", warm: true }] });
    const altered = await startAltered(bench.rig(0));
    cleanup.push(() => altered.close());
    const heard = told(bench);
    const id = await bench.add(altered.address);
    const { uid, readings } = await bench.get(id);
    const best = readings.bestShare ?? 0;
    const beaten = 2 * best + 1;
    altered.replace('"Best Share":', `"Best Share":${beaten},"Was":`);
    altered.replace('"Found Blocks":0', '"Found Blocks":2');
    for (let reads = 0; reads < 3; reads += 1) await bench.poll(id);
    await until(() => heard.length >= 2, "both events");
    expect(heard).toEqual([
      { id, uid, event: "best_share", value: beaten, before: expect.any(Number) },
      { id, uid, event: "block_found", value: 2, before: 0 },
    ]);

    // It begins anew, as cgminer does when it restarts, and beats less than it had.
    altered.replace(`"Best Share":${beaten}`, '"Best Share":10');
    altered.replace('"Found Blocks":2', '"Found Blocks":0');
    await bench.poll(id);
    altered.replace('"Best Share":10', `"Best Share":${best}`);
    await bench.poll(id);
    await bench.restart();
    const later = told(bench);
    altered.replace(`"Best Share":${best}`, `"Best Share":${beaten + 1}`);
    await bench.poll(id);
    await until(() => later.length > 0, "the event after a restart");
    expect(later).toEqual([{ id, uid, event: "best_share", value: beaten + 1, before: beaten }]);
    expect(heard).toHaveLength(2);
  });
});
